// SPDX-License-Identifier: MIT
// Defines headrace::npu_cycles, an estimate of the cycles that an operator takes on an Ethos-U.
#ifndef HEADRACE_TARGET_NPU_CYCLES_HPP
#define HEADRACE_TARGET_NPU_CYCLES_HPP

#include <algorithm>
#include <cmath>
#include <cstdint>

#include <headrace/base/ceil_div.hpp>
#include <headrace/target/npu.hpp>
#include <headrace/target/npu_layer.hpp>

namespace headrace {

namespace detail {

[[nodiscard]] constexpr double as_real(std::int64_t n) { return static_cast<double>(n); }

[[nodiscard]] constexpr const npu_memory& memory_of(const npu_image& image, const npu& target) {
    return image.on_chip ? target.on_chip : target.off_chip;
}

/// Returns the bytes that a memory is busy with for each byte of an image: it transfers whole bursts.
[[nodiscard]] constexpr double burst_loss(
    const npu_image& image, const npu_extent& block, bool is_read, const npu& target) {
    constexpr std::int64_t group = 16, longest_write = 64;
    const std::int64_t pixel = image.size.depth * image.bytes;
    const std::int64_t burst = memory_of(image, target).burst;
    const bool takes_rows = pixel == block.depth && (is_read || block.depth <= group);
    std::int64_t length = image.bytes * block.depth;
    if (image.in_groups) {
        length = group * image.bytes * block.width;
    } else if (takes_rows) {
        length *= block.width;
    } else if (!is_read) {
        length = std::min({longest_write, group * image.bytes, length});
    }
    return as_real(burst) / as_real(std::clamp<std::int64_t>(length, 1, burst));
}

/// Returns the bytes of an image as it is stored.
[[nodiscard]] constexpr double stored_bytes(const npu_image& image, const npu_extent& size) {
    npu_extent stored = size;
    if (image.in_groups) stored.depth = round_up(stored.depth, 16);
    return volume(stored) * as_real(image.bytes);
}

/// Returns the cycles until the first block of an image has arrived.
[[nodiscard]] constexpr double block_latency(
    const npu_image& image, const npu_extent& block, bool is_read, const npu& target) {
    const npu_memory& memory = memory_of(image, target);
    const double bytes = volume(smaller(image.size, block)) * as_real(image.bytes);
    return (is_read ? memory.read_latency : memory.write_latency) +
        bytes * burst_loss(image, block, is_read, target) / memory.bandwidth;
}

/// Returns the cycles in which a block is multiplied, or its windows are pooled.
[[nodiscard]] inline double multiplying_cycles(
    const npu_layer& layer, const npu_block& b, const npu& target) {
    constexpr std::int64_t most_taps = 8;
    const npu_extent steps = count_of(smaller(layer.result.size, b.result), b.step);
    const double area = as_real(steps.height) * as_real(steps.width);
    const double decoding = 4 * as_real(b.step.depth);
    const std::int64_t depth = std::min(layer.input.size.depth, b.input.depth);
    const bool is_u55 = target.feature == target_feature::u55;
    // An NPU's kernels have at most 64 rows, and 4096 elements, so larger ones need not be counted.
    const npu_extent kernel = smaller(layer.kernel, {64, 4096, 1});
    double cycles = 0;
    for (std::int64_t y = 0; y < kernel.height; y += most_taps) {
        for (std::int64_t x = 0; x < kernel.width; x += most_taps) {
            const std::int64_t taps =
                std::min(kernel.height - y, most_taps) * std::min(kernel.width - x, most_taps);
            double rounds = 1, each = 0;
            if (layer.unit == npu_unit::pooling) {
                each = std::max(4.0, as_real(taps)) * area * 4 * as_real(layer.input.bytes);
            } else if (layer.unit == npu_unit::depthwise) {
                rounds = as_real(ceil_div(taps, 4));
                each = std::max(decoding, 4 * area * as_real(layer.input.bytes));
            } else if (b.taps_first) {
                rounds = as_real(ceil_div(taps, 4 / std::min<std::int64_t>(layer.input.bytes, 2))) *
                    as_real(ceil_div(depth, 8));
                each = std::max(decoding, 4 * area);
            } else {
                rounds = as_real(taps);
                const double per_step = is_u55 ? 4 : as_real(depth / 8) * as_real(layer.input.bytes);
                each = std::max(decoding, per_step * area);
            }
            constexpr double delay = 2;
            const bool waits = area == 1 && (steps.depth == 1 || rounds > 1);
            const double waited = !waits ? 0 : steps.depth == 1 ? rounds : (rounds - 1);
            cycles += each * rounds * as_real(steps.depth) + delay * waited * as_real(steps.depth);
        }
    }
    if (layer.unit != npu_unit::convolution) return cycles;
    return cycles * as_real(ceil_div(layer.input.size.depth, depth));
}

/// Returns the cycles in which the units of an NPU compute a layer, without waiting for memory.
[[nodiscard]] inline double computing_cycles(const npu_layer& layer, const npu_block& b, const npu& target) {
    const npu_extent block = smaller(layer.result.size, b.result);
    const double blocks = volume(count_of(layer.result.size, b.step)) / volume(count_of(block, b.step));
    const double multiplying = multiplying_cycles(layer, b, target);
    double giving_out = std::ceil(layer.cycles_out * volume(block));
    if (layer.weights > 0) {
        constexpr double bytes_per_channel = 10, outstanding = 256;
        giving_out = std::max(
            giving_out, bytes_per_channel * as_real(block.depth) * target.on_chip.read_latency / outstanding);
    }
    const double in = block_latency(layer.input, b.input, true, target);
    const double out = block_latency(layer.result, b.result, false, target);
    const double commands = ((blocks > 1 ? std::abs(out - in) : 0) + multiplying + giving_out) / 4;
    const double first = std::max(multiplying, commands), second = std::max(giving_out, commands);
    return std::max(first, second) * blocks + std::min(first, second) + in + out;
}

/// Returns the cycles in which the memories transfer what a layer reads and writes.
[[nodiscard]] inline double transfer_cycles(const npu_layer& layer, const npu_block& b, const npu& target) {
    const bool is_elementwise = layer.unit == npu_unit::elementwise;
    double read = stored_bytes(layer.input, layer.input.size);
    if (!is_elementwise) {
        npu_extent blocks = count_of(layer.result.size, smaller(layer.result.size, b.result));
        if (layer.unit != npu_unit::convolution) blocks.depth = 1;
        npu_extent window = smaller(layer.input.size, b.input);
        window.depth = layer.input.size.depth;
        read = stored_bytes(layer.input, window) * volume(blocks) *
            as_real(ceil_div(layer.kernel.height, 8) * ceil_div(layer.kernel.width, 8));
    }
    read *= burst_loss(layer.input, b.input, true, target);
    const double second = !layer.has_second
        ? 0
        : stored_bytes(layer.second, layer.second.size) * burst_loss(layer.second, b.input, true, target);
    const double written =
        stored_bytes(layer.result, layer.result.size) * burst_loss(layer.result, b.result, false, target);
    const auto busy = [&](bool on_chip) {
        const npu_memory& memory = on_chip ? target.on_chip : target.off_chip;
        const auto if_here = [&](const npu_image& image, double bytes) {
            return image.on_chip == on_chip ? bytes : 0;
        };
        const double in = if_here(layer.input, read);
        const double other = if_here(layer.second, second);
        const double out = if_here(layer.result, written);
        const double constants = on_chip ? 0 : layer.weights;
        const double slowest = std::max({in / (is_elementwise ? memory.element_reads : memory.reads),
            other / memory.element_reads, out / memory.writes, constants / memory.copies});
        return std::max((in + other + out + constants) / memory.bandwidth, slowest);
    };
    return std::max(busy(true), busy(false));
}

/// Returns the cycles of an elementwise operator, which has no windows.
[[nodiscard]] inline double elementwise_cycles(const npu_layer& layer) {
    const npu_extent stored = layer.result.in_groups
        ? npu_extent{layer.result.size.height, layer.result.size.width, round_up(layer.result.size.depth, 16)}
        : layer.result.size;
    return layer.cycles_out * volume(stored);
}

// With a longer stride, Vela computes each pixel of the result by a convolution of its own.
inline constexpr std::int64_t longest_stride = 3;

}  // namespace detail

/// Returns an estimate of the cycles that an operator takes, as Vela 5.2 would give it: the longest of
/// computing and of the transfers of each memory (regor/architecture/ethosu55/ethos_u55_performance.cpp and
/// ethosu85/ethos_u85_performance.cpp in its sources).
[[nodiscard]] inline double npu_cycles(const npu_layer& layer, const npu& target) {
    if (detail::volume(layer.result.size) == 0 || detail::volume(layer.input.size) == 0) return 0;
    if (layer.unit == npu_unit::elementwise) {
        // The largest power of two that divides the channels.
        const std::int64_t stored = detail::round_up(layer.result.size.depth, 16);
        const std::int64_t depth = std::min<std::int64_t>(stored & -stored, 128);
        const npu_block whole{{}, {1, 16, depth}, {1, 16, depth}, false};
        return std::max(detail::elementwise_cycles(layer), detail::transfer_cycles(layer, whole, target));
    }
    if (const npu_extent& stride = layer.stride;
        std::max(stride.height, stride.width) > detail::longest_stride) {
        npu_layer pixel = layer;
        pixel.stride = {};
        pixel.input.size = {layer.kernel.height, layer.kernel.width, layer.input.size.depth};
        pixel.result.size = {1, 1, layer.result.size.depth};
        return detail::as_real(layer.result.size.height) * detail::as_real(layer.result.size.width) *
            npu_cycles(pixel, target);
    }
    const npu_block block = block_of(layer, target);
    return std::max(
        detail::computing_cycles(layer, block, target), detail::transfer_cycles(layer, block, target));
}

}  // namespace headrace

#endif
