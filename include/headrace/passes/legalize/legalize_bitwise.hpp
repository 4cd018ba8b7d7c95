// SPDX-License-Identifier: MIT
// Defines headrace::legalize_bitwise.
#ifndef HEADRACE_PASSES_LEGALIZE_LEGALIZE_BITWISE_HPP
#define HEADRACE_PASSES_LEGALIZE_LEGALIZE_BITWISE_HPP

#include <headrace/dialect/aten.hpp>
#include <headrace/passes/legalize/promoting.hpp>
#include <headrace/passes/properties.hpp>

namespace headrace {

/// Lowers bitwise operations (TOSA 1.0, 2.4 and 2.5); for booleans, they become logical ones. Without the
/// integer profile there are no BITWISE operators: not(x) is then -1 - x, and the others are refused. Shifts
/// are by less than the number of bits, as in C.
struct legalize_bitwise : pass {
    using phase = legalization;
    static constexpr std::string_view summary = "bitwise logic and shifts to TOSA's";

    static auto rewrites() {
        return rules(
            rules_with<operands_by<build::align>>(
                on<aten::bitwise_and_tensor> = of_bits<tosa::bitwise_and, tosa::logical_and>{},
                on<aten::bitwise_or_tensor> = of_bits<tosa::bitwise_or, tosa::logical_or>{},
                on<aten::bitwise_xor_tensor> = of_bits<tosa::bitwise_xor, tosa::logical_xor>{},
                on<aten::bitwise_left_shift_tensor> = call<tosa::logical_left_shift>),
            rules_with<in_32_bits>(
                on<aten::bitwise_right_shift_tensor> = code<build::arithmetic_right_shift>()),
            on<aten::bitwise_not> = [](auto x) {
                const bool has_not = build::allows<tosa::bitwise_not>(x.target(), {x.dtype(), x.dtype()});
                const auto by_subtraction = [&] {
                    const auto wide = code<build::widen_number>(x, dtype::int32);
                    return code<build::cut>(call<tosa::sub>(wide.constant(-1), wide));
                };
                return choose(
                    is_boolean(x.dtype()), [&] { return call<tosa::logical_not>(x); }, has_not,
                    [&] { return call<tosa::bitwise_not>(x); }, by_subtraction);
            });
    }

private:
    template <op_tag OfBits, op_tag OfTruth>
    struct of_bits {
        auto operator()(const auto& x, const auto& y) const {
            const dtype type = x.dtype();
            const auto without_profile = [&] {
                return x.unsupported("bitwise: integers need the profile INT; add it to the target");
            };
            const auto without_type = [&] {
                return x.unsupported(
                    {"bitwise: TOSA has no such operator of ", name_of(type), "; cast to int32 before"});
            };
            constexpr auto whole = dtype::int32;
            return choose(
                is_boolean(type), [&] { return call<OfTruth>(x, y); },
                build::allows<OfBits>(x.target(), {type, type, type}), [&] { return call<OfBits>(x, y); },
                build::allows<OfBits>(x.target(), {whole, whole, whole}), without_type, without_profile);
        }
    };
};
HEADRACE_COMPILED_PASS(legalize_bitwise);

}  // namespace headrace

#endif
