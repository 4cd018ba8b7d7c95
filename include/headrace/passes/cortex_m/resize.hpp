// SPDX-License-Identifier: MIT
// Defines headrace::convolve_resizes, which makes convolutions or copies of elements of TOSA's RESIZE.
#ifndef HEADRACE_PASSES_CORTEX_M_RESIZE_HPP
#define HEADRACE_PASSES_CORTEX_M_RESIZE_HPP

#include <algorithm>
#include <bit>
#include <cstdint>
#include <optional>

#include <headrace/infer/aten.hpp>
#include <headrace/match/node_pattern.hpp>
#include <headrace/passes/cortex_m/scaling.hpp>
#include <headrace/passes/support/build.hpp>
#include <headrace/passes/support/resize_axis.hpp>
#include <headrace/passes/support/slicing.hpp>

namespace headrace {

/// Interpolates an int8 image (TOSA 1.0, 2.11.1) by a depthwise convolution, whose channels are the phases of
/// the result, and the RESCALE after it. To the nearest element, elements are copied or picked. Factors that
/// need weights above 127, or too many of them, stay.
struct convolve_resizes : pass {
    static constexpr std::string_view summary =
        "RESIZE as a convolution by the weights of its phases, or as copies of elements";

    static auto rewrites() {
        return rules(on_match([](auto image, auto number) {
            const auto sum = node_of<"sum", tosa::sub>(node_of<"resize", tosa::resize>(image), number);
            return node_of<"result", tosa::rescale>(sum);
        }) = code<made>([](emit<made> e, value, value number, const auto& m) {
            const auto zero = constant_integer(number);
            return zero ? interpolated(e, get<"resize">(m), *zero, get<"result">(m)) : std::nullopt;
        }),
            on_match([](auto image) {
                return node_of<"result", tosa::rescale>(node_of<"resize", tosa::resize>(image));
            }) = code<made>([](emit<made> e, value, const auto& m) {
                return interpolated(e, get<"resize">(m), 0, get<"result">(m));
            }),
            on<tosa::resize> = code<picked>());
    }

private:
    using made = joined<build::reshape_ops, build::transpose_ops, build::slice_ops, build::broadcast_ops,
        ops<tosa::depthwise_conv2d, tosa::rescale, aten::replication_pad3d, aten::index_select>>;

    static constexpr std::int64_t max_weight = 127, max_weights = 2048;  // of each channel

    // The windows of one axis, one for each period. The first begins at the first element, or before it.
    struct periodic_windows {
        std::int64_t start, kernel, stride, periods, after;

        explicit periodic_windows(const resize_axis& axis)
            : start(std::min<std::int64_t>(axis.window_start(), 0)),
              kernel(axis.window_start() + axis.window() - start),
              stride(axis.periods == 1 ? std::max(kernel, axis.size - start) : axis.stride),
              periods(axis.periods),
              after(std::max<std::int64_t>(start + reach() - axis.size, 0)) {}

        // The number of elements from the first window's begin to the last one's end.
        [[nodiscard]] std::int64_t reach() const { return (periods - 1) * stride + kernel; }
        // The weight that a phase gives to an element of the window.
        [[nodiscard]] std::int64_t weight(const resize_axis& axis, std::int64_t phase, std::int64_t i) const {
            const std::int64_t tap = start + i - axis.start(phase);
            return tap == 0 || tap == 1 ? axis.weight(phase, tap) / axis.common : 0;
        }
        [[nodiscard]] std::int64_t largest_weight(const resize_axis& axis) const {
            std::int64_t largest = 0;
            for (std::int64_t phase = 0; phase != axis.phases; ++phase)
                for (std::int64_t i = 0; i != kernel; ++i)
                    largest = std::max(largest, weight(axis, phase, i));
            return largest;
        }
    };

    static std::optional<value> interpolated(emit<made> e, const args<tosa::resize>& a,
        std::int64_t subtrahend, const args<tosa::rescale>& result) {
        const auto to = cortex_m::scaled_result_of(e, result);
        const auto axes = resize_axes_of(a, e.result_meta().shape);
        if (!to || to->factors.size() != 1 || !axes || e.dtype(a.input) != dtype::int8) return std::nullopt;
        const auto& [h, w] = *axes;
        const periodic_windows rows(h), columns(w);
        const std::int64_t common = h.common * w.common, phases = h.phases * w.phases;
        const std::int64_t largest = rows.largest_weight(h) * columns.largest_weight(w);
        if (subtrahend % common != 0 || largest > max_weight ||
            rows.kernel * columns.kernel * phases > max_weights)
            return std::nullopt;
        // The kernel rounds twice; the larger the weights, the less the first time.
        const auto unit =
            static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(max_weight / largest)));
        const auto factor = cortex_m::requantization_of(
            to->factor() * static_cast<double>(common) / static_cast<double>(unit));
        if (!factor) return std::nullopt;
        // Halves go up in TOSA, and away from zero in the kernel. Only powers of two have many.
        const bool has_halves = factor->multiplier == std::int64_t{1} << 30 && unit >= 4 &&
            result.rounding_mode == rounding_mode::single_round;
        const std::int64_t bias = -subtrahend / common * unit + (has_halves ? 1 : 0);

