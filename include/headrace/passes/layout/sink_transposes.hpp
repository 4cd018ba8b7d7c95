// SPDX-License-Identifier: MIT
// Defines headrace::sink_transposes.
#ifndef HEADRACE_PASSES_LAYOUT_SINK_TRANSPOSES_HPP
#define HEADRACE_PASSES_LAYOUT_SINK_TRANSPOSES_HPP

#include <span>
#include <utility>

#include <headrace/pass/driver.hpp>
#include <headrace/passes/support/permuting.hpp>

namespace headrace {

/// An elementwise operator of transposed operands is the transposed operator: f(T(x), T(y)) = T(f(x, y)). So
/// a TRANSPOSE moves past it toward the one that undoes it, with which fuse_transposes joins it. All operands
/// must be transposed alike and have no other use; constants among them are transposed back, which folding
/// computes, and those of one element are only reshaped, if at all.
struct sink_transposes : pass {
    using produces = joined<build::permute_ops, build::reshape_ops>;

    result<std::size_t> operator()(graph& g, pass_context& context) const {
        std::size_t moved = 0;
        detail::for_each_graph(g, [&](graph& sub) {
            for (node* n = sub.first(); n != nullptr; n = n->next) {
                if (is_elementwise(*n) && sink_past(sub, *n, context)) ++moved;
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
            tosa::greater_equal, tosa::cast>;
    template <class... Ops>
    static bool is_any(const node& n, ops<Ops...>) {
        return (is<Ops>(n) || ...);
    }
    static bool is_elementwise(const node& n) {
        return is_any(n, elementwise{}) && n.results[0].meta.has_value();
    }

    // Zero points, shifts and other operands of one element and rank 1 do not belong to the elements.
    static bool is_aside(const node& n, const edge& e) {
        const tensor_meta* meta = meta_of(*e.slot);
        return meta != nullptr && meta->rank() != n.results[0].meta->rank();
    }
    static bool is_constant(value v) { return is<builtin::constant>(*v.producer); }

    static bool sink_past(graph& g, node& n, pass_context& context) {
        const args<tosa::transpose>* first = nullptr;
        for (const edge& e : n.operand_edges()) {
            if (is_aside(n, e) || is_constant(*e.slot)) continue;
            const auto* t = match<tosa::transpose>(*e.slot);
            if (t == nullptr || !used_here_only(*e.slot, n) || (first != nullptr && t->perms != first->perms))
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
    static bool used_here_only(value v, const node& n) {
        for (const edge& e : v.producer->uses()) {
            if (e.target != &n) return false;
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
