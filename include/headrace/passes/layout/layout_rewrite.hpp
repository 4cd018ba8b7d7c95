// SPDX-License-Identifier: MIT
// Defines headrace::layout_rewrite, which converts the ops of a graph to the layouts chosen for them.
#ifndef HEADRACE_PASSES_LAYOUT_LAYOUT_REWRITE_HPP
#define HEADRACE_PASSES_LAYOUT_LAYOUT_REWRITE_HPP

#include <algorithm>
#include <map>
#include <memory_resource>
#include <utility>

#include <headrace/base/pmr_vector.hpp>
#include <headrace/ir/edits.hpp>
#include <headrace/pass/driver.hpp>
#include <headrace/passes/layout/computed_axes.hpp>
#include <headrace/passes/layout/computed_matmul.hpp>
#include <headrace/passes/layout/layout_assignment.hpp>

namespace headrace {

/// Rebuilds ops whose layouts have changed, and inserts the transposes that they need. The graph's own
/// RESHAPEs and TRANSPOSEs are dropped: each operand is converted from its stored layout to the one that its
/// reader requires.
class layout_rewrite {
public:
    static constexpr trait works_along = trait::joining | trait::padding | trait::slicing | trait::repeating |
        trait::reversing | trait::reduction;
    using along_axis = ops_where<tosa::dialect, works_along>;
    using produces = joined<build::permute_ops, along_axis, build::matmul_ops, ops<tosa::rescale>>;

    layout_rewrite(graph& g, const layout_assignment& chosen, pass_context& context)
        : g_(&g), chosen_(&chosen), context_(&context), actual_(g.id_bound()) {}

    void run() {
        for (node* n = g_->first(); n != nullptr; n = n->next) {
            if (n->id < actual_.size() && is_affected(*n)) rewrite(*n);
        }
        for (node* n : replaced_) {
            if (chosen_->stored(n->result()).row_major()) g_->replace_all_uses(n->result(), actual_[n->id]);
        }
        for (std::size_t i = replaced_.size(); i-- != 0;) erase_dead(*g_, *replaced_[i]);
    }

private:
    using kind = layout_rules::kind;
    using emitting = emit<produces>;

    [[nodiscard]] bool is_affected(const node& n) const {
        return chosen_->is_changed(n) || std::ranges::any_of(n.operand_edges(), [&](const edge& e) {
            return actual(*e.slot) != *e.slot || !chosen_->stored(*e.slot).row_major();
        });
    }
    [[nodiscard]] value actual(value v) const {
        const bool known = v.result == 0 && v.producer->id < actual_.size() && actual_[v.producer->id];
        return known ? actual_[v.producer->id] : v;
    }

    void rewrite(node& n) {
        emission made(*g_, &n, &n, *context_);
        emitting e(made);
        const kind k = chosen_->kind_of(n);
        const bool moves_axes = k == kind::axes &&
            !(chosen_->stored(n.result()).row_major() && chosen_->demanded(n.operands[0]).row_major());
        if (k == kind::move) {
            replace(e, n, bring(e, n.operands[0], {}));
        } else if (moves_axes) {
            compute_along_axes(e, n);
        } else {
            compute_in_shape(e, n, k);
        }
    }

    // --- conversion of tensors ----------------------------------------------------------

    /// Returns the operand in the layout that its reader requires, and in that shape unless it is empty.
    value bring(emitting& e, const edge& operand, sizes shape) {
        const value moved = moved_to(e, *operand.slot, chosen_->demanded(operand));
        return shape.empty() ? moved : build::reshape(e, moved, shape);
    }
    value moved_to(emitting& e, value v, const layout& wanted) {
        const layout from = chosen_->stored(v);
        if (const auto way = then(inverse(from), wanted)) return moved(e, actual(v), *way);
        return moved(e, moved(e, actual(v), inverse(from)), wanted);
    }
    value moved(emitting& e, value v, const layout& way) {
        if (way.row_major() || !v) return v;
        for (const auto& known : moved_[v.producer->id]) {
            if (known.from == v && known.way == way) return known.to;
        }
        const value to = build::transposed(e, v, way);
        moved_[v.producer->id].push_back({v, way, to});
        return to;
    }
    // Makes `v` the result that `n` is replaced by.
    void replace(emitting& e, node& n, value v) {
        if (!v) return;
        if (chosen_->stored(n.result()).row_major()) {
            v = build::reshape(e, v, n.results[0].meta->shape);
            if (!v) return;
            hand_over_name(n.results[0], v);
        }
        actual_[n.id] = v;
        replaced_.push_back(&n);
    }

