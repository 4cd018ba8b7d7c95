// SPDX-License-Identifier: MIT
// Defines the shape and dtype rules of the normalizations of aten.
#ifndef HEADRACE_INFER_ATEN_NORM_HPP
#define HEADRACE_INFER_ATEN_NORM_HPP

#include <optional>

#include <headrace/dialect/aten.hpp>
#include <headrace/infer/preconditions.hpp>
#include <headrace/infer/promotion.hpp>
#include <headrace/infer/shape_builder.hpp>

namespace headrace {

namespace detail {

/// Refuses a normalized_shape that does not equal the last sizes of the input.
inline result<void> check_normalized_shape(sizes input, sizes normalized) {
    const bool fits = !normalized.empty() && normalized.size() <= input.size() &&
        shape_builder(input.last(normalized.size())) == shape_builder(normalized);
    if (fits) return {};
    return invalid({"normalized_shape ", shape_text(normalized), " is not the end of ", shape_text(input)});
}

/// Refuses an optional parameter unless it has the input's dtype, or is float32 for a shorter float.
inline result<void> require_parameter(std::string_view what, const std::optional<value>& v, dtype input) {
    const bool is_short = input == dtype::float16 || input == dtype::bfloat16;
    if (is_short && v && inference::of(*v).dtype == dtype::float32) return {};
    return require_dtype(what, v, input);
}

/// Refuses an input that is not floating-point, and parameters of other types.
inline result<void> check_types(
    const tensor_meta& input, const std::optional<value>& weight, const std::optional<value>& bias) {
    HEADRACE_TRY(require_floating("input", input.dtype));
    HEADRACE_TRY(require_real("input", input.dtype));
    HEADRACE_TRY(require_parameter("weight", weight, input.dtype));
    return require_parameter("bias", bias, input.dtype);
}

/// Refuses a weight or a bias whose shape is not the normalized shape.
inline result<void> check_normalized(const tensor_meta& input, sizes normalized,
    const std::optional<value>& weight, const std::optional<value>& bias) {
    HEADRACE_TRY(check_types(input, weight, bias));
    HEADRACE_TRY(check_normalized_shape(input.shape, normalized));
    HEADRACE_TRY(require_shape("weight", weight, normalized));
    return require_shape("bias", bias, normalized);
}
/// Refuses a weight or a bias that does not have one element per channel, the second axis.
inline result<void> check_channels(
    const tensor_meta& input, const std::optional<value>& weight, const std::optional<value>& bias) {
    HEADRACE_TRY(check_types(input, weight, bias));
    HEADRACE_TRY(require_rank("input", input.shape, 2, SIZE_MAX));
    HEADRACE_TRY(require_elements("weight", weight, input.shape[1]));
    return require_elements("bias", bias, input.shape[1]);
}
/// Refuses running statistics that do not have one element per channel, or are missing although `used`.
inline result<void> check_statistics(const tensor_meta& input, const std::optional<value>& mean,
    const std::optional<value>& variance, bool used) {
    if (used && (!mean || !variance)) return invalid("running_mean and running_var must be given");
    HEADRACE_TRY(require_parameter("running_mean", mean, input.dtype));
    HEADRACE_TRY(require_parameter("running_var", variance, input.dtype));
    HEADRACE_TRY(require_elements("running_mean", mean, input.shape[1]));
    return require_elements("running_var", variance, input.shape[1]);
}
/// Refuses groups of channels of different sizes.
inline result<void> check_groups(std::int64_t channels, std::int64_t groups) {
    HEADRACE_TRY(require_at_least("the number of groups", groups, 1));
    if (channels % groups == 0) return {};
    return invalid({channels, " channels are not divisible into ", groups, " groups"});
}

/// Infers the result, and the mean and reciprocal deviation of a batch, one per channel; evaluation on the
/// CPU saves none.
inline result<void> infer_batch_norm(inference& out, const tensor_meta& input, bool training) {
    const std::int64_t channels = training ? input.shape[1] : 0;
    HEADRACE_TRY(add_result(out, input));
    HEADRACE_TRY(add_result(out, input.dtype, {channels}));
    return add_result(out, input.dtype, {channels});
}

}  // namespace detail

template <one_of<ops<aten::dropout>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    return add_result(out, inference::of(a.input));
}

template <one_of<ops<aten::batch_norm>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& input = inference::of(a.input);
    HEADRACE_TRY(detail::check_channels(input, a.weight, a.bias));
    HEADRACE_TRY(detail::check_statistics(input, a.running_mean, a.running_var, !a.training));
    return add_result(out, input);
}
template <one_of<ops<aten::instance_norm>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& input = inference::of(a.input);
    HEADRACE_TRY(require_rank("input", input.shape, 3, SIZE_MAX));
    HEADRACE_TRY(detail::check_channels(input, a.weight, a.bias));
    HEADRACE_TRY(detail::check_statistics(input, a.running_mean, a.running_var, !a.use_input_stats));
    // PyTorch repeats these once for each image, which requires vectors.
    for (const std::optional<value>& v : {a.weight, a.bias, a.running_mean, a.running_var}) {
        if (v && inference::of(*v).rank() != 1)
            return invalid("weight, bias, running_mean and running_var must have one axis");
    }
    return add_result(out, input);
}
template <one_of<ops<aten::group_norm>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& input = inference::of(a.input);
    HEADRACE_TRY(detail::check_channels(input, a.weight, a.bias));
    HEADRACE_TRY(detail::check_groups(input.shape[1], a.num_groups));
    return add_result(out, input);
}

