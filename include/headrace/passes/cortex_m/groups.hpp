// SPDX-License-Identifier: MIT
// Defines headrace::rejoin_groups, which makes one convolution of those of groups of channels.
#ifndef HEADRACE_PASSES_CORTEX_M_GROUPS_HPP
#define HEADRACE_PASSES_CORTEX_M_GROUPS_HPP

#include <algorithm>
#include <optional>

#include <headrace/base/pmr_vector.hpp>
#include <headrace/match/node_pattern.hpp>
#include <headrace/passes/cortex_m/scaling.hpp>
#include <headrace/passes/support/build.hpp>
#include <headrace/passes/support/slicing.hpp>

namespace headrace {

/// Joins the convolutions of the slices of an image's channels, whose results are concatenated: TOSA has no
/// groups. The weight of the joined one is zero between groups, from which select_convolutions finds them
/// again. Elements may be moved before and after each convolution.
struct rejoin_groups : pass {
    static constexpr std::string_view summary =
        "convolutions of slices of an image's channels as one, with weights of zero between groups";

    static auto rewrites() { return rules(on<tosa::concat> = code<rejoined>()); }

private:
    using made =
        joined<build::reshape_ops, build::transpose_ops, build::slice_ops, ops<tosa::conv2d, tosa::rescale>>;

    // A tensor before TRANSPOSEs, and RESHAPEs that add or remove axes of size 1, and the order that they
    // give its other axes.
    struct moved {
        value from;
        shape_builder axes{};
    };
    static shape_builder long_axes(sizes shape) {
        shape_builder axes;
        for (std::size_t i = 0; i != shape.size(); ++i)
            if (shape[i] != 1) axes.push_back(static_cast<std::int64_t>(i));
        return axes;
    }
    static moved before_moves(const emitter& e, value v) {
        moved m{v, long_axes(e.shape(v))};
        for (;;) {
            if (const auto* const transpose = match<tosa::transpose>(m.from)) {
                m.axes = build::permuted(transpose->perms, m.axes);
                m.from = transpose->input1;
                continue;
            }
            const auto* const reshape = match<tosa::reshape>(m.from);
            if (reshape == nullptr) return m;
            const sizes shape = e.shape(m.from), older = e.shape(reshape->input1);
            const shape_builder now = long_axes(shape), then = long_axes(older);
            if (build::permuted(shape, now) != build::permuted(older, then)) return m;
            for (std::int64_t& axis : m.axes)
                axis = then[static_cast<std::size_t>(std::ranges::find(now, axis) - now.begin())];
            m.from = reshape->input1;
        }
    }

    struct group {
        const args<tosa::slice>* part;
        shape_builder start{}, size{};
        shape_builder read{};  // axes of the slice
        const args<tosa::conv2d>* sum;
        const args<tosa::rescale>* result;
        shape_builder written{};  // axes of the sum
    };
    static std::optional<group> group_of(const emitter& e, value v) {
        moved after = before_moves(e, v);
        const auto* const result = match<tosa::rescale>(after.from);
        const auto* const sum = result != nullptr ? match<tosa::conv2d>(result->input) : nullptr;
        if (sum == nullptr || !has_one_use(after.from) || !has_one_use(result->input)) return std::nullopt;
        moved before = before_moves(e, sum->input);
        const auto* const part = match<tosa::slice>(before.from);
        const auto* const start = part != nullptr ? match<tosa::const_shape>(part->start) : nullptr;
        if (start == nullptr || e.dtype(sum->input) != dtype::int8 || e.dtype(v) != dtype::int8)
            return std::nullopt;
        return group{part, start->values, e.shape(before.from), before.axes, sum, result, after.axes};
    }
    static bool is_alike(const emitter& e, const group& a, const group& b) {
        const auto is_same = [](value x, value y) {
            const auto number = constant_integer(x);
            return number && number == constant_integer(y);
        };
        return a.part->input1 == b.part->input1 && a.size == b.size && a.read == b.read &&
            a.written == b.written && e.shape(a.sum->weight) == e.shape(b.sum->weight) &&
            a.sum->pad == b.sum->pad && a.sum->stride == b.sum->stride &&
            a.sum->dilation == b.sum->dilation && is_same(a.sum->input_zp, b.sum->input_zp) &&
            is_same(a.sum->weight_zp, b.sum->weight_zp) && is_same(a.result->input_zp, b.result->input_zp) &&
            is_same(a.result->output_zp, b.result->output_zp) && a.result->scale32 == b.result->scale32 &&
            a.result->rounding_mode == b.result->rounding_mode &&
            a.result->input_unsigned == b.result->input_unsigned &&
            a.result->output_unsigned == b.result->output_unsigned;
    }

