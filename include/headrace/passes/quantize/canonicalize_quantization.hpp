// SPDX-License-Identifier: MIT
// Defines headrace::canonicalize_quantization.
#ifndef HEADRACE_PASSES_QUANTIZE_CANONICALIZE_QUANTIZATION_HPP
#define HEADRACE_PASSES_QUANTIZE_CANONICALIZE_QUANTIZATION_HPP

#include <cstdint>
#include <optional>
#include <span>

#include <headrace/infer/quantized_decomposed.hpp>
#include <headrace/pass/pass.hpp>
#include <headrace/passes/properties.hpp>
#include <headrace/passes/support/constants.hpp>

namespace headrace {

/// Per-tensor parameters that are given as constant tensors become numbers, and unsigned codes of 8 bits
/// signed ones, 128 lower, as TOSA has only those (1.0, 1.9).
struct canonicalize_quantization : pass {
    using runs_after = pass_list<constants_in_regions, canonical_variants, noops_removed>;
    using ensures = pass_list<canonical_quantization>;
    using quantize = quantized_decomposed::quantize_per_tensor;
    using dequantize = quantized_decomposed::dequantize_per_tensor;
    using by_tensor = ops<quantized_decomposed::quantize_per_tensor_tensor,
                          quantized_decomposed::quantize_per_tensor_tensor2,
                          quantized_decomposed::dequantize_per_tensor_tensor,
                          quantized_decomposed::dequantize_per_tensor_tensor2>;
    using targets = joined<by_tensor, ops<quantize, dequantize>>;
    using produces = ops<quantize, dequantize>;
    static constexpr bool in_execution_order = true;

    template <one_of<by_tensor> Op>
    value operator()(Op, const args<Op>& a, emit<produces>& e) const {
        const auto scale = constant_reals(a.scale);
        const auto zero = constant_integers(a.zero_point);
        const auto lowest = number(a.quant_min);
        const auto highest = number(a.quant_max);
        if (!scale || !zero || !lowest || !highest || scale->size() != 1 || zero->size() != 1)
            return e.unsupported("its scale and zero point are computed; TOSA scales by constants");
        if constexpr (requires { a.out_dtype; }) {
            return dequantized(
                e, {a.input, scale->front(), zero->front(), *lowest, *highest, a.dtype, a.out_dtype});
        } else {
            return quantized(e, {a.input, scale->front(), zero->front(), *lowest, *highest, a.dtype});
        }
    }
    std::optional<value> operator()(const args<quantize>& a, emit<produces>& e) const {
        return a.dtype == dtype::uint8 && is_only_dequantized(e.current()) ? std::optional(quantized(e, a))
                                                                           : std::nullopt;
    }
    std::optional<value> operator()(const args<dequantize>& a, emit<produces>& e) const {
        if (a.dtype != dtype::uint8) return std::nullopt;
        const bool is_ours = is<quantize>(*a.input.producer) && e.dtype(a.input) == dtype::int8;
        return is_ours || is<builtin::constant>(*a.input.producer) ? std::optional(dequantized(e, a))
                                                                   : std::nullopt;
    }

private:
    static constexpr std::int64_t offset = 128;

    static std::optional<std::int64_t> number(std::int64_t n) { return n; }
    static std::optional<std::int64_t> number(value v) {
        const auto numbers = constant_integers(v);
        return numbers && numbers->size() == 1 ? std::optional(numbers->front()) : std::nullopt;
    }

    // A node that is being retraced has no readers yet.
    static bool is_only_dequantized(const node& n) {
        if (n.first_use == nullptr) return false;
        for (const edge& use : n.uses()) {
            const bool reads = is<dequantize>(*use.target) ||
                               is<quantized_decomposed::dequantize_per_tensor_tensor>(*use.target) ||
                               is<quantized_decomposed::dequantize_per_tensor_tensor2>(*use.target);
            if (!reads) return false;
        }
        return true;
    }

    template <class Args>
    static Args as_signed(Args a) {
        a.zero_point -= offset;
        a.quant_min -= offset;
        a.quant_max -= offset;
        a.dtype = dtype::int8;
        return a;
    }
    static value quantized(emit<produces>& e, const args<quantize>& a) {
        const bool becomes_signed = a.dtype == dtype::uint8 && is_only_dequantized(e.current());
        return e.make<quantize>(becomes_signed ? as_signed(a) : a);
    }
    static value dequantized(emit<produces>& e, args<dequantize> a) {
        if (a.dtype != dtype::uint8) return e.make<dequantize>(a);
        if (e.dtype(a.input) == dtype::int8) return e.make<dequantize>(as_signed(a));
        const auto codes = constant_integers(a.input);
        if (!codes) return e.make<dequantize>(a);
        a.input = e.constant({dtype::int8, e.shape(a.input), {}}, [&](std::span<std::byte> data) {
            for (std::size_t i = 0; i != codes->size(); ++i)
                data[i] = static_cast<std::byte>(static_cast<std::int8_t>((*codes)[i] - offset));
        });
        return e.make<dequantize>(as_signed(a));
    }
};

}  // namespace headrace

#endif
