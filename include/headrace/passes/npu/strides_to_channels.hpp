// SPDX-License-Identifier: MIT
// Defines headrace::strides_to_channels, which turns long strides of convolutions into channels.
#ifndef HEADRACE_PASSES_NPU_STRIDES_TO_CHANNELS_HPP
#define HEADRACE_PASSES_NPU_STRIDES_TO_CHANNELS_HPP

#include <algorithm>
#include <limits>
#include <optional>

#include <headrace/base/pmr_vector.hpp>
#include <headrace/passes/npu/pixel_blocks.hpp>
#include <headrace/passes/npu/preferring.hpp>
#include <headrace/passes/support/build.hpp>
#include <headrace/passes/support/slicing.hpp>
#include <headrace/target/npu_cycles.hpp>

namespace headrace {

struct halve_windows;
struct pair_columns;
struct read_last_column;
struct stage_image;

/// Estimates the cycles of a convolution that reads blocks of pixels, and of what brings the image into
/// that form.
class block_cost {
public:
    block_cost(const npu& target, sizes image, sizes kernel, sizes result)
        : target_(target), image_(image), kernel_(kernel), result_(result) {}

    [[nodiscard]] double of(const pixel_blocks& b) const {
        const std::int64_t rows = image_[0] * b.height.count, columns = b.width.count;
        const std::int64_t channels = b.width.block * image_[3];
        double cycles = static_cast<double>(image_[0]) *
            of_convolution({{result_[1], result_[2], result_[3]}, {b.height.taps, b.width.taps},
                {b.height.count, columns, b.height.block * channels}, {b.height.stride, b.width.stride}});
        if (b.height.block != 1)
            cycles += static_cast<double>(b.height.block) * of_copy(rows, columns, channels);
        if (b.extends()) {
            const npu_extent whole{image_[0], b.height.count * b.height.block, columns * channels};
            cycles += of_pooling({whole.height, whole.width, 1});
        }
        return cycles;
    }

    /// Returns the cycles with a long stride, where each pixel of the result is a convolution of its own.
    [[nodiscard]] double of_single_pixels() const {
        const double positions =
            static_cast<double>(result_[0] * result_[1]) * static_cast<double>(result_[2]);
        return positions *
            of_convolution(
                {{1, 1, result_[3]}, {kernel_[1], kernel_[2]}, {kernel_[1], kernel_[2], image_[3]}, {1, 1}});
    }

    /// True if a convolution that only copies takes fewer cycles than a pooling that does.
    [[nodiscard]] bool copies_by_convolution(
        std::int64_t rows, std::int64_t columns, std::int64_t channels) const {
        return of_selection(rows, columns, channels) < of_pooling({rows, columns, channels});
    }

private:
    struct layer {
        npu_extent result, kernel, image, stride;
    };
    [[nodiscard]] double of_convolution(const layer& l) const {
        // Zeros are compressed, so only the original taps are stored.
        const double weights = static_cast<double>(l.result.depth) *
            std::min(detail::volume(l.kernel) * static_cast<double>(l.image.depth),
                static_cast<double>(kernel_[1] * kernel_[2]) * static_cast<double>(kernel_[3]));
        return npu_cycles({.input = image_of(l.image),
                              .result = image_of(l.result),
                              .kernel = l.kernel,
                              .stride = l.stride,
                              .weights = weights,
                              .cycles_out = target_.output.narrow},
            target_);
    }
    [[nodiscard]] double of_selection(std::int64_t rows, std::int64_t columns, std::int64_t channels) const {
        const npu_image part = image_of({rows, columns, channels});
        return npu_cycles({.input = part, .result = part, .cycles_out = target_.output.narrow}, target_);
    }
    [[nodiscard]] double of_pooling(const npu_extent& size) const {
        const npu_image part = image_of(size);
        return npu_cycles(
            {.unit = npu_unit::pooling, .input = part, .result = part, .cycles_out = target_.output.maximum},
            target_);
    }
    [[nodiscard]] double of_copy(std::int64_t rows, std::int64_t columns, std::int64_t channels) const {
        return std::min(of_selection(rows, columns, channels), of_pooling({rows, columns, channels}));
    }
    [[nodiscard]] npu_image image_of(const npu_extent& size) const {
        const bool fits =
            target_.on_chip_bytes == 0 || detail::volume(size) <= static_cast<double>(target_.on_chip_bytes);
        return {.size = size, .on_chip = fits, .in_groups = false};
    }