    static std::optional<value> rejoined(emit<made> e, const args<tosa::concat>& a) {
        pmr_vector<group> groups;
        for (const value v : a.input1) {
            const auto one = group_of(e, v);
            if (!one || (!groups.empty() && !is_alike(e, groups[0], *one))) return std::nullopt;
            groups.push_back(*one);
        }
        if (groups.size() < 2 || constant_integer(groups[0].sum->weight_zp) != 0) return std::nullopt;
        const auto channels = channels_of(e, groups);
        const auto order = order_of_results(e, a, groups[0]);
        if (!channels || !order) return std::nullopt;
        const auto weight = weight_of(e, groups);
        const auto bias = numbers_of(e, groups, [](const group& g) { return g.sum->bias; });
        const auto multiplier = numbers_of(e, groups, [](const group& g) { return g.result->multiplier; });
        const auto shift = numbers_of(e, groups, [](const group& g) { return g.result->shift; });
        if (!weight || !bias || !multiplier || !shift) return std::nullopt;
        args<tosa::conv2d> sum = *groups[0].sum;
        sum.input = image_of(e, groups[0], *channels);
        sum.weight = *weight;
        sum.bias = *bias;
        args<tosa::rescale> result = *groups[0].result;
        result.input = e.make<tosa::conv2d>(sum);
        result.multiplier = *multiplier;
        result.shift = *shift;
        result.per_channel = true;
        const value v = build::transpose(e, e.make<tosa::rescale>(result), *order);
        return build::reshape(e, v, e.result_meta().shape);
    }

    // Returns the axis of the channels if the slices are all of them, one after the other.
    static std::optional<std::size_t> channels_of(const emitter& e, const pmr_vector<group>& groups) {
        const group& first = groups[0];
        const std::int64_t share = e.shape(first.sum->weight)[3];
        std::size_t axis = 0;
        while (axis != first.start.size() && first.start[axis] == groups[1].start[axis]) ++axis;
        if (axis == first.start.size() || first.size[axis] != share ||
            e.shape(first.part->input1)[axis] != share * static_cast<std::int64_t>(groups.size()) ||
            (share != 1 && first.read[first.read.size() - 1] != static_cast<std::int64_t>(axis)))
            return std::nullopt;
        shape_builder start = first.start;
        start[axis] = 0;
        for (const group& g : groups) {
            if (g.start != start) return std::nullopt;
            start[axis] += share;
        }
        return axis;
    }
    // Adds to an order of axes those that it lacks, which have size 1 and may be anywhere.
    static shape_builder completed(shape_builder order, std::size_t rank) {
        for (std::size_t i = 0; i != rank; ++i) {
            const auto axis = static_cast<std::int64_t>(i);
            if (std::ranges::find(order, axis) != order.end()) continue;
            const auto next = std::ranges::find_if(order, [&](std::int64_t other) { return other > axis; });
            order.insert(static_cast<std::size_t>(next - order.begin()), axis);
        }
        return order;
    }
    static value image_of(emit<made> e, const group& first, std::size_t channels) {
        const value whole = first.part->input1;
        const shape_builder part(e.shape(first.sum->input));
        shape_builder size = first.size, order;
        size[channels] = e.shape(whole)[channels];
        for (const std::int64_t axis : first.read)
            if (axis != static_cast<std::int64_t>(channels)) order.push_back(axis);
        order.push_back(static_cast<std::int64_t>(channels));
        const value cropped =
            e.shape(whole) == int_list(size) ? whole : build::slice_at(e, whole, first.start, size);
        const value v = build::transpose(e, cropped, completed(order, size.size()));
        return build::reshape(e, v, shape_builder{part[0], part[1], part[2], size[channels]});
    }
    // Returns the order of the axes of all results that the concatenation gives them.
    static std::optional<shape_builder> order_of_results(
        const emitter& e, const args<tosa::concat>& a, const group& first) {
        constexpr std::int64_t channels = 3;
        const sizes part(e.shape(a.input1[0]));
        const auto axis = static_cast<std::size_t>(a.axis);
        const std::int64_t share = e.shape(first.sum->weight)[0];
        const std::size_t place = long_axes(part.first(axis)).size();
        if (part[axis] != share) return std::nullopt;
        shape_builder order = first.written;
        if (share == 1) {
            order.insert(place, channels);
        } else if (order[place] != channels) {
            return std::nullopt;
        }
        return completed(order, 4);
    }

    static std::optional<value> weight_of(emit<made> e, const pmr_vector<group>& groups) {
        pmr_vector<build::int8_weight> parts;
        for (const group& g : groups) {
            auto part = build::int8_weight_of(e, *g.sum);
            if (!part) return std::nullopt;
            parts.push_back(std::move(*part));
        }
        const shape_builder w = parts[0].shape;
        const auto count = static_cast<std::int64_t>(groups.size());
        const shape_builder whole{count * w[0], w[1], w[2], count * w[3]};
        return build::constant_at(e, dtype::int8, whole, [&](sizes at) {
            const std::int64_t g = at[0] / w[0];
            if (at[3] / w[3] != g) return scalar(0);
            return scalar(parts[static_cast<std::size_t>(g)]({at[0] % w[0], at[1], at[2], at[3] % w[3]}));
        });
    }
    // Joins constants that have a number for each result channel, or one for all.
    static std::optional<value> numbers_of(
        emit<made> e, const pmr_vector<group>& groups, function_ref<value(const group&)> operand) {
        const auto share = static_cast<std::size_t>(e.shape(groups[0].sum->weight)[0]);
        pmr_vector<std::int64_t> all;
        for (const group& g : groups) {
            auto numbers = constant_integers(operand(g));
            if (!numbers) return std::nullopt;
            if (numbers->size() == 1) numbers->resize(share, numbers->front());
            all.insert(all.end(), numbers->begin(), numbers->end());
        }
        const std::int64_t shape[] = {static_cast<std::int64_t>(all.size())};
        return e.constant_of(
            e.dtype(operand(groups[0])), shape, [&](std::size_t i) { return scalar(all[i]); });
    }
};

}  // namespace headrace

#endif
