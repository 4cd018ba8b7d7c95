// SPDX-License-Identifier: MIT
// Defines headrace::npu_layer, an operator as an Ethos-U computes it, and headrace::block_of.
#ifndef HEADRACE_TARGET_NPU_LAYER_HPP
#define HEADRACE_TARGET_NPU_LAYER_HPP

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include <headrace/base/ceil_div.hpp>
#include <headrace/target/npu.hpp>

namespace headrace {

/// An image that an NPU reads or writes.
struct npu_image {
    npu_extent size{};
    std::int64_t bytes = 1;  ///< of an element
    bool on_chip = true;
    /// True if groups of 16 channels are apart, as in images that only the NPU sees.
    bool in_groups = true;
};

/// The unit that computes an operator.
enum class npu_unit {
    convolution,  ///< also products of matrices, and sums over channels
    depthwise,
    pooling,
    elementwise
};

/// An operator that an NPU computes at once, with what is fused into it.
struct npu_layer {
    npu_unit unit = npu_unit::convolution;
    npu_image input{}, result{};
    npu_extent kernel{}, stride{}, dilation{};
    double weights = 0;     ///< bytes of constants, as they are stored
    double cycles_out = 0;  ///< per element of the result
    npu_image second{};     ///< the other operand, if it has a size
    bool has_second = false;
    bool sums_channels = false;  ///< has no weights, though channels are summed
};

/// The results that an NPU computes at once, and the input for them.
struct npu_block {
    npu_extent step{}, result{}, input{};
    bool taps_first = false;  ///< several taps of a channel are multiplied at once
};

namespace detail {

[[nodiscard]] constexpr std::int64_t round_up(std::int64_t n, std::int64_t part) {
    return ceil_div(n, part) * part;
}

[[nodiscard]] constexpr double volume(const npu_extent& e) {
    return static_cast<double>(e.height) * static_cast<double>(e.width) * static_cast<double>(e.depth);
}

[[nodiscard]] constexpr npu_extent smaller(const npu_extent& a, const npu_extent& b) {
    return {std::min(a.height, b.height), std::min(a.width, b.width), std::min(a.depth, b.depth)};
}

[[nodiscard]] constexpr npu_extent count_of(const npu_extent& whole, const npu_extent& part) {
    return {ceil_div(whole.height, part.height), ceil_div(whole.width, part.width),
        ceil_div(whole.depth, part.depth)};
}

/// Returns the step that wastes the fewest results.
[[nodiscard]] constexpr npu_extent step_of(const npu_layer& layer, const npu& target) {
    const bool is_planar = layer.unit == npu_unit::depthwise || layer.unit == npu_unit::pooling;
    if (is_planar && layer.input.bytes == 1) return target.planar;
    const auto computed = [&](const npu_extent& step) {
        return volume(count_of(layer.result.size, step)) * volume(step);
    };
    return *std::min_element(target.dense.begin(), target.dense.end(),
        [&](const npu_extent& a, const npu_extent& b) { return computed(a) < computed(b); });
}

/// True if taps are multiplied before channels, as that leaves fewer lanes idle.
[[nodiscard]] constexpr bool takes_taps_first(const npu_layer& layer, const npu& target) {
    if (layer.unit != npu_unit::convolution || layer.has_second || layer.sums_channels) return false;
    const std::int64_t depth = layer.input.size.depth;
    const std::int64_t taps = layer.kernel.height * layer.kernel.width;
    const bool is_u55 = target.feature == target_feature::u55;
    if (is_u55 && depth <= 8) return true;
    const std::int64_t lanes = is_u55 ? 8 : 16;
    const std::int64_t all_lanes = is_u55 ? 32 / layer.input.bytes : 64;
    const std::int64_t taps_at_once = is_u55 ? 4 / layer.input.bytes : 5;
    const std::int64_t taps_taken =
        is_u55 ? round_up(taps, taps_at_once) : taps / 5 * 5 + std::max<std::int64_t>(taps % 5, 2);
    const auto used = [](std::int64_t part, std::int64_t whole) {
        return static_cast<double>(part) / static_cast<double>(whole);
    };
    return used(depth, round_up(depth, lanes)) * used(taps, taps_taken) >=
        used(depth, round_up(depth, all_lanes));
}

/// Returns the rows or columns of the input that `count` results read.
[[nodiscard]] constexpr std::int64_t span_of(
    std::int64_t count, std::int64_t taps, std::int64_t stride, std::int64_t dilation) {
    constexpr std::int64_t most_taps = 8;  // a larger kernel is computed in parts
    return (count - 1) * stride + std::min((taps - 1) * dilation + 1, most_taps);
}

/// Chooses the block with the fewest bytes read per result among those that fit into an NPU's memory.
class block_search {
public:
    block_search(const npu_layer& layer, const npu& target)
        : layer_(layer),
          target_(target),
          step_(step_of(layer, target)),
          taps_first_(takes_taps_first(layer, target)),
          keeps_depth_(layer.unit != npu_unit::convolution) {}

