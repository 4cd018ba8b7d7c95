// SPDX-License-Identifier: MIT
// Defines headrace::as_dequantized, which reads real numbers as integers, and its reverse
// headrace::dequantize.
#ifndef HEADRACE_PASSES_QUANTIZE_DEQUANTIZED_HPP
#define HEADRACE_PASSES_QUANTIZE_DEQUANTIZED_HPP

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <utility>

#include <headrace/base/pmr_vector.hpp>
#include <headrace/base/text.hpp>
#include <headrace/infer/preconditions.hpp>
#include <headrace/infer/quantized_decomposed.hpp>
#include <headrace/passes/quantize/quantization.hpp>
#include <headrace/passes/quantize/rescaling.hpp>
#include <headrace/passes/quantize/selecting.hpp>

namespace headrace {

/// Matches a dequantize or, if the target has no floats, a cast from integers, whose scale is 1.
[[nodiscard]] inline std::optional<dequantized> match_integers(const emitter& e, value v) {
    if (auto direct = match_dequantize(v)) return direct;
    const auto* a = match<aten::_to_copy>(v);
    if (a == nullptr || e.target().has(target_feature::profile_fp) || !is_integral(e.dtype(a->self)) ||
        !is_floating(e.dtype(v)))
        return std::nullopt;
    const auto [lowest, highest] = range_of(e.dtype(a->self));
    return dequantized{a->self, quantization::per_tensor(1, 0, lowest, highest)};
}

/// Programs may nest without limit: reading and quantizing look through no more ops than this.
inline constexpr int max_nested = 256;

/// Ops that reading emits besides clones of existing nodes, if the integers keep their dtype.
using reading_as_stored_ops = ops<aten::clamp, aten::constant_pad_nd>;
using reading_ops = joined<build::saturating_rescale_ops, reading_as_stored_ops>;

/// Reads a value of real numbers as integers: a dequantize, or ops that select elements of one. Nothing for
/// computed values, and for selections from several quantizations.
class dequantizer {
public:
    /// If `finer` is given, integers get more bits if a bound of a clamp is between two of them.
    explicit dequantizer(emit<reading_as_stored_ops> e, std::optional<emit<reading_ops>> finer = {})
        : e_(e), finer_(finer) {}

    std::optional<dequantized> operator()(value v) {
        for (const auto& [known, result] : known_) {
            if (known == v) return result;
        }
        if (!is_real(v) || depth_ == max_nested) return std::nullopt;
        ++depth_;
        auto result = read(v);
        --depth_;
        known_.emplace_back(v, result);
        return result;
    }

private:
    std::optional<dequantized> read(value v) {
        if (auto direct = match_integers(e_, v)) return direct;
        if (const auto pad = match_constant_pad(v)) return padded(*pad);
        if (const auto* a = match<aten::clamp>(v)) return clamped(*a);
        return is_selecting(*v.producer) ? selected(v) : std::nullopt;
    }

    std::optional<dequantized> selected(value v) {
        const node& n = *v.producer;
        pmr_vector<value> operands;
        std::optional<quantization> shared;
        for (const edge& operand : n.operand_edges()) {
            operands.push_back(*operand.slot);
            if (!is_real(operands.back())) continue;
            auto inner = (*this)(operands.back());
            if (!inner || (shared && !(*shared == inner->parameters))) return std::nullopt;
            operands.back() = inner->integers;
            shared = std::move(inner->parameters);
        }
        if (!shared || (shared->axis && !move_channels(*shared, v))) return std::nullopt;
        return dequantized{cloned_on(e_, v, operands), std::move(*shared)};
    }

    std::optional<dequantized> padded(args<aten::constant_pad_nd> pad) {
        auto inner = (*this)(pad.self);
        if (!inner || !inner->parameters.is_per_tensor()) return std::nullopt;
        const auto with = inner->parameters.exact(pad.value.to_double());
        if (!with) return std::nullopt;
        inner->integers = e_.make<aten::constant_pad_nd>(inner->integers, pad.pad, scalar(*with));
        return inner;
    }

    std::optional<dequantized> clamped(const args<aten::clamp>& a) {
        auto inner = (*this)(a.self);
        if (!inner || !inner->parameters.is_per_tensor() || e_.dtype(inner->integers) == dtype::int48)
            return std::nullopt;
        if (!keeps_some(inner->parameters, a)) return std::nullopt;
        const auto is_off_grid = [&](const std::optional<scalar>& bound) {
            return bound && !inner->parameters.exact_bound(bound->to_double());
        };
        if (is_off_grid(a.min) || is_off_grid(a.max)) {
            constexpr double room = 1 << 30;
            if (!finer_ || inner->parameters.reach() > room) return std::nullopt;
            inner = finer(*inner);
        }
        quantization& q = inner->parameters;
        const auto min = a.min ? q.nearest(a.min->to_double()) : q.lowest;
        const auto max = a.max ? q.nearest(a.max->to_double()) : q.highest;
        if (!min || !max) return std::nullopt;
        inner->integers = e_.make<aten::clamp>(inner->integers, scalar(*min), scalar(*max));
        q.lowest = *min;
        q.highest = *max;
        return inner;
    }

