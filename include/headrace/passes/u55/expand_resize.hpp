// SPDX-License-Identifier: MIT
// Defines headrace::expand_resize.
#ifndef HEADRACE_PASSES_U55_EXPAND_RESIZE_HPP
#define HEADRACE_PASSES_U55_EXPAND_RESIZE_HPP

#include <algorithm>
#include <array>
#include <memory_resource>
#include <numeric>
#include <optional>
#include <vector>

#include <headrace/passes/support/constants.hpp>
#include <headrace/passes/support/slicing.hpp>
#include <headrace/passes/u55/for_u55.hpp>
#include <headrace/target/u55_verify.hpp>

namespace headrace {

/// RESIZE (TOSA 1.0, 2.11.1), of which Ethos-U55 has little, by convolutions, with the same results.
///
/// Result o of an axis lies at (o · d + offset) / n between elements of the image. Every n / gcd(n, d)
/// results that repeats, d / gcd(n, d) elements further: results of one phase of that period are one
/// convolution.
///
/// - Dense: for each phase of the rows a convolution whose channels are the phases of the columns, which the
///   order of the result makes a RESHAPE. Periods of columns that read beyond the image have their own.
/// - Depthwise: one convolution for each phase of rows and of columns, where the dense ones would be large.
/// - Sums: rows and columns are picked, multiplied and added, where phases are too many, or weights too
/// large.
///
/// To the nearest is an interpolation whose weights are ones, or it repeats all elements as often.
struct expand_resize : pass, for_u55 {
    static constexpr std::string_view summary = "RESIZE as convolutions, one for each phase of the grid";
    using targets = ops<tosa::sub, tosa::resize>;
    using produces = joined<build::reshape_ops, build::slice_ops, build::concat_ops,
                            ops<tosa::resize, tosa::conv2d, tosa::depthwise_conv2d, tosa::rescale, tosa::cast,
                                tosa::sub, tosa::add, tosa::mul>>;

    std::optional<value> operator()(const args<tosa::resize>& a, emit<produces>& e) const {
        if (u55::restriction(e.current()).empty()) return std::nullopt;
        const auto axes = axes_of(a, e.result_meta().shape);
        if (!axes) return std::nullopt;
        if (a.mode == resize_mode::bilinear) return interpolation(e, a.input, *axes).whole();
        return nearest(e, a.input, *axes);
    }

    /// What is subtracted from an interpolated image, such as a zero point, is its convolutions' bias.
    std::optional<value> operator()(const args<tosa::sub>& a, emit<produces>& e) const {
        const auto* resized = match<tosa::resize>(a.input1);
        const auto number = constant_integers(a.input2);
        if (resized == nullptr || !number || number->size() != 1 || !has_one_use(a.input1) ||
            resized->mode != resize_mode::bilinear)
            return std::nullopt;
        const auto axes = axes_of(*resized, e.shape(a.input1));
        if (!axes) return std::nullopt;
        interpolation image(e, resized->input, *axes);
        if (!image.takes_bias()) return std::nullopt;
        return image.whole(-(*number)[0]);
    }

private:
    static constexpr std::int64_t floor_division(std::int64_t a, std::int64_t b) {
        return a >= 0 ? a / b : -((b - 1 - a) / b);
    }

    /// So many periods from `first` on.
    struct run {
        std::int64_t first, count;
    };
    /// What each result of an axis reads: element first[o] times (n - rest[o]), and the next times rest[o].
    /// Elements may lie beyond either end, for which the last one there stands.
    struct axis {
        std::int64_t size, out;  ///< elements and results
        std::int64_t n;
        std::int64_t phases, stride, periods;
        std::int64_t common;  ///< divides all weights
        std::pmr::vector<std::int64_t> first,
            rest;  ///< of whole periods, which may be a few more than are wanted

        axis(std::int64_t elements, std::int64_t results, std::int64_t numerator, std::int64_t d,
             std::int64_t offset, bool is_nearest)
            : size(elements), out(results), n(is_nearest ? 1 : numerator) {
            const std::int64_t divisor = std::gcd(numerator, d);
            phases = std::min(numerator / divisor, out);
            stride = d / divisor;
            periods = (out + phases - 1) / phases;
            if (periods == 1) stride = 1;
            common = n;
            for (std::int64_t o = 0; o != phases * periods; ++o) {
                const std::int64_t at = o * d + offset;
                const std::int64_t whole = is_nearest ? floor_division(2 * at + numerator, 2 * numerator)
                                                      : floor_division(at, numerator);
                first.push_back(whole);
                rest.push_back(is_nearest ? 0 : at - whole * numerator);
                common = std::gcd(common, rest.back());
            }
        }

