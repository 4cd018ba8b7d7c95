// SPDX-License-Identifier: MIT
// Defines headrace::pixel_blocks, the ways in which a convolution with a long stride can read blocks of
// pixels.
#ifndef HEADRACE_PASSES_NPU_PIXEL_BLOCKS_HPP
#define HEADRACE_PASSES_NPU_PIXEL_BLOCKS_HPP

#include <array>
#include <cstddef>
#include <cstdint>

#include <headrace/base/ceil_div.hpp>
#include <headrace/base/pmr_vector.hpp>
#include <headrace/base/sizes.hpp>
#include <headrace/infer/window.hpp>

namespace headrace {

/// Windows along one axis of an image whose pixels are read in blocks of equal size.
struct axis_blocks {
    std::int64_t block = 1;              ///< pixels that become channels
    std::int64_t taps = 1;               ///< blocks that a window covers
    std::int64_t stride = 1;             ///< in blocks
    std::int64_t dilation = 1;           ///< of the taps, if a block is one pixel
    std::int64_t lead = 0;               ///< pixels of the first block before the window
    std::int64_t front = 0, back = 0;    ///< pixels by which the image must be extended
    std::int64_t before = 0, after = 0;  ///< blocks of padding
    std::int64_t count = 1;              ///< blocks of the extended image
};

/// Returns windows of an axis of `size` pixels in blocks that divide the stride. The image may be extended
/// so that the first window begins with a block; otherwise it is extended only to whole blocks.
[[nodiscard]] constexpr axis_blocks in_blocks(
    const window& w, std::int64_t size, std::int64_t positions, std::int64_t block, bool starts_with_block) {
    axis_blocks a{.block = block, .stride = w.stride / block};
    a.front = starts_with_block ? w.before % block : 0;
    const std::int64_t padding = w.before - a.front;
    a.lead = (block - padding % block) % block;
    a.taps = block == 1 ? w.kernel : ceil_div(a.lead + w.extent(), block);
    a.dilation = block == 1 ? w.dilation : 1;
    a.count = ceil_div(a.front + size, block);
    a.back = a.count * block - a.front - size;
    a.before = (padding + a.lead) / block;
    const std::int64_t extent = (a.taps - 1) * a.dilation + 1;
    a.after = (positions - 1) * a.stride + extent - a.before - a.count;
    return a;
}

/// Returns the ways to read an axis with strides of at most `longest`, counted in blocks.
[[nodiscard]] inline pmr_vector<axis_blocks> ways_to_block(
    window w, std::int64_t size, std::int64_t positions, std::int64_t longest) {
    if (positions == 1) w.stride = 1;  // nothing is skipped
    pmr_vector<axis_blocks> ways;
    if (w.stride <= longest) {
        ways.push_back(in_blocks(w, size, positions, 1, false));
        return ways;
    }
    for (std::int64_t stride = 1; stride <= longest; ++stride) {
        if (w.stride % stride != 0) continue;
        const std::int64_t block = w.stride / stride;
        ways.push_back(in_blocks(w, size, positions, block, false));
        if (w.before % block != 0) ways.push_back(in_blocks(w, size, positions, block, true));
    }
    return ways;
}

/// Windows along the height and the width of an image.
struct pixel_blocks {
    axis_blocks height, width;

    /// True if the image must be extended.
    [[nodiscard]] constexpr bool extends() const {
        return height.front + height.back + width.front + width.back != 0;
    }
    /// True if each pixel of a block is read, and the taps of a weight stay in order.
    [[nodiscard]] constexpr bool keeps_taps(sizes kernel) const {
        return height.taps * height.block == kernel[1] && width.taps * width.block == kernel[2] &&
            height.lead == 0 && width.lead == 0 && (height.block == 1 || width.taps == 1);
    }
};

}  // namespace headrace

#endif
