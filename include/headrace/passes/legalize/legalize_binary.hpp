// SPDX-License-Identifier: MIT
// Defines headrace::legalize_binary.
#ifndef HEADRACE_PASSES_LEGALIZE_LEGALIZE_BINARY_HPP
#define HEADRACE_PASSES_LEGALIZE_LEGALIZE_BINARY_HPP

#include <headrace/dialect/aten.hpp>
#include <headrace/passes/legalize/comparing.hpp>
#include <headrace/passes/properties.hpp>

namespace headrace {

struct decompose_division;
/// Lowers arithmetic on two tensors (TOSA 1.0, 2.4) in the dtype to which PyTorch promotes them. Integers are
/// computed in 32 bits and truncated, which makes narrow ones wrap around as in PyTorch. The sum of booleans
/// is their `or`, the product their `and`. Truncating division of integers is INTDIV.
struct legalize_binary : pass {
    using phase = legalization;
    using runs_after = pass_list<unit_alpha, decompose_division>;
    static constexpr std::string_view summary = "sums, products, powers, maxima and minima of two tensors";

    static auto rewrites() {
        return rules(rules_with<in_32_bits>(
                         on<aten::add_tensor> =
                             [](auto x, auto y) {
                                 return choose(
                                     is_boolean(x.dtype()), [&] { return call<tosa::logical_or>(x, y); },
                                     [&] { return call<tosa::add>(x, y); });
                             },
                         on<aten::sub_tensor> =
                             [](auto x, auto y) {
                                 return choose(
                                     !is_boolean(x.dtype()), [&] { return call<tosa::sub>(x, y); },
                                     refused(x, "sub: PyTorch does not subtract booleans"));
                             },
                         on<aten::mul_tensor> =
                             [](auto x, auto y) {
                                 return choose(
                                     is_boolean(x.dtype()), [&] { return call<tosa::logical_and>(x, y); },
                                     [&] { return code<build::multiply>(x, y); });
                             },
                         on<aten::div_tensor_mode> =
                             [](auto x, auto y) {
                                 return choose(
                                     is_integral(x.dtype()), [&] { return call<tosa::intdiv>(x, y); },
                                     refused(x, "div: only integers can be divided toward zero here"));
                             },
                         on<aten::pow_tensor_tensor> =
                             [](auto x, auto y) {
                                 return choose(
                                     is_floating(x.dtype()), [&] { return call<tosa::pow>(x, y); },
                                     refused(x, "pow: TOSA's POW takes floating-point operands only"));
                             }),
            rules_with<operands_by<promoted>>(on<aten::maximum> = code<build::extremum<tosa::maximum>>(),
                on<aten::minimum> = code<build::extremum<tosa::minimum>>()));
    }

private:
    static auto refused(const auto& x, const char* reason) {
        return [=] { return x.unsupported(reason); };
    }
    static value promoted(emit<build::promote_ops> e, value v) {
        return build::promote(e, v, narrowed(e.result_meta().dtype));
    }
};
HEADRACE_COMPILED_PASS(legalize_binary);

}  // namespace headrace

#endif
