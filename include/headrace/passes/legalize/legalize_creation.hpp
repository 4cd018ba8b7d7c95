// SPDX-License-Identifier: MIT
// Defines headrace::legalize_creation.
#ifndef HEADRACE_PASSES_LEGALIZE_LEGALIZE_CREATION_HPP
#define HEADRACE_PASSES_LEGALIZE_LEGALIZE_CREATION_HPP

#include <memory_resource>
#include <string>

#include <headrace/dialect/aten.hpp>
#include <headrace/passes/properties.hpp>
#include <headrace/passes/support/build.hpp>
#include <headrace/passes/support/narrowing.hpp>

namespace headrace {

/// Makes tensors whose elements are known: full, arange, eye and linspace become constants. As in PyTorch,
/// the elements of floating-point ranges are computed in float64 and rounded once; linspace counts from the
/// nearer end.
struct legalize_creation : pass {
    using phase = legalization;
    using runs_after = pass_list<canonical_fills>;
    static constexpr std::string_view summary = "full, arange, eye and linspace to constants";
    using targeted_ops = ops<aten::full, aten::arange, aten::arange_start, aten::arange_start_step, aten::eye,
        aten::eye_m, aten::linspace>;
    using produces = ops<>;

    value operator()(const args<aten::full>& a, emit<produces>& e) const {
        return filled(e, [&](std::int64_t) { return a.fill_value; });
    }
    value operator()(const args<aten::arange>&, emit<produces>& e) const { return range(e, 0, 1); }
    value operator()(const args<aten::arange_start>& a, emit<produces>& e) const {
        return range(e, a.start, 1);
    }
    value operator()(const args<aten::arange_start_step>& a, emit<produces>& e) const {
        return range(e, a.start, a.step);
    }
    value operator()(const args<aten::eye>& a, emit<produces>& e) const { return identity(e, a.n); }
    value operator()(const args<aten::eye_m>& a, emit<produces>& e) const { return identity(e, a.m); }
    value operator()(const args<aten::linspace>& a, emit<produces>& e) const {
        const double first = a.start.to_double();
        const double last = a.end.to_double();
        const double step = a.steps > 1 ? (last - first) / static_cast<double>(a.steps - 1) : 0;
        return filled(e, [&](std::int64_t i) -> scalar {
            return i < a.steps / 2 || a.steps == 1 ? first + step * static_cast<double>(i)
                                                   : last - step * static_cast<double>(a.steps - 1 - i);
        });
    }

private:
    /// Makes a constant for the result, whose element i in row-major order is at(i).
    static value filled(emit<produces>& e, const auto& at) {
        const dtype type = narrowed(e.result_meta().dtype);
        const auto [least, most] = build::bounds_of(type);
        bool fits = true;
        const value v = e.constant_of(type, e.result_meta().shape, [&](std::size_t i) -> scalar {
            const scalar number = at(static_cast<std::int64_t>(i));
            const std::int64_t whole = number.to_int();
            fits = fits && (!is_integral(type) || (least.to_int() <= whole && whole <= most.to_int()));
            return number;
        });
        return fits ? v : e.unsupported({"a number does not fit in ", name_of(type)});
    }
    static value range(emit<produces>& e, scalar start, scalar step) {
        const bool integral = !start.is_floating() && !step.is_floating();
        return filled(e, [&](std::int64_t i) -> scalar {
            if (integral) return saturating_add(start.to_int(), saturating_mul(i, step.to_int()));
            return start.to_double() + static_cast<double>(i) * step.to_double();
        });
    }
    static value identity(emit<produces>& e, std::int64_t columns) {
        return filled(e, [&](std::int64_t i) -> scalar { return i / columns == i % columns ? 1 : 0; });
    }
};
HEADRACE_COMPILED_PASS(legalize_creation);

}  // namespace headrace

#endif
