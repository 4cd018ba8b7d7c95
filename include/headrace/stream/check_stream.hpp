// SPDX-License-Identifier: MIT
// Declares headrace::check_stream, which compares a model that is computed in steps with the whole model.
#ifndef HEADRACE_STREAM_CHECK_STREAM_HPP
#define HEADRACE_STREAM_CHECK_STREAM_HPP

#include <cstdint>
#include <string>

#include <headrace/base/result.hpp>
#include <headrace/io/program.hpp>
#include <headrace/stream/stream.hpp>

namespace headrace {

/// The findings of check_stream.
struct stream_check {
    std::uint64_t compared = 0;   ///< elements
    std::uint64_t different = 0;  ///< elements that are not equal to the last bit
    double largest = 0;           ///< difference, as a share of the largest number of the output
    std::string where{};          ///< output and element of the largest difference
    std::uint64_t skipped = 0;    ///< outputs that no window of the whole model says

    /// True if integers are equal, and floats to rounding.
    [[nodiscard]] bool agrees() const { return largest <= 1e-5; }
};

/// Feeds random numbers for some windows to both: to `whole`, the model before make_stream, a window at a
/// time, and to the steps' program one after the other. Compares each element that the summary says is equal.
/// An error is that of an execution.
[[nodiscard]] result<stream_check> check_stream(const graph& whole, const program& steps,
    const stream_summary& summary, std::uint32_t seed = 1, std::int64_t windows = 3);

}  // namespace headrace

#endif
