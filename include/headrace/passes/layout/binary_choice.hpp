// SPDX-License-Identifier: MIT
// Defines headrace::binary_choice, the cheapest combination of choices between two alternatives each.
#ifndef HEADRACE_PASSES_LAYOUT_BINARY_CHOICE_HPP
#define HEADRACE_PASSES_LAYOUT_BINARY_CHOICE_HPP

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <numeric>
#include <vector>

#include <boost/graph/adjacency_list.hpp>
// g++ warns of iterators that boost::tie does initialize.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
#include <boost/graph/boykov_kolmogorov_max_flow.hpp>
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif

namespace headrace {

/// Choices between two alternatives, 0 and 1, with costs of single choices and of pairs. The cheapest
/// combination is a minimum cut (Kolmogorov and Zabih, "What Energy Functions Can Be Minimized via Graph
/// Cuts?", 2004), which Boost.Graph finds. Its time grows with the square of a chain's length, so a choice
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
    [[nodiscard]] std::pmr::vector<bool> cheapest() && {
        const std::pmr::vector<std::size_t> replaced = replace_all();
        std::pmr::vector<bool> chosen = minimum_cut();
        for (std::size_t k = replaced.size(); k-- != 0;) {
            const std::size_t i = replaced[k];
            std::int64_t of_one = of_one_[i];
            for (const link& l : links_[i]) of_one += chosen[l.other] ? -l.to_other : l.from_other;
            chosen[i] = of_one < 0;
        }
        return chosen;
    }

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
    std::pmr::vector<std::size_t> replace_all() {
        std::pmr::vector<std::size_t> order;
        std::pmr::vector<std::size_t> pending(of_one_.size());
        std::iota(pending.rbegin(), pending.rend(), std::size_t{0});
        is_replaced_.assign(of_one_.size(), false);
        while (!pending.empty()) {
            const std::size_t i = pending.back();
            pending.pop_back();
            if (is_replaced_[i] || !has_few_others(i)) continue;
            is_replaced_[i] = true;
            order.push_back(i);
            replace(i);
            for (const link& l : links_[i]) {
                arcs_[l.other] -= l.arcs;
                pending.push_back(l.other);
            }
        }
        return order;
    }
    // Forgets links with what has been replaced, and joins those with the same choice.
    bool has_few_others(std::size_t i) {
        if (arcs_[i] > max_joined) return false;
        std::pmr::vector<link>& links = links_[i];
        std::erase_if(links, [&](const link& l) { return is_replaced_[l.other]; });
        for (std::size_t k = 0; k < links.size(); ++k) {
            for (std::size_t m = links.size(); --m > k;) {
                if (links[m].other != links[k].other) continue;
                links[k].to_other += links[m].to_other;
                links[k].from_other += links[m].from_other;
                links[k].arcs += links[m].arcs;
                links.erase(links.begin() + static_cast<std::ptrdiff_t>(m));
            }
        }
        return links.size() <= max_others;
    }
    // The better alternative, as a cost of the choices that it is linked with.
    void replace(std::size_t i) {
        const std::pmr::vector<link>& links = links_[i];
        const auto least = [&](bool first, bool second) {
            const bool taken[max_others] = {first, second};
            std::int64_t of_zero = 0, of_one = of_one_[i];
            for (std::size_t k = 0; k != links.size(); ++k)
                (taken[k] ? of_zero : of_one) += taken[k] ? links[k].to_other : links[k].from_other;
            return std::min(of_zero, of_one);
        };
        if (links.size() == 1) {
            add(links[0].other, least(true, false) - least(false, false));
        } else if (links.size() == 2) {
            add(links[0].other, links[1].other,
                {{least(false, false), least(false, true)}, {least(true, false), least(true, true)}});
        }
    }

    // --- the others -------------------------------------------------------------------------------

    using traits = boost::adjacency_list_traits<boost::vecS, boost::vecS, boost::directedS>;
    using flow_network = boost::adjacency_list<
        boost::vecS, boost::vecS, boost::directedS,
        boost::property<boost::vertex_index_t, std::size_t,
                        boost::property<boost::vertex_color_t, boost::default_color_type,
                                        boost::property<boost::vertex_distance_t, long,
                                                        boost::property<boost::vertex_predecessor_t,
                                                                        traits::edge_descriptor>>>>,
        boost::property<boost::edge_capacity_t, std::int64_t,
                        boost::property<boost::edge_residual_capacity_t, std::int64_t,
                                        boost::property<boost::edge_reverse_t, traits::edge_descriptor>>>>;

    static void add_arc(flow_network& network, std::size_t from, std::size_t to, std::int64_t capacity) {
        const auto there = boost::add_edge(from, to, network).first;
        const auto back = boost::add_edge(to, from, network).first;
        boost::put(boost::edge_capacity, network, there, capacity);
        boost::put(boost::edge_capacity, network, back, 0);
        boost::put(boost::edge_reverse, network, there, back);
        boost::put(boost::edge_reverse, network, back, there);
    }

    [[nodiscard]] std::pmr::vector<bool> minimum_cut() const {
        std::pmr::vector<bool> chosen(of_one_.size());
        std::pmr::vector<std::size_t> left;
        std::pmr::vector<std::size_t> vertex_of(of_one_.size());
        for (std::size_t i = 0; i != of_one_.size(); ++i) {
            if (is_replaced_[i]) continue;
            vertex_of[i] = left.size();
            left.push_back(i);
        }
        if (left.empty()) return chosen;
        flow_network network(left.size() + 2);
        const std::size_t zero = left.size();  // the source's side
        const std::size_t one = zero + 1;
        for (const std::size_t i : left) {
            if (of_one_[i] > 0) add_arc(network, zero, vertex_of[i], of_one_[i]);
            if (of_one_[i] < 0) add_arc(network, vertex_of[i], one, -of_one_[i]);
            for (const link& l : links_[i]) {
                if (l.to_other > 0 && !is_replaced_[l.other])
                    add_arc(network, vertex_of[i], vertex_of[l.other], l.to_other);
            }
        }
        boost::boykov_kolmogorov_max_flow(network, zero, one);
        const auto side = boost::get(boost::vertex_color, network);
        for (const std::size_t i : left) chosen[i] = boost::get(side, vertex_of[i]) == boost::get(side, one);
        return chosen;
    }

    std::pmr::vector<std::int64_t> of_one_;
    std::pmr::vector<std::pmr::vector<link>> links_;  // each arc is in the lists of both its ends
    std::pmr::vector<std::size_t> arcs_;              // how many there are, without those to what is replaced
    std::pmr::vector<bool> is_replaced_;
};

}  // namespace headrace

#endif
