// SPDX-License-Identifier: MIT
// Defines headrace::join_groups and headrace::split_convolutions: convolutions of all channels or of
// parts.
#ifndef HEADRACE_PASSES_NPU_CONVOLUTION_GROUPS_HPP
#define HEADRACE_PASSES_NPU_CONVOLUTION_GROUPS_HPP

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>

#include <headrace/base/ceil_div.hpp>
#include <headrace/base/pmr_vector.hpp>
#include <headrace/dialect/builtin.hpp>
#include <headrace/infer/aten/convolution.hpp>
#include <headrace/infer/quantized_decomposed.hpp>
#include <headrace/passes/npu/preferring.hpp>
#include <headrace/passes/quantize/quantization.hpp>
#include <headrace/passes/support/convolution.hpp>
#include <headrace/passes/support/permuting.hpp>
#include <headrace/passes/support/slicing.hpp>

namespace headrace {

struct decompose_grouped_convolution;

/// Joins the groups of a convolution into one convolution of all channels, whose weight is zero between
/// groups. TOSA has no groups. A convolution per group reads few channels, which must be moved apart and
/// together again, and it blocks layouts: the channel shuffle of a ShuffleNet can be folded into a weight
/// only if the weight covers all channels. Done if the products with zero take less time than the moves.
struct join_groups : preferring<&target_preferences::products_per_move> {
    using phase = decomposition;
    using runs_after = pass_list<canonical_convolutions>;
    using runs_before = pass_list<decompose_grouped_convolution>;
    static constexpr std::string_view summary =
        "a quantized convolution of groups as one of all channels, with weights of zero";

    static auto rewrites() { return rules(on<aten::convolution> = code<of_all_channels>()); }

private:
    using made = ops<aten::convolution, quantized_decomposed::dequantize_per_channel,
        quantized_decomposed::dequantize_per_tensor>;
    static std::optional<value> of_all_channels(emit<made> e, args<aten::convolution> a) {
        if (a.groups == 1 || a.transposed || e.rank(a.weight) != 4 || is_depthwise(e, a) || !pays(a, e))
            return std::nullopt;
        const auto weight = match_dequantize(a.weight);
        if (!weight) return std::nullopt;
        const auto taps = build::int8_weight_of(e, weight->integers, weight->parameters.common_zero_point());
        if (!taps) return std::nullopt;
        const shape_builder kernel(e.shape(a.weight));
        const shape_builder whole{kernel[0], kernel[1] * a.groups, kernel[2], kernel[3]};
        const value dense = build::constant_at(e, dtype::int8, whole, [&](const shape_builder& at) {
            if (at[1] / kernel[1] != at[0] / (kernel[0] / a.groups)) return taps->zero;
            return (*taps)({at[0], at[1] % kernel[1], at[2], at[3]});
        });
        a.groups = 1;
        a.weight = build::remake<quantized_decomposed::dequantize_per_channel,
            quantized_decomposed::dequantize_per_tensor>(e, *a.weight.producer, {dense});
        return e.make<aten::convolution>(a);
    }

    // True if the added products with zero take less time than moving the channels.
    static bool pays(const args<aten::convolution>& a, emit<made> e) {
        const target_preferences& target = preferences_of(e.target());
        const auto filled = [&](std::int64_t channels) {
            return ceil_div(channels, target.channels_at_once) * target.channels_at_once;
        };
        const shape_builder image(e.shape(a.input));
        const shape_builder kernel(e.shape(a.weight));
        const shape_builder result(e.result_meta().shape);
        const std::int64_t positions = result[0] * result[2] * result[3];
        const std::int64_t read = filled(kernel[1]);
        const std::int64_t written = filled(kernel[0] / a.groups);
        // In floating point, since products of sizes from a program may overflow integers.
        const auto product = [](auto... n) { return (static_cast<double>(n) * ...); };
        const double more = product(positions, kernel[2], kernel[3]) *
            (product(filled(kernel[1] * a.groups), filled(kernel[0])) - product(a.groups, read, written));
        const double moved =
            product(a.groups, image[0] * image[2] * image[3], read) + product(a.groups, positions, written);
        return more <= moved * static_cast<double>(target.products_per_move);
    }
};
HEADRACE_COMPILED_PASS(join_groups);

/// Splits a convolution whose channels are only sliced: each slice gets a convolution of its own, with that
/// part of the weight, and nothing is copied. Examples: attention whose queries, keys and values come from
/// one linear layer, and gated linear units. Runs before layouts are chosen, since each part may have its
/// own.
struct split_convolutions : prepared_for<&target_preferences::products_per_move> {
    static constexpr std::string_view summary =
        "splits a CONV2D whose channels are only sliced into one for each slice";

