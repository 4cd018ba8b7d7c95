// SPDX-License-Identifier: MIT
// Defines headrace::out::variant, the form of an op that writes its results into buffers it is given, and the
// out dialect of all of them.
#ifndef HEADRACE_MEMORY_OUT_VARIANT_HPP
#define HEADRACE_MEMORY_OUT_VARIANT_HPP

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include <headrace/dialect/aten.hpp>
#include <headrace/dialect/dim_order_ops.hpp>
#include <headrace/dialect/quantized_decomposed.hpp>
#include <headrace/dialect/tosa.hpp>
#include <headrace/op/op.hpp>

namespace headrace::out {

struct dialect;

/// The ATen ops that have an out-variant: those for which PyTorch has one, except views, composite ops such
/// as conv2d, and ops that write in place anyway.
using aten_ops = ops<
    aten::_adaptive_avg_pool2d, aten::_adaptive_avg_pool3d, aten::_log_softmax,
    aten::_native_batch_norm_legit_no_stats, aten::_native_batch_norm_legit_no_training, aten::_softmax,
    aten::_to_copy, aten::_unsafe_view, aten::_upsample_nearest_exact1d, aten::_upsample_nearest_exact2d,
    aten::abs, aten::acos, aten::acosh, aten::adaptive_avg_pool1d, aten::adaptive_avg_pool2d,
    aten::adaptive_avg_pool3d, aten::adaptive_max_pool2d, aten::add_scalar, aten::add_tensor, aten::addcdiv,
    aten::addcmul, aten::addmm, aten::alias_copy, aten::all, aten::all_dim, aten::all_dims, aten::amax,
    aten::amin, aten::aminmax, aten::any, aten::any_dim, aten::any_dims, aten::arange,
    aten::arange_start_step, aten::argmax, aten::argmin, aten::as_strided_copy, aten::asin, aten::asinh,
    aten::atan, aten::atan2, aten::atanh, aten::avg_pool1d, aten::avg_pool2d, aten::avg_pool3d, aten::baddbmm,
    aten::bitwise_and_scalar, aten::bitwise_and_tensor, aten::bitwise_left_shift_tensor,
    aten::bitwise_left_shift_tensor_scalar, aten::bitwise_not, aten::bitwise_or_scalar,
    aten::bitwise_or_tensor, aten::bitwise_right_shift_tensor, aten::bitwise_right_shift_tensor_scalar,
    aten::bitwise_xor_scalar, aten::bitwise_xor_tensor, aten::bmm, aten::cat, aten::ceil, aten::celu,
    aten::channel_shuffle, aten::clamp, aten::clamp_max, aten::clamp_max_tensor, aten::clamp_min,
    aten::clamp_min_tensor, aten::clamp_tensor, aten::clip, aten::clone, aten::concat, aten::constant_pad_nd,
    aten::convolution, aten::copy, aten::cos, aten::cosh, aten::cumsum, aten::detach_copy, aten::div_scalar,
    aten::div_scalar_mode, aten::div_tensor, aten::div_tensor_mode, aten::divide_tensor, aten::dot, aten::elu,
    aten::embedding, aten::empty_like, aten::empty_memory_format, aten::eq_scalar, aten::eq_tensor, aten::erf,
    aten::erfc, aten::erfinv, aten::exp, aten::exp2, aten::expand_copy, aten::expm1, aten::eye, aten::eye_m,
    aten::fft_rfft2, aten::fill_scalar, aten::fill_tensor, aten::flip, aten::floor, aten::floor_divide,
    aten::floor_divide_scalar, aten::fmod_scalar, aten::fmod_tensor, aten::frac, aten::full, aten::full_like,
    aten::gather, aten::ge_scalar, aten::ge_tensor, aten::gelu, aten::glu, aten::grid_sampler_2d,
    aten::gt_scalar, aten::gt_tensor, aten::hardsigmoid, aten::hardswish, aten::hardtanh, aten::index_add,
    aten::index_copy, aten::index_put, aten::index_select, aten::index_tensor, aten::isinf, aten::isnan,
    aten::le_scalar, aten::le_tensor, aten::leaky_relu, aten::lerp_scalar, aten::lerp_tensor,
    aten::lift_fresh_copy, aten::linalg_vector_norm, aten::linear, aten::linspace, aten::log, aten::log10,
    aten::log1p, aten::log2, aten::log_sigmoid, aten::log_sigmoid_forward, aten::log_softmax_int,
    aten::logical_and, aten::logical_not, aten::logical_or, aten::logical_xor, aten::logit, aten::logsumexp,
    aten::lshift_scalar, aten::lshift_tensor, aten::lt_scalar, aten::lt_tensor, aten::masked_fill_scalar,
    aten::masked_fill_tensor, aten::matmul, aten::max, aten::max_dim, aten::max_other,
    aten::max_pool2d_with_indices, aten::maximum, aten::mean, aten::mean_dim, aten::min, aten::min_dim,
    aten::min_other, aten::minimum, aten::mish, aten::mm, aten::mul_scalar, aten::mul_tensor,
    aten::multiply_tensor, aten::mv, aten::nan_to_num, aten::narrow_copy, aten::native_batch_norm,
    aten::native_group_norm, aten::native_layer_norm, aten::ne_scalar, aten::ne_tensor, aten::neg,
    aten::new_empty, aten::new_full, aten::new_ones, aten::new_zeros, aten::norm_scalar,
    aten::norm_scalaropt_dim, aten::ones, aten::ones_like, aten::outer, aten::permute_copy,
    aten::pixel_shuffle, aten::pixel_unshuffle, aten::pow_scalar, aten::pow_tensor_scalar,
    aten::pow_tensor_tensor, aten::prod, aten::prod_dim_int, aten::reciprocal, aten::reflection_pad1d,
    aten::reflection_pad2d, aten::reflection_pad3d, aten::relu, aten::remainder_scalar,
    aten::remainder_scalar_tensor, aten::remainder_tensor, aten::repeat, aten::replication_pad1d,
    aten::replication_pad2d, aten::replication_pad3d, aten::roll, aten::round, aten::round_decimals,
    aten::rshift_scalar, aten::rshift_tensor, aten::rsqrt, aten::rsub_scalar, aten::rsub_tensor,
    aten::scalar_tensor, aten::scatter_add, aten::scatter_src, aten::scatter_value, aten::select_copy_int,
    aten::select_scatter, aten::sgn, aten::sigmoid, aten::sign, aten::silu, aten::sin, aten::sinh,
    aten::slice_copy_tensor, aten::slice_scatter, aten::softmax_int, aten::softplus, aten::softshrink,
    aten::split_copy_tensor, aten::split_with_sizes_copy, aten::sqrt, aten::square, aten::squeeze_copy,
    aten::squeeze_copy_dim, aten::squeeze_copy_dims, aten::stack, aten::std_correction, aten::std_dim,
    aten::sub_scalar, aten::sub_tensor, aten::subtract_tensor, aten::sum, aten::sum_dim_intlist, aten::t_copy,
    aten::tan, aten::tanh, aten::threshold, aten::transpose_copy_int, aten::tril, aten::triu,
    aten::true_divide_tensor, aten::trunc, aten::unbind_copy_int, aten::unfold_copy,
    aten::unsafe_split_tensor, aten::unsafe_split_with_sizes, aten::unsqueeze_copy, aten::upsample_bicubic2d,
    aten::upsample_bilinear2d, aten::upsample_bilinear2d_vec, aten::upsample_linear1d,
    aten::upsample_nearest1d, aten::upsample_nearest2d, aten::upsample_nearest2d_vec,
    aten::upsample_nearest3d, aten::upsample_trilinear3d, aten::var_correction, aten::var_dim,
    aten::var_mean_correction, aten::view_copy, aten::where_self, aten::zeros, aten::zeros_like>;
using quantized_ops =
    ops<quantized_decomposed::quantize_per_channel, quantized_decomposed::quantize_per_tensor,
        quantized_decomposed::quantize_per_tensor_tensor, quantized_decomposed::quantize_per_token,
        quantized_decomposed::dequantize_per_channel, quantized_decomposed::dequantize_per_tensor,
        quantized_decomposed::dequantize_per_tensor_tensor, quantized_decomposed::dequantize_per_token,
        quantized_decomposed::choose_qparams_tensor,
        quantized_decomposed::choose_qparams_per_token_asymmetric>;
using dim_order_ops = dim_order_ops::dialect::all_ops;
/// All that compute. RESHAPE is a view; shapes and constants are known before the program runs.
using tosa_ops =
    ops<tosa::argmax, tosa::avg_pool2d, tosa::conv2d, tosa::conv3d, tosa::depthwise_conv2d, tosa::fft2d,
        tosa::matmul, tosa::max_pool2d, tosa::rfft2d, tosa::transpose_conv2d, tosa::clamp, tosa::erf,
        tosa::sigmoid, tosa::tanh, tosa::add, tosa::arithmetic_right_shift, tosa::bitwise_and,
        tosa::bitwise_or, tosa::bitwise_xor, tosa::intdiv, tosa::logical_and, tosa::logical_left_shift,
        tosa::logical_right_shift, tosa::logical_or, tosa::logical_xor, tosa::maximum, tosa::minimum,
        tosa::mul, tosa::pow, tosa::sub, tosa::table, tosa::abs, tosa::bitwise_not, tosa::ceil, tosa::clz,
        tosa::cos, tosa::exp, tosa::floor, tosa::log, tosa::logical_not, tosa::negate, tosa::reciprocal,
        tosa::rsqrt, tosa::sin, tosa::select, tosa::equal, tosa::greater, tosa::greater_equal,
        tosa::reduce_all, tosa::reduce_any, tosa::reduce_max, tosa::reduce_min, tosa::reduce_product,
        tosa::reduce_sum, tosa::concat, tosa::pad, tosa::reverse, tosa::slice, tosa::tile, tosa::transpose,
        tosa::gather, tosa::scatter, tosa::resize, tosa::cast, tosa::rescale, tosa::identity>;

namespace detail {

using namespace headrace::detail;

// What torchgen's rule for names does not give: variants that are older than it.
template <op_tag Op>
inline constexpr std::string_view irregular_name{};
template <>
inline constexpr std::string_view irregular_name<aten::norm_scalaropt_dim> = "aten.norm.out";
template <>
inline constexpr std::string_view irregular_name<aten::log_sigmoid_forward> =
    "aten.log_sigmoid_forward.output";
template <>
inline constexpr std::string_view irregular_name<aten::add_tensor> = "aten.add.out";
template <>
inline constexpr std::string_view irregular_name<aten::div_tensor> = "aten.div.out";
template <>
inline constexpr std::string_view irregular_name<aten::div_tensor_mode> = "aten.div.out_mode";
template <>
inline constexpr std::string_view irregular_name<aten::divide_tensor> = "aten.divide.out";
template <>
inline constexpr std::string_view irregular_name<aten::max_other> = "aten.max.out";
template <>
inline constexpr std::string_view irregular_name<aten::min_other> = "aten.min.out";
template <>
inline constexpr std::string_view irregular_name<aten::mul_tensor> = "aten.mul.out";
template <>
inline constexpr std::string_view irregular_name<aten::multiply_tensor> = "aten.multiply.out";
template <>
inline constexpr std::string_view irregular_name<aten::sub_tensor> = "aten.sub.out";
template <>
inline constexpr std::string_view irregular_name<aten::subtract_tensor> = "aten.subtract.out";
template <>
inline constexpr std::string_view irregular_name<aten::true_divide_tensor> = "aten.true_divide.out";
template <>
inline constexpr std::string_view irregular_name<aten::all> = "aten.all.all_out";
template <>
inline constexpr std::string_view irregular_name<aten::all_dim> = "aten.all.out";
template <>
inline constexpr std::string_view irregular_name<aten::any> = "aten.any.all_out";
template <>
inline constexpr std::string_view irregular_name<aten::any_dim> = "aten.any.out";
template <>
inline constexpr std::string_view irregular_name<aten::max> = "aten.max.unary_out";
template <>
inline constexpr std::string_view irregular_name<aten::max_dim> = "aten.max.dim_max";
template <>
inline constexpr std::string_view irregular_name<aten::mean> = "aten.mean.dtype_out";
template <>
inline constexpr std::string_view irregular_name<aten::mean_dim> = "aten.mean.out";
template <>
inline constexpr std::string_view irregular_name<aten::min> = "aten.min.unary_out";
template <>
inline constexpr std::string_view irregular_name<aten::min_dim> = "aten.min.dim_min";
template <>
inline constexpr std::string_view irregular_name<aten::prod_dim_int> = "aten.prod.int_out";
template <>
inline constexpr std::string_view irregular_name<aten::std_dim> = "aten.std.out";
template <>
inline constexpr std::string_view irregular_name<aten::sum_dim_intlist> = "aten.sum.IntList_out";
template <>
inline constexpr std::string_view irregular_name<aten::var_dim> = "aten.var.out";
template <>
inline constexpr std::string_view irregular_name<aten::arange_start_step> = "aten.arange.start_out";
template <>
inline constexpr std::string_view irregular_name<aten::empty_memory_format> = "aten.empty.out";
template <>
inline constexpr std::string_view irregular_name<quantized_decomposed::quantize_per_tensor_tensor> =
    "quantized_decomposed.quantize_per_tensor.Tensor_out";
template <>
inline constexpr std::string_view irregular_name<quantized_decomposed::dequantize_per_tensor_tensor> =
    "quantized_decomposed.dequantize_per_tensor.Tensor_out";
template <>
inline constexpr std::string_view irregular_name<quantized_decomposed::choose_qparams_tensor> =
    "quantized_decomposed.choose_qparams.Tensor_out";

// The rule: "default" becomes "out", another overload gets the suffix. TOSA has no overloads.
template <op_tag Op>
struct regular_name {
    static constexpr std::size_t dots = static_cast<std::size_t>(std::ranges::count(Op::name, '.'));
    static constexpr bool is_default = Op::name.ends_with(".default");
    static constexpr std::string_view stem =
        is_default ? Op::name.substr(0, Op::name.size() - 8) : std::string_view(Op::name);
    static constexpr std::string_view suffix = is_default || dots == 1 ? ".out" : "_out";
    static constexpr auto text = [] {
        std::array<char, stem.size() + suffix.size()> joined{};
        std::ranges::copy(suffix, std::ranges::copy(stem, joined.begin()).out);
        return joined;
    }();
};
template <op_tag Op>
constexpr std::string_view name_of_variant() {
    if constexpr (!irregular_name<Op>.empty()) {
        return irregular_name<Op>;
    } else {
        return {regular_name<Op>::text.data(), regular_name<Op>::text.size()};
    }
}

template <class... Lists>
struct joined;
template <class... Ops>
struct joined<ops<Ops...>> {
    using type = ops<Ops...>;
};
template <class... As, class... Bs, class... Lists>
struct joined<ops<As...>, ops<Bs...>, Lists...> : joined<ops<As..., Bs...>, Lists...> {};

}  // namespace detail

/// Every functional op that has an out-variant, in the order of the dialect.
using functional_ops = typename detail::joined<aten_ops, quantized_ops, dim_order_ops, tosa_ops>::type;

/// The op `Op` with one more argument, `out`: a buffer for each result, which it overwrites. Its results are
/// those buffers' contents. PyTorch calls the arguments of ops with several results by several names; here
/// they are one list.
///
///     out::variant<aten::add_tensor>     aten.add.out(%x, %y, out=%buffer)
template <op_tag Op>
struct variant {
    using functional = Op;
    using dialect_type = dialect;
    using buffers = std::conditional_t<Op::results == 1, value, list<value>>;
    struct args {
        typename Op::args functional;
        buffers out;
    };
    static constexpr std::string_view name = detail::name_of_variant<Op>();
    static constexpr std::uint64_t name_hash = hash_of(name);
    static constexpr int results = Op::results;
};

namespace detail {
template <class... Ops>
dialect_of<"out", variant<Ops>...> dialect_of_variants(ops<Ops...>);
}

struct dialect : decltype(detail::dialect_of_variants(functional_ops{})) {};

}  // namespace headrace::out

