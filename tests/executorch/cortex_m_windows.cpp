// SPDX-License-Identifier: MIT
// Registers the test's kernels of cortex_m that convolve and pool. They compute what
// examples/docs/cortex_m.md says, and refuse what ExecuTorch's kernels refuse or compute wrongly.
#include "cortex_m_arithmetic.hpp"
#include "cortex_m_call.hpp"

namespace cortex_m_kernels {

namespace {

using cortex_m_arithmetic::clamped;
using cortex_m_arithmetic::requantize;
using cortex_m_arithmetic::wrapped;
using two = std::array<std::int64_t, 2>;

enum class layout { nchw, nhwc };

/// An image whose elements are in the order N, H, W, C in memory.
struct image {
    std::int64_t batch, height, width, channels;

    [[nodiscard]] std::size_t at(std::int64_t n, std::int64_t y, std::int64_t x, std::int64_t c) const {
        return static_cast<std::size_t>(((n * height + y) * width + x) * channels + c);
    }
    [[nodiscard]] bool has(std::int64_t y, std::int64_t x) const {
        return y >= 0 && y < height && x >= 0 && x < width;
    }
    [[nodiscard]] std::vector<std::int64_t> sizes(layout l) const {
        if (l == layout::nhwc) return {batch, height, width, channels};
        return {batch, channels, height, width};
    }
};
image image_of(const Tensor& t, layout l) {
    require(t.dim() == 4, "an image is not of rank 4");
    require(l == layout::nhwc ? is_contiguous(t) : is_channels_last(t), "an image has another layout");
    for (const std::int64_t size : sizes_of(t))
        require(size > 0 && size < 65536, "a size is 0, or not in 16 bits");
    if (l == layout::nhwc) return {t.size(0), t.size(1), t.size(2), t.size(3)};
    return {t.size(0), t.size(2), t.size(3), t.size(1)};
}

std::span<std::int8_t> result_of(call& c, const image& made, layout l) {
    const Tensor& t = c.out(made.sizes(l));
    require(l == layout::nhwc ? is_contiguous(t) : is_channels_last(t), "the result has another layout");
    return mutable_elements<std::int8_t>(t);
}

/// Calls `f(n, y, x)` for each pixel.
template <class F>
void for_each_pixel(const image& i, F f) {
    for (std::int64_t n = 0; n != i.batch; ++n) {
        for (std::int64_t y = 0; y != i.height; ++y) {
            for (std::int64_t x = 0; x != i.width; ++x) f(n, y, x);
        }
    }
}

/// The windows of a convolution or a pooling, height first.
struct windows {
    two kernel, stride, padding, dilation{1, 1};

    /// Returns how many windows an axis has; the last may begin inside the padded axis and reach past it.
    [[nodiscard]] std::int64_t count(std::size_t axis, std::int64_t size, bool ceil) const {
        const std::int64_t reach = dilation[axis] * (kernel[axis] - 1) + 1;
        const std::int64_t room = size + 2 * padding[axis] - reach;
        require(room >= 0 && stride[axis] > 0, "a window does not fit");
        std::int64_t count = (room + (ceil ? stride[axis] - 1 : 0)) / stride[axis] + 1;
        if (ceil && (count - 1) * stride[axis] >= size + padding[axis]) --count;
        return count;
    }
    /// Calls `f(tap y, tap x, y, x)` for each tap of the window at (oy, ox), inside the image or not.
    template <class F>
    void for_each_tap(std::int64_t oy, std::int64_t ox, F f) const {
        for (std::int64_t i = 0; i != kernel[0]; ++i) {
            for (std::int64_t k = 0; k != kernel[1]; ++k)
                f(i, k, oy * stride[0] - padding[0] + i * dilation[0],
                    ox * stride[1] - padding[1] + k * dilation[1]);
        }
    }
};

// --- convolutions ----------------------------------------------------------------------

/// The arguments that all convolutions have.
struct convolution {
    const Tensor& input;
    const Tensor& weight;
    image from;
    std::int64_t channels;  ///< of the result
    std::optional<std::span<const std::int32_t>> bias;
    windows w{};
    two output_padding{};
    std::int64_t input_offset = 0, output_offset = 0;
    std::span<const std::int32_t> multipliers{}, shifts{};
    std::int64_t lowest = 0, highest = 0;

