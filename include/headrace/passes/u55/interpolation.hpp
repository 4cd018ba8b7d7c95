// SPDX-License-Identifier: MIT
// Defines headrace::interpolation, which computes RESIZE exactly by convolutions or sums.
#ifndef HEADRACE_PASSES_U55_INTERPOLATION_HPP
#define HEADRACE_PASSES_U55_INTERPOLATION_HPP

#include <algorithm>
#include <array>
#include <optional>

#include <headrace/base/pmr_vector.hpp>
#include <headrace/passes/support/slicing.hpp>
#include <headrace/passes/support/resize_axis.hpp>
#include <headrace/target/u55_rules.hpp>

namespace headrace {

/// Computes a RESIZE by convolutions or sums, whichever is cheapest:
///
/// - Dense: a convolution for each phase of the rows, whose channels are the phases of the columns; a RESHAPE
///   turns these into columns. Periods of columns that read beyond the image have convolutions of their own.
/// - Depthwise: a convolution for each phase of rows and of columns, if dense ones would be large.
/// - Sums: rows and columns are picked, multiplied and added, if there are too many phases, or too large
///   weights.
///
/// `axes` must outlive it.
class interpolation {
public:
    using produces = joined<build::reshape_ops, build::slice_ops, build::concat_ops,
        ops<tosa::conv2d, tosa::depthwise_conv2d, tosa::cast, tosa::sub, tosa::add, tosa::mul>>;

    interpolation(emit<produces> e, value image, const resize_axes& axes)
        : e_(e),
          image_(image),
          h_(axes[0]),
          w_(axes[1]),
          batches_(e.shape(image)[0]),
          channels_(e.shape(image)[3]),
          divisor_(h_.n * w_.n <= max_weight ? 1 : h_.common * w_.common) {}

    /// Returns the weighted sums plus a bias; the weights add up to n of the rows times n of the columns.
    std::optional<value> sums(std::int64_t bias = 0) {
        bias_ = bias;
        const double by_convolution = std::min(dense_cost(), depthwise_cost());
        const double by_adding = sum_cost();
        if (std::min(by_convolution, by_adding) >= impossible) return std::nullopt;
        if (by_adding < by_convolution) return by_sums();
        const value v = by_convolutions();
        return divisor_ == 1 ? v : build::multiply(e_, v, e_.splat(divisor_, dtype::int32, 4));
    }
    /// Computes the sums by convolutions only.
    value by_convolutions() { return dense_cost() <= depthwise_cost() ? by_dense() : by_depthwise(); }
    [[nodiscard]] bool has_convolutions() const {
        return std::min(dense_cost(), depthwise_cost()) < impossible;
    }
    [[nodiscard]] bool takes_bias() const {
        return divisor_ == 1 && has_convolutions() && std::min(dense_cost(), depthwise_cost()) <= sum_cost();
    }

private:
    struct extent {
        std::int64_t start, count;
    };

    static constexpr std::int64_t max_weight = 255;

    // Approximate cycles of Ethos-U55 with 128 MACs, as its compiler estimates them.
    static constexpr double per_op = 300;
    static constexpr double impossible = 1e300;
    static constexpr std::int64_t max_weight_bytes = std::int64_t{1} << 20;
    static constexpr std::int64_t max_ops = 256;

    [[nodiscard]] double image_size() const {
        return static_cast<double>(batches_ * channels_ * h_.size * w_.size);
    }
    [[nodiscard]] double result_size() const {
        return static_cast<double>(batches_ * channels_ * h_.out * w_.out);
    }
    [[nodiscard]] bool is_int8() const { return e_.dtype(image_) == dtype::int8; }
    [[nodiscard]] bool weights_fit() const {
        return h_.n * w_.n / divisor_ <= max_weight && (divisor_ == 1 || is_int8());
    }
    [[nodiscard]] double dense_cost() const {
        const std::int64_t inner = w_.window() * channels_;
        const std::int64_t count = h_.phases * static_cast<std::int64_t>(w_.runs().size());
        if (!weights_fit() || count > max_ops || w_.window() > u55::max_kernel_height ||
            h_.phases * w_.phases * channels_ * 2 * inner > max_weight_bytes)
            return impossible;
        const std::int64_t lanes = channels_ <= 16 ? 16 : (channels_ + 31) / 32 * 32;
        const double macs = 2.0 * static_cast<double>(w_.window() * lanes);
        return result_size() * std::max(1.1, macs / 112) + image_size() * 1.3 +
            per_op * static_cast<double>(count);
    }
    [[nodiscard]] double depthwise_cost() const {
        const bool strides_fit = std::max(h_.stride, w_.stride) <= u55::max_stride;
        if (!weights_fit() || !strides_fit || h_.phases * w_.phases > max_ops) return impossible;
        return result_size() * 2.3 + image_size() * 2.6 + per_op * static_cast<double>(h_.phases * w_.phases);
    }
    [[nodiscard]] double sum_cost() const {
        if (!is_int8()) return impossible;
        return result_size() * 11 + per_op * static_cast<double>(2 * (h_.out + w_.out));
    }

