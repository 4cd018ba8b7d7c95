// SPDX-License-Identifier: MIT
// Defines headrace::parallel_for, which the caller provides so that no thread library is needed here, and
// try_each.
#ifndef HEADRACE_QUANTIZATION_PARALLEL_FOR_HPP
#define HEADRACE_QUANTIZATION_PARALLEL_FOR_HPP

#include <cstddef>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include <headrace/base/result.hpp>

namespace headrace {

/// Calls `work(i)` for each i below `count`, in any order and on any threads, and returns after all calls.
using parallel_for = std::function<void(std::size_t count, const std::function<void(std::size_t)>& work)>;
/// The parallel_for that calls `work` in order on the current thread.
inline void run_serially(std::size_t count, const std::function<void(std::size_t)>& work) {
    for (std::size_t i = 0; i != count; ++i) work(i);
}

/// Returns the first of these errors, if there is one.
[[nodiscard]] inline result<void> first_of(std::vector<std::optional<error>>& failures) {
    for (std::optional<error>& failure : failures) {
        if (failure) return *std::move(failure);
    }
    return {};
}

/// Calls `work(i)`, a result<void>, for each i below `count`. Returns the error of the lowest i that fails,
/// regardless of which thread fails first.
template <class Work>
[[nodiscard]] result<void> try_each(std::size_t count, const parallel_for& in_parallel, const Work& work) {
    std::vector<std::optional<error>> failures(count);
    in_parallel(count, [&](std::size_t i) {
        if (result<void> done = work(i); !done) failures[i] = std::move(done).error();
    });
    return first_of(failures);
}

}  // namespace headrace

#endif
