// SPDX-License-Identifier: MIT
// Declares changes of exported programs after which they are still programs: other ops, arguments, shapes,
// dtypes and constants.
#ifndef HEADRACE_TESTS_FUZZ_PROGRAM_MUTATOR_HPP
#define HEADRACE_TESTS_FUZZ_PROGRAM_MUTATOR_HPP

#include "target.hpp"

namespace headrace::fuzz {

/// Returns a changed .pt2 file that usually gets past the reader: its metadata of computed values is removed,
/// and inferred when it is read. Returns the file itself if nothing could be changed.
[[nodiscard]] bytes mutated_program(const bytes& file, std::size_t capacity, unsigned seed);
/// Returns variants of the program without a node, an argument or an output.
[[nodiscard]] std::vector<bytes> simpler_programs(const bytes& file);

}  // namespace headrace::fuzz

#endif