    convolution(call& c, layout l, int channel_axis)
        : input(c.int8()), weight(c.int8()), from(image_of(input, l)) {
        require(weight.dim() == 4 && is_contiguous(weight), "a weight is not of rank 4, row by row");
        channels = weight.size(channel_axis);
        bias = c.optional_words(channels);
        w.kernel = {weight.size(1), weight.size(2)};
        w.stride = c.pair();
        w.padding = c.pair();
    }
    void take_scaling(call& c) {
        input_offset = c.word();
        output_offset = c.word();
        multipliers = c.words(channels);
        shifts = c.words(channels);
        for (const std::int32_t s : shifts) require(s >= -31 && s <= 31, "a shift is outside [-31, 31]");
        lowest = c.word();
        highest = c.word();
    }
    [[nodiscard]] cortex_m_scratch::convolution sizes() const {
        return {from.height, from.width, from.channels, channels, w.kernel[0], w.kernel[1], weight.size(3),
            w.stride[0], w.stride[1], w.padding[0], w.padding[1], w.dilation[0], w.dilation[1]};
    }
    [[nodiscard]] std::int32_t first(std::int64_t channel) const {
        return bias ? (*bias)[static_cast<std::size_t>(channel)] : 0;
    }
    [[nodiscard]] std::int8_t scaled(std::int32_t sum, std::int64_t channel) const {
        const auto c = static_cast<std::size_t>(channel);
        return clamped(requantize(sum, multipliers[c], shifts[c]), output_offset, lowest, highest);
    }
    [[nodiscard]] std::int32_t add(std::int32_t sum, std::size_t at_input, std::int64_t at_weight) const {
        const std::int64_t x = elements<std::int8_t>(input)[at_input] + input_offset;
        return wrapped(sum + x * elements<std::int8_t>(weight)[static_cast<std::size_t>(at_weight)]);
    }
};

template <layout Layout>
void quantized_conv2d(call& c) {
    convolution v(c, Layout, 0);
    v.w.dilation = c.pair();
    v.take_scaling(c);
    const std::int64_t depth = v.weight.size(3);
    require(depth > 0 && v.from.channels % depth == 0 && v.channels % (v.from.channels / depth) == 0,
        "odd groups");
    const std::int64_t groups = v.from.channels / depth;
    require(groups == 1 || v.bias, "groups need a bias");
    const auto sizes = v.sizes();
    if (core() == core_kind::mve && sizes.is_row() && !sizes.is_point())
        require(v.w.stride[1] == 1 && v.w.padding[1] < 2, "Helium's kernel for rows computes that wrongly");
    c.scratch(c.tensor(), cortex_m_scratch::of_conv2d(core(), sizes));
    const image to{
        v.from.batch, v.w.count(0, v.from.height, false), v.w.count(1, v.from.width, false), v.channels};
    const std::span<std::int8_t> results = result_of(c, to, Layout);
    for_each_pixel(to, [&](std::int64_t n, std::int64_t oy, std::int64_t ox) {
        for (std::int64_t channel = 0; channel != to.channels; ++channel) {
            const std::int64_t begin = channel / (to.channels / groups) * depth;
            std::int32_t sum = v.first(channel);
            v.w.for_each_tap(oy, ox, [&](std::int64_t i, std::int64_t k, std::int64_t y, std::int64_t x) {
                if (!v.from.has(y, x)) return;
                const std::int64_t tap = ((channel * v.w.kernel[0] + i) * v.w.kernel[1] + k) * depth;
                for (std::int64_t d = 0; d != depth; ++d)
                    sum = v.add(sum, v.from.at(n, y, x, begin + d), tap + d);
            });
            results[to.at(n, oy, ox, channel)] = v.scaled(sum, channel);
        }
    });
}

template <layout Layout>
void quantized_depthwise_conv2d(call& c) {
    convolution v(c, Layout, 3);
    v.w.dilation = c.pair();
    const std::int64_t multiplier = c.integer();
    v.take_scaling(c);
    require(v.from.batch == 1, "a batch");
    require(v.weight.size(0) == 1 && v.channels == v.from.channels * multiplier, "sizes that do not fit");
    c.scratch(c.tensor(), cortex_m_scratch::of_depthwise(core(), v.sizes(), multiplier));
    const image to{1, v.w.count(0, v.from.height, false), v.w.count(1, v.from.width, false), v.channels};
    const std::span<std::int8_t> results = result_of(c, to, Layout);
    for_each_pixel(to, [&](std::int64_t n, std::int64_t oy, std::int64_t ox) {
        for (std::int64_t channel = 0; channel != to.channels; ++channel) {
            std::int32_t sum = v.first(channel);
            v.w.for_each_tap(oy, ox, [&](std::int64_t i, std::int64_t k, std::int64_t y, std::int64_t x) {
                if (!v.from.has(y, x)) return;
                const std::int64_t tap = (i * v.w.kernel[1] + k) * v.channels + channel;
                sum = v.add(sum, v.from.at(n, y, x, channel / multiplier), tap);
            });
            results[to.at(n, oy, ox, channel)] = v.scaled(sum, channel);
        }
    });
}

template <layout Layout>
void quantized_transpose_conv2d(call& c) {
    convolution v(c, Layout, 0);
    v.output_padding = c.pair();
    v.w.dilation = c.pair();
    v.take_scaling(c);
    require(v.weight.size(3) == v.from.channels, "groups");
    require(v.w.dilation == two{1, 1}, "the kernel ignores dilation");
    const auto sizes = v.sizes();
    const two stride = v.w.stride, kernel = v.w.kernel;
    require(cortex_m_scratch::reverses(sizes) || v.w.padding[0] % stride[0] == 0,
        "the kernel shifts rows if the stride does not divide the padding");
    require(cortex_m_scratch::reverses(sizes) || stride[1] <= kernel[1] || stride[1] <= stride[0],
        "the buffer is too small for the kernel");
    const Tensor& scratch = c.tensor();
    c.scratch(c.tensor(), cortex_m_scratch::of_reversed_weight(sizes));
    c.scratch(scratch, cortex_m_scratch::of_transpose_conv2d(core(), sizes));
    const auto grown = [&](std::size_t axis, std::int64_t size) {
        return (size - 1) * stride[axis] - 2 * v.w.padding[axis] + kernel[axis] + v.output_padding[axis];
    };
    const image to{v.from.batch, grown(0, v.from.height), grown(1, v.from.width), v.channels};
    const std::span<std::int8_t> results = result_of(c, to, Layout);
    std::vector<std::int32_t> sums(results.size());
    for (std::size_t i = 0; i != sums.size(); ++i)
        sums[i] = v.first(static_cast<std::int64_t>(i) % to.channels);
    for_each_pixel(v.from, [&](std::int64_t n, std::int64_t iy, std::int64_t ix) {
        v.w.for_each_tap(iy, ix, [&](std::int64_t i, std::int64_t k, std::int64_t y, std::int64_t x) {
            if (!to.has(y, x)) return;
            for (std::int64_t channel = 0; channel != to.channels; ++channel) {
                std::int32_t& sum = sums[to.at(n, y, x, channel)];
                const std::int64_t tap = ((channel * kernel[0] + i) * kernel[1] + k) * v.from.channels;
                for (std::int64_t d = 0; d != v.from.channels; ++d)
                    sum = v.add(sum, v.from.at(n, iy, ix, d), tap + d);
            }
        });
    });
    for (std::size_t i = 0; i != sums.size(); ++i)
        results[i] = v.scaled(sums[i], static_cast<std::int64_t>(i) % to.channels);
}

// --- poolings --------------------------------------------------------------------------

struct pooling {
    const Tensor& input;
    image from;
    windows w{};

