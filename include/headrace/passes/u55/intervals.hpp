// SPDX-License-Identifier: MIT
// Defines headrace::interval_of, between which numbers an integral value's elements are known to lie.
#ifndef HEADRACE_PASSES_U55_INTERVALS_HPP
#define HEADRACE_PASSES_U55_INTERVALS_HPP

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <initializer_list>

#include <headrace/passes/quantize/quantization.hpp>
#include <headrace/passes/support/constants.hpp>

namespace headrace {

struct interval {
    std::int64_t least = 0;
    std::int64_t most = 0;

    /// The largest magnitude.
    [[nodiscard]] std::int64_t reach() const { return std::max(std::abs(least), std::abs(most)); }
    [[nodiscard]] bool lies_in(std::int64_t from, std::int64_t to) const {
        return least >= from && most <= to;
    }
};

namespace detail {

/// Reads producers up to that many nodes away.
class interval_reader {
public:
    [[nodiscard]] interval of(value v, int depth) const {
        const tensor_meta* meta = meta_of(v);
        if (meta == nullptr || is_floating(meta->dtype)) return {INT32_MIN, INT32_MAX};
        const auto [lowest, highest] = is_boolean(meta->dtype) ? std::pair<std::int64_t, std::int64_t>{0, 1}
                                                               : range_of(meta->dtype);
        const interval whole{lowest, highest};
        if (depth == 0) return whole;
        const interval known = computed(v, whole, depth - 1);
        // What might have wrapped around is not known.
        return known.lies_in(whole.least, whole.most) ? known : whole;
    }

private:
    [[nodiscard]] interval computed(value v, const interval& whole, int depth) const {
        if (is<builtin::constant>(*v.producer)) return elements(v, whole);
        if (const auto* a = match<tosa::rescale>(v)) return scaled(*a, whole, depth);
        if (const auto* a = match<tosa::clamp>(v)) return {a->min_val.to_int(), a->max_val.to_int()};
        if (const auto* a = match<tosa::cast>(v)) return of(a->input, depth);
        if (const auto* a = match<tosa::maximum>(v)) {
            const interval x = of(a->input1, depth), y = of(a->input2, depth);
            return {std::max(x.least, y.least), std::max(x.most, y.most)};
        }
        if (const auto* a = match<tosa::minimum>(v)) {
            const interval x = of(a->input1, depth), y = of(a->input2, depth);
            return {std::min(x.least, y.least), std::min(x.most, y.most)};
        }
        if (const auto* a = match<tosa::add>(v)) {
            const interval x = of(a->input1, depth), y = of(a->input2, depth);
            return {x.least + y.least, x.most + y.most};
        }
        if (const auto* a = match<tosa::sub>(v)) {
            const interval x = of(a->input1, depth), y = of(a->input2, depth);
            return {x.least - y.most, x.most - y.least};
        }
        if (const auto* a = match<tosa::mul>(v)) {
            const interval x = of(a->input1, depth), y = of(a->input2, depth);
            const auto [least, most] =
                std::minmax({x.least * y.least, x.least * y.most, x.most * y.least, x.most * y.most});
            return {least, most};
        }
        if (const auto* a = match<tosa::abs>(v)) return {0, of(a->input1, depth).reach()};
        if (is<tosa::argmax>(*v.producer)) return {0, INT32_MAX};
        const bool moves = is_any(*v.producer, ops<tosa::reshape, tosa::transpose, tosa::slice, tosa::tile,
                                                   tosa::reverse, tosa::reduce_max, tosa::reduce_min>{});
        return moves ? of(v.producer->operand(0), depth) : whole;
    }
    template <class... Ops>
    static bool is_any(const node& n, ops<Ops...>) {
        return (is<Ops>(n) || ...);
    }
    static interval elements(value v, const interval& whole) {
        const auto numbers = constant_integers(v);
        if (!numbers || numbers->empty()) return whole;
        const auto [least, most] = std::minmax_element(numbers->begin(), numbers->end());
        return {*least, *most};
    }
    [[nodiscard]] interval scaled(const args<tosa::rescale>& a, const interval& whole, int depth) const {
        const auto multipliers = constant_integers(a.multiplier);
        const auto shifts = constant_integers(a.shift);
        const auto input_zero = constant_integers(a.input_zp);
        const auto output_zero = constant_integers(a.output_zp);
        if (!multipliers || !shifts || !input_zero || !output_zero) return whole;
        const interval x = of(a.input, depth);
        double least = 0;
        double most = 0;
        for (std::size_t i = 0; i != multipliers->size(); ++i) {
            const double factor =
                std::ldexp(static_cast<double>((*multipliers)[i]), -static_cast<int>((*shifts)[i]));
            for (const std::int64_t end : {x.least, x.most}) {
                const double y = static_cast<double>(end - (*input_zero)[0]) * factor;
                least = std::min(least, y);
                most = std::max(most, y);
            }
        }
        const auto code = [&](double y) {
            return static_cast<std::int64_t>(std::clamp(y + static_cast<double>((*output_zero)[0]),
                                                        static_cast<double>(whole.least),
                                                        static_cast<double>(whole.most)));
        };
        return {code(std::floor(least) - 1), code(std::ceil(most) + 1)};
    }
};

}  // namespace detail

[[nodiscard]] inline interval interval_of(value v) {
    constexpr int nodes = 6;
    return detail::interval_reader().of(v, nodes);
}

}  // namespace headrace

#endif
