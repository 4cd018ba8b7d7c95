// SPDX-License-Identifier: MIT
// Defines the passes that lower elementwise ops: casts, functions, arithmetic, comparisons, logic, choices.
#ifndef HEADRACE_PASSES_LEGALIZE_ELEMENTWISE_HPP
#define HEADRACE_PASSES_LEGALIZE_ELEMENTWISE_HPP

#include <algorithm>
#include <cmath>

#include <headrace/dialect/aten.hpp>
#include <headrace/infer/aten/arithmetic.hpp>
#include <headrace/infer/aten/elementwise.hpp>
#include <headrace/passes/decompose/expressions.hpp>
#include <headrace/passes/legalize/promoting.hpp>
#include <headrace/passes/properties.hpp>

namespace headrace {

struct decompose_division;

/// Lowers casts (TOSA 1.0, 2.12.1).
struct legalize_cast : pass_in<legalization> {
    using runs_after = pass_list<canonical_casts>;
    static constexpr std::string_view summary = "casts to CAST, with PyTorch's rounding toward zero";

    static auto rewrites() {
        return rules(on<aten::_to_copy> = [](auto x) {
            return code<build::cast>(x, narrowed(x.result_meta().dtype));
        });
    }
};
HEADRACE_COMPILED_PASS(legalize_cast);

/// Lowers elementwise functions that TOSA also has (TOSA 1.0, 2.3 and 2.5). PyTorch returns floats for
/// integers: the operand is first cast to the dtype of the result. floor and ceil of integers are the
/// identity; integers are negated as 0 - x, and if TOSA has no ABS for them, it is the larger of x and -x.
struct legalize_unary : pass_in<legalization> {
    static constexpr std::string_view summary = "functions of one tensor to TOSA's of the same name";

    static auto rewrites() {
        return rules(
            rules_with<operands_by<in_result_type>>(on<aten::cos> = call<tosa::cos>,
                on<aten::erf> = call<tosa::erf>, on<aten::exp> = call<tosa::exp>,
                on<aten::log> = call<tosa::log>, on<aten::reciprocal> = call<tosa::reciprocal>,
                on<aten::rsqrt> = call<tosa::rsqrt>, on<aten::sigmoid> = call<tosa::sigmoid>,
                on<aten::sin> = call<tosa::sin>, on<aten::tanh> = call<tosa::tanh>),
            on<aten::ceil> = [](auto x) { return of_floats<tosa::ceil>(x, x); },
            on<aten::floor> = [](auto x) { return of_floats<tosa::floor>(x, x); },
            on<aten::neg> =
                [](auto x) {
                    return choose(
                        !is_floating(x.dtype()), [&] { return code<build::cut>(negated(wide(x))); },
                        [&] { return code<build::negate>(x); });
                },
            on<aten::abs> =
                [](auto x) {
                    return of_floats<tosa::abs>(x,
                        [&] { return choose(is_boolean(x.dtype()), x, [&] { return abs_of_integers(x); }); });
                });
    }

private:
    static value in_result_type(emit<build::widen_ops> e, value v) {
        return build::widen(e, v, e.result_meta().dtype);
    }
    template <op_tag Op>
    static auto of_floats(const auto& x, const auto& otherwise) {
        return choose(!is_floating(x.dtype()), otherwise, [&] { return call<Op>(x); });
    }
    static auto abs_of_integers(const auto& x) {
        const auto y = wide(x);
        const bool has_abs = build::allows<tosa::abs>(x.target(), {dtype::int32, dtype::int32});
        const auto larger = [&] { return call<aten::maximum>(y, negated(y)); };
        return code<build::cut>(choose(!has_abs, larger, [&] { return call<tosa::abs>(y); }));
    }
    static auto wide(const auto& x) { return code<build::widen_number>(x, dtype::int32); }
    static auto negated(const auto& x) { return call<tosa::sub>(x.constant(0), x); }
};
HEADRACE_COMPILED_PASS(legalize_unary);

/// Lowers clamp with numbers as limits to CLAMP (TOSA 1.0, 2.3.1). A missing limit is infinity, or the limit
/// of the dtype; if the lower limit is above the upper one, the result is the upper one, as in PyTorch. CLAMP
/// does not take INT32: there the limits become operands of maximum and minimum.
struct legalize_clamp : pass_in<legalization> {
    static constexpr std::string_view summary = "clamp to CLAMP, or to maximum and minimum of INT32";

