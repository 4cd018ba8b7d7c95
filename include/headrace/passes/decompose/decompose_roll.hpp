// SPDX-License-Identifier: MIT
// Defines headrace::decompose_roll.
#ifndef HEADRACE_PASSES_DECOMPOSE_DECOMPOSE_ROLL_HPP
#define HEADRACE_PASSES_DECOMPOSE_DECOMPOSE_ROLL_HPP

#include <headrace/passes/decompose/joining.hpp>
#include <headrace/passes/properties.hpp>
#include <headrace/passes/support/slicing.hpp>

namespace headrace {

struct decompose_roll : pass {
    using phase = decomposition;
    static constexpr std::string_view summary =
        "roll(x, s) as cat(x[-s:], x[:-s]), axis by axis, or of the flat tensor";

    using targeted_ops = ops<aten::roll>;
    using produces = ops<aten::narrow, aten::cat, aten::reshape>;

    value operator()(const args<aten::roll>& a, emit<produces>& e) const {
        value v = a.self;
        if (a.dims.empty() && a.shifts.size() == 1) {
            v = e.make<aten::reshape>({.self = v, .shape = int_list{e.meta(v).elements()}});
            return e.make<aten::reshape>(
                {.self = rolled(e, v, 0, a.shifts[0]), .shape = e.result_meta().shape});
        }
        if (a.dims.size() != a.shifts.size()) return e.unsupported("roll needs as many axes as shifts");
        for (std::size_t i = 0; i != a.dims.size() && e.rank(v) != 0; ++i)
            v = rolled(e, v, build::axis_in(e, a.dims[i], e.rank(v)), a.shifts[i]);
        return v;
    }

private:
    static value rolled(emit<ops<aten::narrow, aten::cat>> e, value v, std::size_t axis, std::int64_t shift) {
        const std::int64_t size = e.shape(v)[axis];
        const std::int64_t tail = size == 0 ? 0 : (shift % size + size) % size;
        if (tail == 0) return v;
        const value parts[] = {narrow(e, v, axis, size - tail, tail), narrow(e, v, axis, 0, size - tail)};
        return cat(e, parts, axis);
    }
};
HEADRACE_COMPILED_PASS(decompose_roll);

}  // namespace headrace

#endif
