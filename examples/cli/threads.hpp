// SPDX-License-Identifier: MIT
// Threads on which the program lowers batches, quantizes, compares and probes support.
#ifndef HEADRACE_EXAMPLES_CLI_THREADS_HPP
#define HEADRACE_EXAMPLES_CLI_THREADS_HPP

#include <cstddef>

#include <headrace/quantization/parallel_for.hpp>

namespace headrace::cli {

/// Returns how many threads `jobs` stands for; 0: one for each processor that this process may use.
[[nodiscard]] std::size_t count_threads(int jobs);

/// Runs work on that many threads; 0: one per processor.
[[nodiscard]] parallel_for on_threads(int jobs);

}  // namespace headrace::cli

#endif
