// SPDX-License-Identifier: MIT
// Defines headrace::select_softmax, which makes CMSIS-NN's softmax of the operators that a quantizer
// decomposes it to.
#ifndef HEADRACE_PASSES_CORTEX_M_SOFTMAX_HPP
#define HEADRACE_PASSES_CORTEX_M_SOFTMAX_HPP

#include <algorithm>
#include <cmath>
#include <optional>

#include <headrace/infer/cortex_m.hpp>
#include <headrace/match/node_pattern.hpp>
#include <headrace/passes/cortex_m/known_functions.hpp>
#include <headrace/passes/cortex_m/scaling.hpp>
#include <headrace/passes/quantize/rescaling.hpp>
#include <headrace/passes/support/build.hpp>

namespace headrace {

/// Makes one kernel of a softmax along the last axis that was decomposed before it was quantized: maximum,
/// difference, table of exp, sum, table of 1 / x, product, with int8 between. The kernel rounds once, to
/// steps of 1/256, from which a RESCALE makes the program's steps. Programs with finer steps keep
/// the operators.
struct select_softmax : pass {
    static constexpr std::string_view summary = "a decomposed softmax as the kernel of CMSIS-NN";

    static auto rewrites() {
        return rules(on_match([](auto x, auto y, auto shift) {
            return node_of<"result", tosa::rescale>(node_of<"product", tosa::mul>(x, y, shift));
        }) = code<made>([](emit<made> e, value x, value y, value shift, const auto& m) {
            if (constant_integer(shift) != 0) return std::optional<value>();
            const bool is_first = e.shape(x) == e.result_meta().shape;
            return is_first ? selected(e, x, y, get<"result">(m)) : selected(e, y, x, get<"result">(m));
        }));
    }

private:
    using made = joined<build::reshape_ops, ops<cortex_m::softmax, tosa::rescale>>;
    static constexpr double unit = 1.0 / 256;  // of the kernel's result
    static constexpr std::int64_t zero_of_unit = -128;
    static constexpr std::int64_t max_row = 4095;  // of equal elements, whose sum the kernel holds
    // Rounding to coarser steps would lose more than the operators between int8 tensors do, in the mean.
    static constexpr double max_coarseness = 1.0625;

    // An int32 tensor that is narrowed to int8: clamp(wide * factor + zero_point).
    struct narrowed {
        value wide;
        double factor;
        std::int64_t zero_point;
    };
    static std::optional<narrowed> narrowed_of(const emitter& e, value v) {
        const auto* const a = match<tosa::rescale>(v);
        if (a == nullptr || e.dtype(v) != dtype::int8 || e.dtype(a->input) != dtype::int32)
            return std::nullopt;
        const auto factors = cortex_m::detail::factors_of(*a);
        const auto zero = constant_integer(a->output_zp);
        if (!factors || factors->size() != 1 || !zero || constant_integer(a->input_zp) != 0)
            return std::nullopt;
        return narrowed{a->input, (*factors)[0], *zero};
    }
    template <class Op>
    static const args<Op>* match_through_views(value v) {
        return match<Op>(build::without_reshapes(v));
    }
    // True if each row of `whole`, along its last axis, has one element of `part`.
    static bool is_row_wise(const emitter& e, value part, value whole) {
        shape_builder shape(e.shape(whole));
        if (shape.empty()) return false;
        shape.back() = 1;
        return e.shape(part) == int_list(shape);
    }
    template <class Args>
    static bool is_along_rows(const emitter& e, const Args* reduced, std::int64_t row) {
        return reduced != nullptr && reduced->axis + 1 == static_cast<std::int64_t>(e.rank(reduced->input)) &&
            e.shape(reduced->input).back() == row;
    }

    // exp(x - max) as it is computed: exp(rate * element of `integers`), times a number that all elements of
    // a row share.
    struct powers {
        value integers;
        std::int64_t zero_point;
        double rate;
    };
    static std::optional<powers> powers_of(
        const emitter& e, const cortex_m::scaled_operand& result, std::int64_t row) {
        const auto* const exp = match_through_views<tosa::table>(result.integers);
        const auto difference =
            exp != nullptr ? narrowed_of(e, build::without_reshapes(exp->input1)) : std::nullopt;
        const auto* const sub = difference ? match_through_views<tosa::sub>(difference->wide) : nullptr;
        if (sub == nullptr || !is_row_wise(e, sub->input2, sub->input1)) return std::nullopt;
        const auto x = cortex_m::scaled_operand_of(e, sub->input1);
        const auto highest = cortex_m::scaled_operand_of(e, sub->input2);
        const auto table = constant_integers(exp->table);
        if (!x || !highest || !table || table->size() != 256) return std::nullopt;
        const auto* const maximum = match_through_views<tosa::reduce_max>(highest->integers);
        const bool is_of_same = is_along_rows(e, maximum, row) && e.shape(sub->input1).back() == row &&
            build::without_reshapes(maximum->input) == build::without_reshapes(x->integers) &&
            highest->zero_point == x->zero_point && highest->factor == x->factor;
        const auto rate = cortex_m::exponent_of(*table, result.zero_point);
        if (!is_of_same || !rate) return std::nullopt;
        return powers{x->integers, x->zero_point, *rate * x->factor * difference->factor};
    }

