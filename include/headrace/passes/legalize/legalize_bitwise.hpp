// SPDX-License-Identifier: MIT
// Defines headrace::legalize_bitwise.
#ifndef HEADRACE_PASSES_LEGALIZE_LEGALIZE_BITWISE_HPP
#define HEADRACE_PASSES_LEGALIZE_LEGALIZE_BITWISE_HPP

#include <headrace/dialect/aten.hpp>
#include <headrace/passes/legalize/integers.hpp>
#include <headrace/passes/properties.hpp>

namespace headrace {

/// Lowers operations on bits (TOSA 1.0, 2.4 and 2.5); of booleans, they are those of logic. Without the
/// integer profile there is no BITWISE operator: not(x) is -1 - x then, and the others are refused. Shifts
/// are by less than the number of bits, as in C.
struct legalize_bitwise : pass {
    using phase = legalization;
    using targets = ops<aten::bitwise_and_tensor, aten::bitwise_or_tensor, aten::bitwise_xor_tensor,
                        aten::bitwise_left_shift_tensor, aten::bitwise_right_shift_tensor, aten::bitwise_not>;
    using produces = joined<build::cast_ops, build::shift_ops,
                            ops<tosa::bitwise_and, tosa::bitwise_or, tosa::bitwise_xor, tosa::bitwise_not,
                                tosa::logical_and, tosa::logical_or, tosa::logical_xor>>;

    value operator()(const args<aten::bitwise_and_tensor>& a, emit<produces>& e) const {
        return lower<tosa::bitwise_and, tosa::logical_and>(e, a.self, a.other);
    }
    value operator()(const args<aten::bitwise_or_tensor>& a, emit<produces>& e) const {
        return lower<tosa::bitwise_or, tosa::logical_or>(e, a.self, a.other);
    }
    value operator()(const args<aten::bitwise_xor_tensor>& a, emit<produces>& e) const {
        return lower<tosa::bitwise_xor, tosa::logical_xor>(e, a.self, a.other);
    }
    value operator()(const args<aten::bitwise_not>& a, emit<produces>& e) const {
        const dtype type = e.dtype(a.self);
        if (is_boolean(type)) return e.make<tosa::logical_not>(a.self);
        if (build::allows<tosa::bitwise_not>(e, {type, type})) return e.make<tosa::bitwise_not>(a.self);
        const value wide = build::widened(e, a.self);
        return build::cast(e, e.make<tosa::sub>(e.splat(-1, dtype::int32, e.rank(wide)), wide), type);
    }
    value operator()(const args<aten::bitwise_left_shift_tensor>& a, emit<produces>& e) const {
        const dtype type = build::common_type(e, a.self, a.other);
        return build::binary<tosa::logical_left_shift>(e, build::cast(e, a.self, type),
                                                       build::cast(e, a.other, type));
    }
    value operator()(const args<aten::bitwise_right_shift_tensor>& a, emit<produces>& e) const {
        const dtype type = build::common_type(e, a.self, a.other);
        const auto operand = [&](value v) { return build::widened(e, build::cast(e, v, type)); };
        return build::cast(e, build::arithmetic_right_shift(e, operand(a.self), operand(a.other)), type);
    }

private:
    template <op_tag OfBits, op_tag OfTruth>
    static value lower(emit<produces>& e, value a, value b) {
        const dtype type = build::common_type(e, a, b);
        a = build::cast(e, a, type);
        b = build::cast(e, b, type);
        if (is_boolean(type)) return build::binary<OfTruth>(e, a, b);
        if (build::allows<OfBits>(e, {type, type, type})) return build::binary<OfBits>(e, a, b);
        return e.unsupported("bitwise: integers need the profile INT; add it to the target");
    }
};

}  // namespace headrace

#endif
