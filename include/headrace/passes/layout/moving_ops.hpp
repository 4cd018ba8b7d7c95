// SPDX-License-Identifier: MIT
// Defines the passes that rewrite TRANSPOSEs, RESHAPEs and other operators which only move elements:
// headrace::remove_noop_layout, headrace::fuse_reshapes, headrace::fuse_transposes,
// headrace::crop_after_transpose, headrace::transpose_by_convolution and headrace::merge_transposed_axes.
#ifndef HEADRACE_PASSES_LAYOUT_MOVING_OPS_HPP
#define HEADRACE_PASSES_LAYOUT_MOVING_OPS_HPP

#include <algorithm>
#include <optional>

#include <headrace/dialect/tosa.hpp>
#include <headrace/infer/tosa.hpp>
#include <headrace/match/node_pattern.hpp>
#include <headrace/pass/pass.hpp>
#include <headrace/passes/properties.hpp>
#include <headrace/passes/support/build.hpp>
#include <headrace/passes/support/convolution.hpp>
#include <headrace/passes/support/permuting.hpp>
#include <headrace/target/preferences.hpp>

namespace headrace {

struct merge_transposed_axes;

/// Removes operators that return their operand unchanged: a SLICE of everything, a TILE of one copy, a PAD of
/// nothing, a CONCAT of one tensor, a REVERSE of one element, and a CAST to the same dtype.
struct remove_noop_layout : pass {
    using runs_after = pass_list<tosa_only>;
    using runs_before = pass_list<layouts_chosen>;
    using invalidates = pass_list<distinct_outputs>;
    static constexpr std::string_view summary =
        "removes SLICE, TILE, PAD, CONCAT, REVERSE and CAST that change nothing";

    static auto rewrites() {
        return rules(
            on<tosa::concat> = code<only_part>(),
            on<tosa::slice, tosa::tile, tosa::cast> = [](auto x, const auto&...) { return if_same(x); },
            on<tosa::pad> =
                [](auto x, auto padding, auto, const auto&...) {
                    const auto* amounts = match<tosa::const_shape>(padding.value());
                    const bool is_empty = amounts != nullptr && build::all_are(amounts->values, 0);
                    return choose(
                        is_empty, [&] { return if_same(x); }, unchanged);
                },
            on<tosa::reverse> =
                [](auto x, const auto& a) {
                    return choose(
                        x.size(a.axis) == 1, [&] { return if_same(x); }, unchanged);
                });
    }

private:
    static std::optional<value> only_part(emit<ops<>> e, const args<tosa::concat>& a) {
        const bool is_same = a.input1.size() == 1 && e.meta(a.input1[0]) == e.result_meta();
        return is_same ? std::optional(a.input1[0]) : std::nullopt;
    }
    // Slices and tiles with their operand's shape return all of it, since no size is 0.
    static auto if_same(const auto& x) { return choose(x.meta() == x.result_meta(), x, unchanged); }
};
HEADRACE_COMPILED_PASS(remove_noop_layout);

struct fuse_reshapes : pass {
    using runs_after = pass_list<tosa_only>;
    static constexpr std::string_view summary =
        "fuses a RESHAPE of a RESHAPE into one; removes those that change nothing";
    static constexpr bool repeatable = true;
    static constexpr bool in_execution_order = true;

    static auto rewrites() {
        return rules(
            on_match(
                twice<tosa::reshape>) = [](auto x) { return code<build::reshape>(x, x.result_meta().shape); },
            on<tosa::reshape> =
                [](auto x, const args<tosa::reshape>&) {
                    return choose(x.shape() == x.result_meta().shape, x, unchanged);
                });
    }
};
HEADRACE_COMPILED_PASS(fuse_reshapes);

/// Fuses a TRANSPOSE of a TRANSPOSE into one, or into none if they cancel. A TRANSPOSE that moves only axes
/// of size 1 becomes a RESHAPE.
struct fuse_transposes : pass {
    using runs_after = pass_list<tosa_only>;
    using runs_before = pass_list<layouts_chosen>;
    static constexpr std::string_view summary = "fuses a TRANSPOSE of a TRANSPOSE into one, or removes both";
    static constexpr bool repeatable = true;

    static auto rewrites() {
        return rules(
            on_match(twice<tosa::transpose>) =
                [](auto x, const auto& m) {
                    const sizes inner = get<"inner">(m).perms;
                    return code<build::permute>(x, build::composed(inner, get<"outer">(m).perms));
                },
            on<tosa::transpose> =
                [](auto x, const auto& a) {
                    const auto reshaped = [&] { return code<build::permute>(x, a.perms); };
                    return choose(build::moves_only_ones(x.shape(), a.perms), reshaped, unchanged);
                });
    }
};
HEADRACE_COMPILED_PASS(fuse_transposes);

namespace detail {

// A TRANSPOSE of a SLICE whose start is known, and which nothing else reads.
inline constexpr auto transposed_slice = [](auto whole, auto size) {
    const auto start = node_of<"start", tosa::const_shape>();
    return node_of<"transpose", tosa::transpose>(sole_node<"part", tosa::slice>(whole, start, size));
};
// Slices a tensor that has been transposed as the SLICE did before.
inline value sliced_after(
    emit<build::crop_ops> e, value transposed, const args<tosa::const_shape>& start, sizes perms) {
    return build::slice_at(e, transposed, build::permuted(start.values, perms), e.result_meta().shape);
}

}  // namespace detail

/// Moves a SLICE that keeps most of a tensor after the TRANSPOSE that reads it, if windows read the result.
/// Example: an image of even size, of which a convolution with stride 2 reads all except the last row and
/// column. Convolutions and pooling on an Ethos-U read part of a tensor in place; a TRANSPOSE does not, so
/// the part would be copied first.
struct crop_after_transpose : pass {
    using runs_after = pass_list<layouts_chosen>;
    using runs_before = pass_list<merge_transposed_axes>;
    static constexpr std::string_view summary =
        "transposes before a SLICE of most of a tensor what windows read then";

