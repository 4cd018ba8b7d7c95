// SPDX-License-Identifier: MIT
// Defines headrace::fuse_rescales.
#ifndef HEADRACE_PASSES_QUANTIZE_FUSE_RESCALES_HPP
#define HEADRACE_PASSES_QUANTIZE_FUSE_RESCALES_HPP

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>

#include <headrace/infer/tosa.hpp>
#include <headrace/pass/pass.hpp>
#include <headrace/passes/properties.hpp>
#include <headrace/passes/support/widening.hpp>

namespace headrace {

/// Fuses two RESCALEs if the first only widens integers and multiplies by a power of two, and removes a
/// RESCALE by one that changes neither dtype nor zero point. Other pairs round twice, or saturate in between:
/// fusing them would change results.
struct fuse_rescales : pass {
    using runs_after = pass_list<quantized_ops_lowered>;
    static constexpr std::string_view summary = "rescale(rescale(x)) = rescale(x) where that is exact";
    using targeted_ops = ops<tosa::rescale>;
    using produces = ops<tosa::rescale>;
    static constexpr bool in_execution_order = true;

    std::optional<value> operator()(const args<tosa::rescale>& a, emit<produces> e) const {
        if (changes_nothing(a, e)) return a.input;
        const auto* first = match<tosa::rescale>(a.input);
        if (first == nullptr || constant_integer(a.input_zp) != 0) return std::nullopt;
        const auto power = widening_shift(*first);
        const auto shifts = constant_integers(a.shift);
        if (!power || !shifts || !a.scale32) return std::nullopt;
        const auto fits = [&](std::int64_t shift) { return shift - *power >= 2 && shift - *power <= 62; };
        if (!std::all_of(shifts->begin(), shifts->end(), fits)) return std::nullopt;
        args<tosa::rescale> both = a;
        both.input = first->input;
        both.input_zp = first->input_zp;
        both.shift = e.constant_of(
            dtype::int8, e.shape(a.shift), [&](std::size_t i) { return (*shifts)[i] - *power; });
        return e.make<tosa::rescale>(both);
    }

private:
    static bool changes_nothing(const args<tosa::rescale>& a, const emitter& e) {
        const auto zero = constant_integer(a.input_zp);
        return e.dtype(a.input) == e.result_meta().dtype && log2_of_factor(a) == 0 && zero &&
            zero == constant_integer(a.output_zp) && a.input_unsigned == a.output_unsigned;
    }
};
HEADRACE_COMPILED_PASS(fuse_rescales);

}  // namespace headrace

#endif
