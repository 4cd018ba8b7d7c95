// SPDX-License-Identifier: MIT
// Fuzzes the execution of exported programs on the CPU.
#include <headrace/run/models.hpp>

#include "lowering_checks.hpp"
#include "program_mutator.hpp"

namespace headrace::fuzz {

void run(std::span<const std::uint8_t> input) {
    const memory_file file(input);
    step("reading");
    const auto model = read_model(file.path());
    if (!model) return check(model.error());
    saw_graph(*model.value().graph, "executed");
    check_execution(*model.value().graph);
}
bytes mutated(const bytes& input, std::size_t capacity, unsigned seed) {
    return mutated_program(input, capacity, seed);
}
std::vector<bytes> simpler(const bytes& input) { return simpler_programs(input); }

}  // namespace headrace::fuzz
