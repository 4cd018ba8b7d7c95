// SPDX-License-Identifier: MIT
// Defines headrace::as_dequantized, which reads real numbers as integers, and headrace::is_selecting: ops
// that treat quantized values as real numbers.
#ifndef HEADRACE_PASSES_QUANTIZE_DEQUANTIZED_HPP
#define HEADRACE_PASSES_QUANTIZE_DEQUANTIZED_HPP

#include <algorithm>
#include <cmath>

#include <headrace/infer/aten/arithmetic.hpp>
#include <headrace/infer/aten/pad.hpp>
#include <headrace/op/op_query.hpp>
#include <headrace/passes/quantize/quantization.hpp>
#include <headrace/passes/quantize/rescaling.hpp>
#include <headrace/passes/support/permuting.hpp>

namespace headrace {

/// Ops whose results consist of elements of their operands, regardless of their arguments, in the form that
/// programs have after decomposition: `move(dq(x)) = dq(move(x))` if all operands share one quantization.
/// Padding ops that are defined for a fixed number of axes repeat elements.
inline constexpr auto selecting_ops =
    set_where<aten::dialect, trait::rearranging | trait::splitting | trait::gathering | trait::nearest> |
    set_where<aten::dialect, trait::padding, trait::spatial> |
    set_where<tosa::dialect, trait::reshaping | trait::permuting> |
    ops_in<aten::amax, aten::amin, aten::max, aten::min, aten::aminmax, aten::max_pool2d, aten::scatter_src,
        aten::index_copy>;

[[nodiscard]] inline bool is_real(value v) { return meta_of(v) != nullptr && is_floating(meta_of(v)->dtype); }

/// True if the node selects elements of its operands. False for a `pad` with a constant, an index_put that
/// accumulates, and an op that converts integers among its operands.
[[nodiscard]] inline bool is_selecting(const node& n) {
    if (const auto* a = args_if<aten::cat>(n)) return std::ranges::all_of(a->tensors, is_real);
    if (const auto* a = args_if<aten::where_self>(n)) return is_real(a->self) && is_real(a->other);
    if (const auto* a = args_if<aten::index_put>(n)) return !a->accumulate;
    if (const auto* a = args_if<aten::_unsafe_index_put>(n)) return !a->accumulate;
    if (const auto* a = args_if<aten::pad>(n)) return a->mode != "constant";
    return selecting_ops.contains(n.op->functional());
}

/// Matches a constant_pad_nd, or a `pad` with a constant.
[[nodiscard]] inline std::optional<args<aten::constant_pad_nd>> match_constant_pad(value v) {
    if (const auto* a = match<aten::constant_pad_nd>(v)) return *a;
    const auto* a = match<aten::pad>(v);
    if (a == nullptr || a->mode != "constant") return std::nullopt;
    return args<aten::constant_pad_nd>{a->self, a->pad, scalar(a->value.value_or(0))};
}

/// Clones a node that selects elements, with quantized values in place of real numbers.
inline value cloned_on(emit<ops<>> e, value v, const pmr_vector<value>& operands) {
    const dtype reals = e.dtype(v);
    dtype integers = reals;
    for (std::size_t i = 0; i != operands.size(); ++i) {
        if (is_real(v.producer->operand(i))) integers = e.dtype(operands[i]);
    }
    node* made = e.clone(*v.producer, operands, [&](tensor_meta& meta) {
        if (meta.dtype == reals) meta.dtype = integers;
    });
    return made == nullptr ? value{} : made->result(v.result);
}

/// The place of an operand's axis in the result, and the first of its indices that remain.
struct moved_axis {
    std::size_t axis;
    std::int64_t first = 0;
};

/// Returns the axis after an op that moves one operand's elements; nothing if it is no longer separate.
[[nodiscard]] inline std::optional<moved_axis> axis_after(const node& n, std::size_t axis) {
    const sizes before = meta_of(n.operand(0))->shape;
    const auto permuted = [&](const result<shape_builder>& order) -> std::optional<moved_axis> {
        if (!order) return std::nullopt;
        const auto& perms = order.value();
        const auto* const found = std::ranges::find(perms, static_cast<std::int64_t>(axis));
        if (found == perms.end()) return std::nullopt;
        return moved_axis{static_cast<std::size_t>(found - perms.begin())};
    };
    if (const auto* a = args_if<aten::permute>(n)) return permuted(build::order_of(*a, before.size()));
    if (const auto* a = args_if<tosa::transpose>(n)) return permuted(shape_builder(a->perms));
    if (const auto* a = args_if<aten::t>(n)) return permuted(build::order_of(*a, before.size()));
    if (const auto* a = args_if<aten::transpose_int>(n)) return permuted(build::order_of(*a, before.size()));
    if (const auto* a = args_if<aten::slice_tensor>(n)) {
        if (normalized_axis(a->dim, before.size()) != axis) return moved_axis{axis};
        if (a->step != 1) return std::nullopt;
        return moved_axis{axis, clamped_slice(a->start, a->end, before[axis]).start};
    }
    if (!n.op->has(trait::reshaping)) return std::nullopt;
    // The axis of equal size after equally many elements, unless it is split or joined.
    const sizes after = n.results[0].meta->shape;
    for (std::size_t i = 0; i != after.size(); ++i) {
        if (after[i] == before[axis] && element_count(after.first(i)) == element_count(before.first(axis)))
            return moved_axis{i};
    }
    return std::nullopt;
}

/// Matches a dequantize or, if the target has no floats, a cast from integers, whose scale is 1. Nothing for
/// a cast from uint8: TOSA's operators would read the bytes as signed.
[[nodiscard]] inline std::optional<dequantized> match_integers(const emitter& e, value v) {
    if (auto direct = match_dequantize(v)) return direct;
    const auto* a = match<aten::_to_copy>(v);
    if (a == nullptr || e.target().has(target_feature::profile_fp) || !is_integral(e.dtype(a->self)) ||
        e.dtype(a->self) == dtype::uint8 || !is_floating(e.dtype(v)))
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

}  // namespace headrace

#endif