    // False if a clamp keeps none of the numbers: the bound that replaces them all may have no integer.
    static bool keeps_some(const quantization& q, const args<aten::clamp>& a) {
        const double min = std::max(a.min ? a.min->to_double() : -HUGE_VAL, q.real(q.lowest, 0));
        const double max = std::min(a.max ? a.max->to_double() : HUGE_VAL, q.real(q.highest, 0));
        return min <= max;
    }

    // Returns INT32 with the finest scale that fits: nearly every bound is on its grid. RESCALE by a power of
    // two yields less than 2^29 in INT32.
    dequantized finer(const dequantized& d) {
        constexpr int max_bits = 19;
        const quantization& q = d.parameters;
        const int bits = std::min(max_bits, 28 - std::ilogb(std::max(q.reach(), 1.0)));
        if (bits <= 0) return d;
        const double factor = std::ldexp(1.0, bits);
        return {
            build::saturating_rescale(*finer_, d.integers, factor, q.reach(), {.input_zero = q.zero_point()}),
            quantization::symmetric(q.scale() / factor, static_cast<std::int64_t>(q.reach() * factor))};
    }

    // Moves the channels of an operand to their place in the result; false if they are no longer an axis.
    bool move_channels(quantization& q, value v) {
        const auto moved = axis_after(*v.producer, *q.axis);
        if (!moved || v.producer->operand_count != 1) return false;
        const auto first = static_cast<std::ptrdiff_t>(moved->first);
        const auto count = static_cast<std::ptrdiff_t>(e_.shape(v)[moved->axis]);
        q.axis = moved->axis;
        q.scales = {q.scales.begin() + first, q.scales.begin() + first + count};
        q.zero_points = {q.zero_points.begin() + first, q.zero_points.begin() + first + count};
        return true;
    }

    emit<reading_as_stored_ops> e_;
    std::optional<emit<reading_ops>> finer_;
    pmr_vector<std::pair<value, std::optional<dequantized>>> known_;
    int depth_ = 0;
};

inline std::optional<dequantized> as_dequantized(emit<reading_ops> e, value v) {
    return dequantizer(e, e)(v);
}

/// Returns nothing if channels have scales of their own.
inline std::optional<dequantized> if_per_tensor(std::optional<dequantized> d) {
    return d && d->parameters.is_per_tensor() ? std::move(d) : std::nullopt;
}
inline std::optional<dequantized> as_dequantized_per_tensor(emit<reading_ops> e, value v) {
    return if_per_tensor(as_dequantized(e, v));
}

/// Reads integers of 8 or 16 bits, which convolutions and windows take.
inline std::optional<dequantized> as_short_integers(emit<reading_as_stored_ops> e, value v) {
    auto d = dequantizer(e)(v);
    const bool is_short = d && (e.dtype(d->integers) == dtype::int8 || e.dtype(d->integers) == dtype::int16);
    return is_short ? d : std::nullopt;
}
inline std::optional<dequantized> as_short_integers_per_tensor(emit<reading_as_stored_ops> e, value v) {
    return if_per_tensor(as_short_integers(e, v));
}

/// Returns the `out_dtype` that gives a dequantize the dtype of the node's result.
[[nodiscard]] inline std::optional<dtype> out_dtype_of(const emitter& e) {
    const dtype type = e.result_meta().dtype;
    return is_floating(type) && type != dtype::float32 ? std::optional(type) : std::nullopt;
}

using dequantize_ops = ops<quantized_decomposed::dequantize_per_tensor>;

/// Converts integers with one scale back to real numbers, for the node's readers.
inline value dequantize(emit<dequantize_ops> e, const dequantized& d) {
    if (!is_scale(d.parameters.scale()))
        return e.unsupported({"its quantization step would be ", number_text(d.parameters.scale()),
            ", beyond float32; the scales of its operands are too far apart"});
    auto a = dequantize_args(d.integers, d.parameters, e.dtype(d.integers));
    a.out_dtype = out_dtype_of(e);
    return e.make<quantized_decomposed::dequantize_per_tensor>(a);
}

using dequantize_channels_ops = joined<dequantize_ops, ops<quantized_decomposed::dequantize_per_channel>>;

/// Converts integers back to real numbers; they may have a scale for each channel.
inline value dequantize_channels(emit<dequantize_channels_ops> e, const dequantized& d) {
    const quantization& q = d.parameters;
    if (q.is_per_tensor()) return dequantize(e, d);
    const std::array channels{static_cast<std::int64_t>(q.scales.size())};
    return e.make<quantized_decomposed::dequantize_per_channel>({.input = d.integers,
        .scales = e.constant<double>(dtype::float64, channels, q.scales),
        .zero_points = e.constant<std::int64_t>(dtype::int64, channels, q.zero_points),
        .axis = static_cast<std::int64_t>(*q.axis),
        .quant_min = q.lowest,
        .quant_max = q.highest,
        .dtype = e.dtype(d.integers),
        .out_dtype = out_dtype_of(e)});
}

}  // namespace headrace

#endif
