// SPDX-License-Identifier: MIT
// Defines the shape and dtype rules of the normalizations of aten.
#ifndef HEADRACE_INFER_ATEN_NORM_HPP
#define HEADRACE_INFER_ATEN_NORM_HPP

#include <headrace/dialect/aten.hpp>
#include <headrace/infer/promotion.hpp>
#include <headrace/infer/shape_builder.hpp>

namespace headrace {

namespace detail {

/// Refuses a normalized_shape that is not the end of the input's shape.
inline result<void> check_normalized_shape(sizes input, sizes normalized) {
    const bool fits = !normalized.empty() && normalized.size() <= input.size() &&
                      shape_builder(input.last(normalized.size())) == shape_builder(normalized);
    if (fits) return boost::outcome_v2::success();
    return invalid("normalized_shape " + shape_text(normalized) + " is not the end of " + shape_text(input));
}

/// Mean and reciprocal deviation of a batch, one per channel; evaluation on the CPU saves none.
inline result<void> add_batch_statistics(inference& out, const tensor_meta& input, bool training) {
    BOOST_OUTCOME_TRY(require_rank("input", input.shape, 2, SIZE_MAX));
    const std::int64_t channels = training ? input.shape[1] : 0;
    BOOST_OUTCOME_TRY(add_result(out, input.dtype, {channels}));
    return add_result(out, input.dtype, {channels});
}
inline result<void> infer_batch_norm(inference& out, const tensor_meta& input, bool training) {
    BOOST_OUTCOME_TRY(add_result(out, input));
    return add_batch_statistics(out, input, training);
}

}  // namespace detail

template <one_of<ops<aten::batch_norm, aten::group_norm, aten::instance_norm, aten::dropout>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    return add_result(out, inference::of(a.input));
}

template <one_of<ops<aten::layer_norm, aten::rms_norm>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& input = inference::of(a.input);
    BOOST_OUTCOME_TRY(detail::check_normalized_shape(input.shape, a.normalized_shape));
    return add_result(out, input);
}

template <one_of<ops<aten::native_layer_norm>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& input = inference::of(a.input);
    BOOST_OUTCOME_TRY(detail::check_normalized_shape(input.shape, a.normalized_shape));
    shape_builder statistics(input.shape);
    for (std::size_t i = input.rank() - a.normalized_shape.size(); i < statistics.size(); ++i)
        statistics[i] = 1;
    BOOST_OUTCOME_TRY(add_result(out, input));
    BOOST_OUTCOME_TRY(add_result(out, input.dtype, statistics));
    return add_result(out, input.dtype, statistics);
}

template <one_of<ops<aten::native_group_norm>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& input = inference::of(a.input);
    BOOST_OUTCOME_TRY(add_result(out, input));
    BOOST_OUTCOME_TRY(add_result(out, input.dtype, {a.N, a.group}));
    return add_result(out, input.dtype, {a.N, a.group});
}

template <one_of<ops<aten::native_batch_norm, aten::_native_batch_norm_legit,
                     aten::_native_batch_norm_legit_no_stats>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    return detail::infer_batch_norm(out, inference::of(a.input), a.training);
}

template <one_of<ops<aten::_native_batch_norm_legit_no_training>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    return detail::infer_batch_norm(out, inference::of(a.input), false);
}

template <one_of<ops<aten::cosine_similarity>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& left = inference::of(a.x1);
    const tensor_meta& right = inference::of(a.x2);
    BOOST_OUTCOME_TRY(shape, broadcast(left.shape, right.shape));
    BOOST_OUTCOME_TRY(axes, axes_of({&a.dim, 1}, shape.size()));
    return add_result(out, as_floating(result_type(left, right)), reduced_shape(shape, axes, false));
}

}  // namespace headrace

#endif
