// SPDX-License-Identifier: MIT
// Defines headrace::canonicalize_variants.
#ifndef HEADRACE_PASSES_NORMALIZE_CANONICALIZE_VARIANTS_HPP
#define HEADRACE_PASSES_NORMALIZE_CANONICALIZE_VARIANTS_HPP

#include <headrace/dialect/aten.hpp>
#include <headrace/infer/aten.hpp>
#include <headrace/pass/op_map.hpp>
#include <headrace/pass/pass.hpp>
#include <headrace/passes/properties.hpp>

namespace headrace {

/// Replaces in-place ops, `_copy` variants of views and synonyms by one form each, so that later passes know
/// each op under one name. Values are immutable, which makes them the same once `functionalize` has
/// redirected the readers of what an in-place op changes. An in-place op keeps the type of what it writes to.
struct canonicalize_variants : pass {
    using runs_after = pass_list<functional>;
    using ensures = pass_list<canonical_variants>;
    using table = op_map<
        // In place.
        becomes<aten::abs_inplace, aten::abs>, becomes<aten::add_inplace_scalar, aten::add_scalar>,
        becomes<aten::add_inplace_tensor, aten::add_tensor>, becomes<aten::ceil_inplace, aten::ceil>,
        becomes<aten::celu_inplace, aten::celu>, becomes<aten::clamp_inplace, aten::clamp>,
        becomes<aten::clamp_max_inplace, aten::clamp_max>, becomes<aten::clamp_min_inplace, aten::clamp_min>,
        becomes<aten::copy_inplace, aten::copy>, becomes<aten::div_inplace_scalar, aten::div_scalar>,
        becomes<aten::div_inplace_tensor, aten::div_tensor>, becomes<aten::elu_inplace, aten::elu>,
        becomes<aten::exp_inplace, aten::exp>, becomes<aten::fill_inplace_scalar, aten::fill_scalar>,
        becomes<aten::fill_inplace_tensor, aten::fill_tensor>, becomes<aten::floor_inplace, aten::floor>,
        becomes<aten::gelu_inplace, aten::gelu>, becomes<aten::hardsigmoid_inplace, aten::hardsigmoid>,
        becomes<aten::hardswish_inplace, aten::hardswish>, becomes<aten::hardtanh_inplace, aten::hardtanh>,
        becomes<aten::index_copy_inplace, aten::index_copy>,
        becomes<aten::index_put_inplace, aten::index_put>,
        becomes<aten::leaky_relu_inplace, aten::leaky_relu>, becomes<aten::log_inplace, aten::log>,
        becomes<aten::masked_fill_inplace_scalar, aten::masked_fill_scalar>,
        becomes<aten::masked_fill_inplace_tensor, aten::masked_fill_tensor>,
        becomes<aten::mish_inplace, aten::mish>, becomes<aten::mul_inplace_scalar, aten::mul_scalar>,
        becomes<aten::mul_inplace_tensor, aten::mul_tensor>,
        becomes<aten::ne_inplace_scalar, aten::ne_scalar>, becomes<aten::ne_inplace_tensor, aten::ne_tensor>,
        becomes<aten::neg_inplace, aten::neg>, becomes<aten::pow_inplace_scalar, aten::pow_tensor_scalar>,
        becomes<aten::pow_inplace_tensor, aten::pow_tensor_tensor>,
        becomes<aten::reciprocal_inplace, aten::reciprocal>, becomes<aten::relu6_inplace, aten::relu6>,
        becomes<aten::relu_inplace, aten::relu>, becomes<aten::round_inplace, aten::round>,
        becomes<aten::rsqrt_inplace, aten::rsqrt>, becomes<aten::selu_inplace, aten::selu>,
        becomes<aten::sigmoid_inplace, aten::sigmoid>, becomes<aten::silu_inplace, aten::silu>,
        becomes<aten::sqrt_inplace, aten::sqrt>, becomes<aten::square_inplace, aten::square>,
        becomes<aten::sub_inplace_scalar, aten::sub_scalar>,
        becomes<aten::sub_inplace_tensor, aten::sub_tensor>, becomes<aten::tanh_inplace, aten::tanh>,
        becomes<aten::threshold_inplace, aten::threshold>, becomes<aten::dropout_inplace, aten::dropout>,
        becomes<aten::detach_inplace, aten::detach>, becomes<aten::squeeze_inplace_dim, aten::squeeze_dim>,
        // Copies of views.
        becomes<aten::alias_copy, aten::alias>, becomes<aten::as_strided_copy, aten::as_strided>,
        becomes<aten::detach_copy, aten::detach>, becomes<aten::expand_copy, aten::expand>,
        becomes<aten::narrow_copy, aten::narrow>, becomes<aten::permute_copy, aten::permute>,
        becomes<aten::select_copy_int, aten::select_int>,
        becomes<aten::slice_copy_tensor, aten::slice_tensor>, becomes<aten::squeeze_copy, aten::squeeze>,
        becomes<aten::squeeze_copy_dim, aten::squeeze_dim>,
        becomes<aten::squeeze_copy_dims, aten::squeeze_dims>, becomes<aten::t_copy, aten::t>,
        becomes<aten::transpose_copy_int, aten::transpose_int>, becomes<aten::unfold_copy, aten::unfold>,
        becomes<aten::unsqueeze_copy, aten::unsqueeze>, becomes<aten::view_copy, aten::view>,
        becomes<aten::lift_fresh_copy, aten::lift_fresh>,
        // Synonyms.
        becomes<aten::clip, aten::clamp>, becomes<aten::concat, aten::cat>,
        becomes<aten::divide_tensor, aten::div_tensor>, becomes<aten::true_divide_tensor, aten::div_tensor>,
        becomes<aten::multiply_tensor, aten::mul_tensor>, becomes<aten::subtract_tensor, aten::sub_tensor>,
        becomes<aten::max_other, aten::maximum>, becomes<aten::min_other, aten::minimum>,
        becomes<aten::and_scalar, aten::bitwise_and_scalar>,
        becomes<aten::and_tensor, aten::bitwise_and_tensor>,
        becomes<aten::or_scalar, aten::bitwise_or_scalar>, becomes<aten::or_tensor, aten::bitwise_or_tensor>,
        becomes<aten::xor_scalar, aten::bitwise_xor_scalar>,
        becomes<aten::xor_tensor, aten::bitwise_xor_tensor>,
        becomes<aten::lshift_scalar, aten::bitwise_left_shift_tensor_scalar>,
        becomes<aten::lshift_tensor, aten::bitwise_left_shift_tensor>,
        becomes<aten::rshift_scalar, aten::bitwise_right_shift_tensor_scalar>,
        becomes<aten::rshift_tensor, aten::bitwise_right_shift_tensor>>;
    /// The same for ops with as many results as their arguments say.
    using list_table = op_map<becomes<aten::split_copy_tensor, aten::split_tensor>,
                              becomes<aten::split_sizes, aten::split_with_sizes>,
                              becomes<aten::split_with_sizes_copy, aten::split_with_sizes>,
                              becomes<aten::unsafe_split_tensor, aten::split_tensor>,
                              becomes<aten::unsafe_split_with_sizes, aten::split_with_sizes>,
                              becomes<aten::unbind_copy_int, aten::unbind_int>>;
    /// Ops that read nothing but the shape of their second operand.
    using shape_table = op_map<becomes<aten::expand_as, aten::expand>,
                               becomes<aten::reshape_as, aten::reshape>, becomes<aten::view_as, aten::view>>;
    using targets = joined<table::keys, list_table::keys, shape_table::keys>;
    using produces = joined<table::values, list_table::values, shape_table::values, ops<aten::_to_copy>>;

    template <one_of<table::keys> Op>
    value operator()(Op, const args<Op>& a, emit<produces>& e) const {
        using to = table::at<Op>;
        const value v = e.make<to>(std::bit_cast<args<to>>(a));
        const dtype type = e.result_meta().dtype;
        return e.dtype(v) == type ? v : e.make<aten::_to_copy>({.self = v, .dtype = type});
    }
    template <one_of<shape_table::keys> Op>
    value operator()(Op, const args<Op>& a, emit<produces>& e) const {
        using to = shape_table::at<Op>;
        return e.make<to>(args<to>{a.self, e.result_meta().shape});
    }
    template <one_of<list_table::keys> Op>
    value_list operator()(Op, const args<Op>& a, emit<produces>& e) const {
        using to = list_table::at<Op>;
        value_list results;
        if (node* made = e.make_node<to>(std::bit_cast<args<to>>(a))) {
            for (std::uint32_t i = 0; i != made->result_count; ++i) results.push_back(made->result(i));
        }
        return results;
    }
};

}  // namespace headrace

#endif