    static auto rewrites() { return rules(on<tosa::slice> = code<of_part>()); }

private:
    using made = joined<build::permute_ops, build::slice_ops,
        ops<tosa::conv2d, tosa::rescale, tosa::clamp, tosa::table>>;
    static std::optional<value> of_part(emit<made> e, const args<tosa::slice>& a) {
        const auto steps = steps_before(a.input1);
        const auto places = steps.empty() ? std::nullopt : places_of_channels(steps, e);
        if (!places) return std::nullopt;
        const auto part = channels_of(a, places->back(), e);
        if (!part || !pays(args_of<tosa::conv2d>(*steps.front()), a.input1, places->back(), e))
            return std::nullopt;
        value v{};
        for (std::size_t i = 0; i != steps.size(); ++i) v = part_of(*steps[i], v, *part, (*places)[i], e);
        return v;
    }

    // The position of a convolution's channels in a tensor: their outermost factor is an axis, each of whose
    // elements represents `channels` channels.
    struct place {
        std::size_t axis;
        std::int64_t channels;
    };
    struct range {
        std::int64_t start, count;
    };
    using nodes = pmr_vector<const node*>;

    static sizes shape_of(const node& n) {
        const auto& meta = n.results[0].meta;
        return meta ? sizes(meta->shape) : sizes();
    }

    // Returns a convolution with constant weights and the ops after it up to `v`, if only `v` depends on
    // them; otherwise empty.
    static nodes steps_before(value v) {
        nodes steps{v.producer};
        while (!is<tosa::conv2d>(*steps.back())) {
            const node& n = *steps.back();
            const bool passes_on =
                fused_into_convolutions.contains(*n.op) || is<tosa::reshape>(n) || is<tosa::transpose>(n);
            if (!passes_on || !has_one_use(n.operand(0))) return {};
            steps.push_back(n.operand(0).producer);
        }
        const auto& convolution = args_of<tosa::conv2d>(*steps.back());
        if (!is_constant(convolution.weight) || !is_constant(convolution.bias)) return {};
        std::reverse(steps.begin(), steps.end());
        return steps;
    }

    static bool is_constant(value v) {
        while (is<tosa::reshape>(*v.producer) || is<tosa::transpose>(*v.producer)) v = v.producer->operand(0);
        return is<builtin::constant>(*v.producer);
    }

    // Returns the place of the channels after each step. Nothing if channels are merged with other axes, or
    // have per-channel factors while they are split.
    static std::optional<pmr_vector<place>> places_of_channels(const nodes& steps, emit<made> e) {
        pmr_vector<place> places{{3, 1}};
        for (std::size_t i = 1; i != steps.size(); ++i) {
            const node& n = *steps[i];
            place at = places.back();
            const sizes before = e.shape(n.operand(0));
            if (const auto* moved = args_if<tosa::transpose>(n)) {
                at.axis = static_cast<std::size_t>(build::inverse(moved->perms)[at.axis]);
            } else if (is<tosa::reshape>(n)) {
                const auto reshaped = place_in(at, before, shape_of(n));
                if (!reshaped) return std::nullopt;
                at = *reshaped;
            } else if (const auto* scaled = args_if<tosa::rescale>(n)) {
                const bool are_whole = at.axis + 1 == before.size() && at.channels == 1 &&
                    before[at.axis] == shape_of(*steps[0])[3];
                if (scaled->per_channel && !are_whole) return std::nullopt;
            }
            places.push_back(at);
        }
        return places;
    }

