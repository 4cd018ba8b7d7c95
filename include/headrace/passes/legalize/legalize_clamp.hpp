// SPDX-License-Identifier: MIT
// Defines headrace::legalize_clamp.
#ifndef HEADRACE_PASSES_LEGALIZE_LEGALIZE_CLAMP_HPP
#define HEADRACE_PASSES_LEGALIZE_LEGALIZE_CLAMP_HPP

#include <algorithm>
#include <cmath>

#include <headrace/dialect/aten.hpp>
#include <headrace/passes/legalize/integers.hpp>
#include <headrace/passes/properties.hpp>

namespace headrace {

/// Lowers clamp with numbers as limits to CLAMP (TOSA 1.0, 2.3.1). A limit that is missing is infinity, or
/// the type's own; where the lower one is above the upper one, PyTorch gives the upper. CLAMP has no INT32:
/// there it is MAXIMUM and MINIMUM.
struct legalize_clamp : pass {
    using phase = legalization;
    using targets = ops<aten::clamp>;
    using produces = joined<build::extremum_ops, ops<tosa::clamp>>;

    value operator()(const args<aten::clamp>& a, emit<produces>& e) const {
        const dtype type = build::narrowed(e.result_meta().dtype);
        const value x = build::cast(e, a.self, type);
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
        if (a.min) y = build::extremum<tosa::maximum>(e, y, limit(low));
        if (a.max) y = build::extremum<tosa::minimum>(e, y, limit(high));
        return y;
    }

private:
    static scalar limited(scalar s, dtype type, scalar least, scalar most) {
        if (is_floating(type)) return s.to_double();
        return std::clamp(s.to_int(), least.to_int(), most.to_int());
    }
};

}  // namespace headrace

#endif
