// SPDX-License-Identifier: MIT
// Defines headrace::select_by_convolution and headrace::merge_selections: channels are selected by
// weights of 0 and 1.
#ifndef HEADRACE_PASSES_NPU_CHANNEL_SELECTIONS_HPP
#define HEADRACE_PASSES_NPU_CHANNEL_SELECTIONS_HPP

#include <algorithm>
#include <optional>

#include <headrace/base/pmr_vector.hpp>
#include <headrace/match/node_pattern.hpp>
#include <headrace/passes/npu/preferring.hpp>
#include <headrace/passes/quantize/rescaling.hpp>
#include <headrace/passes/support/build.hpp>

namespace headrace {

/// Selects shuffled channels by a convolution with weights of 0 and 1. The units of ShuffleNet V2 (Ma et al.,
/// ECCV 2018) shuffle the channels of two halves, and pass one of the new halves to a convolution and the
/// other to the next unit: channels 0, 2, 4, … of the shuffled ones are an original half, which no layout
/// expresses, so they would be copied one by one. The convolution keeps the channels last. Runs before
/// layouts are chosen, which then have nothing left to move.
struct select_by_convolution : prepared_for<&target_preferences::selected_channels> {
    static constexpr std::string_view summary =
        "lowers a SLICE of shuffled channels to a convolution that selects them";

    static auto rewrites() {
        return rules(on_match([](auto image) {
            const auto moved = node_of<"move", tosa::transpose>(node_of<"split", tosa::reshape>(image));
            const auto shuffled = node_of<"join", tosa::reshape>(moved);
            return node_of<"part", tosa::slice>(shuffled, node_of<"start", tosa::const_shape>());
        }) = code<made>([](emit<made> e, value image, const auto& m) {
            return selected(e, image, get<"move">(m), get<"part">(m), get<"start">(m));
        }));
    }

private:
    using made = joined<build::transpose_ops, ops<tosa::conv2d, tosa::rescale>>;
    static std::optional<value> selected(emit<made> e, value whole, const args<tosa::transpose>& moved,
        const args<tosa::slice>& a, const args<tosa::const_shape>& start) {
        if (e.dtype(whole) != dtype::int8) return std::nullopt;
        const shape_builder image(e.shape(whole));
        const shape_builder groups(e.shape(moved.input1));
        const shape_builder part(e.result_meta().shape);
        const bool is_shuffle = image.size() == 4 && groups.size() == 5 &&
            image == shape_builder(e.shape(a.input1)) &&
            shape_builder(moved.perms) == shape_builder{0, 2, 1, 3, 4} &&
            groups == shape_builder{image[0], groups[1], image[1] / groups[1], image[2], image[3]};
        const bool cuts_channels_alone = is_shuffle && part[0] == image[0] && part[2] == image[2] &&
            part[3] == image[3] && part[1] < image[1];
        if (!cuts_channels_alone || image[1] > preferences_of(e.target()).selected_channels)
            return std::nullopt;
        const value image_last = build::transpose(e, whole, build::to_channels_last(4));
        const value kept = build::int8_conv2d(e, image_last,
            weights(e, image[1], groups[1], start.values[1], part[1]), e.splat(0, dtype::int32, 1));
        return build::transpose(e, kept, build::to_channels_first(4));
    }

    // Each of the `count` shuffled channels from `start` on is an original channel of some group.
    static value weights(
        emit<made> e, std::int64_t channels, std::int64_t groups, std::int64_t start, std::int64_t count) {
        return build::constant_at(e, dtype::int8, {count, 1, 1, channels}, [&](const shape_builder& at) {
            const std::int64_t shuffled = start + at[0];
            const std::int64_t source = shuffled % groups * (channels / groups) + shuffled / groups;
            return std::int64_t{at[3] == source};
        });
    }
};
HEADRACE_COMPILED_PASS(select_by_convolution);

/// Lets a convolution of channels that select_by_convolution selects read all channels, with zero weights for
/// the others, if that takes fewer products than the selection.
struct merge_selections : tuned_for<&target_preferences::selected_channels> {
    static constexpr std::string_view summary =
        "merges a convolution that selects channels into the weight of the one that reads them";

    static auto rewrites() {
        return rules(on_match([](auto image) {
            const auto selection = sole_node<"selection", tosa::conv2d>(image);
            return node_of<"reader", tosa::conv2d>(sole_node<"narrow", tosa::rescale>(selection));
        }) = code<made>([](emit<made> e, value, const auto& m) {
            return merged(e, get<"reader">(m), get<"narrow">(m), get<"selection">(m));
        }));
    }

private:
    using made = ops<tosa::conv2d>;
    static std::optional<value> merged(emit<made> e, args<tosa::conv2d> a,
        const args<tosa::rescale>& narrowed, const args<tosa::conv2d>& selection) {
        if (log2_of_factor(narrowed) != 0 || constant_integer(narrowed.input_zp) != 0 ||
            constant_integer(narrowed.output_zp) != 0 || e.dtype(a.input) != dtype::int8 ||
            narrowed.output_unsigned)
            return std::nullopt;
        const auto positions = selected_by(selection, e);
        const shape_builder kernel(e.shape(a.weight));
        const auto all = static_cast<std::int64_t>(positions.size());
        const std::int64_t more = kernel[0] * kernel[1] * kernel[2] * (all - kernel[3]);
        const auto taps = build::int8_weight_of(e, a);
        if (all == 0 || more > kernel[3] * all || !taps) return std::nullopt;
        a.input = selection.input;
        const shape_builder wide{kernel[0], kernel[1], kernel[2], all};
        a.weight = build::constant_at(e, dtype::int8, wide, [&](const shape_builder& at) {
            const std::int64_t channel = positions[static_cast<std::size_t>(at[3])];
            return channel == none ? taps->zero : (*taps)({at[0], at[1], at[2], channel});
        });
        return e.make<tosa::conv2d>(a);
    }

    static constexpr std::int64_t none = -1;

    // Returns, for each channel that a convolution reads, the channel it becomes, or `none`. Empty if the
    // convolution does anything but select.
    static pmr_vector<std::int64_t> selected_by(const args<tosa::conv2d>& a, emit<made> e) {
        const shape_builder kernel(e.shape(a.weight));
        const auto biases = constant_integers(a.bias);
        const bool is_plain = kernel[1] == 1 && kernel[2] == 1 && build::all_are(a.pad, 0) &&
            build::all_are(a.stride, 1) && e.dtype(a.input) == dtype::int8 &&
            constant_integer(a.input_zp) == 0 && constant_integer(a.weight_zp) == 0 && biases &&
            build::all_are(*biases, 0);
        const auto taps = is_plain ? constant_integers(a.weight) : std::nullopt;
        if (!taps) return {};
        pmr_vector<std::int64_t> positions(static_cast<std::size_t>(kernel[3]), none);
        auto first = taps->begin();
        for (std::int64_t row = 0; row != kernel[0]; ++row) {
            const auto last = first + kernel[3];
            const auto one = std::find(first, last, 1);
            if (one == last || std::count(first, last, 0) + 1 != kernel[3]) return {};
            std::int64_t& position = positions[static_cast<std::size_t>(one - first)];
            if (position != none) return {};  // a channel selected twice
            position = row;
            first = last;
        }
        return positions;
    }
};
HEADRACE_COMPILED_PASS(merge_selections);

}  // namespace headrace

#endif
