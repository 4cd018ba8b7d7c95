// SPDX-License-Identifier: MIT
// Defines headrace::decompose_comparisons.
#ifndef HEADRACE_PASSES_DECOMPOSE_DECOMPOSE_COMPARISONS_HPP
#define HEADRACE_PASSES_DECOMPOSE_DECOMPOSE_COMPARISONS_HPP

#include <headrace/pass/arithmetic.hpp>
#include <headrace/pass/pass.hpp>
#include <headrace/passes/properties.hpp>

namespace headrace {

/// TOSA compares with EQUAL, GREATER and GREATER_EQUAL only (spec 2.7). A real number is true if it is not 0;
/// written as a comparison, this works for quantized numbers as well.
struct decompose_comparisons : pass {
    using phase = function_decomposition;
    static constexpr std::string_view summary =
        "a < b as b > a, a <= b as b >= a, a != b as !(a == b); truth of real numbers";

private:
    static auto truth_of(const auto& x) {
        return choose(
            is_floating(x.dtype()), [&] { return !(x == 0); }, x);
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
                is_floating(x.dtype()), [&] { return code<ops<Ops>>(reduced, truth_of(x)); }, unchanged);
        })...);
    }

public:
    static auto rewrites() {
        return rules(
            on<aten::lt_tensor> = [](auto a, auto b) { return b > a; },
            on<aten::le_tensor> = [](auto a, auto b) { return b >= a; },
            on<aten::ne_tensor> = [](auto a, auto b) { return !(a == b); },
            on<aten::logical_not> =
                [](auto x) {
                    return choose(
                        is_floating(x.dtype()), [&] { return x == 0; }, unchanged);
                },
            on<aten::_to_copy> =
                [](auto x) {
                    const bool to_truth = is_floating(x.dtype()) && is_boolean(x.result_meta().dtype);
                    return choose(
                        to_truth, [&] { return truth_of(x); }, unchanged);
                },
            connectives<aten::logical_and, aten::logical_or, aten::logical_xor>(),
            reductions<aten::any, aten::any_dim, aten::any_dims, aten::all, aten::all_dim, aten::all_dims>());
    }
};
HEADRACE_COMPILED_PASS(decompose_comparisons);

}  // namespace headrace

#endif