    static std::optional<place> place_in(place at, sizes before, sizes after) {
        const std::int64_t outer = element_count(before.first(at.axis));
        const std::int64_t inner = element_count(before.subspan(at.axis + 1));
        std::int64_t outside = 1;
        for (std::size_t axis = 0; axis != after.size() && outside <= outer; outside *= after[axis++]) {
            if (outside != outer || after[axis] == 1) continue;
            const std::int64_t inside = at.channels * element_count(after.subspan(axis + 1));
            const bool is_whole = inner != 0 && inside % inner == 0 &&
                inside / inner * after[axis] == before[at.axis] * at.channels;
            return is_whole ? std::optional(place{axis, inside / inner}) : std::nullopt;
        }
        return std::nullopt;
    }

    // Returns the channels that a SLICE selects, if it slices no other axis.
    static std::optional<range> channels_of(const args<tosa::slice>& a, place at, emit<made> e) {
        const auto* start = match<tosa::const_shape>(a.start);
        const auto* size = match<tosa::const_shape>(a.size);
        if (start == nullptr || size == nullptr) return std::nullopt;
        const shape_builder whole = build::with_axis(e.shape(a.input1), at.axis, size->values[at.axis]);
        if (shape_builder(size->values) != whole || whole == shape_builder(e.shape(a.input1)))
            return std::nullopt;
        return range{start->values[at.axis] * at.channels, size->values[at.axis] * at.channels};
    }

    // True if every user slices channels, no channel is computed twice, and the products of idle lanes cost
    // less than copying the slices. Images are stored in groups of 16 channels, and a narrower part wastes
    // the rest of a group.
    static bool pays(const args<tosa::conv2d>& convolution, value sliced, place at, emit<made> e) {
        const target_preferences& target = preferences_of(e.target());
        const shape_builder kernel(e.shape(convolution.weight));
        const std::int64_t window = kernel[1] * kernel[2] * kernel[3];
        constexpr std::int64_t group = 16;
        const bool is_of_image = at.channels == 1 && e.rank(sliced) == 4;
        std::int64_t count = 0, idle = 0;
        for (const edge& use : sliced.producer->uses()) {
            const auto* slice = args_if<tosa::slice>(*use.target);
            const auto part = slice == nullptr ? std::nullopt : channels_of(*slice, at, e);
            if (!part || (is_of_image && part->count < group)) return false;
            count += part->count;
            idle += ceil_div(part->count, target.channels_at_once) * target.channels_at_once - part->count;
        }
        return count <= kernel[0] && saturating_mul(idle, window) <= target.products_per_move * count;
    }

    // Returns a step's result for a part of the channels.
    static value part_of(const node& n, value input, range part, place at, emit<made> e) {
        const auto own = [&](value factors) {
            return e.meta(factors).elements() == 1 ? factors
                                                   : build::slice(e, factors, 0, part.start, part.count);
        };
        if (const auto* convolution = args_if<tosa::conv2d>(n)) {
            args<tosa::conv2d> few = *convolution;
            few.weight = build::slice(e, few.weight, 0, part.start, part.count);
            few.bias = own(few.bias);
            return e.make<tosa::conv2d>(few);
        }
        if (const auto* rescale = args_if<tosa::rescale>(n)) {
            args<tosa::rescale> few = *rescale;
            few.input = input;
            if (few.per_channel) {
                few.multiplier = own(few.multiplier);
                few.shift = own(few.shift);
            }
            return e.make<tosa::rescale>(few);
        }
        if (const auto* moved = args_if<tosa::transpose>(n)) return build::transpose(e, input, moved->perms);
        if (is<tosa::reshape>(n))
            return build::reshape(e, input, build::with_axis(shape_of(n), at.axis, part.count / at.channels));
        return build::remake<tosa::clamp, tosa::table>(e, n, {input});
    }
};
HEADRACE_COMPILED_PASS(split_convolutions);

}  // namespace headrace

#endif
