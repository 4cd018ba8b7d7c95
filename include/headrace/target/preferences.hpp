// SPDX-License-Identifier: MIT
// Defines headrace::preferences_of, what each target runs fastest.
#ifndef HEADRACE_TARGET_PREFERENCES_HPP
#define HEADRACE_TARGET_PREFERENCES_HPP

#include <cstddef>
#include <cstdint>
#include <limits>

#include <headrace/base/target_spec.hpp>

namespace headrace {

/// Of several ways to compute the same numbers, those that cost a target least. Passes ask here, not for
/// features, so that a target that is added is described in one place.
struct target_preferences {
    static constexpr std::int64_t any = std::numeric_limits<std::int64_t>::max();

    /// Does a CLAMP to the whole range of its type stay? It changes nothing, but Vela estimates fewer cycles
    /// for an Ethos-U55 where one follows a convolution.
    bool whole_clamps = true;
    /// Axes of a TRANSPOSE; one of more is merged to fewer where axes move together.
    std::size_t transposed_axes = 4;
    /// Pixels that a convolution by 0 and 1 moves at a time where a few planes become channels; 0 for a
    /// TRANSPOSE.
    std::int64_t planes_by_convolution = 0;
    /// Are planes moved before the image is cropped, where the crop has a number of pixels that cannot be?
    bool crops_after_planes = false;
    /// Is what windows read cropped after it is transposed, although that transposes more?
    bool crops_after_transpose = false;
    /// The rows of a linear layer are the width of an image, not its height.
    bool rows_are_width = false;
    /// The longest stride of a convolution. What has a longer one is computed once for each pixel of its
    /// result, so windows that do not overlap become channels before.
    std::int64_t stride = any;
    /// The longest last axis whose maximum is a MAX_POOL2D over the height of an image.
    std::int64_t pooled_maximum = 0;
    /// The largest image, in pixels, that a DEPTHWISE_CONV2D with weights of 1 sums up.
    std::int64_t convolved_sum = 0;
    /// Operands of sums are widened as they are, without bits of fraction that both get.
    bool sums_at_unit_scale = false;
    /// RESCALEs follow convolutions immediately: what only moves elements comes after.
    bool rescales_first = false;
    /// Convolutions that skip the last column of an image read it, with a weight of zero.
    bool reads_last_column = false;
    /// The most channels of which a convolution with weights of 0 and 1 selects shuffled ones; 0 where they
    /// are moved.
    std::int64_t selected_channels = 0;
    /// Products that a convolution computes while one element is moved; 0 where groups of channels stay
    /// apart.
    std::int64_t products_per_move = 0;
    /// Channels of an image that a convolution with stride 2 reads as twice as many, of half the width.
    std::int64_t paired_channels = 0;
    /// Does only an image that is computed, or copied to the chip, gain by that? One that is given is read
    /// from slow memory in bursts, of which it then uses less.
    bool pairs_on_chip_alone = false;
    /// Taps and channels of a convolution that are multiplied at a time, and as how many such steps what a
    /// result takes to be written counts at least.
    std::int64_t taps_at_once = 1, channels_at_once = 8, output_steps = 0;
    /// On-chip memory, in bytes, where other memory is slow; 0 where that makes no difference.
    std::int64_t on_chip_bytes = 0;
    /// Hundredths of a cycle for a byte in slow memory: of an image with few channels, and of a large result
    /// that is written there and read again.
    std::int64_t slow_read = 0, slow_result = 0;
    /// Are the second matrices of a MATMUL transposed before it, unless they come from such a TRANSPOSE?
    bool reads_matrices_transposed = false;
    /// A convolution that writes an image plane by plane takes longer the more planes there are for each of
    /// their pixels: hundredths by which, against a copy of the image that has none of its weights; 0 where a
    /// copy gains nothing.
    std::int64_t slow_planes = 0;
};

namespace detail {

// Programs for no target in particular are compiled for both Ethos-Us. What helps one of them and hurts the
// other in nothing, or little, stays: without whole CLAMPs the keyword spotter takes 21 % more cycles on an
// Ethos-U55, without planes by convolution MobileNet V2 (96x96) 10 % more on an Ethos-U85.
inline constexpr target_preferences generic_preferences{.planes_by_convolution = 16};

// Measured by the estimates of Vela 5.1 for ethos-u55-128.
inline constexpr target_preferences u55_preferences{.transposed_axes = 2,
                                                    .crops_after_transpose = true,
                                                    .rows_are_width = true,
                                                    .stride = 3,
                                                    .pooled_maximum = 256,
                                                    .sums_at_unit_scale = true,
                                                    .rescales_first = true,
                                                    .selected_channels = 512,
                                                    .products_per_move = 128,
                                                    .paired_channels = 4};

// Measured by the estimates of Vela 5.1 for ethos-u85-256.
inline constexpr target_preferences u85_preferences{.whole_clamps = false,
                                                    .planes_by_convolution = 16,
                                                    .crops_after_planes = true,
                                                    .rows_are_width = true,
                                                    .stride = 3,
                                                    .pooled_maximum = 256,
                                                    .convolved_sum = 4096,
                                                    .sums_at_unit_scale = true,
                                                    .rescales_first = true,
                                                    .reads_last_column = true,
                                                    .selected_channels = 512,
                                                    .products_per_move = 128,
                                                    .paired_channels = 4,
                                                    .pairs_on_chip_alone = true,
                                                    .taps_at_once = 4,
                                                    .output_steps = 3,
                                                    .on_chip_bytes = 384 * 1024,
                                                    .slow_read = 244,
                                                    .slow_result = 21,
                                                    .reads_matrices_transposed = true,
                                                    .slow_planes = 11};

// A core moves elements as fast as it multiplies them, and kernels clamp anyway.
inline constexpr target_preferences core_preferences{.whole_clamps = false};

}  // namespace detail

/// Describes the forms that a target runs fastest; for a target that names no processor, those that hurt
/// none.
[[nodiscard]] constexpr const target_preferences& preferences_of(const target_spec& target) {
    if (target.has(target_feature::u55)) return detail::u55_preferences;
    if (target.has(target_feature::u85)) return detail::u85_preferences;
    if (target.has(target_feature::core)) return detail::core_preferences;
    return detail::generic_preferences;
}

}  // namespace headrace

#endif
