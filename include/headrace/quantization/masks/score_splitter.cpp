// SPDX-License-Identifier: MIT
// Defines the functions of headrace/quantization/masks/score_splitter.hpp.

#include <headrace/quantization/masks/score_splitter.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace headrace {

namespace {

using score_emitter = score_splitter::emitter;

split_scores unsplit(value v) { return {.finite = v}; }
value number_beside(score_emitter e, value v, double x) { return e.splat(x, dtype::float32, e.rank(v)); }
value finite_of(score_emitter e, const split_scores& parts, value v) {
    return parts.finite ? parts.finite : number_beside(e, v, 0);
}
value negation_of(score_emitter e, value condition) {
    const auto* inner = match<aten::logical_not>(condition);
    return inner != nullptr ? inner->self : e.make<aten::logical_not>(condition);
}
// Returns the disjunction of two conditions, either of which may be absent.
value either_of(score_emitter e, value a, value b) {
    if (a && b) return e.make<aten::logical_or>(a, b);
    return a ? a : b;
}
// Returns the excluded elements as a tensor, even if there are none or all are excluded.
value condition_of(score_emitter e, const split_scores& parts, value v) {
    return parts.excluded ? parts.excluded : e.splat(parts.excludes_all, dtype::boolean, e.rank(v));
}
// A sum excludes an element if one of its terms does.
split_scores terms_joined(score_emitter e, const split_scores& a, const split_scores& b) {
    split_scores parts{.excludes_all = a.excludes_all || b.excludes_all, .is_changed = true};
    if (!parts.excludes_all) parts.excluded = either_of(e, a.excluded, b.excluded);
    return parts;
}

// Returns the sign that all numbers have; 0 if signs differ, or if any number is 0 or not finite.
int common_sign(const tensor& t) {
    if (t.type() != dtype::float32 || t.size() == 0) return 0;
    const auto numbers = t.data<float>();
    const bool above = std::ranges::all_of(numbers, [](float x) { return x > 0 && std::isfinite(x); });
    const bool below = std::ranges::all_of(numbers, [](float x) { return x < 0 && std::isfinite(x); });
    return above ? 1 : below ? -1 : 0;
}

}  // namespace

split_scores score_splitter::split(emitter e, value v, bool low) {
    constexpr int max_depth = 500;  // of nested calls
    const auto key = std::tuple(v.producer, v.result, low);
    if (const auto at = known_.find(key); at != known_.end()) return at->second;
    if (depth_ == max_depth) return unsplit(v);
    ++depth_;
    split_scores parts = split_unknown(e, v, low);
    --depth_;
    return known_[key] = parts;
}

value score_splitter::fitted(emitter e, value v, const int_list& shape) {
    if (e.failed() || std::ranges::equal(e.shape(v), shape)) return v;
    return e.make<aten::expand>({.self = v, .size = shape});
}

value score_splitter::filled(emitter e, const split_scores& parts, value v, float filling) {
    const value fill = number_beside(e, v, static_cast<double>(filling));
    if (parts.excludes_all) return fitted(e, fill, e.shape(v));
    const value finite = finite_of(e, parts, v);
    const value all = parts.excluded ? e.make<aten::where_self>(parts.excluded, fill, finite) : finite;
    return fitted(e, all, e.shape(v));
}

split_scores score_splitter::split_unknown(emitter e, value v, bool low) {
    if (const tensor* t = facts_.constant(v)) return of_constant(e, v, *t, low);
    if (!facts_.may_mask(v) || e.dtype(v) != dtype::float32) return unsplit(v);
    if (const auto source = sources_.find(v, low)) return of_source(e, *source);
    const split_scores parts = split_by_op(e, v, low);
    return parts.is_changed ? parts : of_samples(e, v, low);
}

