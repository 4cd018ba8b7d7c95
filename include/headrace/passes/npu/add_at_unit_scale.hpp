// SPDX-License-Identifier: MIT
// Defines headrace::add_at_unit_scale.
#ifndef HEADRACE_PASSES_NPU_ADD_AT_UNIT_SCALE_HPP
#define HEADRACE_PASSES_NPU_ADD_AT_UNIT_SCALE_HPP

#include <algorithm>
#include <optional>

#include <headrace/passes/properties.hpp>
#include <headrace/passes/support/build.hpp>
#include <headrace/passes/support/widening.hpp>
#include <headrace/target/preferences.hpp>

namespace headrace {

/// Drops bits of fraction that operands of equal scale get in common and that the result's RESCALE removes
/// again; the result is exact either way. Without them, Vela fuses the three operators into one on INT8.
/// Example: the subtraction of a softmax's maximum.
struct add_at_unit_scale : pass {
    using phase = tuning;
    static constexpr std::string_view summary = "2^k a + 2^k b, rescaled, is a + b, rescaled by 2^k more";

    using targeted_ops = ops<tosa::rescale>;
    using sums = ops<tosa::add, tosa::sub, tosa::maximum, tosa::minimum>;
    using produces = joined<sums, ops<tosa::rescale>>;
    static constexpr bool in_execution_order = true;

    [[nodiscard]] bool should_run(const graph& g) const {
        return preferences_of(g.target()).sums_at_unit_scale;
    }

    std::optional<value> operator()(const args<tosa::rescale>& a, emit<produces>& e) const {
        if (!a.scale32 || a.rounding_mode != rounding_mode::single_round || !has_one_use(a.input) ||
            constant_integer(a.input_zp) != 0) {
            return std::nullopt;
        }
        return any_of(a, e, sums{});
    }

private:
    template <class... Ops>
    static std::optional<value> any_of(const args<tosa::rescale>& a, emit<produces>& e, ops<Ops...>) {
        std::optional<value> made;
        ((made = made ? made : without_fraction<Ops>(a, e)), ...);
        return made;
    }

    template <class Op>
    static std::optional<value> without_fraction(const args<tosa::rescale>& a, emit<produces>& e) {
        constexpr std::int64_t min_shift = 2;
        const auto* sum = match<Op>(a.input);
        if (sum == nullptr) return std::nullopt;
        const auto* x = match<tosa::rescale>(sum->input1);
        const auto* y = match<tosa::rescale>(sum->input2);
        if (x == nullptr || y == nullptr) return std::nullopt;
        const auto power = widening_shift(*x);
        const auto shifts = constant_integers(a.shift);
        if (power.value_or(0) == 0 || power != widening_shift(*y) || !shifts ||
            *std::min_element(shifts->begin(), shifts->end()) < min_shift + *power) {
            return std::nullopt;
        }
        args<tosa::rescale> result = a;
        result.input = e.make<Op>(widened(*x, e), widened(*y, e));
        result.shift = e.constant_of(
            dtype::int8, e.shape(a.shift), [&](std::size_t i) { return (*shifts)[i] - *power; });
        return e.make<tosa::rescale>(result);
    }

    static value widened(args<tosa::rescale> a, emit<produces>& e) {
        constexpr int bits = 30;
        a.multiplier = e.splat(std::int64_t{1} << bits, dtype::int32, 1);
        a.shift = e.splat(bits, dtype::int8, 1);
        a.scale32 = true;
        return e.make<tosa::rescale>(a);
    }
};
HEADRACE_COMPILED_PASS(add_at_unit_scale);

}  // namespace headrace

#endif