    const npu& target_;
    sizes image_, kernel_, result_;
};

/// Turns the pixels that a long stride skips into channels. A convolution whose stride exceeds the target's
/// would be computed one pixel of the result at a time. Instead, it reads blocks of pixels as one pixel of
/// many channels: with blocks as long as the stride, its own stride is 1, and with blocks of half the
/// stride it is 2. Windows may overlap; taps of zero fill blocks that a window covers in part. Columns
/// become channels by a RESHAPE. So that rows do, each row of the blocks is cut out and they are joined as
/// channels, which an NPU does faster than a TRANSPOSE. Examples: the patches of a vision transformer,
/// pitch tracking on raw audio.
struct strides_to_channels : tuned_for<&target_preferences::stride> {
    using runs_before = pass_list<halve_windows, stage_image, pair_columns, read_last_column>;
    static constexpr std::string_view summary =
        "lets a CONV2D with a long stride read blocks of pixels as single pixels of many channels";

    static auto rewrites() { return rules(on<tosa::conv2d> = code<over_blocks>()); }

private:
    using made = joined<build::reshape_ops, build::slice_ops, build::concat_ops, build::pad_ops,
        ops<tosa::conv2d, tosa::rescale>>;
    static std::optional<value> over_blocks(emit<made> e, args<tosa::conv2d> a) {
        const std::int64_t longest = preferences_of(e.target()).stride;
        const npu* processor = npu_of(e.target());
        if (std::max(a.stride[0], a.stride[1]) <= longest || processor == nullptr) return std::nullopt;
        const shape_builder image(e.shape(a.input)), kernel(e.shape(a.weight));
        const shape_builder result(e.result_meta().shape);
        const block_cost cost(*processor, image, kernel, result);
        const auto chosen = cheapest(cost, a, image, kernel, result, longest);
        const auto zero = constant_integer(a.input_zp);
        if (!chosen || (!zero && chosen->extends())) return std::nullopt;
        const auto weight = blocked_weight(e, a, *chosen);
        if (!weight) return std::nullopt;
        a.weight = *weight;
        a.input = blocked_image(e, a.input, *chosen, zero.value_or(0), cost);
        const auto& [height, width] = *chosen;
        a.pad = {height.before, height.after, width.before, width.after};
        a.stride = {height.stride, width.stride};
        a.dilation = {height.dilation, width.dilation};
        const bool is_linear =
            height.taps == 1 && width.taps == 1 && build::all_are(a.pad, 0) && build::all_are(a.stride, 1);
        if (is_linear)
            a.input = build::reshape(
                e, a.input, shape_builder{1, 1, result[0] * result[1] * result[2], e.shape(a.input)[3]});
        return build::reshape(e, e.make<tosa::conv2d>(a), result);
    }

    // Returns the blocks with the fewest cycles; nothing if single pixels take fewer.
    static std::optional<pixel_blocks> cheapest(const block_cost& cost, const args<tosa::conv2d>& a,
        sizes image, sizes kernel, sizes result, std::int64_t longest) {
        const auto ways = [&](std::size_t i) {
            const window w{kernel[1 + i], a.stride[i], a.dilation[i], a.pad[2 * i], a.pad[2 * i + 1]};
            return ways_to_block(w, image[1 + i], result[1 + i], longest);
        };
        std::optional<pixel_blocks> best;
        double least = cost.of_single_pixels();
        for (const axis_blocks& height : ways(0)) {
            for (const axis_blocks& width : ways(1)) {
                const pixel_blocks blocks{height, width};
                if (height.block > max_rows || grows_much(blocks, kernel)) continue;
                if (const double cycles = cost.of(blocks); cycles < least) {
                    least = cycles;
                    best = blocks;
                }
            }
        }
        return best;
    }
    static constexpr std::int64_t max_rows = 1024;  // each takes a SLICE

