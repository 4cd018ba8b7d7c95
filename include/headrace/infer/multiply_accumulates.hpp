// SPDX-License-Identifier: MIT
// Defines headrace::multiply_accumulates, the number of multiplications of a node.
#ifndef HEADRACE_INFER_MULTIPLY_ACCUMULATES_HPP
#define HEADRACE_INFER_MULTIPLY_ACCUMULATES_HPP

#include <cstddef>
#include <cstdint>
#include <initializer_list>

#include <headrace/dialect/aten.hpp>
#include <headrace/dialect/cortex_m.hpp>
#include <headrace/dialect/tosa.hpp>
#include <headrace/ir/graph.hpp>

namespace headrace {

namespace detail {

/// Returns the product of sizes, or 0 if one is negative or the product does not fit.
[[nodiscard]] inline std::uint64_t size_product(std::initializer_list<std::int64_t> sizes) {
    std::uint64_t product = 1;
    for (const std::int64_t size : sizes) {
        if (size < 0 || __builtin_mul_overflow(product, static_cast<std::uint64_t>(size), &product)) return 0;
    }
    return product;
}

/// Returns the multiplications of a recurrent cell or network: each row of the input, and each state, is
/// multiplied by all weights, which are the matrices after the states.
[[nodiscard]] inline std::uint64_t recurrent_macs(const node& n, const tensor_meta& input) {
    if (input.rank() == 0 || input.shape.back() <= 0) return 0;
    const bool is_cell = n.op->has(trait::recurrent_cell);
    const std::uint32_t states = n.result_count - (is_cell ? 0U : 1U);
    const std::int64_t rows = input.checked_elements().value_or(0) / input.shape.back();
    std::uint64_t sum = 0;
    for (std::uint32_t i = 1 + states; i < n.operand_count; ++i) {
        const tensor_meta* const meta = meta_of(n.operand(i));
        if (meta == nullptr) return 0;
        if (meta->rank() != 2) continue;  // a bias
        const std::uint64_t products = size_product({rows, meta->checked_elements().value_or(0)});
        if (__builtin_add_overflow(sum, products, &sum)) return 0;
    }
    return sum;
}

}  // namespace detail

/// True if the node multiplies and accumulates but multiply_accumulates does not count it.
[[nodiscard]] inline bool has_uncounted_macs(const node& n) { return is<aten::einsum>(n); }

/// Returns the multiply-accumulate operations of a convolution, a matrix product, an attention or a recurrent
/// network, computed from shapes; 0 for all other nodes, and if shapes are missing or too large. Padding
/// counts as data.
[[nodiscard]] inline std::uint64_t multiply_accumulates(const node& n) {
    if (n.operand_count < 2 || n.result_count == 0) return 0;
    const tensor_meta* const first = meta_of(n.operand(0));
    const tensor_meta* const second = meta_of(n.operand(1));
    const tensor_meta* const out = n.results[0].meta;
    if (first == nullptr || second == nullptr || out == nullptr || second->rank() == 0) return 0;
    if (n.op->has(trait::recurrent)) return detail::recurrent_macs(n, *first);
    const std::int64_t results = out->checked_elements().value_or(0);
    const std::int64_t inputs = first->checked_elements().value_or(0);
    const std::int64_t weights = second->checked_elements().value_or(0);
    const auto per = [](std::int64_t elements, std::int64_t channels) {
        return channels > 0 ? elements / channels : 0;
    };
    if (is<tosa::depthwise_conv2d>(n)) {
        return second->rank() == 4 ? detail::size_product({results, second->shape[0], second->shape[1]}) : 0;
    }
    if (is<cortex_m::quantized_depthwise_conv2d>(n) || is<cortex_m::quantized_depthwise_conv2d_nhwc>(n)) {
        return second->rank() == 4 ? detail::size_product({results, second->shape[1], second->shape[2]}) : 0;
    }
    if (n.op->has(trait::convolving)) {
        const auto* general = args_if<aten::convolution>(n);
        if (!n.op->has(trait::transposed) && (general == nullptr || !general->transposed))
            return detail::size_product({results, per(weights, second->shape[0])});
        // Each input element is multiplied by its channel's weights; PyTorch has input channels first.
        const bool channels_last = is<tosa::transpose_conv2d>(n) || is_of_dialect<cortex_m::dialect>(n);
        const std::int64_t channels = second->shape[channels_last ? second->rank() - 1 : 0];
        return detail::size_product({inputs, per(weights, channels)});
    }
    if (n.op->has(trait::matrix_product)) {  // sums over the last axis of the first factor
        const bool onto_first = is<aten::addmm>(n) || is<aten::baddbmm>(n);
        const tensor_meta& factor = onto_first ? *second : *first;
        return factor.rank() != 0 ? detail::size_product({results, factor.shape[factor.rank() - 1]}) : 0;
    }
    if (n.op->has(trait::attention) && second->rank() >= 2) {
        const std::int64_t keys = second->shape[second->rank() - 2];
        return detail::size_product({inputs, keys}) + detail::size_product({results, keys});
    }
    return 0;
}

}  // namespace headrace

#endif
