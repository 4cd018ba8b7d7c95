// SPDX-License-Identifier: MIT
// Defines the members of headrace::fold_weights.

#include <headrace/quantization/fold_weights.hpp>

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include <headrace/base/pmr_vector.hpp>
#include <headrace/eval/evaluator.hpp>
#include <headrace/ir/purity.hpp>
#include <headrace/quantization/replacements.hpp>

namespace headrace {

namespace {

class weight_folding {
public:
    explicit weight_folding(graph& g)
        : graph_(g), derived_(g.id_bound()), wanted_(g.id_bound()), results_(g.id_bound()) {}

    std::size_t fold() {
        find_derived();
        find_wanted();
        compute();
        return replace();
    }

private:
    static bool is_layer(const node& n) { return set_of<fold_weights::layers>.contains(*n.op); }

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
                const tensor& weight = results_[e.source->id][e.slot->result];
                replace_with_constant(graph_, e,
                    [&](std::span<std::byte> data) { std::ranges::copy(weight.bytes(), data.begin()); });
                ++replaced;
            }
        }
        return replaced;
    }

    graph& graph_;
    pmr_vector<bool> derived_;  // by node id, as are the members below
    pmr_vector<bool> wanted_;
    pmr_vector<std::vector<tensor>> results_;
};

}  // namespace

result<std::size_t> fold_weights::operator()(graph& g, pass_context&) const {
    return weight_folding(g).fold();
}

}  // namespace headrace