template <one_of<ops<aten::layer_norm>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& input = inference::of(a.input);
    HEADRACE_TRY(detail::check_normalized(input, a.normalized_shape, a.weight, a.bias));
    return add_result(out, input);
}
template <one_of<ops<aten::rms_norm>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& input = inference::of(a.input);
    HEADRACE_TRY(require_floating("input", input.dtype));
    HEADRACE_TRY(detail::check_normalized_shape(input.shape, a.normalized_shape));
    HEADRACE_TRY(require_shape("weight", a.weight, a.normalized_shape));
    const bool promotes = !a.weight || result_type(input, inference::of(*a.weight)) != dtype::unknown;
    return promotes ? add_result(out, input) : add_result(out, dtype::unknown, input);
}

/// PyTorch takes a `g` with one element or with as many as `dim`, regardless of axes of size 1.
template <one_of<ops<aten::_weight_norm>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& v = inference::of(a.v);
    const tensor_meta& g = inference::of(a.g);
    HEADRACE_TRY(require_floating("v", v.dtype));
    HEADRACE_TRY(require_dtype("g", g.dtype, v.dtype));
    shape_builder lengths = shape_builder::filled(v.rank(), 1);
    if (a.dim != -1) {
        HEADRACE_TRY(axis, axis_of(a.dim, v.rank()));
        if (v.rank() != 0) lengths[axis] = v.shape[axis];
    }
    HEADRACE_TRY(require_expandable("g", g.shape, lengths));
    return add_result(out, v);
}

template <one_of<ops<aten::native_layer_norm>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& input = inference::of(a.input);
    HEADRACE_TRY(detail::check_normalized(input, a.normalized_shape, a.weight, a.bias));
    shape_builder statistics(input.shape);
    for (std::size_t i = input.rank() - a.normalized_shape.size(); i < statistics.size(); ++i)
        statistics[i] = 1;
    HEADRACE_TRY(add_result(out, input));
    HEADRACE_TRY(add_result(out, input.dtype, statistics));
    return add_result(out, input.dtype, statistics);
}

/// N, C and HxW repeat the input's shape.
template <one_of<ops<aten::native_group_norm>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& input = inference::of(a.input);
    HEADRACE_TRY(detail::check_channels(input, a.weight, a.bias));
    const std::int64_t area = element_count(sizes(input.shape).subspan(2));
    HEADRACE_TRY(require_equal("N", a.N, input.shape[0]));
    HEADRACE_TRY(require_equal("C", a.C, input.shape[1]));
    HEADRACE_TRY(require_equal("HxW", a.HxW, area));
    HEADRACE_TRY(detail::check_groups(a.C, a.group));
    HEADRACE_TRY(add_result(out, input));
    HEADRACE_TRY(add_result(out, input.dtype, {a.N, a.group}));
    return add_result(out, input.dtype, {a.N, a.group});
}

template <one_of<ops<aten::native_batch_norm, aten::_native_batch_norm_legit>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& input = inference::of(a.input);
    HEADRACE_TRY(detail::check_channels(input, a.weight, a.bias));
    HEADRACE_TRY(detail::check_statistics(input, a.running_mean, a.running_var, !a.training));
    return detail::infer_batch_norm(out, input, a.training);
}
template <one_of<ops<aten::_native_batch_norm_legit_no_stats>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& input = inference::of(a.input);
    HEADRACE_TRY(detail::check_channels(input, a.weight, a.bias));
    if (!a.training) return invalid("without running statistics, training must be set");
    return detail::infer_batch_norm(out, input, true);
}
template <one_of<ops<aten::_native_batch_norm_legit_no_training>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& input = inference::of(a.input);
    HEADRACE_TRY(detail::check_channels(input, a.weight, a.bias));
    HEADRACE_TRY(detail::check_statistics(input, a.running_mean, a.running_var, true));
    return detail::infer_batch_norm(out, input, false);
}

template <one_of<ops<aten::cosine_similarity>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& left = inference::of(a.x1);
    const tensor_meta& right = inference::of(a.x2);
    HEADRACE_TRY(shape, broadcast(left.shape, right.shape));
    HEADRACE_TRY(axes, axes_of({&a.dim, 1}, shape.size()));
    return add_result(out, as_floating(result_type(left, right)), reduced_shape(shape, axes, false));
}

}  // namespace headrace

#endif