        const std::int64_t channels = e.shape(a.input)[0] * e.shape(a.input)[3];
        const shape_builder kernel{rows.kernel, columns.kernel, channels, phases};
        const value weight = build::constant_at(e, dtype::int8, kernel, [&](sizes at) {
            const std::int64_t row = at[3] / w.phases, column = at[3] % w.phases;
            return scalar(unit * rows.weight(h, row, at[0]) * columns.weight(w, column, at[1]));
        });
        const std::int64_t sums[] = {channels * phases};
        const value extended = extend(e, a.input, rows, columns);
        auto sum = build::unpadded<tosa::depthwise_conv2d>(
            e, extended, weight, e.splat(bias, dtype::int32, sizes(sums)));
        sum.stride = {rows.stride, columns.stride};
        args<tosa::rescale> scaled = result;
        scaled.input = e.make<tosa::depthwise_conv2d>(sum);
        scaled.multiplier = e.splat(factor->multiplier, dtype::int32, 1);
        scaled.shift = e.splat(31 - factor->shift, dtype::int8, 1);
        return of_phases(e, e.make<tosa::rescale>(scaled), *axes);
    }
    // Repeats the edges of an image as far as windows reach, and drops what none reaches at its end. Images
    // of a batch become channels, as the kernel takes one image.
    static value extend(
        emit<made> e, value image, const periodic_windows& rows, const periodic_windows& columns) {
        const shape_builder from(e.shape(image));
        if (from[0] != 1) image = build::transpose(e, image, shape_builder{1, 2, 0, 3});
        value v = build::reshape(e, image, shape_builder{1, from[1], from[2], from[0] * from[3]});
        const int_list padding{0, 0, -columns.start, columns.after, -rows.start, rows.after};
        if (!build::all_are(padding, 0)) v = e.make<aten::replication_pad3d>({.self = v, .padding = padding});
        return build::crop(e, v, shape_builder{1, rows.reach(), columns.reach(), e.shape(v)[3]});
    }
    // Rearranges phases, which are channels, to rows and columns; the last period may be partial.
    static value of_phases(emit<made> e, value v, const resize_axes& axes) {
        const auto& [h, w] = axes;
        const shape_builder result(e.result_meta().shape);
        const shape_builder split{h.periods, w.periods, result[0], result[3], h.phases, w.phases};
        const shape_builder whole{result[0], h.periods * h.phases, w.periods * w.phases, result[3]};
        const value moved = build::transpose(e, build::reshape(e, v, split), shape_builder{2, 0, 4, 1, 5, 3});
        return build::crop(e, build::reshape(e, moved, whole), result);
    }

    static std::optional<value> picked(emit<made> e, const args<tosa::resize>& a) {
        const auto axes = resize_axes_of(a, e.result_meta().shape);
        if (a.mode != resize_mode::nearest || !axes) return std::nullopt;
        const std::int64_t rows = (*axes)[0].repeats(), columns = (*axes)[1].repeats();
        if (rows != 0 && columns != 0) return repeated(e, a.input, rows, columns);
        value v = a.input;
        for (std::size_t i = 0; i != 2; ++i) {
            const resize_axis& axis = (*axes)[i];
            if (axis.repeats() == 1) continue;
            const value index =
                e.constant<std::int64_t>(dtype::int64, sizes(shape_builder{axis.out}), axis.positions());
            v = e.make<aten::index_select>(
                {.self = v, .dim = static_cast<std::int64_t>(1 + i), .index = index});
        }
        return v;
    }
    static value repeated(emit<made> e, value image, std::int64_t rows, std::int64_t columns) {
        const shape_builder from(e.shape(image));
        const shape_builder split{from[0] * from[1], 1, from[2], 1, from[3]};
        const shape_builder wide{split[0], rows, split[2], columns, split[4]};
        const value v = build::broadcast(e, build::reshape(e, image, split), wide);
        return build::reshape(e, v, e.result_meta().shape);
    }
};

}  // namespace headrace

#endif
