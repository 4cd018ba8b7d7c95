// SPDX-License-Identifier: MIT
// Defines headrace::expand_moves and headrace::rescale_before_moving: the moves of elements that Ethos-U55
// has, and moves of few bits.
#ifndef HEADRACE_PASSES_U55_EXPAND_MOVES_HPP
#define HEADRACE_PASSES_U55_EXPAND_MOVES_HPP

#include <algorithm>
#include <array>
#include <optional>

#include <headrace/base/pmr_vector.hpp>
#include <headrace/passes/npu/preferring.hpp>
#include <headrace/passes/support/permuting.hpp>
#include <headrace/passes/support/repeating.hpp>
#include <headrace/passes/support/slicing.hpp>
#include <headrace/passes/u55/int32.hpp>
#include <headrace/target/u55_verify.hpp>

namespace headrace {

struct expand_moves;

/// Moves a narrowing RESCALE before ops that move elements: fewer bits are then moved, and the RESCALE is
/// fused into the convolution before it. Per-channel factors need separate channels: the last axis must
/// remain the last, or become a multiple of itself.
struct rescale_before_moving : preferring<&target_preferences::rescales_first> {
    using phase = u55_legalization;
    using runs_before = pass_list<expand_moves>;
    static constexpr std::string_view summary =
        "moves a RESCALE of accumulators ahead of the ops that only move its operand";

    static auto rewrites() { return rules(on<tosa::rescale> = code<moved>()); }

private:
    using made = ops<tosa::rescale>;
    static std::optional<value> moved(emit<made> e, const args<tosa::rescale>& a) {
        const bool shrinks = traits_of(e.result_meta().dtype).bits < traits_of(e.dtype(a.input)).bits;
        if (!shrinks || !goes_past(e, a.input, a)) return std::nullopt;
        return rescaled(e, a.input, a);
    }

    static constexpr auto moves =
        trait::reshaping | trait::permuting | trait::slicing | trait::joining | trait::repeating;

