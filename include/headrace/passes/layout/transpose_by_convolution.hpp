// SPDX-License-Identifier: MIT
// Defines headrace::transpose_by_convolution.
#ifndef HEADRACE_PASSES_LAYOUT_TRANSPOSE_BY_CONVOLUTION_HPP
#define HEADRACE_PASSES_LAYOUT_TRANSPOSE_BY_CONVOLUTION_HPP

#include <optional>

#include <headrace/passes/properties.hpp>
#include <headrace/passes/support/convolution.hpp>
#include <headrace/passes/support/permuting.hpp>
#include <headrace/target/preferences.hpp>

namespace headrace {

struct fuse_reshapes;
/// Computes a TRANSPOSE of a few planes to the innermost axis, such as of an image to channels-last, by a
/// convolution: groups of pixels are its channels, the planes its window, and its weights are 0 and 1. Vela
/// estimates a sixth of the cycles for an Ethos-U85; an Ethos-U55 gains nothing. If an image is cropped to a
/// number of pixels that does not form groups, it is cropped afterwards, if the target prefers that.
struct transpose_by_convolution : pass {
    using runs_after = pass_list<layouts_chosen>;
    using runs_before = pass_list<fuse_reshapes>;
    static constexpr std::string_view summary =
        "lowers a TRANSPOSE of a few planes to the innermost axis to a convolution";

    using targeted_ops = ops<tosa::transpose>;
    using produces = joined<build::reshape_ops, build::crop_ops, ops<tosa::conv2d, tosa::rescale>>;

    [[nodiscard]] bool should_run(const graph& g) const {
        return g.target().has(target_feature::profile_int) &&
            preferences_of(g.target()).planes_by_convolution != 0;
    }

    std::optional<value> operator()(const args<tosa::transpose>& a, emit<produces>& e) const {
        if (const auto moved = convolved(e, a.input1, a.perms)) return moved;
        const auto* part = match<tosa::slice>(a.input1);
        const bool may_crop_later = part != nullptr && preferences_of(e.target()).crops_after_planes;
        if (!may_crop_later || !has_one_use(a.input1)) return std::nullopt;
        const auto* start = match<tosa::const_shape>(part->start);
        const auto whole = start == nullptr ? std::nullopt : convolved(e, part->input1, a.perms);
        if (!whole) return std::nullopt;
        return e.make<tosa::slice>({.input1 = *whole,
            .start = build::const_shape(e, build::permuted(start->values, a.perms)),
            .size = build::const_shape(e, e.result_meta().shape)});
    }

private:
    static std::optional<value> convolved(emit<produces>& e, value v, sizes perms) {
        constexpr std::int64_t max_planes = 4;
        constexpr std::int64_t min_pixels = 256;  // fewer pixels are not worth it
        const std::int64_t group = preferences_of(e.target()).planes_by_convolution;
        const auto moved = build::merge_axes(e.shape(v), perms);
        const bool batched = moved.perms == shape_builder{0, 2, 1};
        if ((!batched && moved.perms != shape_builder{1, 0}) || e.dtype(v) != dtype::int8)
            return std::nullopt;
        const std::int64_t batch = batched ? moved.shape[0] : 1;
        const std::int64_t planes = moved.shape[batched ? 1 : 0];
        const std::int64_t pixels = moved.shape[batched ? 2 : 1];
        if (planes > max_planes || pixels < min_pixels || pixels % group != 0) return std::nullopt;

        const value image = build::reshape(e, v, shape_builder{batch, planes, pixels / group, group});
        const value sums = e.make<tosa::conv2d>(
            build::unpadded<tosa::conv2d>(e, image, weights(e, planes, group), e.splat(0, dtype::int32, 1)));
        return build::reshape(e, build::narrow(e, sums, dtype::int8), build::permuted(e.shape(v), perms));
    }

    // Output channel (pixel, plane) is that pixel of that plane.
    static value weights(emit<produces>& e, std::int64_t planes, std::int64_t group) {
        const shape_builder shape{group * planes, planes, 1, group};
        return build::constant_at(e, dtype::int8, shape,
            [&](const shape_builder& at) { return std::int64_t{at[0] == at[3] * planes + at[1]}; });
    }
};
HEADRACE_COMPILED_PASS(transpose_by_convolution);

}  // namespace headrace

#endif
