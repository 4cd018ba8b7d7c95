// SPDX-License-Identifier: MIT
// Defines the kernels of the cortex_m dialect's convolutions and poolings. All compute in the order N, H, W, C
// of the device's memory, whichever the logical order of the op. The device refuses tensors of ops in the order
// N, C, H, W that are not channels_last in memory; values here have no order in memory.
#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include <headrace/base/ceil_div.hpp>
#include <headrace/dialect/cortex_m.hpp>
#include <headrace/eval/cortex_m/requantize.hpp>
#include <headrace/eval/iterate.hpp>
#include <headrace/eval/kernels.hpp>
#include <headrace/infer/cortex_m.hpp>

namespace headrace::eval {

namespace {

/// Images in the order N, H, W, C.
struct image_size {
    std::int64_t batch, height, width, channels;

    explicit image_size(const extents& nhwc)
        : batch(nhwc[0]), height(nhwc[1]), width(nhwc[2]), channels(nhwc[3]) {}
    [[nodiscard]] std::int64_t pixel(std::int64_t n, std::int64_t y, std::int64_t x) const {
        return ((n * height + y) * width + x) * channels;
    }
};

template <class Op>
[[nodiscard]] tensor input_as_nhwc(const tensor& t) {
    if constexpr (cortex_m::is_nhwc<Op>) return t;
    return permuted(t, std::array<std::size_t, 4>{0, 2, 3, 1});
}
template <class Op>
[[nodiscard]] tensor result_as_nhwc(const evaluation& e) {
    const extents s = e.output_shape();
    return cortex_m::is_nhwc<Op> ? tensor(dtype::int8, s) : tensor(dtype::int8, {s[0], s[2], s[3], s[1]});
}
template <class Op>
void set_result(evaluation& e, const tensor& nhwc) {
    e.set_output(cortex_m::is_nhwc<Op> ? nhwc : permuted(nhwc, std::array<std::size_t, 4>{0, 3, 1, 2}));
}

/// The taps of a window that are inside an axis: tap i is at start + i * dilation.
struct tap_range {
    std::int64_t first, end;

    tap_range(std::int64_t start, std::int64_t taps, std::int64_t dilation, std::int64_t size)
        : first(start >= 0 ? 0 : ceil_div(-start, dilation)),
          end(start >= size ? 0 : std::min(taps, (size - start - 1) / dilation + 1)) {}
};

/// Calls `f(n, y, x)` for each pixel of an image.
template <class F>
void for_each_pixel(const image_size& image, F f) {
    for (std::int64_t n = 0; n != image.batch; ++n) {
        for (std::int64_t y = 0; y != image.height; ++y) {
            for (std::int64_t x = 0; x != image.width; ++x) f(n, y, x);
        }
    }
}
/// Calls `f(tap y, tap x, y, x)` for each tap of the window of result (oy, ox) that is inside the image.
template <class Args, class F>
void for_each_tap(const Args& a, const image_size& image, std::array<std::int64_t, 2> taps, std::int64_t oy,
    std::int64_t ox, F f) {
    std::array<std::int64_t, 2> dilation{1, 1};
    if constexpr (requires { a.dilation; }) dilation = {a.dilation[0], a.dilation[1]};
    const std::int64_t y = oy * a.stride[0] - a.padding[0];
    const std::int64_t x = ox * a.stride[1] - a.padding[1];
    const tap_range rows(y, taps[0], dilation[0], image.height);
    const tap_range columns(x, taps[1], dilation[1], image.width);
    for (std::int64_t i = rows.first; i < rows.end; ++i) {
        for (std::int64_t k = columns.first; k < columns.end; ++k)
            f(i, k, y + i * dilation[0], x + k * dilation[1]);
    }
}

// --- convolutions ----------------------------------------------------------------------

/// The operands of a convolution, and the image that its kernel writes.
template <class Op>
struct convolution {
    tensor in;
    const tensor& weight;
    tensor out;
    image_size from, to;
    std::vector<fixed_point_factor> factors;
    std::vector<std::int32_t> first;  ///< the sum of each result channel before any product
    quantized_result result;
    std::int32_t offset;  ///< added to each element of the input

    /// Fails if the factors are not sound.
    convolution(const args<Op>& a, evaluation& e)
        : in(input_as_nhwc<Op>(e.input(a.input))),
          weight(e.input(a.weight)),
          out(result_as_nhwc<Op>(e)),
          from(in.shape()),
          to(out.shape()),
          factors(factors_of(e, e.input(a.requantize_multipliers), e.input(a.requantize_shifts))),
          first(first_sums(e, a.bias, to.channels)),
          result{a.output_offset, a.activation_min, a.activation_max},
          offset(in_word(a.input_offset)) {}