    // Returns how many steps 1 has in the product x * y before the last RESCALE; nothing unless y is 1 / the
    // sum of x.
    static std::optional<double> steps_of_quotient(const emitter& e, const cortex_m::scaled_operand& x,
        const cortex_m::scaled_operand& y, std::int64_t row) {
        const auto* const reciprocal = match_through_views<tosa::table>(y.integers);
        const auto sum = reciprocal != nullptr ? narrowed_of(e, build::without_reshapes(reciprocal->input1))
                                               : std::nullopt;
        const auto* const reduced = sum ? match_through_views<tosa::reduce_sum>(sum->wide) : nullptr;
        if (!is_along_rows(e, reduced, row)) return std::nullopt;
        const auto summands = cortex_m::scaled_operand_of(e, reduced->input);
        const auto table = constant_integers(reciprocal->table);
        if (!summands || !table || table->size() != 256 || summands->zero_point != x.zero_point ||
            build::without_reshapes(summands->integers) != build::without_reshapes(x.integers))
            return std::nullopt;
        const auto numerator = cortex_m::numerator_of(*table, sum->zero_point, y.zero_point);
        if (!numerator) return std::nullopt;
        return *numerator * x.factor * y.factor / (summands->factor * sum->factor);
    }

    // True if all that the current node is computed from, back to `argument`, serves nothing else.
    static bool is_closed(const node& result, const node* argument) {
        pmr_vector<const node*> inner{&result};
        const auto is_inner = [&](const node* n) { return std::ranges::find(inner, n) != inner.end(); };
        for (std::size_t i = 0; i != inner.size(); ++i) {
            for (const edge& operand : inner[i]->operand_edges()) {
                const node* const n = operand.slot->producer;
                if (n != argument && n->operand_count != 0 && !is_inner(n) && !is<tosa::const_shape>(*n))
                    inner.push_back(n);
            }
        }
        return std::all_of(inner.begin() + 1, inner.end(), [&](const node* n) {
            return std::ranges::all_of(n->uses(), [&](const edge& use) { return is_inner(use.target); });
        });
    }

    static std::optional<value> selected(emit<made> e, value x, value y, const args<tosa::rescale>& result) {
        constexpr int fraction_bits = 26;
        const auto to = cortex_m::scaled_result_of(e, result);
        const auto left = cortex_m::scaled_operand_of(e, x), right = cortex_m::scaled_operand_of(e, y);
        if (!to || to->factors.size() != 1 || !left || !right || !is_row_wise(e, y, x)) return std::nullopt;
        const std::int64_t row = e.shape(x).back();
        const auto of = row <= max_row ? powers_of(e, *left, row) : std::nullopt;
        const auto quotient = of ? steps_of_quotient(e, *left, *right, row) : std::nullopt;
        if (!quotient || !is_closed(e.current(), build::without_reshapes(of->integers).producer))
            return std::nullopt;
        const double steps = *quotient * to->factor();  // of the result, in 1
        const auto factor = cortex_m::requantization_of(
            std::min(std::ldexp(of->rate, fraction_bits), std::ldexp(1.0, 31) - 1));
        if (!factor || factor->shift < 0 || steps * unit > max_coarseness) return std::nullopt;
        const value shares = e.make<cortex_m::softmax>({.input = of->integers,
            .dim = static_cast<std::int64_t>(e.rank(of->integers)) - 1,
            .input_zero_point = of->zero_point,
            .output_zero_point = zero_of_unit,
            .input_multiplier = factor->multiplier,
            .input_shift = factor->shift,
            .diff_min = -(std::int64_t{31} << fraction_bits >> factor->shift)});
        const value v = build::reshape(e, shares, e.result_meta().shape);
        const bool is_same = to->zero_point == zero_of_unit && std::abs(steps * unit - 1) * 255 < 0.5;
        if (is_same) return v;
        return build::rescale(e, v, steps * unit,
            {.input_zero = zero_of_unit, .output_zero = to->zero_point, .to = dtype::int8});
    }
};

}  // namespace headrace

#endif