    // Rearranges phases, stored as channels or rows, to the result; the last period may be partial.
    value of_phases(value v) {
        const shape_builder whole{batches_, h_.periods * h_.phases, w_.periods * w_.phases, channels_};
        return crop(e_, build::reshape(e_, v, whole), {0, h_.out}, {0, w_.out});
    }
    extent rows_of(std::int64_t phase) const {
        return {h_.start(phase) + h_.before(), (h_.periods - 1) * h_.stride + h_.taps(phase)};
    }
    // Weights above 127 need a zero point.
    template <op_tag Op>
    value convolve(value input, const shape_builder& kernel, const pmr_vector<std::int64_t>& weights,
        std::int64_t results, const shape_builder& stride) {
        const std::int64_t zero = h_.n * w_.n / divisor_ > 127 ? -128 : 0;
        const value weight =
            e_.constant_of(dtype::int8, kernel, [&](std::size_t i) { return weights[i] / divisor_ + zero; });
        const dtype sums = build::accumulator_of(e_.dtype(image_));
        args<Op> a =
            build::unpadded<Op>(e_, input, weight, e_.splat(bias_, sums, std::array{results}), 0, zero);
        a.stride = int_list(stride);
        return e_.make<Op>(a);
    }

    /// Repeats the first element of an axis `before` times, and the last one `after` times.
    static value pad_with_edges(
        emit<produces> e, value v, std::size_t dim, std::int64_t before, std::int64_t after) {
        if (!v || (before == 0 && after == 0)) return v;
        pmr_vector<value> parts;
        if (before != 0) parts.assign(static_cast<std::size_t>(before), build::slice(e, v, dim, 0, 1));
        parts.push_back(v);
        if (after != 0) {
            const value last = build::slice(e, v, dim, e.shape(v)[dim] - 1, 1);
            parts.insert(parts.end(), static_cast<std::size_t>(after), last);
        }
        return build::concat(e, parts, dim);
    }
    /// Crops an image to rows and columns.
    static value crop(emit<produces> e, value v, const extent& rows, const extent& columns) {
        const shape_builder shape(e.shape(v));
        const shape_builder counts{shape[0], rows.count, columns.count, shape[3]};
        if (!v || e.shape(v) == int_list(counts)) return v;
        return build::slice_at(e, v, shape_builder{0, rows.start, columns.start, 0}, counts);
    }

