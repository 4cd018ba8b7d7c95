// SPDX-License-Identifier: MIT
// Defines headrace::decompose_roll.
#ifndef HEADRACE_PASSES_DECOMPOSE_DECOMPOSE_ROLL_HPP
#define HEADRACE_PASSES_DECOMPOSE_DECOMPOSE_ROLL_HPP

#include <headrace/dialect/aten.hpp>
#include <headrace/infer/aten.hpp>
#include <headrace/passes/properties.hpp>
#include <headrace/passes/support/slicing.hpp>

namespace headrace {

/// roll(x, s) = cat(x[-s:], x[:-s]), axis by axis; without axes, of the flattened tensor.
struct decompose_roll : pass {
    using phase = decomposition;
    using targets = ops<aten::roll>;
    using produces = ops<aten::narrow, aten::cat, aten::reshape>;

    value operator()(const args<aten::roll>& a, emit<produces>& e) const {
        value v = a.self;
        if (a.dims.empty() && a.shifts.size() == 1) {
            v = e.make<aten::reshape>({.self = v, .shape = int_list{e.meta(v).elements()}});
            return e.make<aten::reshape>(
                {.self = rolled(e, v, 0, a.shifts[0]), .shape = e.result_meta().shape});
        }
        if (a.dims.size() != a.shifts.size()) return e.unsupported("roll needs as many axes as shifts");
        for (std::size_t i = 0; i != a.dims.size(); ++i) {
            const std::size_t axis = build::axis_in(e, a.dims[i], e.rank(v));
            if (e.failed() || e.rank(v) == 0) return v;
            v = rolled(e, v, axis, a.shifts[i]);
        }
        return v;
    }

private:
    static value rolled(emit<produces>& e, value v, std::size_t axis, std::int64_t shift) {
        const std::int64_t size = e.shape(v)[axis];
        const std::int64_t tail = size == 0 ? 0 : (shift % size + size) % size;
        if (tail == 0) return v;
        const auto dim = static_cast<std::int64_t>(axis);
        const value parts[] = {
            e.make<aten::narrow>({.self = v, .dim = dim, .start = size - tail, .length = tail}),
            e.make<aten::narrow>({.self = v, .dim = dim, .start = 0, .length = size - tail})};
        return e.make<aten::cat>({.tensors = list<value>(parts, 2), .dim = dim});
    }
};

}  // namespace headrace

#endif
