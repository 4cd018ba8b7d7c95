// SPDX-License-Identifier: MIT
// Defines headrace::stream_signature, which says of a program that each execution is a step of a stream.
#ifndef HEADRACE_IO_STREAM_SIGNATURE_HPP
#define HEADRACE_IO_STREAM_SIGNATURE_HPP

#include <cstdint>
#include <string>
#include <vector>

namespace headrace {

/// An input of which each execution takes the next elements of an axis.
struct streamed_input {
    std::string name;
    std::int64_t axis = 0;
    std::int64_t step = 0;  ///< elements
};

/// An output of the user's. Element n of its axis is element n - delay of what the whole model computes.
struct streamed_output {
    std::int64_t axis = 0;
    std::int64_t elements = 0;  ///< of the axis that each execution makes; 0 if it has no stream axis
    std::int64_t delay = 0;     ///< in elements
};

/// How a program takes a stream: headrace::make_stream writes it, and a .pt2 file keeps it.
struct stream_signature {
    std::vector<streamed_input> inputs{};
    std::vector<streamed_output> outputs{};  ///< of the user's, in order
    std::int64_t first_step = 0;             ///< the first execution whose outputs are all the whole model's
};

}  // namespace headrace

#endif
