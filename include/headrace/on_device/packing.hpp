// SPDX-License-Identifier: MIT
// Defines headrace::on_device::packing, which names the orders of weights in flash.
#ifndef HEADRACE_ON_DEVICE_PACKING_HPP
#define HEADRACE_ON_DEVICE_PACKING_HPP

#include <cstdint>

namespace headrace::on_device {

/// The generator of a model packs its weights once; kernels for a core read them in the order that suits it.
/// The portable kernel reads every order, so a header made for one core runs on each. A weight has a channel
/// of the output and a place k in its window: (row * width + column) * input channels + input channel.
enum class packing : std::uint8_t {
    rows,   ///< [channel][k]
    c4,     ///< [channel / 4][k][channel % 4], k up to a multiple of 4
    c2k4,   ///< [channel / 2][k / 4][k % 2][k / 2 % 2][channel % 2]: SXTB16 takes two channels' pairs apart
    c4k16,  ///< [channel / 4][k / 16][channel % 4][k % 16]: a vector of 16 k for each of four channels
};

/// The channels of one block and the multiple to which the depth is filled up with zeros.
struct packing_block {
    std::int32_t channels, depth;
};
constexpr packing_block block_of(packing p) {
    switch (p) {
        case packing::c4:
            return {4, 4};
        case packing::c2k4:
            return {2, 4};
        case packing::c4k16:
            return {4, 16};
        default:
            return {1, 1};
    }
}

constexpr std::int32_t round_up(std::int32_t n, std::int32_t multiple) {
    return (n + multiple - 1) / multiple * multiple;
}

/// The place of a weight among `packed_elements(p, channels, depth)`.
constexpr std::int32_t packed_at(packing p, std::int32_t depth, std::int32_t channel, std::int32_t k) {
    const packing_block b = block_of(p);
    const std::int32_t start = channel / b.channels * b.channels * round_up(depth, b.depth);
    const std::int32_t c = channel % b.channels;
    switch (p) {
        case packing::c4:
            return start + k * 4 + c;
        case packing::c2k4:
            return start + k / 4 * 8 + k % 2 * 4 + k / 2 % 2 * 2 + c;
        case packing::c4k16:
            return start + k / 16 * 64 + c * 16 + k % 16;
        default:
            return start + k;
    }
}

/// The length of an array of packed weights; those without a channel or a place in the window are 0.
constexpr std::int32_t packed_elements(packing p, std::int32_t channels, std::int32_t depth) {
    const packing_block b = block_of(p);
    return round_up(channels, b.channels) * round_up(depth, b.depth);
}

}  // namespace headrace::on_device

#endif
