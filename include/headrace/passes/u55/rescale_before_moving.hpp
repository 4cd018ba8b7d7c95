// SPDX-License-Identifier: MIT
// Defines headrace::rescale_before_moving.
#ifndef HEADRACE_PASSES_U55_RESCALE_BEFORE_MOVING_HPP
#define HEADRACE_PASSES_U55_RESCALE_BEFORE_MOVING_HPP

#include <optional>

#include <headrace/base/pmr_vector.hpp>
#include <headrace/passes/properties.hpp>
#include <headrace/passes/u55/int32.hpp>
#include <headrace/target/preferences.hpp>

namespace headrace {

struct expand_moves;
/// Moves a narrowing RESCALE before ops that move elements: fewer bits are then moved, and the RESCALE is
/// fused into the convolution before it. Per-channel factors need separate channels: the last axis must
/// remain the last, or become a multiple of itself.
struct rescale_before_moving : pass {
    using phase = expansion;
    using runs_before = pass_list<expand_moves>;
    static constexpr std::string_view summary =
        "moves a RESCALE of accumulators ahead of the ops that only move its operand";

    using targeted_ops = ops<tosa::rescale>;
    using produces = ops<tosa::rescale>;

    [[nodiscard]] bool should_run(const graph& g) const { return preferences_of(g.target()).rescales_first; }

    std::optional<value> operator()(const args<tosa::rescale>& a, emit<produces>& e) const {
        const bool shrinks = traits_of(e.result_meta().dtype).bits < traits_of(e.dtype(a.input)).bits;
        if (!shrinks || !goes_past(e, a.input, a)) return std::nullopt;
        return rescaled(e, a.input, a);
    }

private:
    static constexpr auto moves =
        trait::reshaping | trait::permuting | trait::slicing | trait::joining | trait::repeating;

    // True if the RESCALE can be moved before the producer of `v`: it only moves elements, and keeps channels
    // separate if they have factors of their own.
    static bool goes_past(emit<produces>& e, value v, const args<tosa::rescale>& a) {
        const node& n = *v.producer;
        if (!is_of_dialect<tosa::dialect>(n) || !n.op->has(moves) || !has_one_use(v)) return false;
        if (!a.per_channel) return true;
        const std::int64_t channels = e.shape(v)[e.rank(v) - 1];
        for (std::size_t i = 0; i != n.operand_count; ++i) {
            const value operand = n.operand(i);
            if (e.dtype(operand) == dtype::shape) continue;
            if (e.rank(operand) == 0 || e.shape(operand)[e.rank(operand) - 1] % channels != 0) return false;
        }
        if (const auto* t = args_if<tosa::transpose>(n))
            return t->perms[t->perms.size() - 1] + 1 == static_cast<std::int64_t>(t->perms.size());
        if (const auto* c = args_if<tosa::concat>(n))
            return c->axis + 1 != static_cast<std::int64_t>(e.rank(v));
        // True for a SLICE or TILE of other axes, or a RESHAPE that splits channels.
        return is<tosa::reshape>(n) || e.shape(n.operand(0))[e.rank(v) - 1] == channels;
    }
    static value rescaled(emit<produces>& e, value v, const args<tosa::rescale>& a) {
        if (!goes_past(e, v, a)) {
            args<tosa::rescale> own = a;
            own.input = v;
            return e.make<tosa::rescale>(own);
        }
        const node& n = *v.producer;
        pmr_vector<value> operands;
        for (const edge& operand : n.operand_edges()) {
            const value x = *operand.slot;
            operands.push_back(e.dtype(x) == dtype::shape ? x : rescaled(e, x, for_channels(e, x, a)));
        }
        const dtype type = e.result_meta().dtype;
        node* copy = e.clone(n, operands, [&](tensor_meta& meta) { meta.dtype = type; });
        return copy == nullptr ? value{} : copy->result();
    }
    // Repeats the factors for the number of channels of a value.
    static args<tosa::rescale> for_channels(emit<produces>& e, value v, args<tosa::rescale> a) {
        if (!a.per_channel) return a;
        const auto repeated = [&](value factors) {
            const std::int64_t count = e.meta(factors).elements();
            const std::int64_t channels = e.shape(v)[e.rank(v) - 1];
            return count == channels || !constant_integers(factors)
                ? factors
                : u55::repeat(e, factors, channels / count);
        };
        a.multiplier = repeated(a.multiplier);
        a.shift = repeated(a.shift);
        return a;
    }
};
HEADRACE_COMPILED_PASS(rescale_before_moving);

}  // namespace headrace

#endif
