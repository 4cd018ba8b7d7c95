// SPDX-License-Identifier: MIT
// Defines headrace::sort_topologically.
#ifndef HEADRACE_PASSES_FINISH_SORT_TOPOLOGICALLY_HPP
#define HEADRACE_PASSES_FINISH_SORT_TOPOLOGICALLY_HPP

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
    static void sort(graph& g) {
        node* const end = g.output();
        if (end == nullptr) return;
        std::pmr::vector<bool> placed(g.id_bound());
        const auto place = [&](node& n) {
            placed[n.id] = true;
            if (&n != end) g.move_before(n, end);
        };
        for (node& input : g.inputs()) place(input);
        visit(*end, placed, place);
        // Nodes that no output needs, such as writes of variables, keep their order.
        std::pmr::vector<node*> rest;
        for (node& n : g.nodes()) {
            if (!placed[n.id]) rest.push_back(&n);
        }
        for (node* n : rest) visit(*n, placed, place);
        memory_order order(g);
        if (order.improve()) {
            placed.assign(placed.size(), false);
            for (node& input : g.inputs()) place(input);
            for (node* n : order.nodes()) visit(*n, placed, place);
            visit(*end, placed, place);
        }
        if (order.is_free()) g.annotate(*end, order.need());
    }

    template <class Place>
    static void visit(node& root, const std::pmr::vector<bool>& placed, Place&& place) {
        struct step {
            node* at;
            std::uint32_t next_operand;
        };
        std::pmr::vector<step> path{{&root, 0}};
        while (!path.empty()) {
            auto& [at, next] = path.back();
            if (next == at->operand_count) {
                place(*at);
                path.pop_back();
            } else if (node* source = at->operands[next++].source; !placed[source->id]) {
                path.push_back({source, 0});
            }
        }
    }
};
HEADRACE_COMPILED_PASS(sort_topologically);

}  // namespace headrace

#endif
