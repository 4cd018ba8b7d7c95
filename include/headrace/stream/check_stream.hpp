// SPDX-License-Identifier: MIT
// Declares headrace::check_stream, which compares a model that is computed in steps with the whole model.
#ifndef HEADRACE_STREAM_CHECK_STREAM_HPP
#define HEADRACE_STREAM_CHECK_STREAM_HPP

#include <cstdint>
#include <string>
#include <vector>

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

/// The numbers that both models are fed.
struct stream_samples {
    std::vector<std::string>
        files{};             ///< .npy, of each input; a stream's has any number of elements from a window on
    std::uint32_t seed = 1;  ///< of random numbers, if there are no files
    std::int64_t windows = 3;  ///< how many of random numbers
};

/// Feeds numbers to both: to `whole`, the model before make_stream, a window at a time, and to the steps'
/// program one after the other. Compares each element that the summary says is equal. An error is that of a
/// file or of an execution.
[[nodiscard]] result<stream_check> check_stream(const graph& whole, const program& steps,
    const stream_summary& summary, const stream_samples& samples = {});

}  // namespace headrace

#endif
