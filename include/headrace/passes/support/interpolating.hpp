// SPDX-License-Identifier: MIT
// Defines headrace::build::interpolate and build::sample_nearest, resizing without RESIZE.
#ifndef HEADRACE_PASSES_SUPPORT_INTERPOLATING_HPP
#define HEADRACE_PASSES_SUPPORT_INTERPOLATING_HPP

#include <algorithm>
#include <array>
#include <numeric>
#include <vector>

#include <headrace/passes/support/dequantized.hpp>
#include <headrace/passes/support/resizing.hpp>
#include <headrace/passes/support/slicing.hpp>

namespace headrace {

namespace detail {

/// What each result of an axis reads: element first[o] times (unit - rest[o]), and the next times rest[o].
/// Elements may lie up to one beyond either end, for which the last one there stands. Results come in
/// periods: those `phases` further read the same `stride` elements further.
struct interpolated_axis {
    std::int64_t size, out;
    std::int64_t unit = 1;
    std::int64_t phases = 1, stride = 1, periods = 1;
    std::vector<std::int64_t> first, rest;  ///< of all periods, which may be a few more than are wanted

    interpolated_axis(const sampled_axis& a, std::int64_t elements, std::int64_t results)
        : size(elements), out(results) {
        const std::int64_t divisor = std::gcd(a.n, a.d);
        phases = std::min(a.n / divisor, out);
        stride = a.d / divisor;
        periods = (out + phases - 1) / phases;
        std::int64_t common = a.n;
        for (std::int64_t o = 0; o != phases * periods; ++o) {
            const std::int64_t position = o * a.d + a.offset;
            const std::int64_t whole = position >= 0 ? position / a.n : -((a.n - 1 - position) / a.n);
            first.push_back(whole);
            rest.push_back(position - whole * a.n);
            common = std::gcd(common, rest.back());
        }
        for (std::int64_t& r : rest) r /= common;
        unit = a.n / common;
    }

    [[nodiscard]] std::int64_t taps(std::int64_t phase) const {
        return rest[static_cast<std::size_t>(phase)] == 0 ? 1 : 2;
    }
    [[nodiscard]] std::int64_t start(std::int64_t phase) const {
        return first[static_cast<std::size_t>(phase)];
    }
    [[nodiscard]] std::int64_t weight(std::int64_t phase, std::int64_t tap) const {
        const std::int64_t r = rest[static_cast<std::size_t>(phase)];
        return tap == 0 ? unit - r : r;
    }
    /// The first element that the first period reads, and how many it reads.
    [[nodiscard]] std::int64_t window_start() const {
        return *std::min_element(first.begin(), first.begin() + phases);
    }
    [[nodiscard]] std::int64_t window() const {
        std::int64_t end = window_start();
        for (std::int64_t p = 0; p != phases; ++p) end = std::max(end, start(p) + taps(p));
        return end - window_start();
    }
    /// How many elements are read before the first and after the last one.
    [[nodiscard]] std::int64_t before() const { return std::max<std::int64_t>(-window_start(), 0); }
    [[nodiscard]] std::int64_t after() const {
        return std::max<std::int64_t>(window_start() + stride * (periods - 1) + window() - size, 0);
    }
};

}  // namespace detail

namespace build {

/// `before` and `after` times the first and the last element of an axis more.
template <class E>
value pad_with_edges(E& e, value v, std::size_t axis, std::int64_t before, std::int64_t after) {
    if (!v || (before == 0 && after == 0)) return v;
    std::vector<value> parts(static_cast<std::size_t>(before), slice(e, v, axis, 0, 1));
    parts.push_back(v);
    const value last = slice(e, v, axis, e.shape(v)[axis] - 1, 1);
    parts.insert(parts.end(), static_cast<std::size_t>(after), last);
    return concat(e, parts, axis);
}

/// Elements of an axis by their positions: slices of consecutive ones, joined again.
template <class E>
value pick(E& e, value v, std::size_t axis, const std::vector<std::int64_t>& positions) {
    std::vector<value> parts;
    for (std::size_t i = 0, end = 0; i != positions.size(); i = end) {
        for (end = i + 1; end != positions.size() && positions[end] == positions[end - 1] + 1;) ++end;
        parts.push_back(slice(e, v, axis, positions[i], static_cast<std::int64_t>(end - i)));
    }
    return concat(e, parts, axis);
}

using interpolate_ops =
    joined<reshape_ops, slice_ops, concat_ops, transpose_ops, requantize_ops, dequantize_ops,
           ops<tosa::conv2d, tosa::depthwise_conv2d, tosa::cast, tosa::sub, tosa::add, tosa::mul, aten::cat,
               aten::view, aten::slice_tensor, aten::permute>>;

/// Bilinear interpolation of codes of INT8 as convolutions, for targets whose RESIZE has none: exact, as
/// RESIZE is, in INT32. Results whose rows lie alike between rows of the image are one convolution, which
/// is a slice of the result where their columns are its channels; or, where these were too many, one
/// depthwise convolution for each way to lie. Sizes that have hardly a common divisor are sums and products
/// of picked rows and columns.
template <class E>
class interpolation {
public:
    interpolation(E& e, const resizing& r, const quantization& q)
        : e_(e),
          q_(q),
          h_(r.axes[0], e.shape(r.input)[2], r.out[2]),
          w_(r.axes[1], e.shape(r.input)[3], r.out[3]),
          batches_(r.out[0]),
          channels_(r.out[1]) {}

