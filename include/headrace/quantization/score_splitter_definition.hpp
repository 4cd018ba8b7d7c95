// SPDX-License-Identifier: MIT
// Defines the members of headrace::score_splitter.
#ifndef HEADRACE_QUANTIZATION_SCORE_SPLITTER_DEFINITION_HPP
#define HEADRACE_QUANTIZATION_SCORE_SPLITTER_DEFINITION_HPP

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include <headrace/base/compiled.hpp>
#include <headrace/quantization/score_splitter.hpp>

namespace headrace {

namespace detail {

using score_emitter = score_splitter::emitter;

[[nodiscard]] inline split_scores unsplit(value v) { return {.finite = v}; }
[[nodiscard]] inline value number_beside(score_emitter e, value v, double x) {
    return e.splat(x, dtype::float32, e.rank(v));
}
[[nodiscard]] inline value finite_of(score_emitter e, const split_scores& parts, value v) {
    return parts.finite ? parts.finite : number_beside(e, v, 0);
}
[[nodiscard]] inline value negation_of(score_emitter e, value condition) {
    const auto* inner = match<aten::logical_not>(condition);
    return inner != nullptr ? inner->self : e.make<aten::logical_not>(condition);
}
/// Returns the disjunction of two conditions, either of which may be absent.
[[nodiscard]] inline value either_of(score_emitter e, value a, value b) {
    if (a && b) return e.make<aten::logical_or>(a, b);
    return a ? a : b;
}
/// Returns the excluded elements as a tensor, even if there are none or all are excluded.
[[nodiscard]] inline value condition_of(score_emitter e, const split_scores& parts, value v) {
    return parts.excluded ? parts.excluded : e.splat(parts.excludes_all, dtype::boolean, e.rank(v));
}
/// A sum excludes an element if one of its terms does.
[[nodiscard]] inline split_scores terms_joined(
    score_emitter e, const split_scores& a, const split_scores& b) {
    split_scores parts{.excludes_all = a.excludes_all || b.excludes_all, .is_changed = true};
    if (!parts.excludes_all) parts.excluded = either_of(e, a.excluded, b.excluded);
    return parts;
}

}  // namespace detail

HEADRACE_INLINE split_scores score_splitter::split(emitter e, value v, bool low) {
    constexpr int deepest = 500;  // of nested calls
    const auto key = std::tuple(v.producer, v.result, low);
    if (const auto at = known_.find(key); at != known_.end()) return at->second;
    if (depth_ == deepest) return detail::unsplit(v);
    ++depth_;
    split_scores parts = split_unknown(e, v, low);
    --depth_;
    return known_[key] = parts;
}

HEADRACE_INLINE value score_splitter::fitted(emitter e, value v, const int_list& shape) {
    if (e.failed() || std::ranges::equal(e.shape(v), shape)) return v;
    return e.make<aten::expand>({.self = v, .size = shape});
}

HEADRACE_INLINE value score_splitter::filled(emitter e, const split_scores& parts, value v, float filling) {
    const value fill = detail::number_beside(e, v, static_cast<double>(filling));
    if (parts.excludes_all) return fitted(e, fill, e.shape(v));
    const value finite = detail::finite_of(e, parts, v);
    const value all = parts.excluded ? e.make<aten::where_self>(parts.excluded, fill, finite) : finite;
    return fitted(e, all, e.shape(v));
}

HEADRACE_INLINE split_scores score_splitter::split_unknown(emitter e, value v, bool low) {
    if (const tensor* t = facts_.constant(v)) return of_constant(e, v, *t, low);
    if (!facts_.may_mask(v) || e.dtype(v) != dtype::float32) return detail::unsplit(v);
    if (const auto source = sources_.find(v, low)) return of_source(e, *source);
    const split_scores parts = split_by_op(e, v, low);
    return parts.is_changed ? parts : of_samples(e, v, low);
}

HEADRACE_INLINE split_scores score_splitter::split_by_op(emitter e, value v, bool low) {
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
    return detail::unsplit(v);
}

// --- where infinities come from ------------------------------------------------------------

HEADRACE_INLINE split_scores score_splitter::of_constant(
    emitter e, value v, const tensor& t, bool low) const {
    if (t.type() != dtype::float32 || t.size() == 0) return detail::unsplit(v);
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

HEADRACE_INLINE split_scores score_splitter::of_source(emitter e, const mask_source& source) {
    split_scores parts{.excludes_all = source.keeping.empty(), .is_changed = true};
    if (parts.excludes_all) return parts;
    parts.excluded = excluded_by(e, source.from, source.excluding, source.keeping);
    if (source.otherwise != 0)
        parts.finite = detail::number_beside(e, source.from, static_cast<double>(source.otherwise));
    return parts;
}

/// Splits an input, or the result of an op that is not followed, by the numbers observed.
HEADRACE_INLINE split_scores score_splitter::of_samples(emitter e, value v, bool low) {
    const seen_numbers& seen = facts_.seen(v);
    if (!seen.is_mask(low) || seen.excludes_some(!low) || seen.ordinary.empty()) return detail::unsplit(v);
    const value_range& far = low ? seen.low : seen.high;
    const number_span excluding{static_cast<double>(far.lowest), static_cast<double>(far.highest)};
    const number_span keeping{
        static_cast<double>(seen.ordinary.lowest), static_cast<double>(seen.ordinary.highest)};
    split_scores parts{.is_changed = true};
    parts.excluded = excluded_by(e, v, excluding, keeping);
    if (seen.ordinary != value_range{0, 0})
        parts.finite = e.make<aten::where_self>(parts.excluded, detail::number_beside(e, v, 0), v);
    return parts;
}

/// True where the value's numbers are nearer to the excluding ones.
HEADRACE_INLINE value score_splitter::excluded_by(
    emitter e, value v, const number_span& excluding, const number_span& keeping) {
    const bool is_lower = excluding.highest < keeping.lowest;
    const dtype type = e.dtype(v);
    if (is_boolean(type)) return is_lower ? detail::negation_of(e, v) : v;
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

HEADRACE_INLINE split_scores score_splitter::of_choice(
    emitter e, const args<aten::where_self>& a, value v, bool low) {
    const split_scores first = split(e, a.self, low);
    const split_scores second = split(e, a.other, low);
    if (!first.is_changed && !second.is_changed) return detail::unsplit(v);
    split_scores parts{.excludes_all = first.excludes_all && second.excludes_all, .is_changed = true};
    if (parts.excludes_all) return parts;
    if (first.excludes_all) {
        parts.excluded = detail::either_of(e, a.condition, second.excluded);
        parts.finite = second.finite;
        return parts;
    }
    if (second.excludes_all) {
        parts.excluded = detail::either_of(e, detail::negation_of(e, a.condition), first.excluded);
        parts.finite = first.finite;
        return parts;
    }
    if (first.excluded || second.excluded) {
        parts.excluded = e.make<aten::where_self>(
            a.condition, detail::condition_of(e, first, a.self), detail::condition_of(e, second, a.other));
    }
    if (first.finite || second.finite) {
        parts.finite = e.make<aten::where_self>(
            a.condition, detail::finite_of(e, first, a.self), detail::finite_of(e, second, a.other));
    }
    return parts;
}

HEADRACE_INLINE split_scores score_splitter::of_sum(emitter e, value a, value b, value v, bool low) {
    const split_scores first = split(e, a, low);
    const split_scores second = split(e, b, low);
    if (!first.is_changed && !second.is_changed) return detail::unsplit(v);
    split_scores parts = detail::terms_joined(e, first, second);
    parts.finite = first.finite ? first.finite : second.finite;
    if (first.finite && second.finite) parts.finite = e.make<aten::add_tensor>(first.finite, second.finite);
    return parts;
}

HEADRACE_INLINE split_scores score_splitter::of_difference(emitter e, value a, value b, value v, bool low) {
    const split_scores first = split(e, a, low);
    const split_scores second = split(e, b, !low);
    if (!first.is_changed && !second.is_changed) return detail::unsplit(v);
    split_scores parts = detail::terms_joined(e, first, second);
    parts.finite = first.finite;
    if (first.finite && second.finite) {
        parts.finite = e.make<aten::sub_tensor>(first.finite, second.finite);
    } else if (second.finite) {
        parts.finite = e.make<aten::neg>(second.finite);
    }
    return parts;
}

}  // namespace headrace

#include <headrace/quantization/score_splitter_moves.hpp>

#endif
