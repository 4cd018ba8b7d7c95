// SPDX-License-Identifier: MIT
// Defines headrace::binary_choice, the cheapest combination of choices between two alternatives each.
#ifndef HEADRACE_PASSES_LAYOUT_BINARY_CHOICE_HPP
#define HEADRACE_PASSES_LAYOUT_BINARY_CHOICE_HPP

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory_resource>
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
/// Cuts?", 2004), which Boost.Graph finds.
class binary_choice {
public:
    explicit binary_choice(std::size_t choices) : of_one_(choices) {}

    /// Adds to what alternative 1 of a choice costs more than 0; may be negative.
    void add(std::size_t choice, std::int64_t cost) { of_one_[choice] += cost; }
    /// Adds the costs of a pair: `cost[a][b]` if the first is `a` and the second `b`. A cut cannot express
    /// that equal choices cost more than unequal ones; they cost the same then.
    void add(std::size_t first, std::size_t second, const std::int64_t (&cost)[2][2]) {
        of_one_[first] += cost[1][0] - cost[0][0];
        of_one_[second] += cost[1][1] - cost[1][0];
        const std::int64_t apart = cost[0][1] + cost[1][0] - cost[0][0] - cost[1][1];
        if (apart > 0) arcs_.push_back({first, second, apart});
    }

    /// For each choice: is it 1? Among equally cheap combinations, the one with the fewest.
    [[nodiscard]] std::pmr::vector<bool> cheapest() const {
        flow_network network(of_one_.size() + 2);
        const std::size_t zero = of_one_.size();  // the source's side
        const std::size_t one = zero + 1;
        for (std::size_t i = 0; i != of_one_.size(); ++i) {
            if (of_one_[i] > 0) add_arc(network, zero, i, of_one_[i]);
            if (of_one_[i] < 0) add_arc(network, i, one, -of_one_[i]);
        }
        for (const arc& a : arcs_) add_arc(network, a.from, a.to, a.capacity);
        boost::boykov_kolmogorov_max_flow(network, zero, one);
        const auto side = boost::get(boost::vertex_color, network);
        std::pmr::vector<bool> chosen(of_one_.size());
        for (std::size_t i = 0; i != chosen.size(); ++i)
            chosen[i] = boost::get(side, i) == boost::get(side, one);
        return chosen;
    }

private:
    struct arc {
        std::size_t from;
        std::size_t to;
        std::int64_t capacity;
    };
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

    std::pmr::vector<std::int64_t> of_one_;
    std::pmr::vector<arc> arcs_;
};

}  // namespace headrace

#endif
