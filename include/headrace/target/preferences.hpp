// SPDX-License-Identifier: MIT
// Defines headrace::preferences_of, the forms of computation that each target runs fastest.
#ifndef HEADRACE_TARGET_PREFERENCES_HPP
#define HEADRACE_TARGET_PREFERENCES_HPP

#include <cstddef>
#include <cstdint>
#include <limits>

#include <headrace/base/target_spec.hpp>

namespace headrace {

/// The cheapest of several ways to compute the same numbers on a target. Passes read these instead of
/// features, so that a new target is described in one place.
struct target_preferences {
    static constexpr std::int64_t any = std::numeric_limits<std::int64_t>::max();

    /// True if a CLAMP to the whole range of its type is kept. It changes nothing, but Vela estimates fewer
    /// cycles for an Ethos-U55 if one follows a convolution.
    bool whole_clamps = false;
    /// The maximum number of axes of a TRANSPOSE; with more, axes that move together are merged.
    std::size_t transposed_axes = 4;
    /// The number of pixels that a convolution with weights of 0 and 1 moves at a time when a few planes
    /// become channels; 0 to use a TRANSPOSE.
    std::int64_t planes_by_convolution = 0;
    /// True if planes are moved before the image is cropped when they cannot be moved after it, because the
    /// number of cropped pixels does not fit.
    bool crops_after_planes = false;
    /// True if the image that windows read is cropped after its transposition, although that transposes more.
    bool crops_after_transpose = false;
    /// True if the rows of a linear layer become the width of an image, not its height.
    bool rows_are_width = false;
    /// The maximum stride of a convolution. With a longer one, each pixel of the result is computed
    /// separately, so windows that do not overlap are turned into channels first.
    std::int64_t stride = any;
    /// True if a transposed convolution is computed as one convolution for each row within its stride.
    bool interleaves_rows = false;
    /// The maximum length of a last axis that a MAX_POOL2D over the height of an image reduces.
    std::int64_t pooled_maximum = 0;
    /// The maximum size of an image, in pixels, that is summed by a DEPTHWISE_CONV2D with weights of 1.
    std::int64_t convolved_sum = 0;
    /// The maximum number of bits of constant factors and offsets of channels that elementwise operators
    /// read; those of more bits become weights of a DEPTHWISE_CONV2D.
    std::int64_t factor_bits = any;
    /// True if operands of sums are widened without additional fractional bits.
    bool sums_at_unit_scale = false;
    /// True if each reader of a tensor that is widened to INT32 has a RESCALE of its own, which is then fused
    /// into the reader. Shared, it is an operator whose INT32 result goes through memory.
    bool widens_per_reader = false;
    /// True if RESCALEs directly follow convolutions, before ops that only move elements.
    bool rescales_first = false;
    /// True if convolutions that skip the last column of an image read it with a weight of zero instead.
    bool reads_last_column = false;
    /// The maximum number of channels from which a convolution with weights of 0 and 1 selects shuffled ones;
    /// 0 to move them instead.
    std::int64_t selected_channels = 0;
    /// The number of products that a convolution computes in the time of moving one element; 0 to keep groups
    /// of channels separate.
    std::int64_t products_per_move = 0;
    /// The maximum number of channels of an image that a convolution with stride 2 reads as twice as many
    /// channels of half the width.
    std::int64_t paired_channels = 0;
    /// True if reading pairs of columns only helps for an image that is computed or copied to the chip. An
    /// input image is read from slow memory in bursts, of which pairs use less.
    bool pairs_on_chip_alone = false;
    /// The taps and channels of a convolution that are multiplied in one step, and the minimum number of such
    /// steps charged per output element.
    std::int64_t taps_at_once = 1, channels_at_once = 8, output_steps = 0;
    /// The size of on-chip memory in bytes if other memory is slow; 0 if that makes no difference.
    std::int64_t on_chip_bytes = 0;
    /// The cost of a byte in slow memory, in hundredths of a cycle: for an image with few channels, and for a
    /// large result that is written and read again.
    std::int64_t slow_read = 0, slow_result = 0;
    /// True if the second matrices of a MATMUL are transposed before it, unless they come from such a
    /// TRANSPOSE.
    bool reads_matrices_transposed = false;
    /// The maximum number of matrices of a MATMUL, such as the heads of an attention, that are multiplied one
    /// by one if they are stored side by side; 0 if it is faster to move them apart.
    std::int64_t separate_matrices = 0;
    /// The cost of writing an image plane by plane from a convolution, which grows with the number of planes
    /// per pixel: in hundredths, relative to a copy of the image, which has none of the weights; 0 if a copy
    /// never helps.
    std::int64_t slow_planes = 0;
};

namespace detail {

// Fewer transposes are better anywhere; what else pays, the target must say.
inline constexpr target_preferences plain_preferences{.separate_matrices = 16};

// Derived from the estimates of Vela 5.1 for ethos-u55-128; those of 5.2 differ for INT32 tensors,
// whose transfers it counts in bytes.
inline constexpr target_preferences u55_preferences{.whole_clamps = true,
    .transposed_axes = 2,
    .crops_after_transpose = true,
    .rows_are_width = true,
    .stride = 3,
    .interleaves_rows = true,
    .pooled_maximum = 256,
    .factor_bits = 0,
    .sums_at_unit_scale = true,
    .widens_per_reader = true,
    .rescales_first = true,
    .selected_channels = 512,
    .products_per_move = 128,
    .paired_channels = 4};

// Derived from the estimates of Vela 5.1 for ethos-u85-256; those of 5.2 are the same for INT8.
inline constexpr target_preferences u85_preferences{.planes_by_convolution = 16,
    .crops_after_planes = true,
    .rows_are_width = true,
    .stride = 3,
    .interleaves_rows = true,
    .pooled_maximum = 256,
    .convolved_sum = 4096,
    .factor_bits = 8,
    .sums_at_unit_scale = true,
    .widens_per_reader = true,
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
    .separate_matrices = 16,
    .slow_planes = 11};

// A core moves elements as fast as it multiplies them, its kernels widen their operands themselves, and those
// for transposed convolutions are the slowest: 2 to 25 times as many instructions as the rows take.
inline constexpr target_preferences core_preferences{.interleaves_rows = true, .widens_per_reader = true};

}  // namespace detail

/// Returns the preferences of a target; without a processor, those of plain TOSA.
[[nodiscard]] constexpr const target_preferences& preferences_of(const target_spec& target) {
    if (target.has(target_feature::u55)) return detail::u55_preferences;
    if (target.has(target_feature::u85)) return detail::u85_preferences;
    if (target.has(target_feature::core)) return detail::core_preferences;
    return detail::plain_preferences;
}

}  // namespace headrace

#endif
