// SPDX-License-Identifier: MIT
// Defines the passes that rewrite convolutions whose windows skip pixels by short strides:
// headrace::pair_columns, headrace::read_last_column and headrace::read_blocks.
#ifndef HEADRACE_PASSES_NPU_STRIDED_CONVOLUTIONS_HPP
#define HEADRACE_PASSES_NPU_STRIDED_CONVOLUTIONS_HPP

#include <algorithm>
#include <optional>

#include <headrace/match/node_pattern.hpp>
#include <headrace/passes/npu/image_cost.hpp>
#include <headrace/passes/npu/preferring.hpp>
#include <headrace/passes/support/build.hpp>
#include <headrace/passes/support/permuting.hpp>
#include <headrace/passes/support/slicing.hpp>

namespace headrace {

/// Reads pairs of columns as one column with the channels of both: a convolution with stride 2 becomes one
/// with stride 1 on half the width. The first layer of a network reads three channels of an image, and an NPU
/// that multiplies eight or more channels at once leaves the other lanes idle; pairs fill six. A window that
/// does not begin or end with a pair gets taps of zero.
struct pair_columns : tuned_for<&target_preferences::paired_channels> {
    static constexpr std::string_view summary =
        "lets a CONV2D of stride 2 with few channels read pairs of columns as one";

    static auto rewrites() { return rules(on<tosa::conv2d> = code<of_pairs>()); }

private:
    using made = joined<build::reshape_ops, ops<tosa::conv2d>>;
    static std::optional<value> of_pairs(emit<made> e, args<tosa::conv2d> a) {
        const shape_builder image(e.shape(a.input));
        const shape_builder kernel(e.shape(a.weight));
        const target_preferences& target = preferences_of(e.target());
        if (a.stride[1] != 2 || a.dilation[1] != 1 || image[2] % 2 != 0 || kernel[2] == 1 ||
            image[3] > target.paired_channels || (target.pairs_on_chip_alone && is_given(a.input))) {
            return std::nullopt;
        }
        const shape_builder fewer = paired_kernel(kernel, a.pad[2]);
        const bool is_faster = convolution_steps(target, fewer) < convolution_steps(target, kernel);
        const auto weight = is_faster ? build::int8_weight_of(e, a) : std::nullopt;
        if (!weight) return std::nullopt;
        // With odd padding before it, the first window begins in the middle of a pair.
        const std::int64_t skipped = a.pad[2] % 2;
        const std::int64_t taps = fewer[2];
        const std::int64_t before = (a.pad[2] + skipped) / 2;
        const std::int64_t after = e.result_meta().shape[2] - 1 + taps - before - image[2] / 2;
        a.input = build::reshape(e, a.input, shape_builder{image[0], image[1], image[2] / 2, 2 * image[3]});
        a.weight = build::constant_at(e, dtype::int8, fewer, [&](const shape_builder& at) {
            const std::int64_t column = 2 * at[2] + at[3] / kernel[3] - skipped;
            const bool is_tap = column >= 0 && column < kernel[2];
            return is_tap ? (*weight)({at[0], at[1], column, at[3] % kernel[3]}) : weight->zero;
        });
        a.pad = {a.pad[0], a.pad[1], before, after};
        a.stride = {a.stride[0], 1};
        return e.make<tosa::conv2d>(a);
    }

    static bool is_given(value v) { return is<builtin::placeholder>(*build::without_reshapes(v).producer); }
};
HEADRACE_COMPILED_PASS(pair_columns);

/// Reads the last column of an image with zero weights rather than slicing it off. With stride 2 and a window
/// of one element, as in the shortcuts of residual networks, the last column of an even image is not read,
/// and TOSA requires it to be sliced off. The slice makes an Ethos-U85 keep the whole image in an order that
/// is slow for each of its readers.
struct read_last_column : tuned_for<&target_preferences::reads_last_column> {
    static constexpr std::string_view summary =
        "lets a CONV2D of an image without its last column read that column with weights of zero";