    // True if the RESCALE can be moved before the producer of `v`: it only moves elements, and keeps channels
    // separate if they have factors of their own.
    static bool goes_past(emit<made> e, value v, const args<tosa::rescale>& a) {
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
    static value rescaled(emit<made> e, value v, args<tosa::rescale> a) {
        if (!goes_past(e, v, a)) {
            a.input = v;
            return e.make<tosa::rescale>(a);
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
    static args<tosa::rescale> for_channels(emit<made> e, value v, args<tosa::rescale> a) {
        if (!a.per_channel) return a;
        const auto repeated = [&](value factors) {
            const std::int64_t count = e.meta(factors).elements();
            const std::int64_t channels = e.shape(v)[e.rank(v) - 1];
            return count == channels || !constant_integers(factors)
                ? factors
                : build::repeat(e, factors, channels / count);
        };
        a.multiplier = repeated(a.multiplier);
        a.shift = repeated(a.shift);
        return a;
    }
};
HEADRACE_COMPILED_PASS(rescale_before_moving);

/// Expands moves. A REVERSE of any axis becomes one of an image's width, or one SLICE per element for INT32.
/// A TRANSPOSE of more axes or elements than Ethos-U55 can address becomes several.
struct expand_moves : for_u55 {
    static constexpr std::string_view summary =
        "lowers REVERSE and TRANSPOSE of shapes and types that Ethos-U55 does not have";

    static auto rewrites() {
        return rules(on<tosa::reverse> = code<reversed>(), on<tosa::transpose> = code<in_steps>());
    }

private:
    using made = joined<build::permute_ops, build::slice_ops, build::concat_ops, build::reverse_ops>;
    static std::optional<value> reversed(emit<made> e, const args<tosa::reverse>& a) {
        if (u55::restriction(e.current()).empty()) return std::nullopt;
        const shape_builder shape(e.shape(a.input1));
        const auto axis = static_cast<std::size_t>(a.axis);
        const std::int64_t size = shape[axis];
        if (size == 1) return a.input1;
        const build::three_axes around = build::around(shape, axis);
        const value image =
            build::reshape(e, a.input1, shape_builder{around.before, around.size, around.after});
        if (e.dtype(image) != dtype::int32) return build::reshape(e, build::reverse(e, image, 1), shape);
        constexpr std::int64_t max_slices = 256;
        if (size > max_slices) return std::nullopt;
        pmr_vector<std::int64_t> positions;
        for (std::int64_t i = size; i-- != 0;) positions.push_back(i);
        return build::reshape(e, build::pick(e, image, 1, positions), shape);
    }

    static std::optional<value> in_steps(emit<made> e, const args<tosa::transpose>& a) {
        if (u55::transpose_fits(e.dtype(a.input1), e.shape(a.input1))) return std::nullopt;
        const auto [shape, perms] = build::merge_axes(e.shape(a.input1), a.perms);
        const value moved = transposed(e, build::reshape(e, a.input1, shape), perms);
        return build::reshape(e, moved, e.result_meta().shape);
    }

    static std::size_t longest_axis(const shape_builder& shape) {
        return static_cast<std::size_t>(std::max_element(shape.begin(), shape.end()) - shape.begin());
    }

    // Transposes merged axes. If there are more than three, they are moved to their places one by one;
    // tensors that are still too large are moved in parts of their longest axis.
    static value transposed(emit<made> e, value v, const shape_builder& perms) {
        if (!v || build::is_identity(perms)) return v;
        const shape_builder shape(e.shape(v));
        if (u55::transpose_fits(e.dtype(v), shape)) return build::transpose(e, v, perms);
        if (perms.size() > 3) return one_by_one(e, v, perms);
        const std::size_t longest = longest_axis(shape);
        pmr_vector<value> parts;
        for (std::int64_t at = 0; at < shape[longest]; at += u55::max_size) {
            const std::int64_t count = std::min(u55::max_size, shape[longest] - at);
            parts.push_back(transposed(e, build::slice(e, v, longest, at, count), perms));
        }
        return build::concat(e, parts, static_cast<std::size_t>(build::inverse(perms)[longest]));
    }
    // Moves axis perms[0] before all axes in front of it, then perms[1] before the others, and so on.
    static value one_by_one(emit<made> e, value v, const shape_builder& perms) {
        shape_builder order = build::axes_in_order(perms.size());  // current order of the axes
        shape_builder shape(e.shape(v));
        for (std::size_t i = 0; v && i != perms.size(); ++i) {
            std::size_t from = i;
            while (order[from] != perms[i]) ++from;
            if (from == i) continue;
            const std::int64_t size = shape[from];
            v = swapped(e,
                build::reshape(e, v,
                    shape_builder{element_count(sizes(shape).first(i)),
                        element_count(sizes(shape).subspan(i, from - i)), size,
                        element_count(sizes(shape).subspan(from + 1))}));
            std::rotate(order.begin() + i, order.begin() + from, order.begin() + from + 1);
            std::rotate(shape.begin() + i, shape.begin() + from, shape.begin() + from + 1);
        }
        return build::reshape(e, v, shape);
    }
    // Transposes [a, b, c, d] to [a, c, b, d].
    static value swapped(emit<made> e, value v) {
        static constexpr std::int64_t perms[] = {0, 2, 1, 3};
        const shape_builder shape(e.shape(v));
        if (u55::transpose_fits(e.dtype(v), shape)) return build::transpose(e, v, perms);
        const build::merged_permutation merged = build::merge_axes(shape, perms);
        if (merged.perms.size() <= 3)
            return build::reshape(e, transposed(e, build::reshape(e, v, merged.shape), merged.perms),
                build::permuted(shape, perms));
        const std::size_t longest = longest_axis(shape);
        const std::int64_t half = shape[longest] / 2;
        const std::array halves{swapped(e, build::slice(e, v, longest, 0, half)),
            swapped(e, build::slice(e, v, longest, half, shape[longest] - half))};
        return build::concat(e, halves, static_cast<std::size_t>(perms[longest]));
    }
};
HEADRACE_COMPILED_PASS(expand_moves);

}  // namespace headrace

#endif