    static auto rewrites() { return rules(on<aten::clamp> = code<clamped>()); }

private:
    using made = ops<tosa::cast, tosa::clamp, aten::maximum, aten::minimum>;
    static value clamped(emit<made> e, const args<aten::clamp>& a) {
        const dtype type = narrowed(e.result_meta().dtype);
        const value x = build::widen_number(e, a.self, type);
        const auto is_nan = [](const std::optional<scalar>& limit) {
            return limit && std::isnan(limit->to_double());
        };
        if (is_nan(a.min) || is_nan(a.max)) return e.unsupported("clamp: a limit is NaN");
        const auto [least, most] = build::bounds_of(type);
        const scalar high = limited(a.max.value_or(most), type, least, most);
        scalar low = limited(a.min.value_or(least), type, least, most);
        if (low.to_double() > high.to_double()) low = high;
        if (build::allows<tosa::clamp>(e, {type, type}) && type != dtype::int32) {
            return e.make<tosa::clamp>({.input = x, .min_val = low, .max_val = high});
        }
        const auto limit = [&](scalar s) { return e.splat(s, type, e.rank(x)); };
        value y = x;
        if (a.min) y = e.make<aten::maximum>(y, limit(low));
        if (a.max) y = e.make<aten::minimum>(y, limit(high));
        return y;
    }
    static scalar limited(scalar s, dtype type, scalar least, scalar most) {
        if (is_floating(type)) return s.to_double();
        return std::clamp(s.to_int(), least.to_int(), most.to_int());
    }
};
HEADRACE_COMPILED_PASS(legalize_clamp);

/// Lowers arithmetic on two tensors (TOSA 1.0, 2.4) in the dtype to which PyTorch promotes them. Integers are
/// computed in 32 bits and truncated, which makes narrow ones wrap around as in PyTorch. The sum of booleans
/// is their `or`, the product their `and`. Truncating division of integers is INTDIV.
struct legalize_binary : pass_in<legalization> {
    using runs_after = pass_list<unit_alpha, decompose_division>;
    static constexpr std::string_view summary = "sums, products, powers, maxima and minima of two tensors";

    static auto rewrites() {
        const auto arithmetic = rules_with<in_32_bits>(
            on<aten::add_tensor> =
                [](auto x, auto y) {
                    const auto either = [&] { return call<tosa::logical_or>(x, y); };
                    return choose(is_boolean(x.dtype()), either, [&] { return call<tosa::add>(x, y); });
                },
            on<aten::sub_tensor> =
                [](auto x, auto y) {
                    return refuse_if(is_boolean(x.dtype()), x, "sub: PyTorch does not subtract booleans",
                        [&] { return call<tosa::sub>(x, y); });
                },
            on<aten::mul_tensor> =
                [](auto x, auto y) {
                    const auto both = [&] { return call<tosa::logical_and>(x, y); };
                    return choose(is_boolean(x.dtype()), both, [&] { return code<build::multiply>(x, y); });
                },
            on<aten::div_tensor_mode> =
                [](auto x, auto y) {
                    return refuse_if(!is_integral(x.dtype()), x,
                        "div: only integers can be divided toward zero here",
                        [&] { return call<tosa::intdiv>(x, y); });
                },
            on<aten::pow_tensor_tensor> =
                [](auto x, auto y) {
                    return refuse_if(!is_floating(x.dtype()), x,
                        "pow: TOSA's POW takes floating-point operands only",
                        [&] { return call<tosa::pow>(x, y); });
                });
        return rules(arithmetic,
            rules_with<operands_by<promoted>>(on<aten::maximum> = code<build::extremum<tosa::maximum>>(),
                on<aten::minimum> = code<build::extremum<tosa::minimum>>()));
    }

private:
    static value promoted(emit<build::promote_ops> e, value v) {
        return build::promote(e, v, narrowed(e.result_meta().dtype));
    }
};
HEADRACE_COMPILED_PASS(legalize_binary);

/// Lowers comparisons (TOSA 1.0, 2.7), in the dtype to which PyTorch promotes the operands.
struct legalize_comparison : pass_in<legalization> {
    static constexpr std::string_view summary = "eq, gt and ge to EQUAL, GREATER and GREATER_EQUAL";

