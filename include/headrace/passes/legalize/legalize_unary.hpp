// SPDX-License-Identifier: MIT
// Defines headrace::legalize_unary.
#ifndef HEADRACE_PASSES_LEGALIZE_LEGALIZE_UNARY_HPP
#define HEADRACE_PASSES_LEGALIZE_LEGALIZE_UNARY_HPP

#include <headrace/dialect/aten.hpp>
#include <headrace/infer/aten/elementwise.hpp>
#include <headrace/passes/legalize/promoting.hpp>
#include <headrace/passes/properties.hpp>

namespace headrace {

/// Lowers elementwise functions that TOSA also has (TOSA 1.0, 2.3 and 2.5). PyTorch returns floats for
/// integers: the operand is first cast to the dtype of the result. floor and ceil of integers are the
/// identity; integers are negated as 0 - x, and if TOSA has no ABS for them, it is the larger of x and -x.
struct legalize_unary : pass {
    using phase = legalization;
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
                        is_floating(x.dtype()), [&] { return code<build::negate>(x); },
                        [&] { return code<build::cut>(negated(wide(x))); });
                },
            on<aten::abs> =
                [](auto x) {
                    const auto of_integers = [&] {
                        const auto y = wide(x);
                        const bool has_abs =
                            build::allows<tosa::abs>(x.target(), {dtype::int32, dtype::int32});
                        return code<build::cut>(choose(
                            has_abs, [&] { return call<tosa::abs>(y); },
                            [&] { return call<aten::maximum>(y, negated(y)); }));
                    };
                    return of_floats<tosa::abs>(
                        x, [&] { return choose(is_boolean(x.dtype()), x, of_integers); });
                });
    }

private:
    static value in_result_type(emit<build::widen_ops> e, value v) {
        return build::widen(e, v, e.result_meta().dtype);
    }
    template <op_tag Op>
    static auto of_floats(const auto& x, const auto& otherwise) {
        return choose(
            is_floating(x.dtype()), [&] { return call<Op>(x); }, otherwise);
    }
    static auto wide(const auto& x) { return code<build::widen_number>(x, dtype::int32); }
    static auto negated(const auto& x) { return call<tosa::sub>(x.constant(0), x); }
};
HEADRACE_COMPILED_PASS(legalize_unary);

}  // namespace headrace

#endif
