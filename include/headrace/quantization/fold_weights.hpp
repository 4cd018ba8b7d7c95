// SPDX-License-Identifier: MIT
// Defines headrace::fold_weights.
#ifndef HEADRACE_QUANTIZATION_FOLD_WEIGHTS_HPP
#define HEADRACE_QUANTIZATION_FOLD_WEIGHTS_HPP

#include <algorithm>
#include <cstddef>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <headrace/base/pmr_vector.hpp>
#include <headrace/eval/evaluator.hpp>
#include <headrace/ir/purity.hpp>
#include <headrace/pass/pass.hpp>
#include <headrace/quantization/fold_batch_norms.hpp>

namespace headrace {

/// Computes weights that a model derives from constants, by weight_norm, a scale or a merged adapter, so that
/// they are quantized as weights, with a scale per channel. Other constant subgraphs are left as they are.
struct fold_weights : pass {
    static constexpr std::string_view summary = "computes weights and biases that are derived from constants";
    using layers = joined<fold_batch_norms::layers, ops<aten::convolution>>;
    using produces = ops<builtin::constant>;

    result<std::size_t> operator()(graph& g, pass_context&) const { return run(g).fold(); }

private:
    class run {
    public:
        explicit run(graph& g)
            : graph_(g), derived_(g.id_bound()), wanted_(g.id_bound()), results_(g.id_bound()) {}

        std::size_t fold() {
            find_derived();
            find_wanted();
            compute();
            return replace();
        }

    private:
        static bool is_layer(const node& n) { return set_of<layers>.contains(*n.op); }

        // Finds nodes that depend on constants only.
        void find_derived() {
            for (const node& n : graph_.nodes()) {
                const auto edges = n.operand_edges();
                const bool from_constants = !edges.empty() &&
                    std::all_of(
                        edges.begin(), edges.end(), [&](const edge& e) { return derived_[e.source->id]; });
                derived_[n.id] = is<builtin::constant>(n) || (from_constants && is_pure(n));
            }
        }
        bool is_computed_weight(const node& layer, const edge& e) const {
            return is_layer(layer) && e.operand != 0 && derived_[e.source->id] &&
                !is<builtin::constant>(*e.source);
        }
        void find_wanted() {
            for (const node* n = graph_.last(); n != nullptr; n = n->previous) {
                for (const edge& e : n->operand_edges()) {
                    if (wanted_[n->id] || is_computed_weight(*n, e)) wanted_[e.source->id] = true;
                }
            }
        }
        // Nodes without a kernel are kept, and so are nodes that depend on them.
        void compute() {
            for (const node& n : graph_.nodes()) {
                if (wanted_[n.id]) compute(n);
            }
        }
        void compute(const node& n) {
            std::vector<tensor> operands;
            for (const edge& e : n.operand_edges()) {
                const std::vector<tensor>& given = results_[e.source->id];
                if (given.empty()) return;
                operands.push_back(given[e.slot->result]);
            }
            if (auto computed = evaluate_node(n, operands)) results_[n.id] = std::move(computed).value();
        }
        std::size_t replace() {
            std::size_t replaced = 0;
            for (node& n : graph_.nodes()) {
                for (edge& e : std::span(n.operands, n.operand_count)) {
                    if (!is_computed_weight(n, e) || results_[e.source->id].empty()) continue;
                    graph_.set_operand(e, constant_of(n, e));
                    ++replaced;
                }
            }
            return replaced;
        }
        value constant_of(node& layer, const edge& e) {
            const value old = *e.slot;
            const tensor& numbers = results_[e.source->id][e.slot->result];
            const value made = create_constant(graph_, *meta_of(old), &layer,
                [&](std::span<std::byte> data) { std::ranges::copy(numbers.bytes(), data.begin()); });
            graph_.set_name(made, old.producer->results[old.result].name);
            graph_.inherit_annotations(*made.producer, *old.producer);
            return made;
        }

        graph& graph_;
        pmr_vector<bool> derived_;  // by node id, as are the members below
        pmr_vector<bool> wanted_;
        pmr_vector<std::vector<tensor>> results_;
    };
};
HEADRACE_COMPILED_PASS(fold_weights);

}  // namespace headrace

#endif
