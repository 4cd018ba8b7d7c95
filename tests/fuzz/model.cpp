// SPDX-License-Identifier: MIT
// Fuzzes the lowering of a .pt2 file to a TOSA flatbuffer. The archive's comment names the target.
#include <headrace/base/target_text.hpp>

#include "archive.hpp"
#include "lowering_checks.hpp"
#include "program_mutator.hpp"

namespace headrace::fuzz {

void run(std::span<const std::uint8_t> input) {
    const memory_file file(input);
    check_lowering(file.path(), parse_target(comment_of(input)));
}
bytes mutated(const bytes& input, std::size_t capacity, unsigned seed) {
    return mutated_program(input, capacity, seed);
}
std::vector<bytes> simpler(const bytes& input) { return simpler_programs(input); }

}  // namespace headrace::fuzz
