// SPDX-License-Identifier: MIT
// Defines headrace::canonicalize_arithmetic.
#ifndef HEADRACE_PASSES_NORMALIZE_CANONICALIZE_ARITHMETIC_HPP
#define HEADRACE_PASSES_NORMALIZE_CANONICALIZE_ARITHMETIC_HPP

#include <headrace/dialect/aten.hpp>
#include <headrace/infer/aten.hpp>
#include <headrace/pass/pass.hpp>
#include <headrace/passes/properties.hpp>

namespace headrace {

/// Rewrites ops that are another op with rearranged arguments: rsub(a, b) = b - α·a, square(x) = x², and
/// remainder with a number on the left, which becomes a tensor.
struct canonicalize_arithmetic : pass {
    using runs_after = pass_list<canonical_variants>;
    using ensures = pass_list<canonical_arithmetic>;
    static constexpr std::string_view summary = "rsub, square and remainder of a number as other ops";

    static auto rewrites() {
        return rules(
            on<aten::rsub_tensor> = [](auto x, auto y,
                                        const auto& a) { return call<aten::sub_tensor>(y, x, a.alpha); },
            on<aten::rsub_scalar> =
                [](auto x, const auto& a) { return call<aten::sub_tensor>(number(x, a.other), x, a.alpha); },
            on<aten::square> = [](auto x) { return call<aten::pow_tensor_scalar>(x, 2); },
            on<aten::remainder_scalar_tensor> =
                [](auto y, const auto& a) { return call<aten::remainder_tensor>(number(y, a.self), y); });
    }

private:
    static auto number(const auto& beside, scalar n) {
        return beside.constant(n, result_type(beside.meta(), n));
    }
};
HEADRACE_COMPILED_PASS(canonicalize_arithmetic);

}  // namespace headrace

#endif