    static auto rewrites() {
        return rules(on_match([](auto image) {
            const auto part = sole_node<"part", tosa::slice>(image, node_of<"start", tosa::const_shape>());
            return node_of<"conv", tosa::conv2d>(part);
        }) = code<made>([](emit<made> e, value image, const auto& m) {
            return widened(e, image, get<"conv">(m), get<"start">(m));
        }));
    }

private:
    using made = joined<build::slice_ops, ops<tosa::conv2d>>;
    static std::optional<value> widened(
        emit<made> e, value image, args<tosa::conv2d> a, const args<tosa::const_shape>& start) {
        const shape_builder kernel(e.shape(a.weight));
        const shape_builder read(e.shape(a.input));
        const shape_builder whole(e.shape(image));
        const bool reads_half =
            kernel[1] == 1 && kernel[2] == 1 && build::all_are(a.pad, 0) && a.stride[1] == 2;
        const bool lacks_column = build::all_are(start.values, 0) && whole[2] == read[2] + 1 &&
            whole[0] == read[0] && whole[3] == read[3];
        const auto taps = reads_half && lacks_column ? build::int8_weight_of(e, a) : std::nullopt;
        if (!taps) return std::nullopt;
        a.input = build::slice(e, image, 1, 0, read[1]);
        const shape_builder two{kernel[0], 1, 2, kernel[3]};
        a.weight = build::constant_at(e, dtype::int8, two, [&](const shape_builder& at) {
            return at[2] == 0 ? (*taps)({at[0], 0, 0, at[3]}) : taps->zero;
        });
        a.dilation = {1, 1};
        return e.make<tosa::conv2d>(a);
    }
};
HEADRACE_COMPILED_PASS(read_last_column);

/// Fuses a pixel_unshuffle into the convolution that reads it. pixel_unshuffle turns the pixels of each block
/// of h x w pixels into channels, and the convolution has a window of one pixel; together they are a
/// convolution with a window and a stride of h x w. Runs before layouts are chosen, and leaves the image's
/// own transpose to them.
struct read_blocks : prepared_for<&target_preferences::stride> {
    static constexpr std::string_view summary =
        "a CONV2D of one pixel of what pixel_unshuffle makes reads the blocks themselves";

    static auto rewrites() {
        return rules(on_match([](auto x, auto weight) {
            const auto moved = node_of<"move", tosa::transpose>(node_of<"split", tosa::reshape>(x));
            const auto channels_last =
                node_of<"last", tosa::transpose>(node_of<"join", tosa::reshape>(moved));
            return node_of<"conv", tosa::conv2d>(channels_last, weight);
        }) = code<made>([](emit<made> e, value x, value weight, const auto& m) {
            return strided(e, x, weight, get<"conv">(m), get<"move">(m), get<"last">(m));
        }));
    }

private:
    using made = joined<build::permute_ops, ops<tosa::conv2d>>;
    static std::optional<value> strided(emit<made> e, value x, value weight, args<tosa::conv2d> a,
        const args<tosa::transpose>& moved, const args<tosa::transpose>& last) {
        const shape_builder kernel(e.shape(weight));
        const shape_builder image(e.shape(x));
        const shape_builder blocks(e.shape(moved.input1));
        const shape_builder channels(e.shape(last.input1));
        if (kernel[1] != 1 || kernel[2] != 1 || !build::all_are(a.pad, 0) || !build::all_are(a.stride, 1) ||
            image.size() != 4 || blocks.size() != 6 || channels.size() != 4)
            return std::nullopt;
        const std::int64_t height = blocks[3];
        const std::int64_t width = blocks[5];
        const bool is_unshuffled = shape_builder(last.perms) == build::to_channels_last(4) &&
            shape_builder(moved.perms) == shape_builder{0, 1, 3, 5, 2, 4} &&
            blocks == shape_builder{image[0], image[1], image[2] / height, height, image[3] / width, width} &&
            channels == shape_builder{image[0], image[1] * height * width, blocks[2], blocks[4]};
        if (!is_unshuffled || std::max(height, width) > preferences_of(e.target()).stride)
            return std::nullopt;
        a.input = build::transpose(e, x, build::to_channels_last(4));
        const value taps = build::reshape(e, weight, shape_builder{kernel[0], image[1], height, width});
        a.weight = build::permute(e, taps, build::to_channels_last(4));
        a.stride = {height, width};
        return e.make<tosa::conv2d>(a);
    }
};
HEADRACE_COMPILED_PASS(read_blocks);

}  // namespace headrace

#endif
