// SPDX-License-Identifier: MIT
// Defines the kernels of the cortex_m dialect's elementwise ops, pad and transpose. They compute what the
// kernels in C++ of ExecuTorch's backend compute on a device; comments say where its reference in Python
// (backends/cortex_m/ops/operators.py) differs.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include <headrace/dialect/cortex_m.hpp>
#include <headrace/eval/cortex_m/requantize.hpp>
#include <headrace/eval/element.hpp>
#include <headrace/eval/iterate.hpp>
#include <headrace/eval/kernels.hpp>
#include <headrace/eval/map.hpp>
#include <headrace/infer/cortex_m_checks.hpp>

namespace headrace::eval {

namespace {

// --- quantization ----------------------------------------------------------------------

/// The inverse of the scale is taken in float; Python's reference takes it in double, which can move a tie.
/// Python also gives 0 for NaN, not the zero point. Cores with MVE, which round the exact product, differ
/// where rounding it to float gives a tie, and wrap around numbers past 16 bits before they clamp them.
void evaluate(cortex_m::quantize_per_tensor, const args<cortex_m::quantize_per_tensor>& a, evaluation& e) {
    using word_limits = std::numeric_limits<std::int32_t>;
    const float inverse = 1.F / static_cast<float>(a.scale);
    const std::vector<float> numbers = e.input(a.input).to<float>();
    std::vector<std::int64_t> codes(numbers.size());
    std::ranges::transform(numbers, codes.begin(), [&](float x) {
        const auto rounded = element_cast<std::int64_t>(std::nearbyint(inverse * x));
        const std::int64_t word = std::clamp<std::int64_t>(rounded, word_limits::min(), word_limits::max());
        return std::min(std::max(word + in_word(a.zero_point), a.quant_min), a.quant_max);
    });
    e.output().assign(codes);
}
void evaluate(
    cortex_m::dequantize_per_tensor, const args<cortex_m::dequantize_per_tensor>& a, evaluation& e) {
    const auto scale = static_cast<float>(a.scale);
    const std::vector<std::int64_t> codes = e.input(a.input).to<std::int64_t>();
    std::vector<float> numbers(codes.size());
    std::ranges::transform(
        codes, numbers.begin(), [&](std::int64_t x) { return static_cast<float>(x - a.zero_point) * scale; });
    e.output().assign(numbers);
}

// --- arithmetic ------------------------------------------------------------------------

template <class Args, class F>
void map_codes(evaluation& e, const Args& a, F f) {
    broadcast_binary<std::int64_t>(e.output(), e.input(a.self), e.input(a.other), e.output_type(), f);
}

void evaluate(cortex_m::maximum, const args<cortex_m::maximum>& a, evaluation& e) {
    map_binary(e, a.self, a.other, larger());
}
void evaluate(cortex_m::minimum, const args<cortex_m::minimum>& a, evaluation& e) {
    map_binary(e, a.self, a.other, smaller());
}
void evaluate(cortex_m::quantized_activation, const args<cortex_m::quantized_activation>& a, evaluation& e) {
    const std::span<const std::int8_t> table = e.input(a.lut).data<std::int8_t>();
    const std::span<const std::int8_t> codes = e.input(a.input).data<std::int8_t>();
    std::ranges::transform(codes, e.output().mutable_data<std::int8_t>().begin(),
        [&](std::int8_t x) { return table[idx(std::int64_t{x} + 128)]; });
}
void evaluate(cortex_m::quantized_add, const args<cortex_m::quantized_add>& a, evaluation& e) {
    const fixed_point_factor self = factor_of(a.self_multiplier, a.self_shift);
    const fixed_point_factor other = factor_of(a.other_multiplier, a.other_shift);
    const fixed_point_factor factor = factor_of(a.output_multiplier, a.output_shift);
    const quantized_result result{a.output_zero_point, a.activation_min, a.activation_max};
    const auto scaled = [](std::int64_t x, std::int64_t zero_point, const fixed_point_factor& by) {
        return std::int64_t{by.times(in_word(std::int64_t{in_word(x - in_word(zero_point))} << 20))};
    };
    map_codes(e, a, [&](std::int64_t x, std::int64_t y) {
        const std::int64_t sum = scaled(x, a.self_zero_point, self) + scaled(y, a.other_zero_point, other);
        return std::int64_t{result.of(factor.times(in_word(sum)))};
    });
}
void evaluate(cortex_m::quantized_mul, const args<cortex_m::quantized_mul>& a, evaluation& e) {
    const fixed_point_factor factor = factor_of(a.output_multiplier, a.output_shift);
    const quantized_result result{a.output_zero_point};
    map_codes(e, a, [&](std::int64_t x, std::int64_t y) {
        word_sum product;
        product.add_product(
            in_word(x - in_word(a.self_zero_point)), in_word(y - in_word(a.other_zero_point)));
        return std::int64_t{result.of(factor.times(product.value()))};
    });
}
/// Halves are rounded away from 0; Python's reference rounds them to even.
void evaluate(cortex_m::quantized_div, const args<cortex_m::quantized_div>& a, evaluation& e) {
    const float scale = static_cast<float>(a.output_scale);
    const float highest = e.output_type() == dtype::int8 ? 127.F : 32767.F;
    map_codes(e, a, [&](std::int64_t x, std::int64_t y) {
        const std::int32_t over = in_word(x - in_word(a.self_zero_point));
        const std::int32_t under = in_word(y - in_word(a.other_zero_point));
        const float quotient = under != 0 ? static_cast<float>(over) / static_cast<float>(under) : 0.F;
        const float rounded = std::round(quotient * scale) + static_cast<float>(in_word(a.output_zero_point));
        return static_cast<std::int64_t>(std::max(-highest - 1, std::min(highest, rounded)));  // NaN: highest
    });
}

// --- layout ----------------------------------------------------------------------------

void evaluate(cortex_m::pad, const args<cortex_m::pad>& a, evaluation& e) {
    const tensor& in = e.input(a.input);
    const tensor_meta* known = meta_of(a.input);
    const tensor_meta meta = known != nullptr ? *known : tensor_meta{in.type(), int_list(in.shape()), {}};
    const auto padding = cortex_m::logical_padding(meta, a.pre_pad, a.post_pad);
    const extents strides = row_major_strides(e.output_shape());
    std::int64_t first = 0;
    for (std::size_t d = 0; d != strides.size(); ++d) first += padding[d].before * strides[d];
    std::ranges::fill(e.output().mutable_data<std::int8_t>(), static_cast<std::int8_t>(a.pad_value));
    if (in.size() != 0) store_strided(e.output(), in, strides, first);
}
/// The device swaps the axes of a matrix whatever the order says; Python's reference leaves it if that is the
/// order.
void evaluate(cortex_m::transpose, const args<cortex_m::transpose>& a, evaluation& e) {
    const tensor& in = e.input(a.input);
    std::vector<std::size_t> order;
    for (const std::int64_t axis : a.perm) order.push_back(wrap_axis(axis, in.rank()));
    if (in.rank() == 2) order = {1, 0};
    e.set_output(permuted(in, order));
}

constexpr auto kernel = [](auto op, const auto& a, evaluation& e) -> decltype(evaluate(op, a, e)) {
    evaluate(op, a, e);
};

}  // namespace

const kernel_list cortex_m_elementwise_kernels = kernels_of<cortex_m::dialect>(kernel);

}  // namespace headrace::eval