    [[nodiscard]] bool should_run(const graph& g) const {
        return preferences_of(g.target()).crops_after_transpose;
    }

    static auto rewrites() {
        return rules(on_match(detail::transposed_slice) =
                         code<made>([](emit<made> e, value whole, value, const auto& m) {
                             return cropped_after(e, whole, get<"start">(m), get<"transpose">(m));
                         }));
    }

private:
    using made = joined<build::transpose_ops, build::crop_ops>;
    static std::optional<value> cropped_after(
        emit<made> e, value whole, const args<tosa::const_shape>& start, const args<tosa::transpose>& a) {
        const bool is_most = e.meta(whole).elements() / 2 < e.meta(a.input1).elements();
        const auto uses = e.current().uses();
        const bool is_for_windows = std::ranges::all_of(uses, [](const edge& use) {
            return ops_in<tosa::conv2d, tosa::depthwise_conv2d, tosa::max_pool2d, tosa::avg_pool2d>.contains(
                *use.target->op);
        });
        if (!is_most || !is_for_windows) return std::nullopt;
        return detail::sliced_after(e, build::transpose(e, whole, a.perms), start, a.perms);
    }
};
HEADRACE_COMPILED_PASS(crop_after_transpose);

/// Computes a TRANSPOSE of a few planes to the innermost axis, such as of an image to channels-last, by a
/// convolution: groups of pixels are its channels, the planes its window, and its weights are 0 and 1. Vela
/// estimates a sixth of the cycles for an Ethos-U85; other targets gain nothing. If an image is cropped to a
/// number of pixels that does not form groups, it is cropped afterwards, if the target prefers that.
struct transpose_by_convolution : pass {
    using runs_after = pass_list<layouts_chosen>;
    using runs_before = pass_list<fuse_reshapes>;
    static constexpr std::string_view summary =
        "lowers a TRANSPOSE of a few planes to the innermost axis to a convolution";

    [[nodiscard]] bool should_run(const graph& g) const {
        return g.target().has(target_feature::profile_int) &&
            preferences_of(g.target()).planes_by_convolution != 0;
    }

    static auto rewrites() {
        return rules(on<tosa::transpose> = code<made>([](emit<made> e, const args<tosa::transpose>& a) {
            return convolved(e, a.input1, a.perms);
        }),
            on_match(detail::transposed_slice) =
                code<made>([](emit<made> e, value whole, value, const auto& m) {
                    return cropped_later(e, whole, get<"start">(m), get<"transpose">(m).perms);
                }));
    }

private:
    using made = joined<build::reshape_ops, build::crop_ops, ops<tosa::conv2d, tosa::rescale>>;

    static std::optional<value> cropped_later(
        emit<made> e, value whole, const args<tosa::const_shape>& start, sizes perms) {
        const auto moved =
            preferences_of(e.target()).crops_after_planes ? convolved(e, whole, perms) : std::nullopt;
        return moved ? std::optional(detail::sliced_after(e, *moved, start, perms)) : std::nullopt;
    }
    static std::optional<value> convolved(emit<made> e, value v, sizes perms) {
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
        // Output channel (pixel, plane) is that pixel of that plane.
        const shape_builder kernel{group * planes, planes, 1, group};
        const value weight = build::constant_at(e, dtype::int8, kernel,
            [&](const shape_builder& at) { return std::int64_t{at[0] == at[3] * planes + at[1]}; });
        const value planes_last = build::int8_conv2d(e, image, weight, e.splat(0, dtype::int32, 1));
        return build::reshape(e, planes_last, build::permuted(e.shape(v), perms));
    }
};
HEADRACE_COMPILED_PASS(transpose_by_convolution);

/// Rewrites a TRANSPOSE of more than four axes as one of fewer axes between RESHAPEs: axes of size 1 are left
/// out, and axes that stay adjacent are merged. NPUs move four axes at a time. An Ethos-U55 is faster with
/// fewer axes; an Ethos-U85 is slow with two.
struct merge_transposed_axes : pass {
    using runs_after = pass_list<layouts_chosen>;
    using runs_before = pass_list<fuse_reshapes>;
    static constexpr std::string_view summary =
        "splits a TRANSPOSE of more than four axes into RESHAPEs and one of fewer";

    static auto rewrites() { return rules(on<tosa::transpose> = code<merged>()); }

private:
    static std::optional<value> merged(emit<build::permute_ops> e, const args<tosa::transpose>& a) {
        const std::size_t most = preferences_of(e.target()).transposed_axes;
        const auto fewer = build::merge_axes(e.shape(a.input1), a.perms);
        if (a.perms.size() <= most || fewer.perms.size() == a.perms.size()) return std::nullopt;
        const value moved = build::transpose(e, build::reshape(e, a.input1, fewer.shape), fewer.perms);
        return build::reshape(e, moved, e.result_meta().shape);
    }
};
HEADRACE_COMPILED_PASS(merge_transposed_axes);

}  // namespace headrace

#endif
