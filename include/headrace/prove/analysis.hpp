// SPDX-License-Identifier: MIT
// Declares headrace::prove::analyze, which bounds every integer of a TOSA graph.
#ifndef HEADRACE_PROVE_ANALYSIS_HPP
#define HEADRACE_PROVE_ANALYSIS_HPP

#include <cstddef>
#include <cstdint>
#include <map>
#include <unordered_map>
#include <vector>

#include <headrace/ir/graph.hpp>
#include <headrace/prove/claim.hpp>
#include <headrace/prove/spread.hpp>

namespace headrace::prove {

/// The result of the analysis of a graph.
struct findings {
    std::vector<claim> claims{};  ///< one per node and kind, in execution order
    std::unordered_map<const node*, std::vector<spread>> spreads{};
};

/// Annotation of a placeholder: the integers that the user says it holds.
struct said_range {
    static constexpr bool inherited = false;
    std::int64_t lowest = 0, highest = 0;
};

/// Returns the numbers that an input may hold: those that the user says, of its quantization, or of its type.
[[nodiscard]] interval declared_range(const node& placeholder);

/// Bounds the integers of a TOSA graph for all inputs of the declared ranges, by interval arithmetic along
/// the channels of each tensor and, where that is too loose, case by case (prove/refine.hpp). Indices of
/// inputs are assumed to be valid. A branch is analyzed for its node's operands; values that a loop or a
/// variable carries may be any of their type.
[[nodiscard]] findings analyze(const graph& g);

}  // namespace headrace::prove

#endif