    [[nodiscard]] npu_block best() const {
        const npu_extent& size = layer_.result.size;
        constexpr std::int64_t depth_part = 16;
        npu_block best{.step = step_, .result = step_, .input = step_, .taps_first = taps_first_};
        double least = std::numeric_limits<double>::infinity();
        const npu_extent end{round_up(std::min(size.height, target_.block.height), step_.height),
            round_up(std::min(size.width, target_.block.width), step_.width),
            round_up(std::min(size.depth, target_.block.depth), depth_part)};
        for (npu_extent block = {1, 1, depth_part}; block.depth <= end.depth; block.depth += depth_part) {
            for (block.height = step_.height; block.height <= end.height; block.height += step_.height) {
                bool fits = false;
                for (block.width = step_.width; block.width <= end.width; block.width += step_.width) {
                    const npu_extent input = input_of(block);
                    if (!has_room(block, input)) break;
                    fits = true;
                    const double cost = bytes_read(block, input);
                    if (cost >= least) continue;
                    least = cost;
                    best.result = block;
                    best.input = input;
                }
                if (!fits) break;
            }
        }
        return best;
    }

private:
    [[nodiscard]] npu_extent input_of(const npu_extent& block) const {
        const std::int64_t depth = keeps_depth_
            ? block.depth
            : std::min(round_up(layer_.input.size.depth, 8),
                  (taps_first_ ? target_.taps_depth : target_.channels_depth) / layer_.input.bytes);
        const std::int64_t bytes = depth * layer_.input.bytes;
        const npu_extent& granule = target_.granules[bytes <= 16 ? 0 : bytes <= 32 ? 1 : 2];
        return {round_up(
                    span_of(block.height, layer_.kernel.height, layer_.stride.height, layer_.dilation.height),
                    granule.height),
            round_up(span_of(block.width, layer_.kernel.width, layer_.stride.width, layer_.dilation.width),
                granule.width),
            depth};
    }

    [[nodiscard]] bool has_room(const npu_extent& block, const npu_extent& input) const {
        constexpr std::int64_t bytes_of_sum = 4;
        const auto part = [](double bytes, std::int64_t size) {
            const double whole = static_cast<double>(size);
            return std::ceil(2 * bytes / whole) * whole;
        };
        const double inputs =
            part(volume(input) * static_cast<double>(layer_.input.bytes), target_.input_part);
        const double sums = part(volume(block) * bytes_of_sum, target_.sum_part);
        return target_.sum_bytes == 0 ? inputs + sums <= static_cast<double>(target_.input_bytes)
                                      : inputs <= static_cast<double>(target_.input_bytes) &&
                sums <= static_cast<double>(target_.sum_bytes);
    }

    // Returns the bytes of input and weights that a result takes.
    [[nodiscard]] double bytes_read(const npu_extent& block, const npu_extent& input) const {
        const auto real = [](std::int64_t n) { return static_cast<double>(n); };
        const npu_extent& size = layer_.result.size;
        const double depth = real(layer_.input.size.depth);
        const double blocks = real(size.height) / real(block.height) * (real(size.width) / real(block.width));
        const npu_extent whole = count_of(size, block);
        double pixels = real(input.height) * real(input.width) * depth * blocks;
        double weights = real(layer_.kernel.height) * real(layer_.kernel.width) * depth * real(whole.height) *
            real(whole.width);
        if (!keeps_depth_) {
            pixels *= real(whole.depth);
            weights *= real(size.depth);
        }
        if (layer_.unit == npu_unit::pooling) weights = 0;
        const double bytes = pixels + weights;
        return volume(layer_.input.size) < 2 * volume(input) ? bytes / 2 : bytes;
    }

    const npu_layer& layer_;
    const npu& target_;
    npu_extent step_;
    bool taps_first_, keeps_depth_;
};

}  // namespace detail

/// Returns the block in which an NPU computes a convolution or a pooling.
[[nodiscard]] inline npu_block block_of(const npu_layer& layer, const npu& target) {
    return detail::block_search(layer, target).best();
}

}  // namespace headrace

#endif
