// SPDX-License-Identifier: MIT
// Defines headrace::read_last_column.
#ifndef HEADRACE_PASSES_NPU_READ_LAST_COLUMN_HPP
#define HEADRACE_PASSES_NPU_READ_LAST_COLUMN_HPP

#include <optional>

#include <headrace/passes/properties.hpp>
#include <headrace/passes/support/constants.hpp>
#include <headrace/passes/support/slicing.hpp>
#include <headrace/target/preferences.hpp>

namespace headrace {

/// Reads the last column of an image with zero weights, as in the shortcut of a residual network: with stride
/// 2 and a window of one element, the last column of an even image is not read, and TOSA requires it to be
/// sliced off. The slice makes an Ethos-U85 keep the whole image in an order that is slow for each of its
/// readers.
struct read_last_column : pass {
    using phase = tuning;
    static constexpr std::string_view summary =
        "lets a CONV2D of an image without its last column read that column with weights of zero";

    using targeted_ops = ops<tosa::conv2d>;
    using produces = joined<build::slice_ops, ops<tosa::conv2d>>;

    [[nodiscard]] bool should_run(const graph& g) const {
        return preferences_of(g.target()).reads_last_column;
    }

    std::optional<value> operator()(const args<tosa::conv2d>& a, emit<produces>& e) const {
        const auto* part = match<tosa::slice>(a.input);
        const auto zero = constant_integer(a.weight_zp);
        const bool has_one_tap = e.shape(a.weight)[1] == 1 && e.shape(a.weight)[2] == 1;
        if (part == nullptr || !has_one_use(a.input) || !zero || !has_one_tap || !build::all_are(a.pad, 0) ||
            a.stride[1] != 2)
            return std::nullopt;
        const auto* start = match<tosa::const_shape>(part->start);
        const shape_builder read(e.shape(a.input));
        const shape_builder whole(e.shape(part->input1));
        const bool is_leading = start != nullptr && build::all_are(start->values, 0);
        if (!is_leading || whole[2] != read[2] + 1 || whole[0] != read[0] || whole[3] != read[3])
            return std::nullopt;
        const auto taps = e.dtype(a.weight) == dtype::int8 ? constant_integers(a.weight) : std::nullopt;
        if (!taps) return std::nullopt;
        args<tosa::conv2d> wide = a;
        wide.input = build::slice(e, part->input1, 1, 0, read[1]);
        const shape_builder kernel(e.shape(a.weight));
        const shape_builder two{kernel[0], 1, 2, kernel[3]};
        wide.weight = build::constant_at(e, dtype::int8, two, [&](const shape_builder& at) {
            return at[2] == 0 ? (*taps)[build::element_index(kernel, {at[0], 0, 0, at[3]})] : *zero;
        });
        wide.dilation = {1, 1};
        return e.make<tosa::conv2d>(wide);
    }
};
HEADRACE_COMPILED_PASS(read_last_column);

}  // namespace headrace

#endif