split_scores score_splitter::split_by_op(emitter e, value v, bool low) {
    const node& n = *v.producer;
    if (const auto* a = args_if<aten::where_self>(n)) return of_choice(e, *a, v, low);
    if (const auto* a = args_if<aten::add_tensor>(n); a != nullptr && a->alpha.to_double() == 1)
        return of_sum(e, a->self, a->other, v, low);
    if (const auto* a = args_if<aten::sub_tensor>(n); a != nullptr && a->alpha.to_double() == 1)
        return of_difference(e, a->self, a->other, v, low);
    if (const auto* a = args_if<aten::neg>(n)) {
        split_scores parts = split(e, a->self, !low);
        if (parts.is_changed && parts.finite) parts.finite = e.make<aten::neg>(parts.finite);
        return parts;
    }
    if (const auto* a = args_if<aten::mul_tensor>(n)) {
        const split_scores parts = of_product(e, a->self, a->other, low);
        return parts.is_changed ? parts : of_product(e, a->other, a->self, low);
    }
    if (const auto* a = args_if<aten::maximum>(n)) return of_extreme(e, a->self, a->other, v, low, true);
    if (const auto* a = args_if<aten::minimum>(n)) return of_extreme(e, a->self, a->other, v, low, false);
    if (is<aten::clamp>(n)) return of_clamp(e, n, low);
    if (const auto* a = args_if<aten::constant_pad_nd>(n)) return of_padding(e, *a, low);
    if (is<aten::nan_to_num>(n) || mask_facts::is_cast(n)) return split(e, n.operand(0), low);
    if (is<aten::amax>(n) || is<aten::amin>(n)) return of_reduction(e, n);
    if (mask_facts::moves(n)) return of_move(e, n, v.result, low);
    return unsplit(v);
}

// --- where infinities come from ------------------------------------------------------------

split_scores score_splitter::of_constant(emitter e, value v, const tensor& t, bool low) const {
    if (t.type() != dtype::float32 || t.size() == 0) return unsplit(v);
    const auto numbers = t.data<float>();
    const auto is_excluded = [low](float x) { return excludes(static_cast<double>(x), low); };
    const auto is_zero = [&](float x) { return x == 0 || is_excluded(x); };
    const bool zeros = std::ranges::all_of(numbers, is_zero);
    if (std::ranges::none_of(numbers, is_excluded)) return {.finite = zeros ? value{} : v};
    if (std::ranges::all_of(numbers, is_excluded)) return {.excludes_all = true, .is_changed = true};
    split_scores parts{.is_changed = true};
    parts.excluded = e.constant_of(
        dtype::boolean, e.shape(v), [&](std::size_t i) { return scalar(is_excluded(numbers[i])); });
    if (zeros) return parts;
    parts.finite = e.constant_of(dtype::float32, e.shape(v), [&](std::size_t i) {
        return scalar(is_excluded(numbers[i]) ? 0.0 : static_cast<double>(numbers[i]));
    });
    return parts;
}

split_scores score_splitter::of_source(emitter e, const mask_source& source) {
    split_scores parts{.excludes_all = source.keeping.empty(), .is_changed = true};
    if (parts.excludes_all) return parts;
    parts.excluded = excluded_by(e, source.from, source.excluding, source.keeping);
    if (source.otherwise != 0)
        parts.finite = number_beside(e, source.from, static_cast<double>(source.otherwise));
    return parts;
}

/// Splits an input, or the result of an op that is not followed, by the numbers observed.
split_scores score_splitter::of_samples(emitter e, value v, bool low) {
    const seen_numbers& seen = facts_.seen(v);
    if (!seen.is_mask(low) || seen.excludes_some(!low) || seen.ordinary.empty()) return unsplit(v);
    const value_range& far = low ? seen.low : seen.high;
    const number_span excluding{static_cast<double>(far.lowest), static_cast<double>(far.highest)};
    const number_span keeping{
        static_cast<double>(seen.ordinary.lowest), static_cast<double>(seen.ordinary.highest)};
    split_scores parts{.is_changed = true};
    parts.excluded = excluded_by(e, v, excluding, keeping);
    if (seen.ordinary != value_range{0, 0})
        parts.finite = e.make<aten::where_self>(parts.excluded, number_beside(e, v, 0), v);
    return parts;
}

