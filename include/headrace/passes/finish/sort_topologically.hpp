// SPDX-License-Identifier: MIT
// Defines headrace::sort_topologically.
#ifndef HEADRACE_PASSES_FINISH_SORT_TOPOLOGICALLY_HPP
#define HEADRACE_PASSES_FINISH_SORT_TOPOLOGICALLY_HPP

#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <vector>

#include <headrace/ir/regions.hpp>
#include <headrace/pass/driver.hpp>
#include <headrace/passes/finish/memory_order.hpp>
#include <headrace/passes/properties.hpp>

namespace headrace {

/// The order is that in which a depth-first search from the outputs leaves the nodes, inputs first, unless
/// another one is found in which tensors need less memory (passes/finish/memory_order.hpp). It depends on the
/// edges and sizes alone. The order in which handlers make nodes does not: C++ does not specify which
/// argument of a call is evaluated first, and compilers differ. What the order needs is noted at the output.
struct sort_topologically : pass {
    using ensures = pass_list<nodes_sorted>;
    static constexpr std::string_view summary =
        "puts nodes in an order that depends only on the graph, and needs little memory";
    static constexpr bool repeatable = true;

    result<std::size_t> operator()(graph& g, pass_context&) const {
        for_each_graph(g, [](graph& sub) { sort(sub); });
        return 0;
    }

private:
    // Leaves nodes in the order of a depth-first search, inputs first. Edges are read into an array before:
    // the search itself would fetch each node of a large graph from memory twice.
    class search {
    public:
        explicit search(const graph& g) : numbers_(g.id_bound()) {
            for (node& n : g.nodes()) {
                numbers_[n.id] = static_cast<std::uint32_t>(nodes_.size());
                nodes_.push_back(&n);
            }
            for (const node* n : nodes_) {
                first_sources_.push_back(static_cast<std::uint32_t>(sources_.size()));
                for (const edge& e : n->operand_edges()) sources_.push_back(numbers_[e.source->id]);
            }
            first_sources_.push_back(static_cast<std::uint32_t>(sources_.size()));
            begin(g);
        }

        /// Forgets what was visited, but for the inputs, which come first.
        void begin(const graph& g) {
            visited_.assign(nodes_.size(), false);
            order_.clear();
            for (const node& input : g.inputs()) visit(input);
        }
        void visit(const node& root) {
            if (visited_[numbers_[root.id]]) return;
            path_ = {{numbers_[root.id], first_sources_[numbers_[root.id]]}};
            while (!path_.empty()) {
                auto& [at, next] = path_.back();
                if (next == first_sources_[at + 1]) {
                    visited_[at] = true;
                    order_.push_back(at);
                    path_.pop_back();
                } else if (const std::uint32_t source = sources_[next++]; !visited_[source]) {
                    path_.push_back({source, first_sources_[source]});
                }
            }
        }
        void visit_all() {
            for (const node* n : nodes_) visit(*n);
        }
        /// Puts all nodes in the order in which they were visited; `end` stays the last.
        void arrange(graph& g, node* end) const {
            const node* next = g.first();
            std::size_t in_place = 0;
            if (order_.size() != nodes_.size()) next = nullptr;  // those that were not visited come first
            while (in_place != order_.size() && nodes_[order_[in_place]] == next) {
                ++in_place;
                next = next->next;
            }
            for (; in_place != order_.size(); ++in_place) {
                node& n = *nodes_[order_[in_place]];
                if (&n != end) g.move_before(n, end);
            }
        }

    private:
        struct step {
            std::uint32_t at;
            std::uint32_t next_source;
        };
        std::pmr::vector<std::uint32_t> numbers_;  // by id
        std::pmr::vector<node*> nodes_;
        std::pmr::vector<std::uint32_t> first_sources_;
        std::pmr::vector<std::uint32_t> sources_;
        std::pmr::vector<bool> visited_;
        std::pmr::vector<step> path_;
        std::pmr::vector<std::uint32_t> order_;
    };

    static void sort(graph& g) {
        node* const end = g.output();
        if (end == nullptr) return;
        search nodes(g);
        nodes.visit(*end);
        nodes.visit_all();  // those that no output needs, such as writes of variables, keep their order
        nodes.arrange(g, end);
        memory_order order(g);
        if (order.improve()) {
            nodes.begin(g);
            for (const node* n : order.nodes()) nodes.visit(*n);
            nodes.visit(*end);
            nodes.arrange(g, end);
        }
        if (order.is_free()) g.annotate(*end, order.need());
    }
};
HEADRACE_COMPILED_PASS(sort_topologically);

}  // namespace headrace

#endif