    // --- ops that keep their shape ------------------------------------------------------

    void compute_in_shape(emitting& e, node& n, kind k) {
        if (k == kind::matmul || k == kind::matrices) {
            const auto stored = layout_rules::matrices_of(n, chosen_->layouts_now(n));
            if (stored[0].transposed || layout_rules::are_side_by_side(stored)) return multiply(e, n, stored);
        }
        if (k == kind::window || k == kind::pointwise) reorder_weights(e, n);
        if (is<tosa::depthwise_conv2d>(n)) {
            const layout channels = channels_of(chosen_->stored(n.result()), n.results[0].meta->shape);
            reorder(e, n.operands[1], 2, channels);
            reorder(e, n.operands[2], 0, channels);
        }
        if (k == kind::pointwise && !keeps_pixels(n)) return compute_pointwise(e, n);
        for (edge& operand : std::span(n.operands, n.operand_count)) set_operand(e, operand);
    }
    void set_operand(emitting& e, edge& operand) {
        const tensor_meta* meta = meta_of(*operand.slot);
        const node& source = *operand.slot->producer;
        if (meta == nullptr || is<tosa::const_shape>(source) || source.id >= actual_.size()) return;
        const value v = bring(e, operand, meta->shape);
        if (v && v != *operand.slot) g_->set_operand(operand, v);
    }

    [[nodiscard]] bool keeps_pixels(const node& n) const {
        const sizes shape = layout_rules::shape_of(n.operand(0));
        return with_same_channels(chosen_->demanded(n.operands[0]), shape, shape).has_value();
    }
    // Computes a convolution on pixels in the order in which they are stored.
    void compute_pointwise(emitting& e, node& n) {
        value v = bring(e, n.operands[0], {});
        if (!v) return;
        const sizes own = layout_rules::shape_of(n.operand(0));
        const bool fits = e.rank(v) == 4 && e.shape(v)[3] == own[3];
        v = build::reshape(
            e, v, fits ? shape_builder(e.shape(v)) : shape_builder{1, own[0] * own[1] * own[2], 1, own[3]});
        if (!v) return;
        pmr_vector<value> operands{v};
        for (std::size_t i = 1; i != n.operand_count; ++i) operands.push_back(n.operand(i));
        node* made = e.clone(n, operands, [&](tensor_meta& meta) {
            shape_builder shape(e.shape(v));
            shape.back() = meta.shape[3];
            meta = {meta.dtype, int_list(shape), {}};
        });
        if (made != nullptr) replace(e, n, made->result());
    }

    void reorder_weights(emitting& e, node& n) {
        const layout in = channels_of(chosen_->demanded(n.operands[0]), layout_rules::shape_of(n.operand(0)));
        const layout out = channels_of(chosen_->stored(n.result()), n.results[0].meta->shape);
        reorder(e, n.operands[1], meta_of(n.operand(1))->rank() - 1, in);
        reorder(e, n.operands[1], 0, out);
        reorder(e, n.operands[2], 0, out);
    }
    // Reorders a constant parameter along an axis.
    void reorder(emitting& e, edge& operand, std::size_t axis, const layout& l) {
        const shape_builder shape(layout_rules::shape_of(*operand.slot));
        if (l.row_major() || shape[axis] == 1) return;
        const value v = build::reordered(e, *operand.slot, axis, l, shape);
        if (v) g_->set_operand(operand, v);
    }
    void multiply(emitting& e, node& n, const layout_rules::matmul_matrices& stored) {
        args<tosa::matmul> a = args_of<tosa::matmul>(n);
        a.a = bring(e, n.operands[0], build::permuted(meta_of(a.a)->shape, stored[0].order()));
        a.b = bring(e, n.operands[1], build::permuted(meta_of(a.b)->shape, stored[1].order()));
        if (a.a && a.b) replace(e, n, build::matmul_in(e, a, stored));
    }

    // --- ops along axes -----------------------------------------------------------------

