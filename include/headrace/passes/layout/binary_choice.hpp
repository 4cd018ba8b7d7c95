// SPDX-License-Identifier: MIT
// Defines headrace::binary_choice, the cheapest combination of choices between two alternatives each.
#ifndef HEADRACE_PASSES_LAYOUT_BINARY_CHOICE_HPP
#define HEADRACE_PASSES_LAYOUT_BINARY_CHOICE_HPP

#include <cstddef>
#include <cstdint>

#include <headrace/base/pmr_vector.hpp>

namespace headrace {

/// Choices between two alternatives, 0 and 1, with costs of single choices and of pairs. The cheapest
/// combination is a minimum cut (Kolmogorov and Zabih, "What Energy Functions Can Be Minimized via Graph
/// Cuts?", 2004). Its time grows with the square of a chain's length, so a choice
/// that is paired with no more than two others is first replaced by what its better alternative costs, for
/// each of theirs: chains, trees and residual networks take linear time, and what is left is small.
class binary_choice {
public:
    explicit binary_choice(std::size_t choices) : of_one_(choices), links_(choices), arcs_(choices) {}

    /// Adds to what alternative 1 of a choice costs more than 0; may be negative.
    void add(std::size_t choice, std::int64_t cost) { of_one_[choice] += cost; }
    /// Adds the costs of a pair: `cost[a][b]` if the first is `a` and the second `b`. A cut cannot express
    /// that equal choices cost more than unequal ones; they cost the same then.
    void add(std::size_t first, std::size_t second, const std::int64_t (&cost)[2][2]) {
        if (first == second) return add(first, cost[1][1] - cost[0][0]);
        of_one_[first] += cost[1][0] - cost[0][0];
        of_one_[second] += cost[1][1] - cost[1][0];
        const std::int64_t apart = cost[0][1] + cost[1][0] - cost[0][0] - cost[1][1];
        if (apart > 0) add_arc(first, second, apart);
    }

    /// For each choice: is it 1? Among equally cheap combinations, the one with the fewest.
    [[nodiscard]] pmr_vector<bool> cheapest() &&;

private:
    /// What it costs if the one that an arc comes from is 0, and the one that it goes to is 1.
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

    // --- choices with few others --------------------------------------------------------------

    // In the order in which they are replaced: what a choice is then linked with outlasts it.
    pmr_vector<std::size_t> replace_all();
    // Forgets links with what has been replaced, and joins those with the same choice.
    bool has_few_others(std::size_t i);
    // The better alternative, as a cost of the choices that it is linked with.
    void replace(std::size_t i);

    // --- the others -------------------------------------------------------------------------------

    [[nodiscard]] pmr_vector<bool> minimum_cut() const;

    pmr_vector<std::int64_t> of_one_;
    pmr_vector<pmr_vector<link>> links_;  // each arc is in the lists of both its ends
    pmr_vector<std::size_t> arcs_;        // how many there are, without those to what is replaced
    pmr_vector<bool> is_replaced_;
};

}  // namespace headrace

#ifndef HEADRACE_COMPILED
#include <headrace/passes/layout/binary_choice_definition.hpp>
#endif

#endif
