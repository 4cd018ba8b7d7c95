// SPDX-License-Identifier: MIT
// Defines headrace::planning_algorithm: which gap in memory a tensor gets.
#ifndef HEADRACE_MEMORY_PLANNING_ALGORITHM_HPP
#define HEADRACE_MEMORY_PLANNING_ALGORITHM_HPP

#include <cstdint>
#include <string_view>

namespace headrace {

/// The gap between placed tensors that the next tensor gets. `greedy`: the first that is large enough, from
/// offset 0. `best_fit`: the smallest that is large enough.
enum class planning_algorithm : std::uint8_t { greedy, best_fit };

[[nodiscard]] constexpr std::string_view name_of(planning_algorithm a) {
    return a == planning_algorithm::greedy ? "greedy" : "best_fit";
}

}  // namespace headrace

#endif
