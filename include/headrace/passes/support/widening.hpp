// SPDX-License-Identifier: MIT
// Defines headrace::widening_shift, which reads RESCALEs that are lossless.
#ifndef HEADRACE_PASSES_SUPPORT_WIDENING_HPP
#define HEADRACE_PASSES_SUPPORT_WIDENING_HPP

#include <bit>
#include <cstdint>
#include <optional>

#include <headrace/dialect/tosa.hpp>
#include <headrace/passes/support/constants.hpp>

namespace headrace {

/// Returns the k of a RESCALE that multiplies the whole tensor by 2^k.
[[nodiscard]] inline std::optional<std::int64_t> log2_of_factor(const args<tosa::rescale>& a) {
    const auto multiplier = constant_integers(a.multiplier);
    const auto shift = constant_integers(a.shift);
    if (a.per_channel || !multiplier || !shift || multiplier->front() <= 0) return std::nullopt;
    const auto bits = static_cast<std::uint64_t>(multiplier->front());
    if (!std::has_single_bit(bits)) return std::nullopt;
    return std::countr_zero(bits) - shift->front();
}

/// Returns the k of a RESCALE from 8 or 16 bits to 32 that multiplies by 2^k without loss, and whose output
/// zero point is 0.
[[nodiscard]] inline std::optional<std::int64_t> widening_shift(const args<tosa::rescale>& a) {
    const auto is = [](value v, dtype type) { return meta_of(v) != nullptr && meta_of(v)->dtype == type; };
    const bool widens = (is(a.input, dtype::int8) || is(a.input, dtype::int16)) &&
        is(a.output_zp, dtype::int32) && !a.input_unsigned && !a.output_unsigned &&
        constant_integer(a.output_zp) == 0;
    const auto power = widens ? log2_of_factor(a) : std::nullopt;
    return power.value_or(-1) >= 0 ? power : std::nullopt;
}

}  // namespace headrace

#endif