    void compute_along_axes(emitting& e, node& n) {
        const layout_rules::axes_of_op op(n);
        const pmr_vector<computed_axis> axes = computed_axes(e, n, op);
        pmr_vector<value> operands;
        for (std::size_t i = 0; i != n.operand_count; ++i) {
            const bool data = i < op.operands.size();
            operands.push_back(data ? bring(e, n.operands[i], computed_shape(axes, op.full, op.operands[i]))
                                    : parameter(e, n, i, op));
        }
        const shape_builder result = computed_shape(axes, op.full, op.result);
        value made{};
        if (n.op->has(works_along)) {
            made = build::along_axes(e, n, operands, axes, op, along_axis{});
        } else if (const auto* rescale = args_if<tosa::rescale>(n);
                   rescale != nullptr && rescale->per_channel && op.trailing == 0) {
            args<tosa::rescale> a = *rescale;  // its channel is no longer the last axis
            a.input = operands[0];
            a.per_channel = false;
            made = e.make<tosa::rescale>(a);
        } else if (node* copy = e.clone(n, operands, [&](tensor_meta& meta) {
                       meta = {meta.dtype, int_list(result), {}};
                   })) {
            made = copy->result();
        }
        replace(e, n, made);
    }
    // Per-channel multipliers are reordered with the channels.
    value parameter(emitting& e, node& n, std::size_t i, const layout_rules::axes_of_op& op) {
        const value v = *n.operands[i].slot;
        if (is<tosa::const_shape>(*v.producer)) return v;
        const auto* rescale = args_if<tosa::rescale>(n);
        if (rescale == nullptr || !rescale->per_channel || meta_of(v)->elements() == 1) {
            return bring(e, n.operands[i], meta_of(v)->shape);
        }
        const layout channels = channels_of(chosen_->stored(n.result()), op.full);
        return channels.row_major() ? v
                                    : build::reordered(e, v, 0, channels, shape_builder(meta_of(v)->shape));
    }

    // Returns the axes in stored order: as few as possible, or those of an operand.
    pmr_vector<computed_axis> computed_axes(emitting& e, node& n, const layout_rules::axes_of_op& op) {
        const pmr_vector<computed_axis> runs = merged_axes(op, layout_of_full(n, op));
        const reference like = find_reference(e, n, op);
        if (like.shape.empty()) return runs;
        return as_fine_as(runs, like.shape, computed_shape(runs, op.full, op.operands[like.operand]),
            (op.trailing & ~op.whole) != 0);
    }
    // Returns the layout of the tensor that has all axes.
    [[nodiscard]] layout layout_of_full(node& n, const layout_rules::axes_of_op& op) const {
        if (op.result == op.full) return chosen_->stored(n.result());
        const auto at = std::ranges::find(op.operands, op.full) - op.operands.begin();
        return at != std::ssize(op.operands) ? chosen_->demanded(n.operands[at]) : layout();
    }
    // The operand whose axes the op uses: preferably one with all axes, then one that needs no transpose.
    struct reference {
        shape_builder shape;  ///< after its transpose; empty if there is no suitable operand
        std::size_t operand = 0;
    };
    reference find_reference(emitting& e, const node& n, const layout_rules::axes_of_op& op) {
        reference best;
        int best_rank = -1;
        for (std::size_t i = 0; i != op.operands.size(); ++i) {
            const edge& operand = n.operands[i];
            if (is<builtin::constant>(*operand.slot->producer)) continue;
            const value v = bring(e, operand, {});
            if (!v) continue;
            const int rank = 2 * (op.operands[i] == op.full) + (v == actual(*operand.slot));
            if (rank > best_rank) best = {shape_builder(e.shape(v)), i};
            best_rank = std::max(rank, best_rank);
        }
        return best;
    }
    struct known_move {
        value from;
        layout way;
        value to;
    };
    graph* g_;
    const layout_assignment* chosen_;
    pass_context* context_;
    pmr_vector<value> actual_;  // by node id: the value that replaces its result; empty if it is not replaced
    std::pmr::map<std::uint32_t, pmr_vector<known_move>>
        moved_;  // by the id of the node whose result was converted
    pmr_vector<node*> replaced_;
};

}  // namespace headrace

#endif