/// True where the value's numbers are nearer to the excluding ones.
value score_splitter::excluded_by(
    emitter e, value v, const number_span& excluding, const number_span& keeping) {
    const bool is_lower = excluding.highest < keeping.lowest;
    const dtype type = e.dtype(v);
    if (is_boolean(type)) return is_lower ? negation_of(e, v) : v;
    double bound = is_lower ? excluding.highest : excluding.lowest;
    if (type == dtype::float32 && excludes(-std::abs(bound))) {
        // The bound is distinct from the kept range in 8 bits: excluding numbers saturate there.
        const double low_end = std::min(keeping.lowest, 0.0);
        const double high_end = std::max(keeping.highest, 0.0);
        const double margin = high_end > low_end ? (high_end - low_end) / 4 : 1;
        bound = is_lower ? low_end - margin : high_end + margin;
        bounded_.push_back(v);
    } else if (type == dtype::float32) {
        bound = (bound + (is_lower ? keeping.lowest : keeping.highest)) / 2;
    }
    const value limit = type == dtype::float32 ? e.splat(bound, type, e.rank(v))
                                               : e.splat(static_cast<std::int64_t>(bound), type, e.rank(v));
    return is_lower ? e.make<aten::le_tensor>(v, limit) : e.make<aten::ge_tensor>(v, limit);
}

// --- how ops propagate them ----------------------------------------------------------------

split_scores score_splitter::of_choice(emitter e, const args<aten::where_self>& a, value v, bool low) {
    const split_scores first = split(e, a.self, low);
    const split_scores second = split(e, a.other, low);
    if (!first.is_changed && !second.is_changed) return unsplit(v);
    split_scores parts{.excludes_all = first.excludes_all && second.excludes_all, .is_changed = true};
    if (parts.excludes_all) return parts;
    if (first.excludes_all) {
        parts.excluded = either_of(e, a.condition, second.excluded);
        parts.finite = second.finite;
        return parts;
    }
    if (second.excludes_all) {
        parts.excluded = either_of(e, negation_of(e, a.condition), first.excluded);
        parts.finite = first.finite;
        return parts;
    }
    if (first.excluded || second.excluded) {
        parts.excluded = e.make<aten::where_self>(
            a.condition, condition_of(e, first, a.self), condition_of(e, second, a.other));
    }
    if (first.finite || second.finite) {
        parts.finite =
            e.make<aten::where_self>(a.condition, finite_of(e, first, a.self), finite_of(e, second, a.other));
    }
    return parts;
}

split_scores score_splitter::of_sum(emitter e, value a, value b, value v, bool low) {
    const split_scores first = split(e, a, low);
    const split_scores second = split(e, b, low);
    if (!first.is_changed && !second.is_changed) return unsplit(v);
    split_scores parts = terms_joined(e, first, second);
    parts.finite = first.finite ? first.finite : second.finite;
    if (first.finite && second.finite) parts.finite = e.make<aten::add_tensor>(first.finite, second.finite);
    return parts;
}

split_scores score_splitter::of_difference(emitter e, value a, value b, value v, bool low) {
    const split_scores first = split(e, a, low);
    const split_scores second = split(e, b, !low);
    if (!first.is_changed && !second.is_changed) return unsplit(v);
    split_scores parts = terms_joined(e, first, second);
    parts.finite = first.finite;
    if (first.finite && second.finite) {
        parts.finite = e.make<aten::sub_tensor>(first.finite, second.finite);
    } else if (second.finite) {
        parts.finite = e.make<aten::neg>(second.finite);
    }
    return parts;
}

// --- products, limits and moves ------------------------------------------------------------

