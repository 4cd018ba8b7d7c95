// SPDX-License-Identifier: MIT
// Defines the passes that give casts, copies and filled tensors one form, or remove them.
#ifndef HEADRACE_PASSES_NORMALIZE_CASTS_AND_COPIES_HPP
#define HEADRACE_PASSES_NORMALIZE_CASTS_AND_COPIES_HPP

#include <headrace/dialect/dim_order_ops.hpp>
#include <headrace/infer/dim_order_ops.hpp>
#include <headrace/op/op_query.hpp>
#include <headrace/passes/properties.hpp>
#include <headrace/rewrite/arithmetic.hpp>

namespace headrace {

/// Rewrites every kind of cast to aten._to_copy with only a dtype: devices, memory formats and orders of
/// dimensions do not change values. copy(self, src) is src, in the dtype and shape of self. The dtype
/// argument of a reduction becomes a cast of its operand. If the target has no floats, booleans are cast to
/// floats as the integers 0 and 1, which can be quantized.
struct canonicalize_casts : pass {
    using runs_after = pass_list<canonical_variants>;
    using ensures = pass_list<canonical_casts>;
    static constexpr std::string_view summary = "writes every cast as _to_copy with a dtype alone";
    using casts = joined<ops_where<aten::dialect, trait::casting>, ops<dim_order_ops::_to_dim_order_copy>>;
    using reductions = ops<aten::sum, aten::sum_dim_intlist, aten::prod, aten::prod_dim_int, aten::cumsum>;

    static auto rewrites() {
        return rules(
            on_each<reductions> =
                code<made>([](auto op, emit<made> e, const auto& a) { return of_cast_operand(op, e, a); }),
            on_each<casts> =
                [](auto x, const auto&...) {
                    const dtype type = x.result_meta().dtype;
                    const bool through_integers = is_boolean(x.dtype()) && is_floating(type) &&
                        !x.target().has(target_feature::profile_fp);
                    const auto number = [&] { return call<aten::_to_copy>(x, dtype::int8); };
                    return call<aten::_to_copy>(choose(through_integers, number, x), type);
                },
            on<aten::copy> =
                [](auto self, auto source) {
                    const auto x = as(source, self.dtype());
                    return choose(
                        x.shape() == self.shape(), x, [&] { return call<aten::expand>(x, self.shape()); });
                });
    }

private:
    using made = joined<reductions, ops<aten::_to_copy>>;
    template <op_tag Op>
    static std::optional<value> of_cast_operand(Op, emit<made> e, const args<Op>& a) {
        if (!a.dtype || *a.dtype == e.dtype(a.self)) return std::nullopt;
        args<Op> same = a;
        same.self = e.make<aten::_to_copy>({.self = a.self, .dtype = a.dtype});
        return e.template make<Op>(same);
    }
};
HEADRACE_COMPILED_PASS(canonicalize_casts);

/// Rewrites cast(move(x)) to move(cast(x)) for ops that only move elements. Casts from integers to floats
/// move to the front: the data layout operators of the floating-point profile do not take integers (TOSA 1.0,
/// 2.9).
struct hoist_casts : pass {
    using runs_after = pass_list<canonical_casts, canonical_fills>;
    using runs_before = pass_list<functions_tabulated, narrow_types>;
    static constexpr std::string_view summary =
        "moves casts from integers to floats ahead of ops that only move elements";