    /// `codes` is [N, C, H, W]; the result are real numbers of PyTorch's shape.
    value operator()(value codes) {
        const value image = transpose(e_, codes, to_channels_last(4));
        const double dense = dense_cost(), depthwise = depthwise_cost(), sums = sum_cost();
        value v;
        if (dense <= depthwise && dense <= sums) {
            v = by_convolutions(image);
        } else if (depthwise <= sums) {
            v = by_depthwise_convolutions(image);
        } else {
            v = by_sums(image);
        }
        v = cut(cut(v, 1, h_), 2, w_);
        v = e_.template make<aten::permute>({.self = v, .dims = {0, 3, 1, 2}});
        return e_.template make<aten::view>({.self = v, .size = e_.result_meta().shape});
    }

private:
    using axis = headrace::detail::interpolated_axis;

    // --- costs -----------------------------------------------------------------------------

    // Rough cycles of Ethos-U55 with 128 MACs, as its compiler estimates them.
    static constexpr double per_op = 300;
    static constexpr double impossible = 1e300;
    static constexpr std::int64_t most_weight_bytes = std::int64_t{1} << 20;
    static constexpr std::int64_t most_ops = 256;

    [[nodiscard]] double image_size() const {
        return static_cast<double>(batches_ * channels_ * h_.size * w_.size);
    }
    [[nodiscard]] double result_size() const {
        return static_cast<double>(batches_ * channels_ * h_.out * w_.out);
    }
    [[nodiscard]] bool weights_fit() const { return h_.unit * w_.unit <= 255; }
    [[nodiscard]] double dense_cost() const {
        const std::int64_t inner = w_.window() * channels_;
        if (!weights_fit() || h_.phases > most_ops || w_.window() > 64 ||
            h_.phases * w_.phases * channels_ * 2 * inner > most_weight_bytes)
            return impossible;
        const double macs = 2.0 * static_cast<double>(inner);
        return result_size() * std::max(1.1, macs / 128) + image_size() * 1.3 +
               per_op * static_cast<double>(3 * h_.phases);
    }
    [[nodiscard]] double depthwise_cost() const {
        const bool strides_fit = std::max(h_.stride, w_.stride) <= 3;
        if (!weights_fit() || !strides_fit || h_.phases * w_.phases > most_ops) return impossible;
        return result_size() * 2.3 + image_size() * 2.6 + per_op * static_cast<double>(h_.phases * w_.phases);
    }
    [[nodiscard]] double sum_cost() const {
        return result_size() * 11 + per_op * static_cast<double>(2 * (h_.out + w_.out));
    }

    // --- parts ---------------------------------------------------------------------------------

    [[nodiscard]] std::int64_t unit() const { return h_.unit * w_.unit; }
    value reals(value accumulated) {
        const auto reach = static_cast<std::int64_t>(q_.reach()) * unit();
        return dequantize(e_, {accumulated, quantization::per_tensor(
                                                q_.scale() / static_cast<double>(unit()), 0, -reach, reach)});
    }
    value joined_reals(const std::vector<value>& parts, std::int64_t dim) {
        if (parts.size() == 1) return parts[0];
        return e_.template make<aten::cat>({.tensors = list<value>(parts.data(), parts.size()), .dim = dim});
    }
    value viewed(value v, const shape_builder& shape) {
        return e_.template make<aten::view>({.self = v, .size = int_list(shape)});
    }
    // The last period may be a partial one.
    value cut(value v, std::int64_t dim, const axis& a) {
        if (a.phases * a.periods == a.out) return v;
        return e_.template make<aten::slice_tensor>({.self = v, .dim = dim, .start = 0, .end = a.out});
    }

