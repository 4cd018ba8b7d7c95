// SPDX-License-Identifier: MIT
// Defines headrace::scalars_to_tensors.
#ifndef HEADRACE_PASSES_NORMALIZE_SCALARS_TO_TENSORS_HPP
#define HEADRACE_PASSES_NORMALIZE_SCALARS_TO_TENSORS_HPP

#include <headrace/dialect/aten.hpp>
#include <headrace/infer/aten.hpp>
#include <headrace/infer/promotion.hpp>
#include <headrace/pass/pass.hpp>
#include <headrace/passes/properties.hpp>

namespace headrace {

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
