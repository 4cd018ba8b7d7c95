// SPDX-License-Identifier: MIT
// Defines the decompositions of comparisons, and of what depends on them: limits, masks, predicates.
#ifndef HEADRACE_PASSES_DECOMPOSE_COMPARISONS_HPP
#define HEADRACE_PASSES_DECOMPOSE_COMPARISONS_HPP

#include <cmath>
#include <limits>

#include <headrace/passes/decompose/expressions.hpp>

namespace headrace {

struct decompose_predicates : pass_in<function_decomposition> {
    static constexpr std::string_view summary =
        "isnan(x) as x ≠ x; isinf, isfinite by |x| = ∞, |x| < ∞; nan_to_num by where";

    static auto rewrites() {
        return rules(
            on<aten::isnan> = [](auto x) { return of_real(x, false, [&] { return !(x == x); }); },
            on<aten::isinf> = [](auto x) { return of_real(x, false, [&] { return abs(x) == HUGE_VAL; }); },
            on<aten::isfinite> = [](auto x) { return of_real(x, true, [&] { return abs(x) < HUGE_VAL; }); },
            on<aten::nan_to_num> =
                [](auto x, const auto& a) {
                    const double largest = largest_of(x.dtype());
                    const auto replaced = [&] {
                        const auto number = where(x == x, x, a.nan.value_or(0));
                        const auto above = where(number == HUGE_VAL, a.posinf.value_or(largest), number);
                        return where(above == -HUGE_VAL, a.neginf.value_or(-largest), above);
                    };
                    return choose(is_floating(x.dtype()), replaced, x);
                });
    }

private:
    static double largest_of(dtype type) {
        if (type == dtype::float16) return 65504;
        if (type == dtype::bfloat16) return 0x1.fep127;
        return std::numeric_limits<float>::max();
    }
};
HEADRACE_COMPILED_PASS(decompose_predicates);

/// Elements that tril and triu hide become 0 even if they were NaN: the mask is constant.
struct decompose_masks : pass_in<decomposition> {
    static constexpr std::string_view summary =
        "masked_fill(x, mask, v) as where(mask, v, x); tril, triu by where";

    static auto rewrites() {
        return rules(
            on<aten::masked_fill_scalar> = [](auto x, auto mask,
                                               const auto& a) { return where(mask, x.constant(a.value), x); },
            on<aten::masked_fill_tensor> =
                [](auto x, auto mask, auto filling) { return where(mask, as(filling, x.dtype()), x); },
            on<aten::tril> =
                [](auto x, const auto& a) {
                    return keep_where(x, 0, [&](auto i, auto j) { return j - i <= a.diagonal; });
                },
            on<aten::triu> =
                [](auto x, const auto& a) {
                    return keep_where(x, 0, [&](auto i, auto j) { return j - i >= a.diagonal; });
                });
    }
};
HEADRACE_COMPILED_PASS(decompose_masks);

struct decompose_limits : pass_in<function_decomposition> {
    static constexpr std::string_view summary =
        "clamp by tensors as min(max(x, low), high); fmax, fmin by max, min, where";

    static auto rewrites() {
        return rules(
            on<aten::clamp_tensor> =
                [](auto x, const auto& a) {
                    const auto wide = in_result_type(x);
                    const auto raised = with_operand(
                        wide, a.min, [](auto v, auto low) { return max(v, in_result_type(low)); });
                    return with_operand(
                        raised, a.max, [](auto v, auto high) { return min(v, in_result_type(high)); });
                },
            on<aten::clamp_min_tensor> = call<aten::maximum>,
            on<aten::clamp_max_tensor> = call<aten::minimum>,
            on<aten::clamp_min> = [](auto x, const auto& a) { return clamp(x, a.min, {}); },
            on<aten::clamp_max> = [](auto x, const auto& a) { return clamp(x, {}, a.max); },
            on<aten::fmax> = [](auto a, auto b) { return without_nan(a, b, call<aten::maximum>); },
            on<aten::fmin> = [](auto a, auto b) { return without_nan(a, b, call<aten::minimum>); });
    }

private:
    // If one operand is NaN, returns the other one.
    static auto without_nan(const auto& a, const auto& b, const auto& extremum) {
        const auto x = in_result_type(a);
        const auto y = in_result_type(b);
        const auto both = extremum(x, y);
        return choose(
            !is_floating(x.dtype()), both, [&] { return where(x == x, where(y == y, both, x), y); });
    }
};
HEADRACE_COMPILED_PASS(decompose_limits);

/// TOSA compares with EQUAL, GREATER and GREATER_EQUAL only (spec 2.7). A real number is true if it is not 0;
/// written as a comparison, this works for quantized numbers as well.
struct decompose_comparisons : pass_in<function_decomposition> {
    static constexpr std::string_view summary =
        "a < b as b > a, a <= b as b >= a, a != b as !(a == b); truth of real numbers";

private:
    static auto truth_of(const auto& x) {
        return choose(!is_floating(x.dtype()), x, [&] { return !(x == 0); });
    }
    template <class... Ops>
    static auto connectives() {
        return rules((on<Ops> = [](auto a, auto b) {
            return choose(
                is_floating(a.dtype()) || is_floating(b.dtype()),
                [&] { return call<Ops>(truth_of(a), truth_of(b)); }, unchanged);
        })...);
    }
    template <class... Ops>
    static auto reductions() {
        return rules((on<Ops> = [](auto x, const args<Ops>& a) {
            const auto reduced = [&](emit<ops<Ops>> e, value truth) {
                args<Ops> of_truth = a;
                of_truth.self = truth;
                return e.template make<Ops>(of_truth);
            };
            return choose(
                !is_floating(x.dtype()), unchanged, [&] { return code<ops<Ops>>(reduced, truth_of(x)); });
        })...);
    }

public:
    static auto rewrites() {
        return rules(
            on<aten::lt_tensor> = [](auto a, auto b) { return b > a; },
            on<aten::le_tensor> = [](auto a, auto b) { return b >= a; },
            on<aten::ne_tensor> = [](auto a, auto b) { return !(a == b); },
            on<aten::logical_not> =
                [](auto x) { return choose(!is_floating(x.dtype()), unchanged, [&] { return x == 0; }); },
            on<aten::_to_copy> =
                [](auto x) {
                    const bool to_truth = is_floating(x.dtype()) && is_boolean(x.result_meta().dtype);
                    return choose(!to_truth, unchanged, [&] { return truth_of(x); });
                },
            connectives<aten::logical_and, aten::logical_or, aten::logical_xor>(),
            reductions<aten::any, aten::any_dim, aten::any_dims, aten::all, aten::all_dim, aten::all_dims>());
    }
};
HEADRACE_COMPILED_PASS(decompose_comparisons);

}  // namespace headrace

#endif
