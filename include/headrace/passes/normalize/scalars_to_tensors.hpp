// SPDX-License-Identifier: MIT
// Defines headrace::scalars_to_tensors.
#ifndef HEADRACE_PASSES_NORMALIZE_SCALARS_TO_TENSORS_HPP
#define HEADRACE_PASSES_NORMALIZE_SCALARS_TO_TENSORS_HPP

#include <headrace/infer/aten.hpp>
#include <headrace/infer/promotion.hpp>
#include <headrace/op/aten.hpp>
#include <headrace/pass/pass.hpp>
#include <headrace/passes/support/op_map.hpp>

namespace headrace {

/// Turns the Python number of a `.Scalar` overload into a constant, and the op into its `.Tensor` overload. The
/// constant has the type to which PyTorch promotes the number beside that tensor (torch.result_type).
struct scalars_to_tensors : pass {
    using table = op_map<becomes<aten::add_scalar, aten::add_tensor>, becomes<aten::sub_scalar, aten::sub_tensor>,
                         becomes<aten::mul_scalar, aten::mul_tensor>, becomes<aten::div_scalar, aten::div_tensor>,
                         becomes<aten::remainder_scalar, aten::remainder_tensor>,
                         becomes<aten::fmod_scalar, aten::fmod_tensor>, becomes<aten::eq_scalar, aten::eq_tensor>,
                         becomes<aten::ne_scalar, aten::ne_tensor>, becomes<aten::gt_scalar, aten::gt_tensor>,
                         becomes<aten::ge_scalar, aten::ge_tensor>, becomes<aten::lt_scalar, aten::lt_tensor>,
                         becomes<aten::le_scalar, aten::le_tensor>,
                         becomes<aten::bitwise_and_scalar, aten::bitwise_and_tensor>,
                         becomes<aten::bitwise_or_scalar, aten::bitwise_or_tensor>,
                         becomes<aten::bitwise_xor_scalar, aten::bitwise_xor_tensor>,
                         becomes<aten::rshift_scalar, aten::bitwise_right_shift_tensor>,
                         becomes<aten::lshift_scalar, aten::bitwise_left_shift_tensor>,
                         becomes<aten::rsub_scalar, aten::rsub_tensor>>;
    using targets = table::keys;
    using produces = table::values;

    template <one_of<targets> Op>
    value operator()(Op, const args<Op>& a, emit<produces>& e) const {
        using to = table::at<Op>;
        const dtype type = result_type(e.meta(a.self), a.other);
        args<to> tensors{.self = a.self, .other = e.splat(a.other, type, e.rank(a.self))};
        if constexpr (requires { a.alpha; }) tensors.alpha = a.alpha;
        return e.make<to>(tensors);
    }
};

}  // namespace headrace

#endif
