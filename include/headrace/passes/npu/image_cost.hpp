// SPDX-License-Identifier: MIT
// Defines headrace::image_cost, the cycles of a network's first convolution.
#ifndef HEADRACE_PASSES_NPU_IMAGE_COST_HPP
#define HEADRACE_PASSES_NPU_IMAGE_COST_HPP

#include <algorithm>
#include <cstdint>

#include <headrace/base/ceil_div.hpp>
#include <headrace/base/sizes.hpp>
#include <headrace/dialect/tosa.hpp>
#include <headrace/infer/shape_builder.hpp>
#include <headrace/target/preferences.hpp>

namespace headrace {

/// Returns the sequential multiplication steps per result of a convolution, on a target that multiplies
/// several taps and channels at once; at least the steps that the output takes.
[[nodiscard]] inline std::int64_t convolution_steps(const target_preferences& target, sizes kernel) {
    const std::int64_t steps =
        ceil_div(kernel[1] * kernel[2], target.taps_at_once) * ceil_div(kernel[3], target.channels_at_once);
    return std::max(steps, target.output_steps);
}

/// Returns the kernel of a convolution with stride 2 that reads pairs of columns as one column.
[[nodiscard]] inline shape_builder paired_kernel(sizes kernel, std::int64_t pad) {
    return {kernel[0], kernel[1], (pad % 2 + kernel[2] + 1) / 2, 2 * kernel[3]};
}

/// Estimates the cycles of a convolution of an image with few channels, and of its reader, with the image on
/// the chip or off it. The formulas and constants are those of Vela's estimates for ethos-u85-256, which are
/// the same in 5.1 and 5.2; they match within a tenth on resnet18, squeezenet1_1 and shufflenet_v2.
class image_cost {
public:
    image_cost(
        const target_spec& target, sizes image, sizes kernel, sizes result, const args<tosa::conv2d>& a)
        : target_(preferences_of(target)), image_bytes_(element_count(image)) {
        const std::int64_t pixels = result[0] * result[1] * result[2];
        result_bytes_ = pixels * ceil_div(result[3], burst) * burst;
        reads_few_ = image[3] < burst;
        std::int64_t steps = convolution_steps(target_, kernel);
        const bool may_pair = a.stride[1] == 2 && image[2] % 2 == 0 && image[3] <= target_.paired_channels;
        if (may_pair) steps = std::min(steps, convolution_steps(target_, paired_kernel(kernel, a.pad[2])));
        // In floating point, since products of sizes from a program may overflow integers.
        const auto real = [](std::int64_t n) { return static_cast<double>(n); };
        computing_ = real(pixels * result[3]) * real(steps) / results_per_step;
        const std::int64_t blocks =
            ceil_div(pixels, block_rows * block_columns) * ceil_div(result[3], block_depth);
        const double window = real((block_rows - 1) * a.stride[0] + kernel[1]) *
            real((block_columns - 1) * a.stride[1] + kernel[2]);
        reading_ = real(blocks) * window * real(image[3]) * real(target_.slow_read) / 100;
        writing_ = real(result_bytes_) * real(target_.slow_result) / 100;
    }

    /// True if keeping the image on the chip, and the result off it, takes fewer cycles in total.
    [[nodiscard]] bool gains_on_chip() const {
        const bool both_fit = image_bytes_ + result_bytes_ <= target_.on_chip_bytes;
        if (!reads_few_ || both_fit || image_bytes_ > target_.on_chip_bytes) return false;
        return std::max(computing_, reading_) > computing_ + writing_;
    }

    /// True if copying a given image to the chip, where the result stays as well, takes fewer cycles.
    [[nodiscard]] bool gains_by_copy() const {
        const bool both_fit = image_bytes_ + result_bytes_ <= target_.on_chip_bytes;
        const double copying =
            static_cast<double>(image_bytes_) * static_cast<double>(target_.slow_result) / 100;
        return reads_few_ && both_fit && reading_ > computing_ + copying;
    }

private:
    static constexpr std::int64_t burst = 16;
    static constexpr std::int64_t results_per_step = 8;
    // The block of the result that is computed at a time.
    static constexpr std::int64_t block_rows = 4, block_columns = 16, block_depth = 32;

    const target_preferences& target_;
    std::int64_t image_bytes_, result_bytes_;
    double computing_, reading_, writing_;
    bool reads_few_;
};

}  // namespace headrace

#endif
