// SPDX-License-Identifier: MIT
// Declares headrace::make_stream, which turns a model of a window into a model of one step, with states.
#ifndef HEADRACE_STREAM_STREAM_HPP
#define HEADRACE_STREAM_STREAM_HPP

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <headrace/base/result.hpp>
#include <headrace/io/program.hpp>
#include <headrace/stream/emission.hpp>
#include <headrace/stream/flow.hpp>

namespace headrace {

/// An axis of an input.
struct stream_axis {
    std::string input{};     ///< its name; empty: the only input
    std::int64_t axis = -1;  ///< negative ones count from the last
};

/// The axes along which a model is computed step by step: of one input, or of several that come together.
struct stream_options {
    std::vector<stream_axis> axes{};
    std::int64_t step = 1;    ///< elements of the first axis that each step takes; of others in proportion
    std::int64_t window = 0;  ///< elements that ops over all of an axis keep; 0: they are refused
};

/// An input of the steps.
struct stream_input {
    std::string name;
    std::size_t axis = 0;
    std::int64_t step = 0;    ///< elements of the axis that each step takes
    std::int64_t window = 0;  ///< elements of the axis that the whole model takes
};

/// An output of the steps. Element n of its axis is element n - delay of the whole model's.
struct stream_output {
    std::string name;
    streams::flow flow;
    std::int64_t elements = 0;  ///< of its axis that each step makes; 0 if it has no stream axis
};

/// How a model is computed in steps.
struct stream_summary {
    std::vector<stream_input> inputs{};  ///< those that are streams
    std::vector<stream_output> outputs{};
    std::vector<streams::state> states{};
    std::uint64_t state_bytes = 0;
    std::uint64_t window_macs = 0;  ///< multiply-accumulates of the whole model
    std::uint64_t step_macs = 0;    ///< of a step
    std::uint64_t least_macs = 0;   ///< of the elements that a step makes, each computed once

    /// Returns the first step from which all outputs equal the whole model's.
    [[nodiscard]] std::int64_t first_exact_step() const;
};

/// Makes the program compute `step` elements of inputs' axes at a time. What later steps need of earlier ones
/// is in buffers that the program writes: of each convolution and pooling the elements that its window spans
/// beyond its stride, of each recurrence its state. They begin as zeros, as padding does, or as the zeros of
/// quantized values. An error names the first op that has no rule for steps, with its source line, and says
/// what to do; the program is then of no use.
[[nodiscard]] result<stream_summary> make_stream(program& p, const stream_options& options);

}  // namespace headrace

#endif