    value by_dense() {
        const value padded = pad_with_edges(e_, image_, 1, h_.before(), h_.after());
        pmr_vector<value> parts;
        for (std::int64_t phase = 0; phase != h_.phases; ++phase) {
            const extent rows = rows_of(phase);
            for (const period_run& periods : w_.runs())
                parts.push_back(columns(padded, phase, rows, periods));
        }
        return of_phases(build::concat(e_, parts, 2));
    }
    // Runs of periods beyond an end have narrower kernels, with the weights beyond the end added up.
    value columns(value padded, std::int64_t phase, const extent& rows, const period_run& periods) {
        const std::int64_t from = w_.window_start() + periods.first * w_.stride;
        const std::int64_t first = w_.inside(from);
        const std::int64_t width = w_.inside(from + w_.window() - 1) - first + 1;
        const shape_builder kernel{w_.phases * channels_, h_.taps(phase), width, channels_};
        const value part = crop(e_, padded, rows, {first, (periods.count - 1) * w_.stride + width});
        return convolve<tosa::conv2d>(part, kernel, dense_weights(kernel, phase, periods, first), kernel[0],
            shape_builder{h_.stride, periods.count == 1 ? 1 : w_.stride});
    }
    pmr_vector<std::int64_t> dense_weights(const shape_builder& kernel, std::int64_t phase,
        const period_run& periods, std::int64_t first) const {
        pmr_vector<std::int64_t> weights(static_cast<std::size_t>(element_count(kernel)), 0);
        const auto add = [&](std::int64_t result, std::int64_t y, std::int64_t x, std::int64_t c,
                             std::int64_t weight) {
            const std::int64_t at = ((result * kernel[1] + y) * kernel[2] + x) * channels_ + c;
            weights[static_cast<std::size_t>(at)] += weight;
        };
        for (std::int64_t p = 0; p != w_.phases; ++p) {
            for (std::int64_t t = 0; t != w_.taps(p); ++t) {
                const std::int64_t x = w_.inside(w_.start(p) + periods.first * w_.stride + t) - first;
                for (std::int64_t y = 0; y != kernel[1]; ++y) {
                    for (std::int64_t c = 0; c != channels_; ++c)
                        add(p * channels_ + c, y, x, c, h_.weight(phase, y) * w_.weight(p, t));
                }
            }
        }
        return weights;
    }

    value by_depthwise() {
        const value tall = pad_with_edges(e_, image_, 1, h_.before(), h_.after());
        const value padded = pad_with_edges(e_, tall, 2, w_.before(), w_.after());
        pmr_vector<value> rows;
        for (std::int64_t a = 0; a != h_.phases; ++a) {
            pmr_vector<value> columns;
            for (std::int64_t b = 0; b != w_.phases; ++b) columns.push_back(depthwise_phase(padded, a, b));
            rows.push_back(build::concat(e_, columns, 3));
        }
        return of_phases(build::concat(e_, rows, 2));
    }
    value depthwise_phase(value padded, std::int64_t row, std::int64_t column) {
        const shape_builder kernel{h_.taps(row), w_.taps(column), channels_, 1};
        pmr_vector<std::int64_t> weights;
        for (std::int64_t y = 0; y != kernel[0]; ++y) {
            for (std::int64_t x = 0; x != kernel[1]; ++x) {
                weights.insert(weights.end(), static_cast<std::size_t>(channels_),
                    h_.weight(row, y) * w_.weight(column, x));
            }
        }
        const extent across{w_.start(column) + w_.before(), (w_.periods - 1) * w_.stride + kernel[1]};
        return convolve<tosa::depthwise_conv2d>(crop(e_, padded, rows_of(row), across), kernel, weights,
            channels_, shape_builder{h_.stride, w_.stride});
    }

    value by_sums() {
        const value v = e_.make<tosa::cast>({.input = image_, .output_type = dtype::int32});
        return summed(summed(v, 1, h_), 2, w_);
    }
    // n * x[i] + rest * (x[i + 1] - x[i])
    value summed(value v, std::size_t dim, const resize_axis& a) {
        pmr_vector<std::int64_t> at = a.positions();
        const value whole = build::pick(e_, build::multiply(e_, v, e_.splat(a.n, dtype::int32, 4)), dim, at);
        if (a.size == 1) return whole;
        const value next = build::slice(e_, v, dim, 1, a.size - 1);
        const value steps = e_.make<tosa::sub>(next, build::slice(e_, v, dim, 0, a.size - 1));
        for (std::int64_t& i : at) i = std::min(i, a.size - 2);
        const shape_builder shape =
            build::with_axis(shape_builder{1, 1, 1, 1}, dim, static_cast<std::int64_t>(at.size()));
        const value factor = e_.constant_of(dtype::int32, shape,
            [&](std::size_t o) { return a.first[o] >= 0 && a.first[o] + 1 < a.size ? a.rest[o] : 0; });
        return e_.make<tosa::add>(whole, build::multiply(e_, build::pick(e_, steps, dim, at), factor));
    }

    emit<produces> e_;
    value image_;
    const resize_axis &h_, &w_;
    std::int64_t batches_, channels_;
    std::int64_t divisor_;  ///< common divisor of the weights, which the sums are multiplied by
    std::int64_t bias_ = 0;
};

}  // namespace headrace

#endif
