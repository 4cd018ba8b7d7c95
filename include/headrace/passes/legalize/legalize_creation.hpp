// SPDX-License-Identifier: MIT
// Defines headrace::legalize_creation.
#ifndef HEADRACE_PASSES_LEGALIZE_LEGALIZE_CREATION_HPP
#define HEADRACE_PASSES_LEGALIZE_LEGALIZE_CREATION_HPP

#include <memory_resource>
#include <vector>

#include <headrace/dialect/aten.hpp>
#include <headrace/passes/legalize/integers.hpp>
#include <headrace/passes/properties.hpp>

namespace headrace {

/// Makes the tensors whose elements are known: full, arange, eye and linspace become constants. Like PyTorch,
/// the elements of floating-point ranges are computed in float64 and rounded once; linspace counts from the
/// nearer end.
struct legalize_creation : pass {
    using phase = legalization;
    using runs_after = pass_list<canonical_fills>;
    using targets = ops<aten::full, aten::arange, aten::arange_start, aten::arange_start_step, aten::eye,
                        aten::eye_m, aten::linspace>;
    using produces = ops<>;

    value operator()(const args<aten::full>& a, emit<produces>& e) const {
        return filled(e, [&](std::int64_t) { return a.fill_value; });
    }
    value operator()(const args<aten::arange>& a, emit<produces>& e) const { return range(e, 0, a.end, 1); }
    value operator()(const args<aten::arange_start>& a, emit<produces>& e) const {
        return range(e, a.start, a.end, 1);
    }
    value operator()(const args<aten::arange_start_step>& a, emit<produces>& e) const {
        return range(e, a.start, a.end, a.step);
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
    /// A constant for the result: element i of its row-major order is at(i).
    template <class At>
    static value filled(emit<produces>& e, At&& at) {
        const dtype type = build::narrowed(e.result_meta().dtype);
        const auto [least, most] =
            is_integral(type) ? build::bounds_of(type) : std::pair<scalar, scalar>(0, 0);
        const std::size_t size = traits_of(type).bits / 8U;
        bool fits = true;
        const value v = e.constant({type, e.result_meta().shape, {}}, [&](std::span<std::byte> data) {
            for (std::size_t i = 0; (i + 1) * size <= data.size(); ++i) {
                const scalar number = at(static_cast<std::int64_t>(i));
                const std::int64_t rounded = number.to_int();
                if (is_integral(type)) fits = fits && rounded >= least.to_int() && rounded <= most.to_int();
                fits = fits && detail::store_element(number, type, &data[i * size]);
            }
        });
        return fits ? v : e.unsupported("a number does not fit in " + std::pmr::string(name_of(type)));
    }
    static value range(emit<produces>& e, scalar start, scalar, scalar step) {
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

}  // namespace headrace

#endif
