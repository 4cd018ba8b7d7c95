// SPDX-License-Identifier: MIT
// Defines headrace::expand_resize.
#ifndef HEADRACE_PASSES_U55_EXPAND_RESIZE_HPP
#define HEADRACE_PASSES_U55_EXPAND_RESIZE_HPP

#include <array>
#include <optional>

#include <headrace/base/pmr_vector.hpp>
#include <headrace/match/node_pattern.hpp>
#include <headrace/passes/npu/preferring.hpp>
#include <headrace/passes/u55/interpolation.hpp>
#include <headrace/target/u55_verify.hpp>

namespace headrace {

struct expand_windows;

/// Expands RESIZE (TOSA 1.0, 2.11.1). Ethos-U55 can only repeat each element of an image 2, 4 or 8 times.
/// Nearest-neighbour resizing is interpolation with weights of one, unless elements can be repeated or
/// picked.
struct expand_resize : for_u55 {
    using runs_before = pass_list<expand_windows>;
    static constexpr std::string_view summary =
        "lowers RESIZE to convolutions, or to slices where it only repeats elements";

    static auto rewrites() {
        return rules(on_match([](auto image, auto number) {
            return node_of<"subtraction", tosa::sub>(sole_node<"resize", tosa::resize>(image), number);
        }) = code<made>([](emit<made> e, value, value number, const auto& m) {
            return with_bias(e, get<"resize">(m), e.shape(get<"subtraction">(m).input1), number);
        }),
            on<tosa::resize> = code<resized>());
    }

private:
    using made = joined<interpolation::produces, ops<tosa::resize, tosa::rescale>>;
    static std::optional<value> resized(emit<made> e, const args<tosa::resize>& a) {
        if (u55::restriction(e.current()).empty() || !is_integral(e.dtype(a.input))) return std::nullopt;
        const auto axes = resize_axes_of(a, e.result_meta().shape);
        if (!axes) return std::nullopt;
        if (a.mode == resize_mode::bilinear) return interpolation(e, a.input, *axes).sums();
        return nearest(e, a.input, *axes);
    }

    // A constant subtracted from an interpolated image, as a zero point, becomes its convolutions' bias.
    static std::optional<value> with_bias(
        emit<made> e, const args<tosa::resize>& a, const int_list& result, value subtrahend) {
        const auto number = constant_integer(subtrahend);
        if (!number || !is_integral(e.dtype(a.input)) || a.mode != resize_mode::bilinear) return std::nullopt;
        const auto axes = resize_axes_of(a, result);
        if (!axes) return std::nullopt;
        interpolation image(e, a.input, *axes);
        if (!image.takes_bias()) return std::nullopt;
        return image.sums(-*number);
    }

    static value nearest(emit<made> e, value v, const resize_axes& axes) {
        const std::array<std::int64_t, 2> times{axes[0].repeats(), axes[1].repeats()};
        if (times[0] == 2 && times[1] == 2 && e.shape(v)[0] == 1) return doubled(e, v);
        interpolation image(e, v, axes);
        if (!(is_cheap(axes[0]) && is_cheap(axes[1])) && image.has_convolutions())
            return build::narrow(e, image.by_convolutions(), e.dtype(v));
        for (const std::size_t i : {1U, 0U}) {  // columns first, while there are fewer
            if (times[i] == 1) continue;
            v = times[i] == 0 ? build::pick(e, v, 1 + i, axes[i].positions())
                              : repeated(e, v, 1 + i, times[i]);
        }
        return v;
    }
    static bool is_cheap(const resize_axis& axis) {
        constexpr std::size_t max_slices = 16;
        return axis.repeats() != 0 || build::count_runs(axis.positions()) <= max_slices;
    }
    // The form that Ethos-U55 supports.
    static value doubled(emit<made> e, value v) {
        return e.make<tosa::resize>({.input = v,
            .scale = build::const_shape(e, shape_builder{4, 2, 4, 2}),
            .offset = build::const_shape(e, shape_builder{-1, -1}),
            .border = build::const_shape(e, shape_builder{1, 1}),
            .mode = resize_mode::nearest});
    }
    static value repeated(emit<made> e, value v, std::size_t dim, std::int64_t times) {
        const build::three_axes parts = build::around(e.shape(v), dim);
        const shape_builder shape = build::with_axis(e.shape(v), dim, parts.size * times);
        const value flat = build::reshape(e, v, shape_builder{parts.before * parts.size, parts.after});
        const pmr_vector<value> copies(static_cast<std::size_t>(times), flat);
        return build::reshape(e, build::concat(e, copies, 1), shape);
    }
};
HEADRACE_COMPILED_PASS(expand_resize);

}  // namespace headrace

#endif