    pooling(call& c, layout l) : input(c.int8()), from(image_of(input, l)) {
        w.kernel = c.pair();
        w.stride = c.pair();
        w.padding = c.pair();
    }
    [[nodiscard]] image result(bool ceil) const {
        return {from.batch, w.count(0, from.height, ceil), w.count(1, from.width, ceil), from.channels};
    }
    /// Calls `f(code)` for the elements of a window that are inside the image.
    template <class F>
    void for_each(std::int64_t n, std::int64_t oy, std::int64_t ox, std::int64_t channel, F f) const {
        w.for_each_tap(oy, ox, [&](std::int64_t, std::int64_t, std::int64_t y, std::int64_t x) {
            if (from.has(y, x)) f(elements<std::int8_t>(input)[from.at(n, y, x, channel)]);
        });
    }
};

template <layout Layout>
void quantized_avg_pool2d(call& c) {
    const pooling p(c, Layout);
    const bool ceil = c.flag();
    for (int i = 0; i != 3; ++i)
        c.word();  // zero point, multiplier and shift, which the kernel does not read
    c.scratch(c.tensor(), core() == core_kind::dsp ? 4 * p.from.channels : 0);
    const image to = p.result(ceil);
    const std::span<std::int8_t> results = result_of(c, to, Layout);
    for_each_pixel(to, [&](std::int64_t n, std::int64_t oy, std::int64_t ox) {
        for (std::int64_t channel = 0; channel != to.channels; ++channel) {
            std::int64_t sum = 0, count = 0;
            p.for_each(n, oy, ox, channel, [&](std::int8_t code) { sum += code, ++count; });
            require(count != 0, "a window outside of the image");
            const std::int64_t magnitude = (2 * std::abs(sum) + count) / (2 * count);
            results[to.at(n, oy, ox, channel)] = static_cast<std::int8_t>(sum < 0 ? -magnitude : magnitude);
        }
    });
}

template <layout Layout>
void quantized_max_pool2d(call& c) {
    pooling p(c, Layout);
    p.w.dilation = c.pair();
    require(p.w.dilation == two{1, 1} && !c.flag(), "dilation or ceil_mode");
    const std::int64_t zero_point = c.word();
    require(zero_point == c.word(), "zero points that differ");
    const std::int64_t lowest = c.word(), highest = c.word();
    const image to = p.result(false);
    const std::span<std::int8_t> results = result_of(c, to, Layout);
    for_each_pixel(to, [&](std::int64_t n, std::int64_t oy, std::int64_t ox) {
        for (std::int64_t channel = 0; channel != to.channels; ++channel) {
            std::int8_t most = -128;
            p.for_each(n, oy, ox, channel, [&](std::int8_t code) { most = std::max(most, code); });
            results[to.at(n, oy, ox, channel)] = clamped(most, 0, lowest, highest);
        }
    });
}

const runtime::Kernel kernels[] = {
    runtime::Kernel("cortex_m::quantized_conv2d.out", &boxed<&quantized_conv2d<layout::nchw>>),
    runtime::Kernel("cortex_m::quantized_conv2d_nhwc.out", &boxed<&quantized_conv2d<layout::nhwc>>),
    runtime::Kernel(
        "cortex_m::quantized_depthwise_conv2d.out", &boxed<&quantized_depthwise_conv2d<layout::nchw>>),
    runtime::Kernel(
        "cortex_m::quantized_depthwise_conv2d_nhwc.out", &boxed<&quantized_depthwise_conv2d<layout::nhwc>>),
    runtime::Kernel(
        "cortex_m::quantized_transpose_conv2d.out", &boxed<&quantized_transpose_conv2d<layout::nchw>>),
    runtime::Kernel(
        "cortex_m::quantized_transpose_conv2d_nhwc.out", &boxed<&quantized_transpose_conv2d<layout::nhwc>>),
    runtime::Kernel("cortex_m::quantized_avg_pool2d.out", &boxed<&quantized_avg_pool2d<layout::nchw>>),
    runtime::Kernel("cortex_m::quantized_avg_pool2d_nhwc.out", &boxed<&quantized_avg_pool2d<layout::nhwc>>),
    runtime::Kernel("cortex_m::quantized_max_pool2d.out", &boxed<&quantized_max_pool2d<layout::nchw>>),
    runtime::Kernel("cortex_m::quantized_max_pool2d_nhwc.out", &boxed<&quantized_max_pool2d<layout::nhwc>>)};

[[maybe_unused]] const runtime::Error registered = runtime::register_kernels({kernels, std::size(kernels)});

}  // namespace

}  // namespace cortex_m_kernels
