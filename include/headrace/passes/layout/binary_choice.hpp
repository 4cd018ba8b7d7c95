// SPDX-License-Identifier: MIT
// Defines headrace::binary_choice, which finds the cheapest combination of binary choices.
#ifndef HEADRACE_PASSES_LAYOUT_BINARY_CHOICE_HPP
#define HEADRACE_PASSES_LAYOUT_BINARY_CHOICE_HPP

#include <cstddef>
#include <cstdint>

#include <headrace/base/pmr_vector.hpp>

namespace headrace {

/// Finds the cheapest combination of choices between two alternatives, 0 and 1, given costs of single choices
/// and of pairs of choices. Example: each op keeps its layout (0) or changes it (1), and a pair of neighbours
/// costs a transpose if their layouts then differ.
///
/// The cheapest combination is a minimum cut (Kolmogorov and Zabih, "What Energy Functions Can Be Minimized
/// via Graph Cuts?", 2004). Cutting a chain takes time quadratic in its length, so a choice that is paired
/// with at most two others is eliminated first: the cost of its better alternative, for each combination of
/// the others, is added to their costs. Chains, trees and residual networks thus take linear time, and the
/// remaining problem is small.
class binary_choice {
public:
    explicit binary_choice(std::size_t choices) : of_one_(choices), links_(choices), arcs_(choices) {}

    /// Adds the cost of alternative 1 of a choice relative to 0; may be negative.
    void add(std::size_t choice, std::int64_t cost) { of_one_[choice] += cost; }
    /// Adds the costs of a pair: `cost[a][b]` if the first is `a` and the second `b`. A cut cannot express a
    /// pair whose equal choices cost more than its unequal ones; these are then taken to cost the same.
    void add(std::size_t first, std::size_t second, const std::int64_t (&cost)[2][2]) {
        if (first == second) return add(first, cost[1][1] - cost[0][0]);
        of_one_[first] += cost[1][0] - cost[0][0];
        of_one_[second] += cost[1][1] - cost[1][0];
        const std::int64_t apart = cost[0][1] + cost[1][0] - cost[0][0] - cost[1][1];
        if (apart > 0) add_arc(first, second, apart);
    }

    /// Returns whether each choice is 1. Among equally cheap combinations, takes the one with the fewest 1s.
    [[nodiscard]] pmr_vector<bool> cheapest() &&;

private:
    /// The costs of a pair: `to_other` if this choice is 0 and the other 1, `from_other` in the reverse case.
    struct link {
        std::size_t other;
        std::int64_t to_other;
        std::int64_t from_other;
        std::size_t arcs = 1;
    };
    static constexpr std::size_t max_others = 2;
    static constexpr std::size_t max_joined = 8;

    void add_arc(std::size_t from, std::size_t to, std::int64_t cost) {
        links_[from].push_back({to, cost, 0});
        links_[to].push_back({from, 0, cost});
        ++arcs_[from];
        ++arcs_[to];
    }

    // --- elimination of choices with few others -----------------------------------------------

    // Returns choices in the order in which they are eliminated: before those they remain linked to.
    pmr_vector<std::size_t> replace_all();
    // Drops links to eliminated choices, and merges those to the same choice. True if few links are left.
    bool has_few_others(std::size_t i);
    // Adds the cost of the better alternative to the choices that `i` is linked to.
    void replace(std::size_t i);

    // --- minimum cut of the rest ------------------------------------------------------------------

    [[nodiscard]] pmr_vector<bool> minimum_cut() const;

    pmr_vector<std::int64_t> of_one_;
    pmr_vector<pmr_vector<link>> links_;  // each arc is in the lists of both its ends
    pmr_vector<std::size_t> arcs_;        // by choice: number of arcs, without those to eliminated choices
    pmr_vector<bool> is_replaced_;
};

}  // namespace headrace

#ifndef HEADRACE_COMPILED
#include <headrace/passes/layout/binary_choice_definition.hpp>
#endif

#endif