    [[nodiscard]] std::array<std::int64_t, 2> taps() const { return {weight.dim(1), weight.dim(2)}; }
    [[nodiscard]] std::span<const std::int8_t> pixel(std::int64_t n, std::int64_t y, std::int64_t x) const {
        return in.data<std::int8_t>().subspan(idx(from.pixel(n, y, x)), idx(from.channels));
    }
    /// Adds the products of some channels of a pixel with the weights of a tap for result channel c.
    [[nodiscard]] std::int32_t with_products(std::int32_t sum, std::span<const std::int8_t> pixel,
        std::int64_t c, std::int64_t tap_y, std::int64_t tap_x) const {
        const std::int64_t tap = (c * weight.dim(1) + tap_y) * weight.dim(2) + tap_x;
        const std::int8_t* weights = weight.data<std::int8_t>().data() + tap * weight.dim(3);
        return dot_product(pixel, offset, weights, 0, sum);
    }
};

/// Weights are (out, height, width, in / groups). Padding counts as the input's zero point, so that it adds
/// nothing.
template <one_of<cortex_m::conv2d_ops> Op>
void evaluate(Op, const args<Op>& a, evaluation& e) {
    convolution<Op> of(a, e);
    if (e.failed()) return;
    const std::int64_t depth = of.weight.dim(3);
    const std::int64_t groups = of.from.channels / depth;
    const std::int64_t in_group = of.to.channels / groups;  // results of a group
    std::int8_t* codes = of.out.template mutable_data<std::int8_t>().data();
    std::vector<std::int32_t> sums;
    for_each_pixel(of.to, [&](std::int64_t n, std::int64_t oy, std::int64_t ox) {
        sums = of.first;
        for_each_tap(a, of.from, of.taps(), oy, ox,
            [&](std::int64_t i, std::int64_t k, std::int64_t y, std::int64_t x) {
                for (std::int64_t group = 0; group != groups; ++group) {
                    const auto channels = of.pixel(n, y, x).subspan(idx(group * depth), idx(depth));
                    for (std::int64_t c = group * in_group; c != (group + 1) * in_group; ++c)
                        sums[idx(c)] = of.with_products(sums[idx(c)], channels, c, i, k);
                }
            });
        for (std::size_t c = 0; c != sums.size(); ++c) *codes++ = of.result.of(of.factors[c].times(sums[c]));
    });
    set_result<Op>(e, of.out);
}
/// Weights are (1, height, width, out); channel c of the input gives the `depth_multiplier` results from
/// c * depth_multiplier on.
template <one_of<cortex_m::depthwise_conv2d_ops> Op>
void evaluate(Op, const args<Op>& a, evaluation& e) {
    convolution<Op> of(a, e);
    if (e.failed()) return;
    const std::int8_t* weights = of.weight.template data<std::int8_t>().data();
    std::int8_t* codes = of.out.template mutable_data<std::int8_t>().data();
    std::vector<word_sum> sums;
    for_each_pixel(of.to, [&](std::int64_t n, std::int64_t oy, std::int64_t ox) {
        sums.assign(of.first.begin(), of.first.end());
        for_each_tap(a, of.from, of.taps(), oy, ox,
            [&](std::int64_t i, std::int64_t k, std::int64_t y, std::int64_t x) {
                const std::int8_t* row = weights + (i * of.weight.dim(2) + k) * of.to.channels;
                auto sum = sums.begin();
                for (const std::int8_t code : of.pixel(n, y, x)) {
                    const std::int32_t element = in_word(std::int64_t{code} + of.offset);
                    for (std::int64_t m = 0; m != a.depth_multiplier; ++m)
                        sum++->add_product(element, *row++);
                }
            });
        for (std::size_t c = 0; c != sums.size(); ++c)
            *codes++ = of.result.of(of.factors[c].times(sums[c].value()));
    });
    set_result<Op>(e, of.out);
}
/// Weights are (out, height, width, in). The sums are exact modulo 2^32; Python's reference adds them up in
/// float, which rounds those past 2^24. CMSIS-NN before its commit 4a8f5b5d of July 2026 shifts rows if the
/// stride does not divide the padding of the height, unless it reverses the weight (see
/// cortex_m::require_transposed); this kernel computes what newer ones do.
template <one_of<cortex_m::transpose_conv2d_ops> Op>
void evaluate(Op, const args<Op>& a, evaluation& e) {
    convolution<Op> of(a, e);
    if (e.failed()) return;
    const std::span<std::int8_t> codes = of.out.template mutable_data<std::int8_t>();
    std::vector<std::int32_t> sums;
    sums.reserve(codes.size());
    while (sums.size() != codes.size()) sums.insert(sums.end(), of.first.begin(), of.first.end());
    for_each_pixel(of.from, [&](std::int64_t n, std::int64_t iy, std::int64_t ix) {
        for_each_tap(
            a, of.to, of.taps(), iy, ix, [&](std::int64_t i, std::int64_t k, std::int64_t y, std::int64_t x) {
                std::int32_t* sum = sums.data() + of.to.pixel(n, y, x);
                for (std::int64_t c = 0; c != of.to.channels; ++c)
                    sum[c] = of.with_products(sum[c], of.pixel(n, iy, ix), c, i, k);
            });
    });
    for (std::size_t i = 0; i != codes.size(); ++i)
        codes[i] = of.result.of(of.factors[i % of.factors.size()].times(sums[i]));
    set_result<Op>(e, of.out);
}

// --- poolings --------------------------------------------------------------------------

/// The mean of the integers, without the padding, with halves away from 0; the zero point and the scale do not
/// count. Python's reference rounds the mean's distance from the zero point, in float, with halves to even.
template <one_of<cortex_m::avg_pool2d_ops> Op>
void evaluate(Op, const args<Op>& a, evaluation& e) {
    const tensor in = input_as_nhwc<Op>(e.input(a.input));
    tensor out = result_as_nhwc<Op>(e);
    const image_size from(in.shape());
    const std::int8_t* elements = in.data<std::int8_t>().data();
    std::int8_t* codes = out.mutable_data<std::int8_t>().data();
    std::vector<std::int64_t> sums(idx(from.channels));
    for_each_pixel(image_size(out.shape()), [&](std::int64_t n, std::int64_t oy, std::int64_t ox) {
        std::ranges::fill(sums, 0);
        std::int64_t count = 0;
        for_each_tap(a, from, {a.kernel_size[0], a.kernel_size[1]}, oy, ox,
            [&](std::int64_t, std::int64_t, std::int64_t y, std::int64_t x) {
                const std::int8_t* pixel = elements + from.pixel(n, y, x);
                for (std::size_t c = 0; c != sums.size(); ++c) sums[c] += pixel[c];
                ++count;
            });
        if (count == 0) return e.fail("a window is outside of the input");
        for (const std::int64_t sum : sums) {
            const std::int64_t half = sum > 0 ? count / 2 : -(count / 2);
            *codes++ = static_cast<std::int8_t>((sum + half) / count);
        }
    });
    set_result<Op>(e, out);
}
template <one_of<cortex_m::max_pool2d_ops> Op>
void evaluate(Op, const args<Op>& a, evaluation& e) {
    const tensor in = input_as_nhwc<Op>(e.input(a.input));
    tensor out = result_as_nhwc<Op>(e);
    const image_size from(in.shape());
    const quantized_result result{0, a.activation_min, a.activation_max};
    const std::int8_t* elements = in.data<std::int8_t>().data();
    std::int8_t* codes = out.mutable_data<std::int8_t>().data();
    std::vector<std::int8_t> best(idx(from.channels));
    for_each_pixel(image_size(out.shape()), [&](std::int64_t n, std::int64_t oy, std::int64_t ox) {
        std::ranges::fill(best, std::int8_t{-128});
        for_each_tap(a, from, {a.kernel_size[0], a.kernel_size[1]}, oy, ox,
            [&](std::int64_t, std::int64_t, std::int64_t y, std::int64_t x) {
                const std::int8_t* pixel = elements + from.pixel(n, y, x);
                for (std::size_t c = 0; c != best.size(); ++c) best[c] = std::max(best[c], pixel[c]);
            });
        for (const std::int8_t code : best) *codes++ = result.of(code);
    });
    set_result<Op>(e, out);
}

constexpr auto kernel = [](auto op, const auto& a, evaluation& e) -> decltype(evaluate(op, a, e)) {
    evaluate(op, a, e);
};

}  // namespace

const kernel_list cortex_m_window_kernels = kernels_of<cortex_m::dialect>(kernel);

}  // namespace headrace::eval
