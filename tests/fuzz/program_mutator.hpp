// SPDX-License-Identifier: MIT
// Declares changes of exported programs that leave them programs: other ops, arguments, shapes, types and
// constants.
#ifndef HEADRACE_TESTS_FUZZ_PROGRAM_MUTATOR_HPP
#define HEADRACE_TESTS_FUZZ_PROGRAM_MUTATOR_HPP

#include "target.hpp"

namespace headrace::fuzz {

/// A changed .pt2 file, which mostly gets past the reader: what it said of values that ops compute is left
/// out, and is inferred when it is read. The same bytes if nothing could be changed.
[[nodiscard]] bytes mutated_program(const bytes& file, std::size_t capacity, unsigned seed);
/// The same program without a node, an argument or an output.
[[nodiscard]] std::vector<bytes> simpler_programs(const bytes& file);

}  // namespace headrace::fuzz

#endif
