// SPDX-License-Identifier: MIT
// Defines the last passes: headrace::ensure_distinct_outputs and headrace::sort_topologically.
#ifndef HEADRACE_PASSES_FINISH_FINISH_HPP
#define HEADRACE_PASSES_FINISH_FINISH_HPP

#include <string>
#include <unordered_set>

#include <headrace/infer/tosa.hpp>
#include <headrace/ir/regions.hpp>
#include <headrace/ir/signature.hpp>
#include <headrace/memory/memory_order.hpp>
#include <headrace/pass/driver.hpp>
#include <headrace/passes/properties.hpp>

namespace headrace {

/// Makes outputs distinct, as a TOSA block requires (TOSA 1.0, 2.13.2).
struct ensure_distinct_outputs : pass {
    using runs_after = pass_list<tosa_only>;
    using ensures = pass_list<distinct_outputs>;
    using invalidates = pass_list<nodes_sorted>;
    static constexpr std::string_view summary =
        "copies outputs that are inputs, constants or listed twice, with IDENTITY";

    using produces = ops<tosa::identity>;

    result<std::size_t> operator()(graph& g, pass_context& context) const {
        return sum_over_graphs(g, [&](graph& sub) { return separate(sub, context); });
    }

private:
    static std::size_t separate(graph& g, pass_context& context) {
        node* out = g.output();
        if (out == nullptr) return 0;
        std::size_t added = 0;
        emission made(g, out, out, context);
        emit<produces> e(made);
        std::span<edge> outputs(out->operands, out->operand_count);
        for (std::size_t i = 0; i != outputs.size(); ++i) {
            const value v = *outputs[i].slot;
            bool shared = is<builtin::placeholder>(*v.producer) || is<builtin::constant>(*v.producer);
            for (std::size_t k = 0; k != i; ++k) shared = shared || *outputs[k].slot == v;
            if (!shared || meta_of(v) == nullptr) continue;
            const value own = e.make<tosa::identity>(v);
            if (!own) continue;
            g.inherit_annotations(*own.producer, *v.producer);
            g.set_operand(outputs[i], own);
            ++added;
        }
        if (added != 0) name_apart(g, *out);
        return added;
    }
    // A value listed twice may have one name; two values may not share one.
    static void name_apart(graph& g, node& out) {
        const auto* exported = out.find_annotation<output_names>();
        if (exported == nullptr) return;
        std::pmr::unordered_set<std::string_view> used(exported->names.begin(), exported->names.end());
        std::pmr::unordered_set<std::string_view> given;
        pmr_vector<std::string_view> names(exported->names.begin(), exported->names.end());
        bool changed = false;
        for (std::string_view& name : names) {
            if (name.empty() || given.insert(name).second) continue;
            std::pmr::string numbered;
            std::size_t count = 0;
            do numbered = text_of({name, "_", ++count});
            while (used.contains(numbered));
            name = g.own(numbered);
            used.insert(name);
            given.insert(name);
            changed = true;
        }
        if (changed) g.annotate(out, output_names{g.own(list<std::string_view>(names))});
    }
};
HEADRACE_COMPILED_PASS(ensure_distinct_outputs);

/// Sorts nodes in the postorder of a depth-first search from the outputs, inputs first, unless an order is
/// found in which tensors need less memory (memory/memory_order.hpp). The order depends on edges and
/// sizes only. The order in which handlers make nodes does not: C++ does not specify which argument of a call
/// is evaluated first, and compilers differ. The memory that the order needs is recorded as an annotation of
/// the output. An output with the annotation any_memory_order asks for the postorder, which is faster.
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
    // Depth-first search in postorder, inputs first. Edges are copied to an array first: searching the graph
    // itself would fetch each node of a large graph from memory twice.
    class search {
        using numbers = pmr_vector<std::uint32_t>;
        struct step {
            std::uint32_t at;
            std::uint32_t next_source;
        };

    public:
        explicit search(const graph& g) : numbers_(g.id_bound()) {
            nodes_.reserve(g.size());
            arranged_.reserve(g.size());
            first_sources_.reserve(g.size() + 1);
            sources_.reserve(2 * g.size());
            for (node& n : g.nodes()) {
                numbers_[n.id] = static_cast<std::uint32_t>(nodes_.size());
                arranged_.push_back(numbers_[n.id]);
                nodes_.push_back(&n);
                first_sources_.push_back(static_cast<std::uint32_t>(sources_.size()));
                // Operands precede their users, so they already have numbers.
                for (const edge& e : n.operand_edges()) sources_.push_back(numbers_[e.source->id]);
            }
            first_sources_.push_back(static_cast<std::uint32_t>(sources_.size()));
            begin(g);
        }

        /// Resets the search, and visits the inputs, which come first.
        void begin(const graph& g) {
            visited_.assign(nodes_.size(), false);
            order_.clear();
            for (const node& input : g.inputs()) visit(input);
        }
        void visit(const node& root) { visit(numbers_[root.id]); }
        void visit_all() {
            for (std::uint32_t i = 0; i != nodes_.size(); ++i) visit(i);
        }
        /// Puts nodes in the order in which they were visited, after unvisited ones; `end` stays last.
        void arrange(graph& g, const node& end) {
            const std::uint32_t last = numbers_[end.id];
            numbers arranged;
            arranged.reserve(nodes_.size());
            const auto add_if = [&](const numbers& from, const auto& is_wanted) {
                for (const std::uint32_t i : from) {
                    if (i != last && is_wanted(i)) arranged.push_back(i);
                }
            };
            add_if(arranged_, [&](std::uint32_t i) { return !visited_[i]; });
            add_if(order_, [](std::uint32_t) { return true; });
            arranged.push_back(last);
            if (arranged == arranged_) return;
            arranged_ = std::move(arranged);
            pmr_vector<node*> order;
            order.reserve(nodes_.size());
            for (const std::uint32_t i : arranged_) order.push_back(nodes_[i]);
            g.reorder(order);
        }

    private:
        void visit(std::uint32_t root) {
            if (visited_[root]) return;
            path_ = {{root, first_sources_[root]}};
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

        numbers numbers_;  // by id
        pmr_vector<node*> nodes_;
        numbers arranged_;  // the current order of the nodes
        numbers first_sources_;
        numbers sources_;
        pmr_vector<bool> visited_;
        pmr_vector<step> path_;
        numbers order_;
    };

    static void sort(graph& g) {
        node* const end = g.output();
        if (end == nullptr) return;
        search nodes(g);
        nodes.visit(*end);
        nodes.visit_all();  // nodes that no output needs, such as writes of variables, keep their order
        nodes.arrange(g, *end);
        if (end->find_annotation<any_memory_order>() != nullptr) return;
        memory_order order(g);
        if (order.improve()) {
            nodes.begin(g);
            for (const node* n : order.nodes()) nodes.visit(*n);
            nodes.visit(*end);
            nodes.arrange(g, *end);
        }
        if (order.is_free()) g.annotate(*end, order.need());
    }
};
HEADRACE_COMPILED_PASS(sort_topologically);

}  // namespace headrace

#endif