    // Weights up to 255 have a zero point.
    [[nodiscard]] std::int64_t weight_zero() const { return unit() > 127 ? -128 : 0; }
    template <op_tag Op>
    value convolve(value input, const shape_builder& kernel, const std::vector<std::int64_t>& weights,
                   std::int64_t results, const shape_builder& stride) {
        std::vector<std::int8_t> codes;
        for (const std::int64_t w : weights) codes.push_back(static_cast<std::int8_t>(w + weight_zero()));
        return e_.template make<Op>({.input = input,
                                     .weight = e_.template constant<std::int8_t>(dtype::int8, kernel, codes),
                                     .bias = e_.splat(0, dtype::int32, std::array{results}),
                                     .input_zp = zero_point(e_, dtype::int8, q_.zero_point()),
                                     .weight_zp = zero_point(e_, dtype::int8, weight_zero()),
                                     .pad = {0, 0, 0, 0},
                                     .stride = int_list(stride),
                                     .dilation = {1, 1},
                                     .acc_type = dtype::int32});
    }
    value rows_of_phase(value padded, std::int64_t phase) {
        return slice(e_, padded, 1, h_.start(phase) + h_.before(),
                     (h_.periods - 1) * h_.stride + h_.taps(phase));
    }

    // --- dense -----------------------------------------------------------------------------

    value by_convolutions(value image) {
        const value padded = pad_with_edges(e_, image, 1, h_.before(), h_.after());
        std::vector<value> parts;
        for (std::int64_t phase = 0; phase != h_.phases; ++phase) {
            const value rows = rows_of_phase(padded, phase);
            for (std::int64_t at = 0, end = 0; at != w_.periods; at = end) {
                // Periods within the image share a convolution; each at an edge has its own.
                for (end = at + 1; is_inside(at) && end != w_.periods && is_inside(end);) ++end;
                parts.push_back(columns(rows, phase, at, end - at));
            }
        }
        const value v = joined_reals(parts, 2);
        return viewed(v, shape_builder{batches_, h_.periods * h_.phases, w_.periods * w_.phases, channels_});
    }
    [[nodiscard]] bool is_inside(std::int64_t period) const {
        const std::int64_t from = w_.window_start() + period * w_.stride;
        return from >= 0 && from + w_.window() <= w_.size;
    }
    value columns(value rows, std::int64_t phase, std::int64_t period, std::int64_t periods) {
        const std::int64_t from = w_.window_start() + period * w_.stride;
        const auto in_image = [&](std::int64_t x) { return std::clamp<std::int64_t>(x, 0, w_.size - 1); };
        const std::int64_t first = in_image(from);
        const std::int64_t width = in_image(from + w_.window() - 1) - first + 1;
        const std::int64_t height = h_.taps(phase);
        const shape_builder kernel{w_.phases * channels_, height, width, channels_};
        std::vector<std::int64_t> weights(static_cast<std::size_t>(element_count(kernel)), 0);
        for (std::int64_t p = 0; p != w_.phases; ++p) {
            for (std::int64_t y = 0; y != height; ++y) {
                for (std::int64_t t = 0; t != w_.taps(p); ++t) {
                    const std::int64_t x = in_image(w_.start(p) + period * w_.stride + t) - first;
                    for (std::int64_t c = 0; c != channels_; ++c) {
                        const std::int64_t result = p * channels_ + c;
                        const std::int64_t at = ((result * height + y) * width + x) * channels_ + c;
                        weights[static_cast<std::size_t>(at)] += h_.weight(phase, y) * w_.weight(p, t);
                    }
                }
            }
        }
        const value part = slice(e_, rows, 2, first, (periods - 1) * w_.stride + width);
        return reals(convolve<tosa::conv2d>(part, kernel, weights, kernel[0],
                                            shape_builder{h_.stride, periods == 1 ? 1 : w_.stride}));
    }

    // --- depthwise -------------------------------------------------------------------------

    value by_depthwise_convolutions(value image) {
        const value tall = pad_with_edges(e_, image, 1, h_.before(), h_.after());
        const value padded = pad_with_edges(e_, tall, 2, w_.before(), w_.after());
        std::vector<value> rows;
        for (std::int64_t a = 0; a != h_.phases; ++a) {
            std::vector<value> columns;
            for (std::int64_t b = 0; b != w_.phases; ++b) {
                const shape_builder kernel{h_.taps(a), w_.taps(b), channels_, 1};
                std::vector<std::int64_t> weights;
                for (std::int64_t y = 0; y != kernel[0]; ++y) {
                    for (std::int64_t x = 0; x != kernel[1]; ++x) {
                        weights.insert(weights.end(), static_cast<std::size_t>(channels_),
                                       h_.weight(a, y) * w_.weight(b, x));
                    }
                }
                const value part = slice(e_, rows_of_phase(padded, a), 2, w_.start(b) + w_.before(),
                                         (w_.periods - 1) * w_.stride + w_.taps(b));
                columns.push_back(reals(convolve<tosa::depthwise_conv2d>(
                    part, kernel, weights, channels_, shape_builder{h_.stride, w_.stride})));
            }
            rows.push_back(joined_reals(columns, 3));
        }
        return viewed(joined_reals(rows, 2), shape_builder{batches_, h_.periods * h_.phases,
                                                           w_.periods * w_.phases, channels_});
    }

