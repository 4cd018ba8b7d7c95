// SPDX-License-Identifier: MIT
// Defines headrace::scalars_to_tensors.
#ifndef HEADRACE_PASSES_NORMALIZE_SCALARS_TO_TENSORS_HPP
#define HEADRACE_PASSES_NORMALIZE_SCALARS_TO_TENSORS_HPP

#include <headrace/dialect/aten.hpp>
#include <headrace/infer/aten.hpp>
#include <headrace/infer/promotion.hpp>
#include <headrace/pass/op_map.hpp>
#include <headrace/pass/pass.hpp>
#include <headrace/passes/properties.hpp>

namespace headrace {

/// Turns the Python number of a `.Scalar` overload into a constant, and the op into its `.Tensor` overload.
/// The constant has the type to which PyTorch promotes the number beside that tensor (torch.result_type).
struct scalars_to_tensors : pass {
    using runs_after = pass_list<canonical_variants>;
    using ensures = pass_list<tensor_operands>;
    using table =
        op_map<becomes<aten::add_scalar, aten::add_tensor>, becomes<aten::sub_scalar, aten::sub_tensor>,
               becomes<aten::mul_scalar, aten::mul_tensor>, becomes<aten::div_scalar, aten::div_tensor>,
               becomes<aten::div_scalar_mode, aten::div_tensor_mode>,
               becomes<aten::floor_divide_scalar, aten::floor_divide>,
               becomes<aten::remainder_scalar, aten::remainder_tensor>,
               becomes<aten::fmod_scalar, aten::fmod_tensor>, becomes<aten::eq_scalar, aten::eq_tensor>,
               becomes<aten::ne_scalar, aten::ne_tensor>, becomes<aten::gt_scalar, aten::gt_tensor>,
               becomes<aten::ge_scalar, aten::ge_tensor>, becomes<aten::lt_scalar, aten::lt_tensor>,
               becomes<aten::le_scalar, aten::le_tensor>,
               becomes<aten::bitwise_and_scalar, aten::bitwise_and_tensor>,
               becomes<aten::bitwise_or_scalar, aten::bitwise_or_tensor>,
               becomes<aten::bitwise_xor_scalar, aten::bitwise_xor_tensor>,
               becomes<aten::bitwise_right_shift_tensor_scalar, aten::bitwise_right_shift_tensor>,
               becomes<aten::bitwise_left_shift_tensor_scalar, aten::bitwise_left_shift_tensor>>;
    using where_ops = ops<aten::where_scalar, aten::where_scalarother, aten::where_scalarself>;
    using targets = joined<table::keys, where_ops>;
    using produces = joined<table::values, ops<aten::where_self>>;

    template <one_of<table::keys> Op>
    value operator()(Op, const args<Op>& a, emit<produces>& e) const {
        using to = table::at<Op>;
        const dtype type = result_type(e.meta(a.self), a.other);
        args<to> tensors{};
        tensors.self = a.self;
        tensors.other = e.splat(a.other, type, e.rank(a.self));
        if constexpr (requires { a.alpha; }) tensors.alpha = a.alpha;
        if constexpr (requires { a.rounding_mode; }) tensors.rounding_mode = a.rounding_mode;
        return e.make<to>(tensors);
    }
    template <one_of<where_ops> Op>
    value operator()(Op, const args<Op>& a, emit<produces>& e) const {
        const auto tensor = [&](const auto& operand) {
            if constexpr (std::is_same_v<std::remove_cvref_t<decltype(operand)>, scalar>) {
                return e.splat(operand, e.result_meta().dtype, e.rank(a.condition));
            } else {
                return operand;
            }
        };
        return e.make<aten::where_self>(a.condition, tensor(a.self), tensor(a.other));
    }
};

}  // namespace headrace

#endif
