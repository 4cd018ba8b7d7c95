// SPDX-License-Identifier: MIT
// Defines headrace::read_blocks.
#ifndef HEADRACE_PASSES_NPU_READ_BLOCKS_HPP
#define HEADRACE_PASSES_NPU_READ_BLOCKS_HPP

#include <algorithm>
#include <optional>

#include <headrace/match/node_pattern.hpp>
#include <headrace/passes/support/permuting.hpp>
#include <headrace/passes/tosa_only.hpp>
#include <headrace/target/preferences.hpp>

namespace headrace {

struct fuse_reshapes;
struct fuse_transposes;
/// Fuses a pixel_unshuffle at the beginning of a network into the convolution that reads it: the pixels of a
/// block, which pixel_unshuffle turns into channels, become the convolution's window. Runs before layouts are
/// chosen, and leaves the image's own transpose to them.
struct read_blocks : pass {
    using runs_after = pass_list<tosa_only, fuse_reshapes, fuse_transposes>;
    using runs_before = pass_list<layouts_chosen>;
    static constexpr std::string_view summary =
        "a CONV2D of one pixel of what pixel_unshuffle makes reads the blocks themselves";

    [[nodiscard]] bool should_run(const graph& g) const {
        return preferences_of(g.target()).stride != target_preferences::any;
    }

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
    static std::optional<value> strided(emit<made> e, value x, value weight, const args<tosa::conv2d>& a,
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
        args<tosa::conv2d> whole = a;
        whole.input = build::transpose(e, x, build::to_channels_last(4));
        whole.weight =
            build::permute(e, build::reshape(e, weight, shape_builder{kernel[0], image[1], height, width}),
                shape_builder{0, 2, 3, 1});
        whole.stride = {height, width};
        return e.make<tosa::conv2d>(whole);
    }
};
HEADRACE_COMPILED_PASS(read_blocks);

}  // namespace headrace

#endif