    // --- sums ------------------------------------------------------------------------------

    value by_sums(value image) {
        value v = e_.template make<tosa::cast>({.input = image, .output_type = dtype::int32});
        if (q_.zero_point() != 0) v = e_.template make<tosa::sub>(v, e_.splat(q_.zero_point(), dtype::int32, 4));
        return reals(summed(summed(v, 1, h_), 2, w_));
    }
    // unit · x[i] + rest · (x[i + 1] - x[i])
    value summed(value v, std::size_t dim, const axis& a) {
        std::vector<std::int64_t> at;
        std::vector<std::int32_t> factors;
        for (std::size_t o = 0; o != a.first.size(); ++o) {
            const bool inside = a.first[o] >= 0 && a.first[o] + 1 < a.size;
            at.push_back(std::clamp<std::int64_t>(a.first[o], 0, a.size - 1));
            factors.push_back(inside ? static_cast<std::int32_t>(a.rest[o]) : 0);
        }
        const value whole = pick(e_, product(v, e_.splat(a.unit, dtype::int32, 4)), dim, at);
        if (a.size == 1) return whole;
        const value next = slice(e_, v, dim, 1, a.size - 1);
        const value steps = e_.template make<tosa::sub>(next, slice(e_, v, dim, 0, a.size - 1));
        for (std::int64_t& i : at) i = std::min(i, a.size - 2);
        shape_builder shape{1, 1, 1, 1};
        shape[dim] = static_cast<std::int64_t>(at.size());
        const value factor = e_.template constant<std::int32_t>(dtype::int32, shape, factors);
        return e_.template make<tosa::add>(whole, product(pick(e_, steps, dim, at), factor));
    }
    value product(value a, value b) {
        return e_.template make<tosa::mul>({.input1 = a, .input2 = b, .shift = e_.splat(0, dtype::int8, 1)});
    }

    E& e_;
    const quantization& q_;
    axis h_, w_;
    std::int64_t batches_, channels_;
};

using sample_nearest_ops = joined<resize_ops, slice_ops, concat_ops>;

/// Resizing to the nearest element without RESIZE but by 2, which Ethos-U55 has for one image: elements that
/// are all repeated as often are joined with themselves, others are picked.
template <op_tag Op, class E>
value sample_nearest(E& e, const args<Op>& a) {
    const resizing r = read_resizing<Op>(e, a);
    if (!r.input) return {};
    value v = transpose(e, r.input, to_channels_last(4));
    std::vector<std::int64_t> positions[2];
    std::int64_t times[2];  // how often each element is repeated; 0: not all as often
    for (std::size_t i = 0; i != 2; ++i) {
        const std::int64_t size = e.shape(v)[1 + i];
        const std::int64_t factor = std::max<std::int64_t>(r.out[2 + i] / size, 1);
        times[i] = factor;
        for (std::int64_t o = 0; o != r.out[2 + i]; ++o) {
            positions[i].push_back(r.axes[i].nearest(o, size));
            if (positions[i].back() != o / factor) times[i] = 0;
        }
    }
    const bool is_short = e.dtype(v) == dtype::int8 || e.dtype(v) == dtype::int16;
    if (r.out[0] == 1 && is_short && times[0] == 2 && times[1] == 2) {
        v = e.template make<tosa::resize>({.input = v,
                                           .scale = const_shape(e, shape_builder{4, 2, 4, 2}),
                                           .offset = const_shape(e, shape_builder{-1, -1}),
                                           .border = const_shape(e, shape_builder{1, 1}),
                                           .mode = resize_mode::nearest});
        times[0] = times[1] = 1;
    }
    for (const std::size_t i : {1U, 0U}) {  // columns first: they are fewer
        if (times[i] == 1) continue;
        if (times[i] == 0) {
            v = pick(e, v, 1 + i, positions[i]);
            continue;
        }
        const three_axes parts = around(e.shape(v), 1 + i);
        const shape_builder shape = with_axis(e.shape(v), 1 + i, parts.size * times[i]);
        const value flat = reshape(e, v, shape_builder{parts.before * parts.size, parts.after});
        v = reshape(e, concat(e, std::vector<value>(static_cast<std::size_t>(times[i]), flat), 1), shape);
    }
    return reshape(e, transpose(e, v, to_channels_first(4)), e.result_meta().shape);
}

}  // namespace build
}  // namespace headrace

#endif
