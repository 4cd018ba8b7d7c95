// SPDX-License-Identifier: MIT
// Defines headrace::fuse_rescales.
#ifndef HEADRACE_PASSES_QUANTIZE_FUSE_RESCALES_HPP
#define HEADRACE_PASSES_QUANTIZE_FUSE_RESCALES_HPP

#include <bit>
#include <cstdint>
#include <optional>

#include <headrace/infer/tosa.hpp>
#include <headrace/passes/properties.hpp>
#include <headrace/passes/quantize/rescaling.hpp>
#include <headrace/passes/support/constants.hpp>

namespace headrace {

/// Two RESCALEs, of which the first only widens codes by a power of two, as one; a RESCALE by one that
/// changes neither type nor zero point, as none. Other pairs round twice, or cut off in between, and stay:
/// fusing them would change results.
struct fuse_rescales : pass {
    using runs_after = pass_list<quantized_ops_lowered>;
    using targets = ops<tosa::rescale>;
    using produces = ops<tosa::rescale>;
    static constexpr bool in_execution_order = true;

    std::optional<value> operator()(const args<tosa::rescale>& a, emit<produces>& e) const {
        if (changes_nothing(a, e)) return a.input;
        const auto* first = match<tosa::rescale>(a.input);
        if (first == nullptr || !widens(*first, e) || zero_of(a.input_zp) != 0) return std::nullopt;
        const auto power = log2_of(*first);
        const auto shifts = constant_integers(a.shift);
        if (!power || !shifts || !a.scale32) return std::nullopt;
        for (const std::int64_t shift : *shifts) {
            if (shift - *power < 2 || shift - *power > 62) return std::nullopt;
        }
        args<tosa::rescale> both = a;
        both.input = first->input;
        both.input_zp = first->input_zp;
        both.shift = e.constant({dtype::int8, e.shape(a.shift), {}}, [&](std::span<std::byte> data) {
            for (std::size_t i = 0; i != shifts->size(); ++i)
                data[i] = std::bit_cast<std::byte>(static_cast<std::int8_t>((*shifts)[i] - *power));
        });
        return e.make<tosa::rescale>(both);
    }

private:
    static std::optional<std::int64_t> zero_of(value v) {
        const auto numbers = constant_integers(v);
        return numbers && numbers->size() == 1 ? std::optional(numbers->front()) : std::nullopt;
    }

    // The k of a factor of 2^k for the whole tensor.
    static std::optional<std::int64_t> log2_of(const args<tosa::rescale>& a) {
        const auto multiplier = constant_integers(a.multiplier);
        const auto shift = constant_integers(a.shift);
        if (a.per_channel || !multiplier || !shift || multiplier->front() <= 0) return std::nullopt;
        const auto bits = static_cast<std::uint64_t>(multiplier->front());
        if (!std::has_single_bit(bits)) return std::nullopt;
        return std::countr_zero(bits) - shift->front();
    }

    // From codes of 8 or 16 bits to 32, with nothing lost and zero point 0.
    static bool widens(const args<tosa::rescale>& a, const emit<produces>& e) {
        const auto power = log2_of(a);
        const dtype from = e.dtype(a.input);
        return (from == dtype::int8 || from == dtype::int16) && e.dtype(a.output_zp) == dtype::int32 &&
               !a.input_unsigned && !a.output_unsigned && zero_of(a.output_zp) == 0 && power && *power >= 0;
    }

    static bool changes_nothing(const args<tosa::rescale>& a, const emit<produces>& e) {
        return e.dtype(a.input) == e.result_meta().dtype && log2_of(a) == 0 && zero_of(a.input_zp) &&
               zero_of(a.input_zp) == zero_of(a.output_zp) && a.input_unsigned == a.output_unsigned;
    }
};

}  // namespace headrace

#endif
