// SPDX-License-Identifier: MIT
// Defines headrace::dequantize, headrace::requantize and headrace::quantizer: from integers to real numbers,
// to other integers, and from real numbers to integers.
#ifndef HEADRACE_PASSES_QUANTIZE_QUANTIZER_HPP
#define HEADRACE_PASSES_QUANTIZE_QUANTIZER_HPP

#include <algorithm>
#include <array>

#include <headrace/base/text.hpp>
#include <headrace/infer/aten/creation.hpp>
#include <headrace/infer/quantized_decomposed.hpp>
#include <headrace/passes/quantize/dequantized.hpp>

namespace headrace {

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

/// Returns the scales of one quantization in units of another, which is per-tensor.
[[nodiscard]] inline pmr_vector<double> factors_between(const quantization& from, const quantization& to) {
    pmr_vector<double> factors;
    for (const double s : from.scales) factors.push_back(s / to.scale());
    return factors;
}
/// Returns the permutation that makes channels the last axis, as RESCALE requires.
[[nodiscard]] inline shape_builder with_channels_last(std::size_t rank, std::size_t channels) {
    shape_builder perms;
    for (std::size_t i = 0; i != rank; ++i) {
        if (i != channels) perms.push_back(static_cast<std::int64_t>(i));
    }
    perms.push_back(static_cast<std::int64_t>(channels));
    return perms;
}

/// Converts integers of one quantization to a per-tensor one. Per-channel scales are those of the last axis.
inline value rescale_between(
    emit<build::recoding_ops> e, const dequantized& d, const quantization& to, dtype type) {
    const quantization& from = d.parameters;
    const auto zero = from.common_zero_point();
    if (!zero) return e.unsupported("zero points that differ between channels; make them equal");
    const pmr_vector<double> factors = factors_between(from, to);
    return build::recode(e, d.integers, factors, from.reach(),
        {.input_zero = *zero, .output_zero = to.zero_point(), .to = type});
}

/// Clamps to the quantization's range, if it is narrower than that of the dtype.
inline value in_range(emit<ops<aten::clamp>> e, value v, const quantization& q, dtype type) {
    const auto [lowest, highest] = range_of(type);
    if (type == dtype::int32 || (q.lowest <= lowest && q.highest >= highest)) return v;
    return e.make<aten::clamp>(v, scalar(q.lowest), scalar(q.highest));
}

using requantize_ops = joined<build::recoding_ops, ops<aten::clamp>>;

/// Returns q(dq(x)), both per tensor.
inline value requantize(emit<requantize_ops> e, const dequantized& d, const quantization& to, dtype type) {
    if (d.parameters == to && e.dtype(d.integers) == type) return d.integers;
    return in_range(e, rescale_between(e, d, to, type), to, type);
}

using requantize_channels_ops = joined<requantize_ops, build::transpose_ops>;

/// Returns q(dq(x)), where x may have a scale for each channel.
inline value requantize_channels(
    emit<requantize_channels_ops> e, const dequantized& d, const quantization& to, dtype type) {
    const quantization& from = d.parameters;
    if (from.is_per_tensor()) return requantize(e, d, to, type);
    const shape_builder perms = with_channels_last(e.rank(d.integers), *from.axis);
    const value v = rescale_between(e, {build::transpose(e, d.integers, perms), from}, to, type);
    return in_range(e, build::transpose(e, v, build::inverse(perms)), to, type);
}

/// True if all readers of a node's results quantize them with these parameters. False while readers are still
/// to come, as in the retracing driver.
[[nodiscard]] inline bool is_read_in(const node& n, const quantization& q) {
    const auto quantizes = [&](const edge& use) {
        const auto* a = args_if<quantized_decomposed::quantize_per_tensor>(*use.target);
        return a != nullptr && q.is_per_tensor() && a->scale == q.scale() && a->zero_point == q.zero_point();
    };
    return n.first_use != nullptr && std::ranges::all_of(n.uses(), quantizes);
}

/// Ops that quantizing emits besides clones of existing nodes.
using quantizer_ops = joined<requantize_channels_ops,
    ops<aten::constant_pad_nd, aten::full, quantized_decomposed::quantize_per_tensor>>;

/// Quantizes a value of real numbers. Since rounding preserves order, the quantize is hoisted past ops that
/// select elements and past clamps, up to a dequantize, with which it becomes a RESCALE, or to constants.
/// After any other op it remains a quantize.
class quantizer {
public:
    quantizer(emit<quantizer_ops> e, const quantization& to, dtype type) : e_(e), to_(to), type_(type) {}

    /// True if a quantize of that value can become anything else.
    [[nodiscard]] bool goes_past(value v) const {
        const node& n = *v.producer;
        return match_integers(e_, v) || constant_reals(v) || is<aten::full>(n) || match_clamp(v) ||
            match_constant_pad(v) || is_selecting(n);
    }

    value operator()(value v) {
        for (const auto& [known, result] : known_) {
            if (known == v) return result;
        }
        ++depth_;
        const value result = depth_ > max_nested ? as_it_is(v) : quantized(v);
        --depth_;
        known_.emplace_back(v, result);
        return result;
    }

private:
    value quantized(value v) {
        if (const auto d = match_integers(e_, v)) return requantize_channels(e_, *d, to_, type_);
        if (const auto numbers = constant_reals(v)) {
            return e_.constant_of(
                type_, e_.shape(v), [&](std::size_t i) { return to_.quantized((*numbers)[i]); });
        }
        if (const auto* a = match<aten::full>(v))
            return e_.make<aten::full>(a->size, number(a->fill_value), type_);
        if (const auto* a = match_clamp(v)) {
            return e_.make<aten::clamp>((*this)(a->self), a->min ? number(*a->min) : scalar(to_.lowest),
                a->max ? number(*a->max) : scalar(to_.highest));
        }
        if (const auto pad = match_constant_pad(v))
            return e_.make<aten::constant_pad_nd>((*this)(pad->self), pad->pad, number(pad->value));
        return is_selecting(*v.producer) ? selected(v) : as_it_is(v);
    }

    /// Matches a clamp of real numbers: with real bounds, a clamp of integers yields real numbers as well.
    static const args<aten::clamp>* match_clamp(value v) {
        const auto* a = match<aten::clamp>(v);
        return a != nullptr && is_real(a->self) ? a : nullptr;
    }
    scalar number(const scalar& real) const { return to_.quantized(real.to_double()); }

    value selected(value v) {
        pmr_vector<value> operands;
        for (const edge& operand : v.producer->operand_edges())
            operands.push_back(is_real(*operand.slot) ? (*this)(*operand.slot) : *operand.slot);
        return cloned_on(e_, v, operands);
    }

    value as_it_is(value v) {
        return e_.make<quantized_decomposed::quantize_per_tensor>(quantize_args(v, to_, type_));
    }

    emit<quantizer_ops> e_;
    const quantization& to_;
    dtype type_;
    pmr_vector<std::pair<value, value>> known_;
    int depth_ = 0;
};

}  // namespace headrace

#endif
