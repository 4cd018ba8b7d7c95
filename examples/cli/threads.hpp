// SPDX-License-Identifier: MIT
// Threads on which the program quantizes, compares and probes support.
#ifndef HEADRACE_EXAMPLES_CLI_THREADS_HPP
#define HEADRACE_EXAMPLES_CLI_THREADS_HPP

#include <headrace/quantization/parallel_for.hpp>

namespace headrace::cli {

/// Runs work on that many threads; 0: one per processor.
[[nodiscard]] parallel_for on_threads(int jobs);

}  // namespace headrace::cli

#endif