    static auto rewrites() {
        return rules(
            on<aten::eq_tensor> = [](auto x, auto y) { return compared<tosa::equal>(x, y); },
            on<aten::gt_tensor> = [](auto x, auto y) { return compared<tosa::greater>(x, y); },
            on<aten::ge_tensor> = [](auto x, auto y) { return compared<tosa::greater_equal>(x, y); });
    }

private:
    template <op_tag Op>
    static auto compared(const auto& x, const auto& y) {
        const dtype type = narrowed(result_type(x.meta(), y.meta()));
        return code<build::compare<Op>>(code<build::promote>(x, type), code<build::promote>(y, type));
    }
};
HEADRACE_COMPILED_PASS(legalize_comparison);

/// Lowers logical operations (TOSA 1.0, 2.4 and 2.5). Numbers are true unless they are 0.
struct legalize_logical : pass_in<legalization> {
    static constexpr std::string_view summary =
        "logical_and, logical_or, logical_xor and logical_not to TOSA's";

    static auto rewrites() {
        return rules_with<operands_by<build::align_truth>>(on<aten::logical_and> = call<tosa::logical_and>,
            on<aten::logical_or> = call<tosa::logical_or>, on<aten::logical_xor> = call<tosa::logical_xor>,
            on<aten::logical_not> = call<tosa::logical_not>);
    }
};
HEADRACE_COMPILED_PASS(legalize_logical);

/// Lowers bitwise operations (TOSA 1.0, 2.4 and 2.5); for booleans, they become logical ones. Without the
/// integer profile there are no BITWISE operators: not(x) is then -1 - x, and the others are refused. Shifts
/// are by less than the number of bits, as in C.
struct legalize_bitwise : pass_in<legalization> {
    static constexpr std::string_view summary = "bitwise logic and shifts to TOSA's";

    static auto rewrites() {
        return rules(
            rules_with<operands_by<build::align>>(
                on<aten::bitwise_and_tensor> = of_bits<tosa::bitwise_and, tosa::logical_and>{},
                on<aten::bitwise_or_tensor> = of_bits<tosa::bitwise_or, tosa::logical_or>{},
                on<aten::bitwise_xor_tensor> = of_bits<tosa::bitwise_xor, tosa::logical_xor>{},
                on<aten::bitwise_left_shift_tensor> = call<tosa::logical_left_shift>),
            rules_with<in_32_bits>(
                on<aten::bitwise_right_shift_tensor> = code<build::arithmetic_right_shift>()),
            on<aten::bitwise_not> = [](auto x) {
                const bool has_not = build::allows<tosa::bitwise_not>(x.target(), {x.dtype(), x.dtype()});
                const auto by_subtraction = [&] {
                    const auto wide = code<build::widen_number>(x, dtype::int32);
                    return code<build::cut>(call<tosa::sub>(wide.constant(-1), wide));
                };
                return choose(
                    is_boolean(x.dtype()), [&] { return call<tosa::logical_not>(x); }, has_not,
                    [&] { return call<tosa::bitwise_not>(x); }, by_subtraction);
            });
    }

private:
    template <op_tag OfBits, op_tag OfTruth>
    struct of_bits {
        auto operator()(const auto& x, const auto& y) const {
            const dtype type = x.dtype();
            const auto allows = [&](dtype t) { return build::allows<OfBits>(x.target(), {t, t, t}); };
            const auto refused = [&] {
                if (!allows(dtype::int32))
                    return x.unsupported("bitwise: integers need the profile INT; add it to the target");
                return x.unsupported(
                    {"bitwise: TOSA has no such operator of ", name_of(type), "; cast to int32 before"});
            };
            const auto of_truth = [&] { return call<OfTruth>(x, y); };
            return choose(
                is_boolean(type), of_truth, !allows(type), refused, [&] { return call<OfBits>(x, y); });
        }
    };
};
HEADRACE_COMPILED_PASS(legalize_bitwise);

/// Lowers where to SELECT (TOSA 1.0, 2.6.1), in the dtype to which PyTorch promotes the operands.
struct legalize_where : pass_in<legalization> {
    static constexpr std::string_view summary = "where to SELECT";

    static auto rewrites() {
        return rules(on<aten::where_self> = [](auto condition, auto x, auto y) {
            const dtype type = narrowed(x.result_meta().dtype);
            const auto operand = [&](const auto& v) { return code<build::promote>(v, type); };
            return refuse_if(!is_boolean(condition.dtype()), condition,
                "SELECT takes conditions of bool alone; cast it",
                [&] { return code<build::select>(condition, operand(x), operand(y)); });
        });
    }
};
HEADRACE_COMPILED_PASS(legalize_where);

}  // namespace headrace

#endif
