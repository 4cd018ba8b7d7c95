// SPDX-License-Identifier: MIT
// Defines headrace::multiply_accumulates, what a node costs in multiplications.
#ifndef HEADRACE_LOWERING_MULTIPLY_ACCUMULATES_HPP
#define HEADRACE_LOWERING_MULTIPLY_ACCUMULATES_HPP

#include <cstddef>
#include <cstdint>
#include <initializer_list>

#include <headrace/dialect/aten.hpp>
#include <headrace/dialect/tosa.hpp>
#include <headrace/ir/graph.hpp>

namespace headrace {

namespace detail {

/// A product of sizes, or 0 if one is negative or it does not fit.
[[nodiscard]] inline std::uint64_t size_product(std::initializer_list<std::int64_t> sizes) {
    std::uint64_t product = 1;
    for (const std::int64_t size : sizes) {
        if (size < 0 || __builtin_mul_overflow(product, static_cast<std::uint64_t>(size), &product)) return 0;
    }
    return product;
}

// Convolutions: input is operand 0, weight operand 1.
using convolutions = ops<aten::conv1d, aten::conv1d_padding, aten::conv2d, aten::conv2d_padding, aten::conv3d,
                         aten::conv3d_padding, tosa::conv2d, tosa::conv3d>;
using aten_transposed_convolutions =
    ops<aten::conv_transpose1d, aten::conv_transpose2d_input, aten::conv_transpose3d_input>;
// Matrix products whose first factor is operand 0: its last axis is summed over.
using products = ops<aten::linear, aten::mm, aten::bmm, aten::matmul, aten::mv, aten::dot, tosa::matmul>;
// The same, the first factor being operand 1.
using added_products = ops<aten::addmm, aten::baddbmm>;
using attention = ops<aten::scaled_dot_product_attention, aten::_scaled_dot_product_flash_attention_for_cpu>;
using uncounted = ops<aten::einsum, aten::lstm_input, aten::lstm_cell, aten::gru_input, aten::gru_cell>;

template <class Ops>
[[nodiscard]] bool is_one_of(Ops, const node& n) {
    return set_of<Ops>.contains(n.op->functional());
}

}  // namespace detail

/// Does the node multiply and accumulate in a way that multiply_accumulates does not count?
[[nodiscard]] inline bool has_uncounted_macs(const node& n) {
    return detail::is_one_of(detail::uncounted{}, n);
}

/// Multiply-accumulate operations of a convolution, a matrix product or an attention, as its shapes say; 0
/// for all other nodes, and where shapes are missing or too large. Padding counts as data.
[[nodiscard]] inline std::uint64_t multiply_accumulates(const node& n) {
    if (n.operand_count < 2 || n.result_count == 0) return 0;
    const tensor_meta* const first = meta_of(n.operand(0));
    const tensor_meta* const second = meta_of(n.operand(1));
    const tensor_meta* const out = n.results[0].meta ? &*n.results[0].meta : nullptr;
    if (first == nullptr || second == nullptr || out == nullptr || second->rank() == 0) return 0;
    const std::int64_t results = out->checked_elements().value_or(0);
    const std::int64_t inputs = first->checked_elements().value_or(0);
    const std::int64_t weights = second->checked_elements().value_or(0);
    const auto per = [](std::int64_t elements, std::int64_t channels) {
        return channels > 0 ? elements / channels : 0;
    };
    const auto* general = args_if<aten::convolution>(n);
    const bool is_transposed = general != nullptr && general->transposed;
    if (!is_transposed && (general != nullptr || detail::is_one_of(detail::convolutions{}, n)))
        return detail::size_product({results, per(weights, second->shape[0])});
    if (is_transposed || is<tosa::transpose_conv2d>(n) ||
        detail::is_one_of(detail::aten_transposed_convolutions{}, n)) {
        // Each input element meets the weights of its channel: TOSA has input channels last.
        const std::int64_t channels = second->shape[is<tosa::transpose_conv2d>(n) ? second->rank() - 1 : 0];
        return detail::size_product({inputs, per(weights, channels)});
    }
    if (is<tosa::depthwise_conv2d>(n) && second->rank() == 4)
        return detail::size_product({results, second->shape[0], second->shape[1]});
    if (detail::is_one_of(detail::products{}, n) && first->rank() != 0)
        return detail::size_product({results, first->shape[first->rank() - 1]});
    if (detail::is_one_of(detail::added_products{}, n))
        return detail::size_product({results, second->shape[second->rank() - 1]});
    if (detail::is_one_of(detail::attention{}, n) && second->rank() >= 2) {
        const std::int64_t keys = second->shape[second->rank() - 2];
        return detail::size_product({inputs, keys}) + detail::size_product({results, keys});
    }
    return 0;
}

}  // namespace headrace

#endif
