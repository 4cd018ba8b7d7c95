// SPDX-License-Identifier: MIT
// Defines the passes that give each op one form: variants, synonyms, arithmetic, numbers beside tensors.
#ifndef HEADRACE_PASSES_NORMALIZE_VARIANTS_HPP
#define HEADRACE_PASSES_NORMALIZE_VARIANTS_HPP

#include <headrace/dialect/aten.hpp>
#include <headrace/infer/aten.hpp>
#include <headrace/infer/promotion.hpp>
#include <headrace/op/op_query.hpp>
#include <headrace/passes/properties.hpp>

namespace headrace {

/// Replaces in-place ops, `_copy` variants of views and synonyms by one form each, so that later passes know
/// each op by one name. Values are immutable, so the forms are equivalent once `functionalize` has redirected
/// the readers of what an in-place op changes. An in-place op keeps the dtype of the tensor that it writes
/// to.
struct canonicalize_variants : pass {
    using runs_after = pass_list<functional>;
    using ensures = pass_list<canonical_variants>;
    static constexpr std::string_view summary =
        "renames in-place ops, `_copy` variants and synonyms to one form each";
    using variants = ops_where<aten::dialect, trait::variant>;

    static auto rewrites() {
        return rules(on_each<variants> =
                         code<made>([](auto op, emit<made> e, const auto& a) { return renamed(op, e, a); }),
            // These read only the shape of their second operand, which is that of the result.
            on<aten::expand_as> = to_shape_of_result<aten::expand>{},
            on<aten::reshape_as> = to_shape_of_result<aten::reshape>{},
            on<aten::view_as> = to_shape_of_result<aten::view>{});
    }

private:
    using made = joined<bases_of<variants>, ops<aten::_to_copy>>;
    template <op_tag Op>
        requires(Op::results == 1)
    static value renamed(Op, emit<made> e, const args<Op>& a) {
        using to = base_of<Op>;
        const value v = e.template make<to>(convert_args<to, Op>(a));
        const dtype type = e.result_meta().dtype;
        return e.dtype(v) == type ? v : e.make<aten::_to_copy>({.self = v, .dtype = type});
    }
    // The number of results depends on the arguments.
    template <op_tag Op>
        requires(Op::results == variadic_results)
    static value_list renamed(Op, emit<made> e, const args<Op>& a) {
        using to = base_of<Op>;
        return results_of(e.template make_node<to>(convert_args<to, Op>(a)));
    }
    template <op_tag To>
    struct to_shape_of_result {
        auto operator()(const auto& x, const auto&) const { return call<To>(x, x.result_meta().shape); }
    };
};
HEADRACE_COMPILED_PASS(canonicalize_variants);

/// Rewrites ops that are another op with rearranged arguments: rsub(a, b) = b - α·a, square(x) = x², and
/// remainder with a number on the left, which becomes a tensor.
struct canonicalize_arithmetic : pass {
    using runs_after = pass_list<canonical_variants>;
    using ensures = pass_list<canonical_arithmetic>;
    static constexpr std::string_view summary = "rsub, square and remainder of a number as other ops";

    static auto rewrites() {
        return rules(
            on<aten::rsub_tensor> = [](auto x, auto y,
                                        const auto& a) { return call<aten::sub_tensor>(y, x, a.alpha); },
            on<aten::rsub_scalar> =
                [](auto x, const auto& a) { return call<aten::sub_tensor>(number(x, a.other), x, a.alpha); },
            on<aten::square> = [](auto x) { return call<aten::pow_tensor_scalar>(x, 2); },
            on<aten::remainder_scalar_tensor> =
                [](auto y, const auto& a) { return call<aten::remainder_tensor>(number(y, a.self), y); });
    }

private:
    static auto number(const auto& beside, scalar n) {
        return beside.constant(n, result_type(beside.meta(), n));
    }
};
HEADRACE_COMPILED_PASS(canonicalize_arithmetic);

/// Turns the Python number of a `.Scalar` overload into a constant, and the op into its `.Tensor` overload.
/// The constant has the dtype to which PyTorch promotes the number together with that tensor
/// (torch.result_type).
struct scalars_to_tensors : pass {
    using runs_after = pass_list<canonical_variants>;
    using ensures = pass_list<tensor_operands>;
    static constexpr std::string_view summary =
        "numbers beside tensors as constants: Scalar overloads as Tensor overloads";

    static auto rewrites() {
        return rules(
            on<aten::add_scalar> = tensor_overload<aten::add_tensor>{},
            on<aten::sub_scalar> = tensor_overload<aten::sub_tensor>{},
            on<aten::mul_scalar> = tensor_overload<aten::mul_tensor>{},
            on<aten::div_scalar> = tensor_overload<aten::div_tensor>{},
            on<aten::div_scalar_mode> = tensor_overload<aten::div_tensor_mode>{},
            on<aten::floor_divide_scalar> = tensor_overload<aten::floor_divide>{},
            on<aten::remainder_scalar> = tensor_overload<aten::remainder_tensor>{},
            on<aten::fmod_scalar> = tensor_overload<aten::fmod_tensor>{},
            on<aten::eq_scalar> = tensor_overload<aten::eq_tensor>{},
            on<aten::ne_scalar> = tensor_overload<aten::ne_tensor>{},
            on<aten::gt_scalar> = tensor_overload<aten::gt_tensor>{},
            on<aten::ge_scalar> = tensor_overload<aten::ge_tensor>{},
            on<aten::lt_scalar> = tensor_overload<aten::lt_tensor>{},
            on<aten::le_scalar> = tensor_overload<aten::le_tensor>{},
            on<aten::bitwise_and_scalar> = tensor_overload<aten::bitwise_and_tensor>{},
            on<aten::bitwise_or_scalar> = tensor_overload<aten::bitwise_or_tensor>{},
            on<aten::bitwise_xor_scalar> = tensor_overload<aten::bitwise_xor_tensor>{},
            on<aten::bitwise_right_shift_tensor_scalar> = tensor_overload<aten::bitwise_right_shift_tensor>{},
            on<aten::bitwise_left_shift_tensor_scalar> = tensor_overload<aten::bitwise_left_shift_tensor>{},
            on<aten::where_scalar> =
                [](auto c, const auto& a) { return where(c, number(c, a.self), number(c, a.other)); },
            on<aten::where_scalarother> = [](auto c, auto x,
                                              const auto& a) { return where(c, x, number(c, a.other)); },
            on<aten::where_scalarself> = [](auto c, auto y,
                                             const auto& a) { return where(c, number(c, a.self), y); });
    }

private:
    template <op_tag To>
    struct tensor_overload {
        auto operator()(const auto& x, const auto& a) const {
            const auto other = x.constant(a.other, result_type(x.meta(), a.other));
            if constexpr (requires { a.alpha; }) {
                return call<To>(x, other, a.alpha);
            } else if constexpr (requires { a.rounding_mode; }) {
                return call<To>(x, other, a.rounding_mode);
            } else {
                return call<To>(x, other);
            }
        }
    };
    static auto where(const auto& condition, const auto& x, const auto& y) {
        return call<aten::where_self>(condition, x, y);
    }
    static auto number(const auto& condition, scalar n) {
        return condition.constant(n, condition.result_meta().dtype);
    }
};
HEADRACE_COMPILED_PASS(scalars_to_tensors);

}  // namespace headrace

#endif
