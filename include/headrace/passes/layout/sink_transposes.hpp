// SPDX-License-Identifier: MIT
// Defines headrace::sink_transposes.
#ifndef HEADRACE_PASSES_LAYOUT_SINK_TRANSPOSES_HPP
#define HEADRACE_PASSES_LAYOUT_SINK_TRANSPOSES_HPP

#include <span>
#include <utility>
#include <vector>

#include <headrace/pass/driver.hpp>
#include <headrace/passes/support/permuting.hpp>

namespace headrace {

/// An elementwise operator of transposed operands is the transposed operator: f(T(x), T(y)) = T(f(x, y)). So
/// a TRANSPOSE moves past it toward the one that undoes it, with which fuse_transposes joins it. All operands
/// must be transposed alike and have no other use, or only uses past which they move as well; constants among
/// them are transposed back, which folding computes, and those of one element are only reshaped, if at all.
/// CONCAT, REVERSE and the reductions let a TRANSPOSE past, too: their axis is another then.
struct sink_transposes : pass {
    using along_axis = ops<tosa::concat, tosa::reverse, tosa::reduce_sum, tosa::reduce_max, tosa::reduce_min,
                           tosa::reduce_any, tosa::reduce_all, tosa::reduce_product>;
    using produces = joined<build::permute_ops, build::reshape_ops, along_axis>;

    result<std::size_t> operator()(graph& g, pass_context& context) const {
        std::size_t moved = 0;
        detail::for_each_graph(g, [&](graph& sub) {
            for (node* n = sub.first(); n != nullptr; n = n->next) {
                if (is_elementwise(*n)) {
                    moved += sink_past(sub, *n, context);
                } else if (is_any(*n, along_axis{})) {
                    node* made = sink_along(sub, *n, context, along_axis{});
                    moved += made != nullptr;
                    if (made != nullptr) n = made;
                }
            }
        });
        return moved;
    }

private:
    using elementwise =
        ops<tosa::clamp, tosa::erf, tosa::sigmoid, tosa::tanh, tosa::add, tosa::maximum, tosa::minimum,
            tosa::mul, tosa::pow, tosa::sub, tosa::logical_and, tosa::logical_or, tosa::logical_xor,
            tosa::abs, tosa::ceil, tosa::cos, tosa::exp, tosa::floor, tosa::log, tosa::logical_not,
            tosa::negate, tosa::reciprocal, tosa::rsqrt, tosa::sin, tosa::select, tosa::equal, tosa::greater,
            tosa::greater_equal, tosa::cast, tosa::rescale, tosa::table>;
    template <class... Ops>
    static bool is_any(const node& n, ops<Ops...>) {
        return (is<Ops>(n) || ...);
    }
    static bool is_elementwise(const node& n) {
        const auto* rescale = args_if<tosa::rescale>(n);
        if (rescale != nullptr && rescale->per_channel) return false;  // its channels are the last axis
        return is_any(n, elementwise{}) && n.results[0].meta.has_value();
    }

    // Zero points, shifts and other operands of one element and rank 1 do not belong to the elements.
    static bool is_aside(const node& n, const edge& e) {
        const tensor_meta* meta = meta_of(*e.slot);
        return meta != nullptr && meta->rank() != n.results[0].meta->rank();
    }
    static bool is_constant(value v) { return is<builtin::constant>(*v.producer); }

    // The op with its axis before the transpose, which then follows; null where its operands do not allow it.
    template <class... Ops>
    static node* sink_along(graph& g, node& n, pass_context& context, ops<Ops...>) {
        const args<tosa::transpose>* first = nullptr;
        std::vector<value> operands;
        for (const edge& e : n.operand_edges()) {
            const auto* t = match<tosa::transpose>(*e.slot);
            if (t == nullptr || !may_sink_into(*e.slot, n) || (first != nullptr && t->perms != first->perms))
                return nullptr;
            first = t;
            operands.push_back(t->input1);
        }
        if (first == nullptr) return nullptr;
        emit<produces> e(g, &n, &n, context);
        value made{};
        static_cast<void>(((is<Ops>(n) && (made = along<Ops>(e, n, operands, first->perms), true)) || ...));
        if (!made) return nullptr;
        const value transposed = build::transpose(e, made, first->perms);
        detail::hand_over_name(n.results[0], transposed);
        g.replace_all_uses(n.result(), transposed);
        detail::erase_dead(g, n);
        return transposed.producer;
    }
    template <class Op>
    static value along(emit<produces>& e, const node& n, const std::vector<value>& operands,
                       const int_list& perms) {
        args<Op> a = args_of<Op>(n);
        a.axis = perms[static_cast<std::size_t>(a.axis)];
        if constexpr (std::is_same_v<Op, tosa::concat>) {
            a.input1 = list<value>(operands);
        } else if constexpr (requires { a.input1; }) {
            a.input1 = operands[0];
        } else {
            a.input = operands[0];
        }
        return e.make<Op>(a);
    }

    static bool sink_past(graph& g, node& n, pass_context& context) {
        const args<tosa::transpose>* first = nullptr;
        for (const edge& e : n.operand_edges()) {
            if (is_aside(n, e) || is_constant(*e.slot)) continue;
            const auto* t = match<tosa::transpose>(*e.slot);
            if (t == nullptr || !may_sink_into(*e.slot, n) || (first != nullptr && t->perms != first->perms))
                return false;
            first = t;
        }
        if (first == nullptr) return false;
        const shape_builder perms(first->perms);
        emit<produces> e(g, &n, &n, context);
        for (edge& operand : std::span(n.operands, n.operand_count)) {
            if (is_aside(n, operand)) continue;
            const value v = *operand.slot;
            const auto* t = match<tosa::transpose>(v);
            g.set_operand(operand, t != nullptr ? t->input1 : build::permute(e, v, build::inverse(perms)));
            detail::erase_dead(g, *v.producer);
        }
        transpose_result(g, n, perms, context);
        return true;
    }
    // Or where the transpose is undone, or sinks as well.
    static bool may_sink_into(value v, const node& n) {
        for (const edge& e : v.producer->uses()) {
            const node& user = *e.target;
            if (&user != &n && !is<tosa::transpose>(user) && !is_elementwise(user) &&
                !is_any(user, along_axis{}))
                return false;
        }
        return true;
    }
    static void transpose_result(graph& g, node& n, const shape_builder& perms, pass_context& context) {
        const tensor_meta old = *n.results[0].meta;
        const shape_builder shape = build::permuted(old.shape, build::inverse(perms));
        g.set_meta(n.result(), {old.dtype, int_list(shape), {}});
        emit<produces> e(g, &n, n.next, context);
        const value transposed = build::transpose(e, n.result(), perms);
        g.replace_all_uses(n.result(), transposed, transposed.producer);
        std::swap(transposed.producer->results[0].name, n.results[0].name);
    }
};

}  // namespace headrace

#endif
