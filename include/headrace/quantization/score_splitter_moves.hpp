// SPDX-License-Identifier: MIT
// Defines the members of headrace::score_splitter for products, limits and moves.
#ifndef HEADRACE_QUANTIZATION_SCORE_SPLITTER_MOVES_HPP
#define HEADRACE_QUANTIZATION_SCORE_SPLITTER_MOVES_HPP

#include <headrace/quantization/score_splitter_definition.hpp>

namespace headrace {

namespace detail {

/// Returns the sign that all numbers have; 0 if signs differ, or if any number is 0 or not finite.
[[nodiscard]] inline int common_sign(const tensor& t) {
    if (t.type() != dtype::float32 || t.size() == 0) return 0;
    const auto numbers = t.data<float>();
    const bool above = std::ranges::all_of(numbers, [](float x) { return x > 0 && std::isfinite(x); });
    const bool below = std::ranges::all_of(numbers, [](float x) { return x < 0 && std::isfinite(x); });
    return above ? 1 : below ? -1 : 0;
}

}  // namespace detail

/// Returns the condition under which a factor is 1 rather than 0; empty for other factors.
HEADRACE_INLINE value score_splitter::condition_of_factor(emitter e, value factor) const {
    const node& n = *factor.producer;
    if (mask_facts::is_cast(n) && is_boolean(e.dtype(n.operand(0)))) return n.operand(0);
    if (!facts_.seen(factor).is_zero_or_one()) return {};
    const dtype type = e.dtype(factor);
    if (is_boolean(type)) return factor;
    const value half = type == dtype::float32 ? e.splat(0.5, type, e.rank(factor))
                                              : e.splat(std::int64_t{1}, type, e.rank(factor));
    return e.make<aten::ge_tensor>(factor, half);
}

HEADRACE_INLINE split_scores score_splitter::of_product(emitter e, value x, value factor, bool low) {
    const auto scaled = [&](value finite) {
        return finite ? e.make<aten::mul_tensor>(finite, factor) : value{};
    };
    if (const tensor* t = facts_.constant(factor)) {
        const int sign = detail::common_sign(*t);
        if (sign == 0) return detail::unsplit(x);
        split_scores parts = split(e, x, sign > 0 ? low : !low);
        if (parts.is_changed) parts.finite = scaled(parts.finite);
        return parts;
    }
    if (facts_.may_mask(factor)) return detail::unsplit(x);
    const bool may_exclude = facts_.constant(x) != nullptr || facts_.may_mask(x);
    if (!may_exclude) return detail::unsplit(x);
    split_scores parts = split(e, x, low);
    if (!parts.is_changed || !parts.masks()) return detail::unsplit(x);
    const value condition = condition_of_factor(e, factor);
    if (!condition) return detail::unsplit(x);
    parts.excluded = parts.excluded ? e.make<aten::logical_and>(parts.excluded, condition) : condition;
    parts.finite = scaled(parts.finite);
    parts.excludes_all = false;
    return parts;
}

/// If one of two numbers is minus infinity, their maximum is the other one.
HEADRACE_INLINE split_scores score_splitter::of_extreme(
    emitter e, value a, value b, value v, bool low, bool is_largest) {
    const split_scores first = split(e, a, low);
    const split_scores second = split(e, b, low);
    if (!first.is_changed && !second.is_changed) return detail::unsplit(v);
    const bool prefers_finite = is_largest == low;
    if (prefers_finite && first.excludes_all) return second;
    if (prefers_finite && second.excludes_all) return first;
    const value x = detail::finite_of(e, first, a);
    const value y = detail::finite_of(e, second, b);
    const value extreme = is_largest ? e.make<aten::maximum>(x, y) : e.make<aten::minimum>(x, y);
    if (!prefers_finite) {
        split_scores parts = detail::terms_joined(e, first, second);
        parts.finite = extreme;
        return parts;
    }
    split_scores parts{.finite = extreme, .is_changed = true};
    if (first.excluded) parts.finite = e.make<aten::where_self>(first.excluded, y, parts.finite);
    if (second.excluded) parts.finite = e.make<aten::where_self>(second.excluded, x, parts.finite);
    if (first.excluded && second.excluded)
        parts.excluded = e.make<aten::logical_and>(first.excluded, second.excluded);
    return parts;
}

/// An excluded element stays excluded unless the bound is a finite score.
HEADRACE_INLINE split_scores score_splitter::of_clamp(emitter e, const node& n, bool low) {
    const auto& a = args_of<aten::clamp>(n);
    split_scores parts = split(e, a.self, low);
    if (!parts.is_changed) return parts;
    const auto& bound = low ? a.min : a.max;
    const bool ends = bound && !excludes(bound->to_double(), low);
    if (parts.finite || ends) {
        const value whole = filled(e, parts, a.self, ends ? static_cast<float>(bound->to_double()) : 0);
        node* clamped = e.clone(n, std::span(&whole, 1), [](tensor_meta&) {});
        parts.finite = clamped == nullptr ? value{} : clamped->result();
    }
    if (!ends) return parts;
    return {.finite = parts.finite, .is_changed = true};
}

HEADRACE_INLINE split_scores score_splitter::of_padding(
    emitter e, const args<aten::constant_pad_nd>& a, bool low) {
    const split_scores inner = split(e, a.self, low);
    const double around = a.value.to_double();
    const bool excludes_border = excludes(around, low);
    if (!inner.is_changed && !excludes_border) return inner;
    const auto padded = [&](value v, scalar number) {
        return e.make<aten::constant_pad_nd>(
            {.self = fitted(e, v, e.shape(a.self)), .pad = a.pad, .value = number});
    };
    split_scores parts{.excludes_all = inner.excludes_all && excludes_border, .is_changed = true};
    if (parts.excludes_all) return parts;
    if (inner.masks() || excludes_border)
        parts.excluded = padded(detail::condition_of(e, inner, a.self), scalar(excludes_border));
    if (inner.finite || (!excludes_border && around != 0))
        parts.finite = padded(detail::finite_of(e, inner, a.self), scalar(excludes_border ? 0.0 : around));
    return parts;
}

/// Takes the largest finite number of each row; the result for rows without one does not matter later.
HEADRACE_INLINE split_scores score_splitter::of_reduction(emitter e, const node& n) {
    const bool is_largest = is<aten::amax>(n);
    const value v = n.operand(0);
    const split_scores parts = split(e, v, is_largest);
    if (!parts.is_changed || parts.excludes_all) return detail::unsplit(v);
    const value_range& kept = facts_.seen(v).ordinary;
    const float end = is_largest ? kept.lowest : kept.highest;
    const float unseen = is_largest ? -INFINITY : INFINITY;
    const value whole = filled(e, parts, v, kept.empty() ? unseen : end);
    node* reduced = e.clone(n, std::span(&whole, 1), [](tensor_meta&) {});
    return {.finite = reduced == nullptr ? value{} : reduced->result(), .is_changed = true};
}

/// The op is applied to both parts as it is to the whole value.
HEADRACE_INLINE split_scores score_splitter::of_move(
    emitter e, const node& n, std::uint32_t result, bool low) {
    value_list conditions;
    value_list finite;
    split_scores parts{.excludes_all = true};
    bool has_finite = false;
    bool masks = false;
    for (const edge& operand : n.operand_edges()) {
        const value v = *operand.slot;
        if (e.dtype(v) != dtype::float32) {
            conditions.push_back(v);
            finite.push_back(v);
            continue;
        }
        const split_scores own = split(e, v, low);
        parts.is_changed = parts.is_changed || own.is_changed;
        parts.excludes_all = parts.excludes_all && own.excludes_all;
        has_finite = has_finite || own.finite;
        masks = masks || own.masks();
        conditions.push_back(fitted(e, detail::condition_of(e, own, v), e.shape(v)));
        finite.push_back(fitted(e, detail::finite_of(e, own, v), e.shape(v)));
    }
    if (!parts.is_changed || parts.excludes_all) return parts;
    const auto moved = [&](const value_list& operands, dtype type) {
        node* copy = e.clone(n, std::span(operands.data(), operands.size()), [type](tensor_meta& meta) {
            if (meta.dtype == dtype::float32) meta.dtype = type;
        });
        return copy == nullptr ? value{} : copy->result(result);
    };
    if (masks) parts.excluded = moved(conditions, dtype::boolean);
    if (has_finite) parts.finite = moved(finite, dtype::float32);
    return parts;
}

}  // namespace headrace

#endif