    // True if almost all taps would be zero.
    static bool grows_much(const pixel_blocks& b, sizes kernel) {
        constexpr std::int64_t most = 16;
        const std::int64_t rows = saturating_mul(b.height.taps, b.height.block);
        const std::int64_t columns = saturating_mul(b.width.taps, b.width.block);
        return saturating_mul(rows, columns) > saturating_mul(most, saturating_mul(kernel[1], kernel[2]));
    }

    static std::optional<value> blocked_weight(
        emit<made> e, const args<tosa::conv2d>& a, const pixel_blocks& b) {
        const shape_builder kernel(e.shape(a.weight));
        const shape_builder fewer{
            kernel[0], b.height.taps, b.width.taps, b.height.block * b.width.block * kernel[3]};
        if (b.keeps_taps(kernel)) return build::reshape(e, a.weight, fewer);
        const auto weight = build::int8_weight_of(e, a);
        if (!weight) return std::nullopt;
        return build::constant_at(e, dtype::int8, fewer, [&](const shape_builder& at) {
            const std::int64_t pixel = at[3] / kernel[3];
            const auto y = tap_of(b.height, at[1], pixel / b.width.block, kernel[1], a.dilation[0]);
            const auto x = tap_of(b.width, at[2], pixel % b.width.block, kernel[2], a.dilation[1]);
            return y && x ? (*weight)({at[0], *y, *x, at[3] % kernel[3]}) : weight->zero;
        });
    }
    // Returns which tap of the window a pixel of a block is.
    static std::optional<std::int64_t> tap_of(const axis_blocks& b, std::int64_t block, std::int64_t pixel,
        std::int64_t kernel, std::int64_t dilation) {
        if (b.block == 1) return block;
        const std::int64_t at = block * b.block + pixel - b.lead;
        const bool is_tap = at >= 0 && at % dilation == 0 && at / dilation < kernel;
        return is_tap ? std::optional(at / dilation) : std::nullopt;
    }

    // Returns the image as [N, rows of blocks, columns of blocks, channels of a block].
    static value blocked_image(
        emit<made> e, value v, const pixel_blocks& b, std::int64_t zero, const block_cost& cost) {
        const shape_builder image(e.shape(v));
        const std::int64_t rows = image[0] * b.height.count, columns = b.width.count;
        const std::int64_t channels = b.width.block * image[3];
        if (b.extends()) {
            // Pixels of a row are joined, as few channels are copied slowly.
            v = build::reshape(e, v, shape_builder{image[0], image[1], 1, image[2] * image[3]});
            v = build::pad(e, v,
                shape_builder{0, 0, b.height.front, b.height.back, 0, 0, b.width.front * image[3],
                    b.width.back * image[3]},
                zero);
        }
        if (b.height.block != 1) {
            v = build::reshape(e, v, shape_builder{1, rows, b.height.block * columns, channels});
            const bool convolves =
                e.dtype(v) == dtype::int8 && cost.copies_by_convolution(rows, columns, channels);
            pmr_vector<value> parts;
            for (std::int64_t row = 0; row != b.height.block; ++row) {
                const value part = build::slice(e, v, 2, row * columns, columns);
                parts.push_back(convolves ? copied(e, part) : part);
            }
            v = build::concat(e, parts, 3);
        }
        return build::reshape(
            e, v, shape_builder{image[0], b.height.count, columns, b.height.block * channels});
    }

    // Copies an image by a convolution with the identity.
    static value copied(emit<made> e, value v) {
        const std::int64_t channels = e.shape(v)[3];
        const value identity = build::constant_at(e, dtype::int8, {channels, 1, 1, channels},
            [](const shape_builder& at) { return std::int64_t{at[0] == at[3]}; });
        return build::int8_conv2d(e, v, identity, e.splat(0, dtype::int32, 1));
    }
};
HEADRACE_COMPILED_PASS(strides_to_channels);

}  // namespace headrace

#endif
