// SPDX-License-Identifier: MIT
// The threads on which the program quantizes, compares and finds out support.
#ifndef HEADRACE_EXAMPLES_CLI_THREADS_HPP
#define HEADRACE_EXAMPLES_CLI_THREADS_HPP

#include <headrace/quantization/parallel_for.hpp>

namespace headrace::cli {

/// Work on that many threads; 0: on as many as there are processors.
[[nodiscard]] parallel_for on_threads(int jobs);

}  // namespace headrace::cli

#endif
