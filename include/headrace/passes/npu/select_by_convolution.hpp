// SPDX-License-Identifier: MIT
// Defines headrace::select_by_convolution.
#ifndef HEADRACE_PASSES_NPU_SELECT_BY_CONVOLUTION_HPP
#define HEADRACE_PASSES_NPU_SELECT_BY_CONVOLUTION_HPP

#include <optional>

#include <headrace/passes/properties.hpp>
#include <headrace/passes/support/permuting.hpp>
#include <headrace/target/preferences.hpp>

namespace headrace {

struct fuse_reshapes;
struct fuse_transposes;
/// Selects channels by a convolution with weights of 0 and 1, as in the units of a ShuffleNet, which shuffle
/// the channels of two halves, pass one of the new halves to a convolution and the other to the next unit. No
/// layout expresses this choice of channels, so they would be copied one by one; the convolution keeps them
/// last. Runs before layouts are chosen, which then have nothing left to move.
struct select_by_convolution : pass {
    using runs_after = pass_list<tosa_only, fuse_reshapes, fuse_transposes>;
    using runs_before = pass_list<layouts_chosen>;
    static constexpr std::string_view summary =
        "lowers a SLICE of shuffled channels to a convolution that selects them";

    using targeted_ops = ops<tosa::slice>;
    using produces = joined<build::transpose_ops, ops<tosa::conv2d, tosa::rescale>>;

    [[nodiscard]] bool should_run(const graph& g) const {
        return preferences_of(g.target()).selected_channels != 0;
    }

    std::optional<value> operator()(const args<tosa::slice>& a, emit<produces>& e) const {
        const auto* shuffled = match<tosa::reshape>(a.input1);
        const auto* moved = shuffled == nullptr ? nullptr : match<tosa::transpose>(shuffled->input1);
        const auto* split = moved == nullptr ? nullptr : match<tosa::reshape>(moved->input1);
        const auto* start = match<tosa::const_shape>(a.start);
        if (split == nullptr || start == nullptr || e.dtype(split->input1) != dtype::int8)
            return std::nullopt;
        const shape_builder image(e.shape(split->input1));
        const shape_builder groups(e.shape(moved->input1));
        const shape_builder part(e.result_meta().shape);
        const bool is_shuffle = image.size() == 4 && groups.size() == 5 &&
            image == shape_builder(e.shape(a.input1)) &&
            shape_builder(moved->perms) == shape_builder{0, 2, 1, 3, 4} &&
            groups == shape_builder{image[0], groups[1], image[1] / groups[1], image[2], image[3]};
        const bool cuts_channels_alone = is_shuffle && part[0] == image[0] && part[2] == image[2] &&
            part[3] == image[3] && part[1] < image[1];
        if (!cuts_channels_alone || image[1] > preferences_of(e.target()).selected_channels)
            return std::nullopt;
        const value sums = e.make<tosa::conv2d>(
            build::unpadded<tosa::conv2d>(e, build::transpose(e, split->input1, build::to_channels_last(4)),
                weights(e, image[1], groups[1], start->values[1], part[1]), e.splat(0, dtype::int32, 1)));
        return build::transpose(e, build::narrow(e, sums, dtype::int8), build::to_channels_first(4));
    }

private:
    // Each of the `count` shuffled channels from `start` on is an original channel of some group.
    static value weights(emit<produces>& e, std::int64_t channels, std::int64_t groups, std::int64_t start,
        std::int64_t count) {
        return build::constant_at(e, dtype::int8, {count, 1, 1, channels}, [&](const shape_builder& at) {
            const std::int64_t shuffled = start + at[0];
            const std::int64_t source = shuffled % groups * (channels / groups) + shuffled / groups;
            return std::int64_t{at[3] == source};
        });
    }
};
HEADRACE_COMPILED_PASS(select_by_convolution);

}  // namespace headrace

#endif