/// Returns the condition under which a factor is 1 rather than 0; empty for other factors.
value score_splitter::condition_of_factor(emitter e, value factor) const {
    const node& n = *factor.producer;
    if (mask_facts::is_cast(n) && is_boolean(e.dtype(n.operand(0)))) return n.operand(0);
    if (!facts_.seen(factor).is_zero_or_one()) return {};
    const dtype type = e.dtype(factor);
    if (is_boolean(type)) return factor;
    const value half = type == dtype::float32 ? e.splat(0.5, type, e.rank(factor))
                                              : e.splat(std::int64_t{1}, type, e.rank(factor));
    return e.make<aten::ge_tensor>(factor, half);
}

split_scores score_splitter::of_product(emitter e, value x, value factor, bool low) {
    const auto scaled = [&](value finite) {
        return finite ? e.make<aten::mul_tensor>(finite, factor) : value{};
    };
    if (const tensor* t = facts_.constant(factor)) {
        const int sign = common_sign(*t);
        if (sign == 0) return unsplit(x);
        split_scores parts = split(e, x, sign > 0 ? low : !low);
        if (parts.is_changed) parts.finite = scaled(parts.finite);
        return parts;
    }
    if (facts_.may_mask(factor)) return unsplit(x);
    const bool may_exclude = facts_.constant(x) != nullptr || facts_.may_mask(x);
    if (!may_exclude) return unsplit(x);
    split_scores parts = split(e, x, low);
    if (!parts.is_changed || !parts.masks()) return unsplit(x);
    const value condition = condition_of_factor(e, factor);
    if (!condition) return unsplit(x);
    parts.excluded = parts.excluded ? e.make<aten::logical_and>(parts.excluded, condition) : condition;
    parts.finite = scaled(parts.finite);
    parts.excludes_all = false;
    return parts;
}

/// If one of two numbers is minus infinity, their maximum is the other one.
split_scores score_splitter::of_extreme(emitter e, value a, value b, value v, bool low, bool is_largest) {
    const split_scores first = split(e, a, low);
    const split_scores second = split(e, b, low);
    if (!first.is_changed && !second.is_changed) return unsplit(v);
    const bool prefers_finite = is_largest == low;
    if (prefers_finite && first.excludes_all) return second;
    if (prefers_finite && second.excludes_all) return first;
    const value x = finite_of(e, first, a);
    const value y = finite_of(e, second, b);
    const value extreme = is_largest ? e.make<aten::maximum>(x, y) : e.make<aten::minimum>(x, y);
    if (!prefers_finite) {
        split_scores parts = terms_joined(e, first, second);
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
split_scores score_splitter::of_clamp(emitter e, const node& n, bool low) {
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

split_scores score_splitter::of_padding(emitter e, const args<aten::constant_pad_nd>& a, bool low) {
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
        parts.excluded = padded(condition_of(e, inner, a.self), scalar(excludes_border));
    if (inner.finite || (!excludes_border && around != 0))
        parts.finite = padded(finite_of(e, inner, a.self), scalar(excludes_border ? 0.0 : around));
    return parts;
}

/// Takes the largest finite number of each row; the result for rows without one does not matter later.
split_scores score_splitter::of_reduction(emitter e, const node& n) {
    const bool is_largest = is<aten::amax>(n);
    const value v = n.operand(0);
    const split_scores parts = split(e, v, is_largest);
    if (!parts.is_changed || parts.excludes_all) return unsplit(v);
    const value_range& kept = facts_.seen(v).ordinary;
    const float end = is_largest ? kept.lowest : kept.highest;
    const float unseen = is_largest ? -INFINITY : INFINITY;
    const value whole = filled(e, parts, v, kept.empty() ? unseen : end);
    node* reduced = e.clone(n, std::span(&whole, 1), [](tensor_meta&) {});
    return {.finite = reduced == nullptr ? value{} : reduced->result(), .is_changed = true};
}

/// The op is applied to both parts as it is to the whole value.
split_scores score_splitter::of_move(emitter e, const node& n, std::uint32_t result, bool low) {
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
        conditions.push_back(fitted(e, condition_of(e, own, v), e.shape(v)));
        finite.push_back(fitted(e, finite_of(e, own, v), e.shape(v)));
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
