// SPDX-License-Identifier: MIT
// Defines the shape and dtype rules of the quantized_decomposed dialect.
#ifndef HEADRACE_INFER_QUANTIZED_DECOMPOSED_HPP
#define HEADRACE_INFER_QUANTIZED_DECOMPOSED_HPP

#include <headrace/dialect/quantized_decomposed.hpp>
#include <headrace/infer/shape_builder.hpp>

namespace headrace {
namespace quantized_decomposed {

using quantize_ops = ops<quantize_per_channel, quantize_per_channel_group, quantize_per_tensor,
                         quantize_per_tensor_tensor, quantize_per_tensor_tensor2, quantize_per_token>;
/// Without an out_dtype, they give float32.
using dequantize_ops = ops<dequantize_per_channel, dequantize_per_tensor, dequantize_per_tensor_tensor,
                           dequantize_per_tensor_tensor2>;
using dequantize_to_dtype_ops = ops<dequantize_per_channel_group, dequantize_per_token>;
using choose_per_token_ops = ops<choose_qparams_per_token, choose_qparams_per_token_asymmetric>;
using choose_ops = ops<choose_qparams_symmetric_tensor, choose_qparams_tensor>;

}  // namespace quantized_decomposed

template <one_of<quantized_decomposed::quantize_ops> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    return add_result(out, a.dtype, inference::of(a.input).shape);
}
template <one_of<quantized_decomposed::dequantize_ops> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    return add_result(out, a.out_dtype.value_or(dtype::float32), inference::of(a.input).shape);
}
template <one_of<quantized_decomposed::dequantize_to_dtype_ops> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    return add_result(out, a.output_dtype, inference::of(a.input).shape);
}
template <one_of<ops<quantized_decomposed::fake_quant_per_channel>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    return add_result(out, inference::of(a.input));
}

/// A scale and a zero point for each row.
template <one_of<quantized_decomposed::choose_per_token_ops> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& input = inference::of(a.input);
    BOOST_OUTCOME_TRY(require_rank("input", input.shape, 1, shape_builder::capacity));
    shape_builder shape(input.shape);
    shape.back() = 1;
    BOOST_OUTCOME_TRY(add_result(out, dtype::float64, shape));
    return add_result(out, dtype::int64, shape);
}
template <one_of<quantized_decomposed::choose_ops> Op>
result<void> infer_results(Op, const args<Op>&, inference& out) {
    BOOST_OUTCOME_TRY(add_result(out, dtype::float64, {1}));
    return add_result(out, dtype::int64, {1});
}

}  // namespace headrace

#endif
