// SPDX-License-Identifier: MIT
// Defines headrace::build::transposed_rows, which makes a transposed convolution of ordinary ones.
#ifndef HEADRACE_PASSES_SUPPORT_TRANSPOSED_ROWS_HPP
#define HEADRACE_PASSES_SUPPORT_TRANSPOSED_ROWS_HPP

#include <algorithm>
#include <cstdint>
#include <optional>

#include <headrace/base/ceil_div.hpp>
#include <headrace/base/floor_div.hpp>
#include <headrace/base/function_ref.hpp>
#include <headrace/base/pmr_vector.hpp>
#include <headrace/passes/support/build.hpp>
#include <headrace/passes/support/repeating.hpp>
#include <headrace/passes/support/slicing.hpp>

namespace headrace::build {

/// Makes a transposed convolution with constant weights of one convolution for each row within the stride.
/// The columns within the stride are channels, which are adjacent in the result. Result o of an axis is the
/// sum of tap k times element i over i · stride + k + out_pad = o. So results with the same remainder by
/// the stride are a convolution with every stride-th tap, in reverse order.
class transposed_rows {
public:
    using made = joined<slice_ops, concat_ops, reshape_ops>;

    /// Returns nothing if a weight is computed, or if some windows read nothing but padding.
    static std::optional<transposed_rows> of(
        emit<made> e, const args<tosa::transpose_conv2d>& a, sizes result) {
        transposed_rows t{a, shape_builder(e.shape(a.input)), shape_builder(result)};
        if (!constant_integers(a.bias) || std::max(a.stride[0], a.stride[1]) > longest) return std::nullopt;
        for (std::int64_t row = 0; row != a.stride[0]; ++row) {
            const phase p = t.phase_of(0, row);
            if (t.part_of(0, p).count <= 0) return std::nullopt;
        }
        if (t.part_of(1, t.all_columns()).count <= 0) return std::nullopt;
        auto taps = int8_weight_of(e, a);
        if (!taps) return std::nullopt;
        t.taps_ = std::move(*taps);
        return t;
    }

    /// Returns the columns within the stride, which are as many times the channels.
    [[nodiscard]] std::int64_t columns() const { return a_.stride[1]; }

    /// Makes the convolutions by `convolve`.
    [[nodiscard]] pmr_vector<value> rows(
        emit<made> e, function_ref<value(const args<tosa::conv2d>&)> convolve) const {
        const phase across = all_columns();
        const part columns_read = part_of(1, across);
        const value image = slice(e, a_.input, 2, columns_read.first, columns_read.count);
        const std::int64_t channels = taps_.shape[0];
        const bool is_shared = e.meta(a_.bias).elements() == 1;  // by all channels
        const value bias = is_shared ? a_.bias : repeat(e, a_.bias, columns());
        pmr_vector<value> parts;
        for (std::int64_t row = 0; row != a_.stride[0]; ++row) {
            const phase down = phase_of(0, row);
            const part rows_read = part_of(0, down);
            const shape_builder kernel{columns() * channels, down.taps, across.taps, taps_.shape[3]};
            const value weight = constant_at(e, dtype::int8, kernel, [&](const shape_builder& at) {
                const phase column = phase_of(1, at[0] / channels);
                const std::int64_t y = down.last + a_.stride[0] * (down.taps - 1 - at[1]);
                const std::int64_t x =
                    column.last + a_.stride[1] * (column.least + column.taps - 1 - across.least - at[2]);
                const bool is_tap = y < taps_.shape[1] && x >= 0 && x < taps_.shape[2];
                return is_tap ? taps_({at[0] % channels, y, x, at[3]}) : taps_.zero;
            });
            parts.push_back(convolve({.input = slice(e, image, 1, rows_read.first, rows_read.count),
                .weight = weight,
                .bias = bias,
                .input_zp = a_.input_zp,
                .weight_zp = a_.weight_zp,
                .pad = {rows_read.before, rows_read.after, columns_read.before, columns_read.after},
                .stride = {1, 1},
                .dilation = {1, 1},
                .acc_type = a_.acc_type}));
        }
        return parts;
    }

    /// Joins rows, or what is computed of each, to the result.
    [[nodiscard]] value joined_rows(emit<made> e, const pmr_vector<value>& parts) const {
        const shape_builder whole{
            result_[0], positions(0) * a_.stride[0], positions(1) * columns(), result_[3]};
        value v = reshape(e, concat(e, parts, 2), whole);
        for (std::size_t axis = 1; axis != 3; ++axis) v = slice(e, v, axis, 0, result_[axis]);
        return v;
    }

private:
    static constexpr std::int64_t longest = 64;  // a stride, with a convolution for each row of it

    transposed_rows(
        const args<tosa::transpose_conv2d>& a, const shape_builder& image, const shape_builder& result)
        : a_(a), image_(image), result_(result) {}

    /// Results with one remainder: the first reads `taps` elements from `least` on, which may be before the
    /// image.
    struct phase {
        std::int64_t last;  ///< the tap that is multiplied by the last element
        std::int64_t least, taps;
    };
    [[nodiscard]] phase phase_of(std::size_t axis, std::int64_t remainder) const {
        const std::int64_t stride = a_.stride[axis];
        const std::int64_t end = floor_div(remainder - a_.out_pad[2 * axis], stride);
        const std::int64_t last = remainder - a_.out_pad[2 * axis] - end * stride;
        // A phase without a tap, in a kernel shorter than the stride, has one of zero.
        const std::int64_t taps = std::max<std::int64_t>(ceil_div(weight_size(axis) - last, stride), 1);
        return {last, end - taps + 1, taps};
    }
    [[nodiscard]] std::int64_t weight_size(std::size_t axis) const {
        return meta_of(a_.weight)->shape[1 + axis];
    }
    /// Returns what the columns of all remainders read.
    [[nodiscard]] phase all_columns() const {
        phase all = phase_of(1, 0);
        for (std::int64_t i = 1; i != columns(); ++i) {
            const phase p = phase_of(1, i);
            const std::int64_t end = std::max(all.least + all.taps, p.least + p.taps);
            all.least = std::min(all.least, p.least);
            all.taps = end - all.least;
        }
        return all;
    }

    [[nodiscard]] std::int64_t positions(std::size_t axis) const {
        return ceil_div(result_[1 + axis], a_.stride[axis]);
    }

    /// The part of an axis that windows read, and the padding around it.
    struct part {
        std::int64_t first, count, before, after;
    };
    [[nodiscard]] part part_of(std::size_t axis, const phase& p) const {
        const std::int64_t size = image_[1 + axis];
        const std::int64_t end = p.least + p.taps + positions(axis) - 1;
        const std::int64_t first = std::max<std::int64_t>(p.least, 0);
        return {first, std::min(end, size) - first, std::max<std::int64_t>(-p.least, 0),
            std::max<std::int64_t>(end - size, 0)};
    }

    args<tosa::transpose_conv2d> a_;
    shape_builder image_, result_;
    int8_weight taps_{};
};

}  // namespace headrace::build

#endif