        [[nodiscard]] std::int64_t start(std::int64_t o) const { return first[static_cast<std::size_t>(o)]; }
        [[nodiscard]] std::int64_t taps(std::int64_t o) const {
            return rest[static_cast<std::size_t>(o)] == 0 ? 1 : 2;
        }
        [[nodiscard]] std::int64_t weight(std::int64_t o, std::int64_t tap) const {
            const std::int64_t r = rest[static_cast<std::size_t>(o)];
            return tap == 0 ? n - r : r;
        }
        [[nodiscard]] std::int64_t inside(std::int64_t i) const {
            return std::clamp<std::int64_t>(i, 0, size - 1);
        }
        /// The first element that the first period reads, and how many it reads.
        [[nodiscard]] std::int64_t window_start() const {
            return *std::min_element(first.begin(), first.begin() + static_cast<std::ptrdiff_t>(phases));
        }
        [[nodiscard]] std::int64_t window() const {
            std::int64_t end = window_start();
            for (std::int64_t p = 0; p != phases; ++p) end = std::max(end, start(p) + taps(p));
            return end - window_start();
        }
        /// Periods within the image are one run; each other is its own.
        [[nodiscard]] std::pmr::vector<run> runs() const {
            const auto is_inside = [&](std::int64_t period) {
                const std::int64_t from = window_start() + period * stride;
                return from >= 0 && from + window() <= size;
            };
            std::pmr::vector<run> all;
            for (std::int64_t at = 0, end = 0; at != periods; at = end) {
                for (end = at + 1; is_inside(at) && end != periods && is_inside(end);) ++end;
                all.push_back({at, end - at});
            }
            return all;
        }
        /// How many elements are read before the first and after the last one.
        [[nodiscard]] std::int64_t before() const { return std::max<std::int64_t>(-window_start(), 0); }
        [[nodiscard]] std::int64_t after() const {
            return std::max<std::int64_t>(window_start() + stride * (periods - 1) + window() - size, 0);
        }
        /// The elements that are read to the nearest.
        [[nodiscard]] std::pmr::vector<std::int64_t> positions() const {
            std::pmr::vector<std::int64_t> at;
            for (std::int64_t o = 0; o != out; ++o) at.push_back(inside(start(o)));
            return at;
        }
        /// How often each element is repeated; 0 if not all are as often.
        [[nodiscard]] std::int64_t repeats() const {
            const std::int64_t factor = std::max<std::int64_t>(out / size, 1);
            for (std::int64_t o = 0; o != out; ++o) {
                if (inside(start(o)) != o / factor) return 0;
            }
            return factor;
        }
    };
    using axis_pair = std::array<axis, 2>;

    static std::optional<axis_pair> axes_of(const args<tosa::resize>& a, const int_list& result) {
        const auto* scale = match<tosa::const_shape>(a.scale);
        const auto* offset = match<tosa::const_shape>(a.offset);
        if (scale == nullptr || offset == nullptr) return std::nullopt;
        const auto along = [&](std::size_t i) {
            return axis(meta_of(a.input)->shape[1 + i], result[1 + i], scale->values[2 * i],
                        scale->values[2 * i + 1], offset->values[i], a.mode == resize_mode::nearest);
        };
        return axis_pair{along(0), along(1)};
    }

    // --- pieces ------------------------------------------------------------------------------

