// SPDX-License-Identifier: MIT
// Defines headrace::rescale_before_moving.
#ifndef HEADRACE_PASSES_U55_RESCALE_BEFORE_MOVING_HPP
#define HEADRACE_PASSES_U55_RESCALE_BEFORE_MOVING_HPP

#include <memory_resource>
#include <optional>
#include <vector>

#include <headrace/passes/support/build.hpp>
#include <headrace/passes/support/constants.hpp>
#include <headrace/passes/u55/for_u55.hpp>

namespace headrace {

/// A RESCALE of accumulators to fewer bits goes ahead of what only moves them and nothing else reads: so
/// fewer bits are moved, and the RESCALE is part of the convolution before. That of channels keeps them
/// apart: the last axis must stay the last, or become a multiple of itself.
struct rescale_before_moving : pass, for_u55 {
    static constexpr std::string_view summary =
        "RESCALE(move(x)) as move(RESCALE(x)), which moves fewer bits";
    using targets = ops<tosa::rescale>;
    using produces = ops<tosa::rescale>;

    std::optional<value> operator()(const args<tosa::rescale>& a, emit<produces>& e) const {
        const bool shrinks = traits_of(e.result_meta().dtype).bits < traits_of(e.dtype(a.input)).bits;
        if (!shrinks || !goes_past(e, a.input, a)) return std::nullopt;
        return rescaled(e, a.input, a);
    }

private:
    using moves = ops<tosa::reshape, tosa::slice, tosa::concat, tosa::transpose, tosa::tile>;

    // Is it a move whose results have the channels of its operands, if there are several?
    static bool goes_past(emit<produces>& e, value v, const args<tosa::rescale>& a) {
        const node& n = *v.producer;
        if (!set_of<moves>.contains(*n.op) || !has_one_use(v)) return false;
        if (!a.per_channel) return true;
        const std::int64_t channels = e.shape(v)[e.rank(v) - 1];
        for (std::size_t i = 0; i != n.operand_count; ++i) {
            const value operand = n.operand(i);
            if (e.dtype(operand) == dtype::shape) continue;
            if (e.rank(operand) == 0 || e.shape(operand)[e.rank(operand) - 1] % channels != 0) return false;
        }
        if (const auto* t = args_if<tosa::transpose>(n))
            return t->perms[t->perms.size() - 1] + 1 == static_cast<std::int64_t>(t->perms.size());
        // A slice or a tiling of other axes, and a reshape that splits channels off.
        if (const auto* c = args_if<tosa::concat>(n))
            return c->axis + 1 != static_cast<std::int64_t>(e.rank(v));
        return is<tosa::reshape>(n) || e.shape(n.operand(0))[e.rank(v) - 1] == channels;
    }
    static value rescaled(emit<produces>& e, value v, const args<tosa::rescale>& a) {
        if (!goes_past(e, v, a)) {
            args<tosa::rescale> own = a;
            own.input = v;
            return e.make<tosa::rescale>(own);
        }
        const node& n = *v.producer;
        std::pmr::vector<value> operands;
        for (const edge& operand : n.operand_edges()) {
            const value x = *operand.slot;
            operands.push_back(e.dtype(x) == dtype::shape ? x : rescaled(e, x, for_channels(e, x, a)));
        }
        const dtype type = e.result_meta().dtype;
        node* copy = e.clone(n, operands, [&](tensor_meta& meta) { meta.dtype = type; });
        return copy == nullptr ? value{} : copy->result();
    }
    // The factors of as many channels as a value has.
    static args<tosa::rescale> for_channels(emit<produces>& e, value v, const args<tosa::rescale>& a) {
        args<tosa::rescale> wide = a;
        if (!a.per_channel) return wide;
        const auto count = static_cast<std::size_t>(e.shape(v)[e.rank(v) - 1]);
        const auto repeated = [&](value factors) {
            const auto numbers = constant_integers(factors);
            if (!numbers || numbers->size() == count) return factors;
            const dtype type = e.dtype(factors);
            return e.constant({type, {static_cast<std::int64_t>(count)}, {}}, [&](std::span<std::byte> data) {
                const std::size_t width = traits_of(type).bits / 8U;
                for (std::size_t i = 0; i != count; ++i) {
                    headrace::detail::store_element((*numbers)[i % numbers->size()], type, &data[i * width]);
                }
            });
        };
        wide.multiplier = repeated(a.multiplier);
        wide.shift = repeated(a.shift);
        return wide;
    }
};

}  // namespace headrace

#endif
