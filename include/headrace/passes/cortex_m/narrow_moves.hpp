// SPDX-License-Identifier: MIT
// Defines headrace::narrow_moves, which moves int8 numbers rather than the int32 that they are widened to.
#ifndef HEADRACE_PASSES_CORTEX_M_NARROW_MOVES_HPP
#define HEADRACE_PASSES_CORTEX_M_NARROW_MOVES_HPP

#include <optional>

#include <headrace/infer/tosa.hpp>
#include <headrace/op/op_query.hpp>
#include <headrace/passes/cortex_m/scaling.hpp>

namespace headrace {

/// Moves elements before they are widened, and after they are narrowed: kernels compute from int8 to int8, so
/// that nothing may stand between an operator and the RESCALEs around it. Numbers are compared as int8, too.
struct narrow_moves : pass {
    static constexpr std::string_view summary = "moves elements as int8, before and after 32-bit arithmetic";
    static constexpr bool in_execution_order = true;

    static auto rewrites() {
        return rules(on_each<moves> = code<made>([](emit<made> e, const auto&) { return widened_later(e); }),
            on<tosa::rescale> = code<made>(
                [](emit<made> e, const args<tosa::rescale>& a) { return narrowed_earlier(e, a); }));
    }

private:
    using moves = ops_where<tosa::dialect, trait::rearranging>;
    using made = ops<tosa::maximum, tosa::minimum, tosa::rescale>;

    // Makes the same move of another tensor.
    static value moved(emit<made> e, const node& move, value from) {
        pmr_vector<value> operands{from};
        for (std::size_t i = 1; i != move.operand_count; ++i) operands.push_back(move.operand(i));
        node* const made = e.clone(move, operands, [&](tensor_meta& meta) { meta.dtype = e.dtype(from); });
        return made == nullptr ? value() : made->result();
    }

    static std::optional<value> widened_later(emit<made> e) {
        const auto* const widening = match<tosa::rescale>(e.current().operand(0));
        if (widening == nullptr || !cortex_m::scaled_operand_of(e, e.current().operand(0)))
            return std::nullopt;
        args<tosa::rescale> wide = *widening;
        wide.input = moved(e, e.current(), widening->input);
        return e.make<tosa::rescale>(wide);
    }
    static std::optional<value> narrowed_earlier(emit<made> e, args<tosa::rescale> a) {
        const auto to = cortex_m::scaled_result_of(e, a);
        if (!to || to->factors.size() != 1) return std::nullopt;
        if (to->factor() > 0 && is_of_two(e, a.input)) {
            if (const auto* larger = match<tosa::maximum>(a.input))
                return compared<tosa::maximum>(e, *larger, a);
            return compared<tosa::minimum>(e, *match<tosa::minimum>(a.input), a);
        }
        pmr_vector<const node*> passed;  // the last move first
        for (; is_move_for_one(a.input); a.input = passed.back()->operand(0))
            passed.push_back(a.input.producer);
        if (passed.empty()) return std::nullopt;
        value v = e.make<tosa::rescale>(a);
        for (std::size_t i = passed.size(); i-- != 0;) v = moved(e, *passed[i], v);
        return v;
    }
    // True if elements are moved for a single reader.
    static bool is_move_for_one(value v) { return set_of<moves>.contains(*v.producer->op) && has_one_use(v); }
    // True for the larger or the smaller of two int8 tensors with scales of their own. Of one tensor, it is a
    // table (tabulate_integers).
    static bool is_of_two(emit<made> e, value v) {
        const node& n = *v.producer;
        if ((!is<tosa::maximum>(n) && !is<tosa::minimum>(n)) || !has_one_use(v)) return false;
        const auto x = cortex_m::scaled_operand_of(e, n.operand(0));
        const auto y = cortex_m::scaled_operand_of(e, n.operand(1));
        return x && y && x->integers != y->integers && match<builtin::constant>(x->integers) == nullptr &&
            match<builtin::constant>(y->integers) == nullptr;
    }
    // Scaling keeps the order, so numbers may be compared after it.
    template <class Op>
    static value compared(emit<made> e, args<Op> both, const args<tosa::rescale>& a) {
        for (value* const operand : {&both.input1, &both.input2}) {
            args<tosa::rescale> narrow = a;
            narrow.input = *operand;
            *operand = e.make<tosa::rescale>(narrow);
        }
        return e.make<Op>(both);
    }
};

}  // namespace headrace

#endif
