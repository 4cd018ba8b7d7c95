// SPDX-License-Identifier: MIT
// Defines the functions of passes/layout/binary_choice.hpp.
#ifndef HEADRACE_PASSES_LAYOUT_BINARY_CHOICE_DEFINITION_HPP
#define HEADRACE_PASSES_LAYOUT_BINARY_CHOICE_DEFINITION_HPP

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>

#include <boost/graph/adjacency_list.hpp>
// g++ warns about iterators that boost::tie does initialize.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
#include <boost/graph/boykov_kolmogorov_max_flow.hpp>
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif

#include <headrace/base/compiled.hpp>
#include <headrace/base/pmr_vector.hpp>

namespace headrace {

namespace detail {

// A network of arcs with capacities, whose maximum flow Boost.Graph finds.
class flow_network {
public:
    explicit flow_network(std::size_t vertices) : graph_(vertices) {}

    void add_arc(std::size_t from, std::size_t to, std::int64_t capacity) {
        const auto there = boost::add_edge(from, to, {capacity, 0, {}}, graph_).first;
        const auto back = boost::add_edge(to, from, {}, graph_).first;
        graph_[there].reverse = back;
        graph_[back].reverse = there;
    }

    // Returns the smallest sink side of a minimum cut: the vertices from which arcs with residual capacity
    // lead to the sink, which are the same for each maximum flow.
    pmr_vector<bool> sink_side(std::size_t source, std::size_t sink) {
        const std::size_t vertices = boost::num_vertices(graph_);
        pmr_vector<edge_type> predecessors(vertices);
        pmr_vector<boost::default_color_type> colors(vertices, boost::default_color_type{});
        pmr_vector<long> distances(vertices);
        boost::boykov_kolmogorov_max_flow(graph_, boost::get(&arc::capacity, graph_),
            boost::get(&arc::rest, graph_), boost::get(&arc::reverse, graph_), predecessors.data(),
            colors.data(), distances.data(), boost::get(boost::vertex_index, graph_), source, sink);
        pmr_vector<bool> side(vertices);
        side[sink] = true;
        pmr_vector<std::size_t> reached{sink};
        for (std::size_t k = 0; k != reached.size(); ++k) {
            const auto [first, last] = boost::out_edges(reached[k], graph_);
            for (auto e = first; e != last; ++e) {
                const std::size_t from = boost::target(*e, graph_);
                if (side[from] || graph_[graph_[*e].reverse].rest == 0) continue;
                side[from] = true;
                reached.push_back(from);
            }
        }
        return side;
    }

private:
    using edge_type =
        boost::adjacency_list_traits<boost::vecS, boost::vecS, boost::directedS>::edge_descriptor;
    struct arc {
        std::int64_t capacity = 0;
        std::int64_t rest = 0;
        edge_type reverse{};
    };
    boost::adjacency_list<boost::vecS, boost::vecS, boost::directedS, boost::no_property, arc> graph_;
};

}  // namespace detail

HEADRACE_INLINE pmr_vector<bool> binary_choice::cheapest() && {
    const pmr_vector<std::size_t> replaced = replace_all();
    pmr_vector<bool> chosen = minimum_cut();
    for (std::size_t k = replaced.size(); k-- != 0;) {
        const std::size_t i = replaced[k];
        std::int64_t of_one = of_one_[i];
        for (const link& l : links_[i]) of_one += chosen[l.other] ? -l.to_other : l.from_other;
        chosen[i] = of_one < 0;
    }
    return chosen;
}

HEADRACE_INLINE pmr_vector<std::size_t> binary_choice::replace_all() {
    pmr_vector<std::size_t> order;
    pmr_vector<std::size_t> pending(of_one_.size());
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

HEADRACE_INLINE bool binary_choice::has_few_others(std::size_t i) {
    if (arcs_[i] > max_joined) return false;
    pmr_vector<link>& links = links_[i];
    erase_if(links, [&](const link& l) { return is_replaced_[l.other]; });
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

HEADRACE_INLINE void binary_choice::replace(std::size_t i) {
    const pmr_vector<link>& links = links_[i];
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

HEADRACE_INLINE pmr_vector<bool> binary_choice::minimum_cut() const {
    pmr_vector<bool> chosen(of_one_.size());
    pmr_vector<std::size_t> left;
    pmr_vector<std::size_t> vertex_of(of_one_.size());
    for (std::size_t i = 0; i != of_one_.size(); ++i) {
        if (is_replaced_[i]) continue;
        vertex_of[i] = left.size();
        left.push_back(i);
    }
    if (left.empty()) return chosen;
    detail::flow_network network(left.size() + 2);
    const std::size_t zero = left.size();  // the source
    const std::size_t one = zero + 1;
    for (const std::size_t i : left) {
        if (of_one_[i] > 0) network.add_arc(zero, vertex_of[i], of_one_[i]);
        if (of_one_[i] < 0) network.add_arc(vertex_of[i], one, -of_one_[i]);
        for (const link& l : links_[i]) {
            if (l.to_other > 0 && !is_replaced_[l.other])
                network.add_arc(vertex_of[i], vertex_of[l.other], l.to_other);
        }
    }
    const pmr_vector<bool> side = network.sink_side(zero, one);
    for (const std::size_t i : left) chosen[i] = side[vertex_of[i]];
    return chosen;
}

}  // namespace headrace

#endif
