// SPDX-License-Identifier: MIT
// Defines headrace::read_blocks.
#ifndef HEADRACE_PASSES_NPU_READ_BLOCKS_HPP
#define HEADRACE_PASSES_NPU_READ_BLOCKS_HPP

#include <algorithm>
#include <optional>

#include <headrace/passes/properties.hpp>
#include <headrace/passes/support/permuting.hpp>
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

    using targeted_ops = ops<tosa::conv2d>;
    using produces = joined<build::permute_ops, ops<tosa::conv2d>>;

    [[nodiscard]] bool should_run(const graph& g) const {
        return preferences_of(g.target()).stride != target_preferences::any;
    }

    std::optional<value> operator()(const args<tosa::conv2d>& a, emit<produces>& e) const {
        const shape_builder kernel(e.shape(a.weight));
        const auto* last = match<tosa::transpose>(a.input);
        const auto* joined = last == nullptr ? nullptr : match<tosa::reshape>(last->input1);
        const auto* moved = joined == nullptr ? nullptr : match<tosa::transpose>(joined->input1);
        const auto* split = moved == nullptr ? nullptr : match<tosa::reshape>(moved->input1);
        if (split == nullptr || kernel[1] != 1 || kernel[2] != 1 || !build::all_are(a.pad, 0) ||
            !build::all_are(a.stride, 1))
            return std::nullopt;
        const shape_builder image(e.shape(split->input1));
        const shape_builder blocks(e.shape(moved->input1));
        const shape_builder channels(e.shape(last->input1));
        if (image.size() != 4 || blocks.size() != 6 || channels.size() != 4) return std::nullopt;
        const std::int64_t height = blocks[3];
        const std::int64_t width = blocks[5];
        const bool is_unshuffled = shape_builder(last->perms) == build::to_channels_last(4) &&
            shape_builder(moved->perms) == shape_builder{0, 1, 3, 5, 2, 4} &&
            blocks == shape_builder{image[0], image[1], image[2] / height, height, image[3] / width, width} &&
            channels == shape_builder{image[0], image[1] * height * width, blocks[2], blocks[4]};
        if (!is_unshuffled || std::max(height, width) > preferences_of(e.target()).stride)
            return std::nullopt;
        args<tosa::conv2d> whole = a;
        whole.input = build::transpose(e, split->input1, build::to_channels_last(4));
        whole.weight =
            build::permute(e, build::reshape(e, a.weight, shape_builder{kernel[0], image[1], height, width}),
                shape_builder{0, 2, 3, 1});
        whole.stride = {height, width};
        return e.make<tosa::conv2d>(whole);
    }
};
HEADRACE_COMPILED_PASS(read_blocks);

}  // namespace headrace

#endif