    /// `before` and `after` times the first and the last element of an axis more.
    static value pad_with_edges(emit<produces>& e, value v, std::size_t dim, std::int64_t before,
                                std::int64_t after) {
        if (!v || (before == 0 && after == 0)) return v;
        std::pmr::vector<value> parts;
        if (before != 0) parts.assign(static_cast<std::size_t>(before), build::slice(e, v, dim, 0, 1));
        parts.push_back(v);
        if (after != 0) {
            const value last = build::slice(e, v, dim, e.shape(v)[dim] - 1, 1);
            parts.insert(parts.end(), static_cast<std::size_t>(after), last);
        }
        return build::concat(e, parts, dim);
    }
    static std::size_t count_runs(const std::pmr::vector<std::int64_t>& positions) {
        std::size_t count = 0;
        for (std::size_t i = 0; i != positions.size(); ++i)
            count += i == 0 || positions[i] != positions[i - 1] + 1;
        return count;
    }
    /// Elements of an axis by their positions: slices of consecutive ones, joined again.
    static value pick(emit<produces>& e, value v, std::size_t dim,
                      const std::pmr::vector<std::int64_t>& positions) {
        std::pmr::vector<value> parts;
        for (std::size_t i = 0, end = 0; i != positions.size(); i = end) {
            for (end = i + 1; end != positions.size() && positions[end] == positions[end - 1] + 1;) ++end;
            parts.push_back(build::slice(e, v, dim, positions[i], static_cast<std::int64_t>(end - i)));
        }
        return build::concat(e, parts, dim);
    }
    struct extent {
        std::int64_t start, count;
    };
    /// Rows and columns of an image.
    static value crop(emit<produces>& e, value v, const extent& rows, const extent& columns) {
        const shape_builder shape(e.shape(v));
        const shape_builder counts{shape[0], rows.count, columns.count, shape[3]};
        if (!v || e.shape(v) == int_list(counts)) return v;
        return e.make<tosa::slice>(
            {.input1 = v,
             .start = build::const_shape(e, shape_builder{0, rows.start, columns.start, 0}),
             .size = build::const_shape(e, counts)});
    }
    static value product(emit<produces>& e, value a, value b) {
        return e.make<tosa::mul>({.input1 = a, .input2 = b, .shift = e.splat(0, dtype::int8, 1)});
    }

    // --- to the nearest ------------------------------------------------------------------------

    static value nearest(emit<produces>& e, value v, const axis_pair& axes) {
        const std::array<std::int64_t, 2> times{axes[0].repeats(), axes[1].repeats()};
        const bool doubles = times[0] == 2 && times[1] == 2;
        if (doubles && e.shape(v)[0] == 1) {  // the form of it that Ethos-U55 has
            return e.make<tosa::resize>({.input = v,
                                         .scale = build::const_shape(e, shape_builder{4, 2, 4, 2}),
                                         .offset = build::const_shape(e, shape_builder{-1, -1}),
                                         .border = build::const_shape(e, shape_builder{1, 1}),
                                         .mode = resize_mode::nearest});
        }
        constexpr std::size_t most_runs = 16;
        const bool is_short = (times[0] != 0 || count_runs(axes[0].positions()) <= most_runs) &&
                              (times[1] != 0 || count_runs(axes[1].positions()) <= most_runs);
        interpolation image(e, v, axes);
        if (!is_short && image.has_convolutions()) return image.whole_codes();
        for (const std::size_t i : {1U, 0U}) {  // columns first: they are fewer
            if (times[i] == 1) continue;
            if (times[i] == 0) {
                v = pick(e, v, 1 + i, axes[i].positions());
                continue;
            }
            const build::three_axes parts = build::around(e.shape(v), 1 + i);
            const shape_builder shape = build::with_axis(e.shape(v), 1 + i, parts.size * times[i]);
            const value flat = build::reshape(e, v, shape_builder{parts.before * parts.size, parts.after});
            const std::pmr::vector<value> copies(static_cast<std::size_t>(times[i]), flat);
            v = build::reshape(e, build::concat(e, copies, 1), shape);
        }
        return v;
    }

    // --- interpolated --------------------------------------------------------------------------

    class interpolation {
    public:
        interpolation(emit<produces>& e, value image, const axis_pair& axes)
            : e_(e),
              image_(image),
              h_(axes[0]),
              w_(axes[1]),
              batches_(e.shape(image)[0]),
              channels_(e.shape(image)[3]),
              divisor_(h_.n * w_.n <= most_weight ? 1 : h_.common * w_.common) {}

        /// Sums of the image's elements by weights that add up to n of rows times n of columns.
        std::optional<value> whole(std::int64_t bias = 0) {
            bias_ = bias;
            const double dense = dense_cost(), depthwise = depthwise_cost(), sums = sum_cost();
            const double least = std::min({dense, depthwise, sums});
            if (least >= impossible) return std::nullopt;
            value v = least == dense ? by_convolutions() : least == depthwise ? by_depthwise() : by_sums();
            if (least != sums && divisor_ != 1) v = product(e_, v, e_.splat(divisor_, dtype::int32, 4));
            return v;
        }
        /// The codes themselves, where weights are ones.
        value whole_codes() {
            constexpr int shift = 30;
            const dtype type = e_.dtype(image_);
            const value sums = dense_cost() <= depthwise_cost() ? by_convolutions() : by_depthwise();
            return e_.make<tosa::rescale>(
                {.input = sums,
                 .multiplier = type == dtype::int8 ? e_.splat(1 << shift, dtype::int32, 1)
                                                   : e_.splat(1 << 14, dtype::int16, 1),
                 .shift = e_.splat(type == dtype::int8 ? shift : 14, dtype::int8, 1),
                 .input_zp = e_.splat(0, e_.dtype(sums), 1),
                 .output_zp = e_.splat(0, type, 1),
                 .scale32 = type == dtype::int8});
        }
        [[nodiscard]] bool has_convolutions() const {
            return std::min(dense_cost(), depthwise_cost()) < impossible;
        }
        [[nodiscard]] bool takes_bias() const {
            return divisor_ == 1 && has_convolutions() &&
                   std::min(dense_cost(), depthwise_cost()) <= sum_cost();
        }

