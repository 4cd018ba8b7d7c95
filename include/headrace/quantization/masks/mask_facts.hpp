// SPDX-License-Identifier: MIT
// Defines headrace::mask_facts: where numbers that stand for infinity come from on their way to a softmax.
#ifndef HEADRACE_QUANTIZATION_MASKS_MASK_FACTS_HPP
#define HEADRACE_QUANTIZATION_MASKS_MASK_FACTS_HPP

#include <cstdint>
#include <vector>

#include <headrace/dialect/aten.hpp>
#include <headrace/eval/evaluator.hpp>
#include <headrace/ir/purity.hpp>
#include <headrace/quantization/masks/seen_numbers.hpp>

namespace headrace {

/// Facts about the values that lead to nodes where masks take effect, such as softmax. They are followed back
/// through ops that compute element by element or only move elements, up to values computed from constants,
/// inputs and all other ops. Nodes that are made later are known to be ordinary.
class mask_facts {
public:
    /// Whether an infinity in a node's first operand takes effect there. Values on the way to the node are
    /// observed on samples if it is `of_samples`, or if it is `of_constants` and constants show that there
    /// may be an infinity.
    enum class end : std::uint8_t { none, of_constants, of_samples };

    mask_facts(const graph& g, end (*end_of)(const node&));

    /// Returns the values to be observed on samples; empty if constants show that no number can stand for
    /// infinity.
    [[nodiscard]] std::vector<seen_value> values_to_see() const;
    void set_seen(value v, seen_numbers numbers);
    [[nodiscard]] const seen_numbers& seen(value v) const;

    /// Returns the elements of a value computed from constants only; null for other values.
    [[nodiscard]] const tensor* constant(value v) const;
    /// True if an element of the value may stand for infinity, judging by the constants that it is computed
    /// from or by the samples.
    [[nodiscard]] bool may_mask(value v) const {
        return v.producer->id < facts_.size() && facts_[v.producer->id].may_mask;
    }
    [[nodiscard]] static bool is_cast(const node& n) {
        return n.operand_count != 0 && (n.op->has(trait::casting) || is<aten::_to_copy>(n));
    }
    /// True if the node's result consists of elements of its float operands, moved.
    [[nodiscard]] static bool moves(const node& n) {
        return n.op->has(trait::moving | trait::gathering) || set_of<moving_ops>.contains(*n.op);
    }

private:
    using moving_ops = ops<aten::copy, aten::roll, aten::slice_scatter, aten::select_scatter, aten::index_put,
        aten::index_copy, aten::dropout>;
    using followed_ops = ops<aten::amax, aten::amin, aten::max_dim, aten::min_dim>;
    using unbounded_ops = ops<aten::log, aten::log2, aten::log10, aten::log1p, aten::logit, aten::reciprocal,
        aten::rsqrt, aten::div_tensor, aten::pow_tensor_scalar>;
    struct fact {
        bool is_derived = false;  // from constants only
        bool is_wanted = false;   // on the way to an end
        bool is_asked = false;    // on the way to an end that needs samples
        bool may_mask = false;
    };

    [[nodiscard]] static bool is_number(dtype t) {
        return t == dtype::float32 || is_integral(t) || is_boolean(t);
    }
    [[nodiscard]] static bool is_followed(const node& n) {
        return n.op->has(trait::elementwise) || is_cast(n) || moves(n) ||
            set_of<followed_ops>.contains(*n.op);
    }
    [[nodiscard]] bool is_derived(const node& n) const;
    template <class Ends>
    void walk_back(bool fact::*mark, const Ends& ends) {
        for (const node* n = graph_.last(); n != nullptr; n = n->previous) {
            if (ends(*n)) facts_[n->operands[0].source->id].*mark = true;
            const fact& own = facts_[n->id];
            if (!(own.*mark) || !(own.is_derived || is_followed(*n))) continue;
            for (const edge& e : n->operand_edges()) facts_[e.source->id].*mark = true;
        }
    }

    // Nodes without a kernel and very large ones stay unknown, as do nodes that depend on them.
    void compute(const node& n);

    [[nodiscard]] bool may_mask(const node& n) const;

    const graph& graph_;
    std::vector<fact> facts_;                     // by node id, as are the members below
    std::vector<std::vector<tensor>> constants_;  // by result
    std::vector<std::vector<seen_numbers>> seen_;
};

}  // namespace headrace

#endif