namespace headrace {

// The functional op's arguments come first, so what takes a pointer to them (kernels, inference rules) takes
// one to the variant's.
template <op_tag Op>
inline constexpr auto fields_of<out::variant<Op>> = [] {
    using variant_args = args<out::variant<Op>>;
    static_assert(
        std::is_standard_layout_v<variant_args>,
        "out_variant: arguments that lie in several bases; give the op one struct of arguments");
    std::array<field_info, fields_of<Op>.size() + 1> fields{};
    std::ranges::copy(fields_of<Op>, fields.begin());
    fields.back() = {"out", kind_of<typename out::variant<Op>::buffers>, false,
                     static_cast<std::uint16_t>(offsetof(variant_args, out))};
    return fields;
}();

namespace out {

inline constexpr const auto& functional_table = headrace::detail::op_table_of<functional_ops>::value;

/// The functional op of an out-variant; of any other op itself.
[[nodiscard]] constexpr const op_info& functional_of(const op_info& op) {
    return op.dialect == &info_of_dialect<dialect> ? *functional_table[op.index] : op;
}

/// The out-variant of a functional op, or null if there is none.
[[nodiscard]] constexpr const op_info* variant_of(const op_info& op) {
    for (std::size_t i = 0; i != functional_table.size(); ++i) {
        if (functional_table[i] == &op) return op_table<dialect>[i];
    }
    return nullptr;
}

}  // namespace out

}  // namespace headrace

#endif