    private:
        static constexpr std::int64_t most_weight = 255;

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
        [[nodiscard]] bool is_int8() const { return e_.dtype(image_) == dtype::int8; }
        [[nodiscard]] bool weights_fit() const {
            return h_.n * w_.n / divisor_ <= most_weight && (divisor_ == 1 || is_int8());
        }
        [[nodiscard]] double dense_cost() const {
            const std::int64_t inner = w_.window() * channels_;
            const std::int64_t count = h_.phases * static_cast<std::int64_t>(w_.runs().size());
            if (!weights_fit() || count > most_ops || w_.window() > u55::most_kernel_height ||
                h_.phases * w_.phases * channels_ * 2 * inner > most_weight_bytes)
                return impossible;
            const std::int64_t lanes = channels_ <= 16 ? 16 : (channels_ + 31) / 32 * 32;
            const double macs = 2.0 * static_cast<double>(w_.window() * lanes);
            return result_size() * std::max(1.1, macs / 112) + image_size() * 1.3 +
                   per_op * static_cast<double>(count);
        }
        [[nodiscard]] double depthwise_cost() const {
            const bool strides_fit = std::max(h_.stride, w_.stride) <= u55::most_stride;
            if (!weights_fit() || !strides_fit || h_.phases * w_.phases > most_ops) return impossible;
            return result_size() * 2.3 + image_size() * 2.6 +
                   per_op * static_cast<double>(h_.phases * w_.phases);
        }
        [[nodiscard]] double sum_cost() const {
            if (!is_int8()) return impossible;
            return result_size() * 11 + per_op * static_cast<double>(2 * (h_.out + w_.out));
        }

        // The last period may be a partial one.
        value of_phases(value v) {
            const shape_builder whole{batches_, h_.periods * h_.phases, w_.periods * w_.phases, channels_};
            return crop(e_, build::reshape(e_, v, whole), {0, h_.out}, {0, w_.out});
        }
        extent rows_of(std::int64_t phase) const {
            return {h_.start(phase) + h_.before(), (h_.periods - 1) * h_.stride + h_.taps(phase)};
        }
        // Weights above 127 have a zero point.
        template <op_tag Op>
        value convolve(value input, const shape_builder& kernel,
                       const std::pmr::vector<std::int64_t>& weights, std::int64_t results,
                       const shape_builder& stride) {
            const std::int64_t zero = h_.n * w_.n / divisor_ > 127 ? -128 : 0;
            const dtype sums = is_int8() ? dtype::int32 : dtype::int48;
            std::pmr::vector<std::int8_t> codes;
            for (const std::int64_t w : weights)
                codes.push_back(static_cast<std::int8_t>(w / divisor_ + zero));
            return e_.make<Op>({.input = input,
                                .weight = e_.constant<std::int8_t>(dtype::int8, kernel, codes),
                                .bias = e_.splat(bias_, sums, std::array{results}),
                                .input_zp = e_.splat(0, e_.dtype(image_), 1),
                                .weight_zp = e_.splat(zero, dtype::int8, 1),
                                .pad = {0, 0, 0, 0},
                                .stride = int_list(stride),
                                .dilation = {1, 1},
                                .acc_type = sums});
        }

