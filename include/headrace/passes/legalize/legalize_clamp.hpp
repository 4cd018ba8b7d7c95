// SPDX-License-Identifier: MIT
// Defines headrace::legalize_clamp.
#ifndef HEADRACE_PASSES_LEGALIZE_LEGALIZE_CLAMP_HPP
#define HEADRACE_PASSES_LEGALIZE_LEGALIZE_CLAMP_HPP

#include <algorithm>
#include <cmath>

#include <headrace/dialect/aten.hpp>
#include <headrace/infer/aten/elementwise.hpp>
#include <headrace/passes/legalize/promoting.hpp>
#include <headrace/passes/properties.hpp>

namespace headrace {

/// Lowers clamp with numbers as limits to CLAMP (TOSA 1.0, 2.3.1). A missing limit is infinity, or the limit
/// of the dtype; if the lower limit is above the upper one, the result is the upper one, as in PyTorch. CLAMP
/// does not take INT32: there the limits become operands of maximum and minimum.
struct legalize_clamp : pass {
    using phase = legalization;
    static constexpr std::string_view summary = "clamp to CLAMP, or to maximum and minimum of INT32";
    using targeted_ops = ops<aten::clamp>;
    using produces = ops<tosa::cast, tosa::clamp, aten::maximum, aten::minimum>;

    value operator()(const args<aten::clamp>& a, emit<produces>& e) const {
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

private:
    static scalar limited(scalar s, dtype type, scalar least, scalar most) {
        if (is_floating(type)) return s.to_double();
        return std::clamp(s.to_int(), least.to_int(), most.to_int());
    }
};
HEADRACE_COMPILED_PASS(legalize_clamp);

}  // namespace headrace

#endif