    static auto rewrites() { return rules(on<aten::_to_copy> = code<hoisted>()); }

private:
    static std::optional<value> hoisted(emit<ops<aten::_to_copy>> e, const args<aten::_to_copy>& a) {
        if (!a.dtype || !is_integral(e.dtype(a.self)) || !is_floating(*a.dtype)) return std::nullopt;
        pmr_vector<const node*> moves;  // from the cast upwards
        value v = a.self;
        for (; has_one_use(v) && only_moves(*v.producer); v = v.producer->operand(0))
            moves.push_back(v.producer);
        if (moves.empty()) return std::nullopt;
        args<aten::_to_copy> cast = a;
        cast.self = v;
        v = e.make<aten::_to_copy>(cast);
        for (; !moves.empty(); moves.pop_back()) {
            node* moved =
                e.clone(*moves.back(), std::array{v}, [&](tensor_meta& meta) { meta.dtype = *a.dtype; });
            v = moved == nullptr ? value{} : moved->result();
        }
        return v;
    }
    static bool only_moves(const node& n) { return n.op->has(trait::rearranging) && n.operand_count == 1; }
};
HEADRACE_COMPILED_PASS(hoist_casts);

/// Rewrites every tensor whose elements are all equal to aten.full with a shape and a dtype: zeros, ones, the
/// `_like` and `new_` forms, fill. The elements of `empty` may be anything, and are set to 0. fill.Tensor
/// repeats an element that is not yet known.
struct canonicalize_fills : pass {
    using runs_after = pass_list<functional, canonical_variants>;
    using ensures = pass_list<canonical_fills>;
    static constexpr std::string_view summary = "writes every tensor of equal elements as full or expand";
    using zero_ops =
        joined<ops_where<aten::dialect, trait::gives_zeros>, ops<dim_order_ops::_empty_dim_order>>;
    using one_ops = ops_where<aten::dialect, trait::gives_ones>;

    static auto rewrites() {
        return rules(
            on_each<zero_ops> = code<made>([](emit<made> e, const auto&) { return full(e, 0); }),
            on_each<one_ops> = code<made>([](emit<made> e, const auto&) { return full(e, 1); }),
            on<aten::full_like, aten::new_full> =
                code<made>([](emit<made> e, const auto& a) { return full(e, a.fill_value); }),
            on<aten::scalar_tensor> = code<made>([](emit<made> e, const auto& a) { return full(e, a.s); }),
            on<aten::fill_scalar> = code<made>([](emit<made> e, const auto& a) { return full(e, a.value); }),
            on<aten::fill_tensor> = [](auto self, auto number) {
                return call<aten::expand>(as(number, self.dtype()), self.shape());
            });
    }

private:
    using made = ops<aten::full>;
    static value full(emit<made> e, scalar number) {
        const tensor_meta& meta = e.result_meta();
        return e.make<aten::full>({.size = meta.shape, .fill_value = number, .dtype = meta.dtype});
    }
};
HEADRACE_COMPILED_PASS(canonicalize_fills);

/// Removes ops that return their operand unchanged: copies, dropout at inference, casts to the same dtype,
/// expansions to the same shape. Also removes assertions and constraints on sizes: their conditions are known
/// by now, or hold by contract.
struct remove_noop : pass {
    using runs_after = pass_list<functional, canonical_casts, canonical_fills>;
    using ensures = pass_list<noops_removed>;
    static constexpr std::string_view summary =
        "removes copies, inference-time dropout and other ops that return their operand";
    using copy_ops = joined<ops_where<aten::dialect, trait::forwarding | trait::copying>,
        ops_where<dim_order_ops::dialect, trait::copying>>;
    using check_ops = ops_where<aten::dialect, trait::no_results>;

    static auto rewrites() {
        return rules(
            on_each<check_ops> = [](const auto&...) { return std::tuple(); },
            on_each<copy_ops> = [](auto x) { return x; },
            on<aten::expand, aten::expand_as, aten::broadcast_to> =
                [](auto x, const auto&) { return choose(x.shape() == x.result_meta().shape, x, unchanged); },
            on<aten::_to_copy> =
                [](auto x, const auto&) { return choose(x.dtype() == x.result_meta().dtype, x, unchanged); },
            on<aten::dropout, aten::feature_dropout, aten::alpha_dropout, aten::feature_alpha_dropout> =
                [](auto x, const auto& a) {
                    return choose(
                        a.train && a.p > 0,
                        [&] {
                            return x.unsupported(
                                "dropout: random in training; export the model in eval mode");
                        },
                        x);
                });
    }
};
HEADRACE_COMPILED_PASS(remove_noop);

}  // namespace headrace

#endif