        value by_convolutions() {
            const value padded = pad_with_edges(e_, image_, 1, h_.before(), h_.after());
            std::pmr::vector<value> parts;
            for (std::int64_t phase = 0; phase != h_.phases; ++phase) {
                const extent rows = rows_of(phase);
                for (const run& periods : w_.runs()) parts.push_back(columns(padded, phase, rows, periods));
            }
            return of_phases(build::concat(e_, parts, 2));
        }
        // Those that read beyond the image have a narrower kernel, with the weights of what lies there.
        value columns(value padded, std::int64_t phase, const extent& rows, const run& periods) {
            const std::int64_t from = w_.window_start() + periods.first * w_.stride;
            const std::int64_t first = w_.inside(from);
            const std::int64_t width = w_.inside(from + w_.window() - 1) - first + 1;
            const std::int64_t height = h_.taps(phase);
            const shape_builder kernel{w_.phases * channels_, height, width, channels_};
            std::pmr::vector<std::int64_t> weights(static_cast<std::size_t>(element_count(kernel)), 0);
            for (std::int64_t p = 0; p != w_.phases; ++p) {
                for (std::int64_t y = 0; y != height; ++y) {
                    for (std::int64_t t = 0; t != w_.taps(p); ++t) {
                        const std::int64_t x = w_.inside(w_.start(p) + periods.first * w_.stride + t) - first;
                        for (std::int64_t c = 0; c != channels_; ++c) {
                            const std::int64_t result = p * channels_ + c;
                            const std::int64_t at = ((result * height + y) * width + x) * channels_ + c;
                            weights[static_cast<std::size_t>(at)] += h_.weight(phase, y) * w_.weight(p, t);
                        }
                    }
                }
            }
            const value part = crop(e_, padded, rows, {first, (periods.count - 1) * w_.stride + width});
            return convolve<tosa::conv2d>(part, kernel, weights, kernel[0],
                                          shape_builder{h_.stride, periods.count == 1 ? 1 : w_.stride});
        }

        value by_depthwise() {
            const value tall = pad_with_edges(e_, image_, 1, h_.before(), h_.after());
            const value padded = pad_with_edges(e_, tall, 2, w_.before(), w_.after());
            std::pmr::vector<value> rows;
            for (std::int64_t a = 0; a != h_.phases; ++a) {
                std::pmr::vector<value> columns;
                for (std::int64_t b = 0; b != w_.phases; ++b) {
                    const shape_builder kernel{h_.taps(a), w_.taps(b), channels_, 1};
                    std::pmr::vector<std::int64_t> weights;
                    for (std::int64_t y = 0; y != kernel[0]; ++y) {
                        for (std::int64_t x = 0; x != kernel[1]; ++x) {
                            weights.insert(weights.end(), static_cast<std::size_t>(channels_),
                                           h_.weight(a, y) * w_.weight(b, x));
                        }
                    }
                    const extent across{w_.start(b) + w_.before(), (w_.periods - 1) * w_.stride + kernel[1]};
                    const value part = crop(e_, padded, rows_of(a), across);
                    columns.push_back(convolve<tosa::depthwise_conv2d>(part, kernel, weights, channels_,
                                                                       shape_builder{h_.stride, w_.stride}));
                }
                rows.push_back(build::concat(e_, columns, 3));
            }
            return of_phases(build::concat(e_, rows, 2));
        }

        value by_sums() {
            const value v = e_.make<tosa::cast>({.input = image_, .output_type = dtype::int32});
            return summed(summed(v, 1, h_), 2, w_);
        }
        // n · x[i] + rest · (x[i + 1] - x[i])
        value summed(value v, std::size_t dim, const axis& a) {
            std::pmr::vector<std::int64_t> at = a.positions();
            const value whole = pick(e_, product(e_, v, e_.splat(a.n, dtype::int32, 4)), dim, at);
            if (a.size == 1) return whole;
            std::pmr::vector<std::int32_t> factors;
            for (std::int64_t o = 0; o != a.out; ++o) {
                const bool has_next = a.start(o) >= 0 && a.start(o) + 1 < a.size;
                factors.push_back(has_next ? static_cast<std::int32_t>(a.rest[static_cast<std::size_t>(o)])
                                           : 0);
            }
            const value next = build::slice(e_, v, dim, 1, a.size - 1);
            const value steps = e_.make<tosa::sub>(next, build::slice(e_, v, dim, 0, a.size - 1));
            for (std::int64_t& i : at) i = std::min(i, a.size - 2);
            const shape_builder shape =
                build::with_axis(shape_builder{1, 1, 1, 1}, dim, static_cast<std::int64_t>(at.size()));
            const value factor = e_.constant<std::int32_t>(dtype::int32, shape, factors);
            return e_.make<tosa::add>(whole, product(e_, pick(e_, steps, dim, at), factor));
        }

        emit<produces>& e_;
        value image_;
        const axis &h_, &w_;
        std::int64_t batches_, channels_;
        std::int64_t divisor_;  ///< of weights, by which the sums are multiplied
        std::int64_t bias_ = 0;
    };
};

}  // namespace headrace

#endif
