// SPDX-License-Identifier: MIT
// Defines the functions of infer/ranges/range_rules.hpp: the table of each op's interval.
#ifndef HEADRACE_INFER_RANGES_RANGE_RULES_DEFINITION_HPP
#define HEADRACE_INFER_RANGES_RANGE_RULES_DEFINITION_HPP

#include <cmath>
#include <optional>
#include <span>
#include <string_view>
#include <unordered_map>

#include <headrace/base/compiled.hpp>
#include <headrace/dialect/aten.hpp>
#include <headrace/infer/ranges/range_functions.hpp>

namespace headrace {

namespace detail {

[[nodiscard]] HEADRACE_INLINE std::span<const range_rule> range_rules() {
    using namespace aten;             // NOLINT: a table of its ops
    using namespace range_functions;  // NOLINT
    static constexpr range_rule table[] = {
        // Arithmetic.
        range_of<add_tensor>(sum),
        range_of<add_scalar>(sum),
        range_of<sub_tensor>(difference),
        range_of<sub_scalar>(difference),
        range_of<rsub_tensor>(reversed_difference),
        range_of<rsub_scalar>(reversed_difference),
        range_of<mul_tensor>(product),
        range_of<mul_scalar>(product),
        range_of<div_tensor>(real_quotient),
        range_of<div_scalar>(real_quotient),
        range_of<div_tensor_mode>(quotient_by_mode),
        range_of<div_scalar_mode>(quotient_by_mode),
        range_of<floor_divide>(floored_quotient),
        range_of<floor_divide_scalar>(floored_quotient),
        range_of<remainder_tensor>(python_remainder),
        range_of<remainder_scalar>(python_remainder),
        range_of<remainder_scalar_tensor>(python_remainder),
        range_of<fmod_tensor>(c_remainder),
        range_of<fmod_scalar>(c_remainder),
        range_of<addcmul>([](const range_query& q, const auto& a) {
            return q(a.self) + q(a.tensor1) * q(a.tensor2) * in_category(q.type(), q(a.value));
        }),
        range_of<square>([](const range_query& q, const auto& a) {
            const interval x = magnitude(q(a.self));
            return x * x;
        }),
        range_of<pow_tensor_scalar>(
            [](const range_query& q, const auto& a) { return power(q, q(a.self), a.exponent); }),
        range_of<neg>([](const range_query& q, const auto& a) { return -q(a.self); }),
        range_of<aten::abs>([](const range_query& q, const auto& a) { return magnitude(q(a.self)); }),
        range_of<sgn>(sign_of_self),
        range_of<sign>(sign_of_self),
        range_of<aten::floor>([](const range_query& q, const auto& a) {
            return map_bounds(q(a.self), [](bound x) { return wide::floor(x); });
        }),
        range_of<aten::ceil>([](const range_query& q, const auto& a) {
            return map_bounds(q(a.self), [](bound x) { return wide::ceil(x); });
        }),
        range_of<aten::round>([](const range_query& q, const auto& a) {
            return interval{wide::floor(q(a.self).low), wide::ceil(q(a.self).high)};
        }),
        range_of<aten::trunc>([](const range_query& q, const auto& a) { return truncated(q(a.self)); }),

        // Limits.
        range_of<aten::maximum>(larger),
        range_of<fmax>(either),
        range_of<aten::minimum>(smaller),
        range_of<fmin>(either),
        range_of<aten::clamp>(clamped_self),
        range_of<clamp_tensor>(clamped_self),
        range_of<clamp_min>(at_least),
        range_of<clamp_min_tensor>(at_least),
        range_of<clamp_max>(at_most),
        range_of<clamp_max_tensor>(at_most),
        range_of<relu>(rectified),
        range_of<relu6>([](const range_query& q, const auto& a) {
            return q(a.self) & interval{0, 6};
        }),
        range_of<hardtanh>([](const range_query& q, const auto& a) {
            return headrace::minimum(headrace::maximum(q(a.self), q(a.min_val)), q(a.max_val));
        }),
        range_of<threshold>([](const range_query& q, const auto& a) {
            return headrace::maximum(q(a.self), q(a.threshold)) | q(a.value);
        }),

        // Functions with bounded results.
        range_of<aten::sigmoid>(unit_interval),
        range_of<hardsigmoid>(unit_interval),
        range_of<softmax_int>(unit_interval),
        range_of<_softmax>(unit_interval),
        range_of<_safe_softmax>(unit_interval),
        range_of<special_ndtr>(unit_interval),
        range_of<aten::tanh>(within_one),
        range_of<aten::erf>(within_one),
        range_of<aten::sin>(within_one),
        range_of<aten::cos>(within_one),
        range_of<aten::exp>(not_negative),
        range_of<aten::sqrt>(not_negative),
        range_of<mean>(as_self),
        range_of<mean_dim>(as_self),

        // Bits.
        range_of<bitwise_and_tensor>(common_bits),
        range_of<bitwise_and_scalar>(common_bits),
        range_of<bitwise_or_tensor>(either_bits),
        range_of<bitwise_or_scalar>(either_bits),
        range_of<bitwise_xor_tensor>(either_bits),
        range_of<bitwise_xor_scalar>(either_bits),
        range_of<bitwise_not>(
            [](const range_query& q, const auto& a) { return bitwise(q, -q(a.self) - number(1)); }),
        range_of<bitwise_left_shift_tensor>(left_shift),
        range_of<bitwise_left_shift_tensor_scalar>(left_shift),
        range_of<bitwise_right_shift_tensor>(right_shift),
        range_of<bitwise_right_shift_tensor_scalar>(right_shift),

        // Reductions and scans.
        range_of<aten::sum>(total),
        range_of<sum_dim_intlist>(total),
        range_of<nansum>(total),
        range_of<prod>(total_product),
        range_of<prod_dim_int>(total_product),
        range_of<cumsum>([](const range_query& q, const auto& a) {
            return q.if_integral(sum_of(summand(q, a.self), 1, q.size_of(a.self, a.dim)));
        }),
        range_of<cumprod>([](const range_query& q, const auto& a) {
            return q.if_integral(product_of(summand(q, a.self), q.size_of(a.self, a.dim)));
        }),
        range_of<all>(truth_value),
        range_of<all_dim>(truth_value),
        range_of<all_dims>(truth_value),
        range_of<any>(truth_value),
        range_of<any_dim>(truth_value),
        range_of<any_dims>(truth_value),
        range_of<amax>(as_self),
        range_of<amin>(as_self),
        range_of<aminmax>(as_self),
        range_of<aten::max>(as_self),
        range_of<aten::min>(as_self),
        range_of<max_dim>(chosen),
        range_of<min_dim>(chosen),
        range_of<topk>(chosen),
        range_of<sort>(chosen),
        range_of<sort_stable>(chosen),
        range_of<msort>(as_self),
        range_of<argmax>(position),
        range_of<argmin>(position),
        range_of<argsort>(position),
        range_of<argsort_stable>(position),

        range_of<kthvalue>(chosen),
        range_of<median>(as_self),
        range_of<median_dim>(chosen),
        range_of<nanmedian>(as_self),
        range_of<nanmedian_dim>(chosen),
        range_of<quantile>(as_self),
        range_of<quantile_scalar>(as_self),
        range_of<nanquantile>(as_self),
        range_of<nanquantile_scalar>(as_self),
        range_of<cummax>(chosen),
        range_of<cummin>(chosen),
        range_of<count_nonzero>(counted),
        range_of<count_nonzero_dim_intlist>(counted),
        range_of<trace>([](const range_query& q, const auto& a) {
            return q.if_integral(sum_of(q(a.self), std::min(q.size_of(a.self, 0), q.size_of(a.self, 1))));
        }),

        // Products.
        range_of<mm>(inner_product<0, 1>),
        range_of<bmm>(inner_product<0, 1>),
        range_of<matmul>(inner_product<0, 1>),
        range_of<mv>(inner_product<0, 1>),
        range_of<dot>(inner_product<0, 1>),
        range_of<outer>([](const range_query& q, const auto& a) { return q(a.self) * q(a.vec2); }),

        // Windows.
        range_of<max_pool1d>(as_self),
        range_of<max_pool2d>(as_self),
        range_of<max_pool3d>(as_self),
        range_of<max_pool1d_with_indices>(chosen_in_window),
        range_of<max_pool2d_with_indices>(chosen_in_window),
        range_of<max_pool3d_with_indices>(chosen_in_window),
        range_of<adaptive_max_pool1d>(chosen_in_window),
        range_of<adaptive_max_pool2d>(chosen_in_window),
        range_of<adaptive_max_pool3d>(chosen_in_window),

        // Conditions and indices.
        range_of<where_self>(chosen_by_condition),
        range_of<where_scalar>(chosen_by_condition),
        range_of<where_scalarother>(chosen_by_condition),
        range_of<where_scalarself>(chosen_by_condition),
        range_of<masked_fill_scalar>(self_or_source),
        range_of<masked_fill_tensor>(self_or_source),
        range_of<index_fill_int_scalar>(self_or_source),
        range_of<index_copy>(self_or_source),
        range_of<scatter_src>(self_or_source),
        range_of<scatter_value>(self_or_source),
        range_of<select_scatter>(self_or_source),
        range_of<slice_scatter>(self_or_source),
        range_of<index_put>(self_or_source),
        range_of<_unsafe_index_put>(self_or_source),
        range_of<scatter_add>([](const range_query& q, const auto& a) {
            return q.if_integral(q(a.self) + sum_of(q(a.src), 0, q.elements_of(a.src)));
        }),
        range_of<index_add>([](const range_query& q, const auto& a) {
            return q.if_integral(q(a.self) + q(a.alpha) * sum_of(q(a.source), 0, q.elements_of(a.source)));
        }),
        range_of<one_hot>(truth_value),
        range_of<masked_scatter>(self_or_source),
        range_of<diagonal_scatter>(self_or_source),
        range_of<take>(as_self),
        range_of<take_along_dim>(as_self),
        range_of<bucketize_tensor>(place_between),
        range_of<bucketize_scalar>(place_between),
        range_of<searchsorted_tensor>(place_between),
        range_of<searchsorted_scalar>(place_between),

        // Rearrangements without a trait.
        range_of<channel_shuffle>(as_self),
        range_of<pixel_shuffle>(as_self),
        range_of<pixel_unshuffle>(as_self),
        range_of<roll>(as_self),
        range_of<fft_fftshift>(as_self),
        range_of<fft_ifftshift>(as_self),
        range_of<rot90>(as_self),
        range_of<tril>(self_or_zero),
        range_of<triu>(self_or_zero),
        range_of<im2col>(self_or_zero),
        range_of<max_unpool2d>(self_or_zero),
        range_of<diag>(self_or_zero),
        range_of<diag_embed>(self_or_zero),
        range_of<diagflat>(self_or_zero),
        range_of<block_diag>([](const range_query& q, const auto&) { return q.any_operand() | number(0); }),
        range_of<cartesian_prod>([](const range_query& q, const auto&) { return q.any_operand(); }),
        range_of<atleast_1d>(as_self),
        range_of<atleast_2d>(as_self),
        range_of<atleast_3d>(as_self),
        range_of<repeat_interleave_self_tensor>(as_self),
        range_of<copy>([](const range_query& q, const auto& a) { return q(a.src); }),
        range_of<meshgrid_indexing>([](const range_query& q, const auto&) { return q.any_operand(); }),
        range_of<broadcast_tensors>([](const range_query& q, const auto&) { return q.any_operand(); }),
        range_of<constant_pad_nd>(self_or_source),
        range_of<pad>([](const range_query& q, const auto& a) {
            const bool is_constant = a.mode == "constant";
            return is_constant ? q(a.self) | q(scalar(a.value.value_or(0))) : q(a.self);
        }),
        range_of<reflection_pad1d>(as_self),
        range_of<reflection_pad2d>(as_self),
        range_of<reflection_pad3d>(as_self),
        range_of<replication_pad1d>(as_self),
        range_of<replication_pad2d>(as_self),
        range_of<replication_pad3d>(as_self),

        range_of<_to_copy>(as_self),

        // Creation.
        range_of<arange>(counted_up),
        range_of<arange_start>(counted_up),
        range_of<arange_start_step>(counted_up),
        range_of<linspace>([](const range_query& q, const auto& a) { return q(a.start) | q(a.end); }),
        range_of<bernoulli>(truth_value),
        range_of<bernoulli_p>(truth_value),
        range_of<eye>(truth_value),
        range_of<eye_m>(truth_value),
        range_of<tril_indices>(in_triangle),
        range_of<triu_indices>(in_triangle),
        range_of<full>(filled),
        range_of<full_like>(filled),
        range_of<new_full>(filled),
        range_of<scalar_tensor>([](const range_query& q, const auto& a) { return q(a.s); }),
        range_of<fill_scalar>([](const range_query& q, const auto& a) { return q(a.value); }),
        range_of<fill_tensor>([](const range_query& q, const auto& a) { return q(a.value); }),
        range_of<sym_size_int>([](const range_query& q, const auto& a) {
            return number(static_cast<bound>(q.size_of(a.self, a.dim)));
        }),
        range_of<item>(as_self),
        range_of<_local_scalar_dense>(as_self),
    };
    return table;
}

[[nodiscard]] HEADRACE_INLINE interval computed_range(const range_query& q) {
    static const auto* const by_op = [] {
        auto* rules = new std::unordered_map<const op_info*, interval (*)(const range_query&)>;
        for (const range_rule& r : range_rules()) rules->emplace(r.op, r.of);
        return rules;
    }();
    const auto rule = by_op->find(&q.of().op->functional());
    return rule != by_op->end() ? rule->second(q) : range_by_traits(q);
}

}  // namespace detail
}  // namespace headrace

#endif
