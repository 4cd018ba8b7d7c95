// SPDX-License-Identifier: MIT
// Defines headrace::maps::merge_noise, which tells what merging layers costs when they are quantized.
#ifndef HEADRACE_PASSES_MERGE_MERGE_NOISE_HPP
#define HEADRACE_PASSES_MERGE_MERGE_NOISE_HPP

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include <headrace/ir/linear_merges.hpp>
#include <headrace/passes/merge/map_numbers.hpp>

namespace headrace::maps {

/// Compares the noise of a quantized sum, as one layer, with that of its two parts. Weights have one scale
/// for each output channel, so a large one, such as the 1 of an identity, coarsens all others. The parts have
/// scales of their own, but their results are rounded as well. The input is taken as white noise of power 1,
/// and tensors as ranging over 8 standard deviations.
class merge_noise {
public:
    /// The ratio from which a sum is not merged: 1 dB.
    static constexpr double most_growth = 1.26;

    /// Null for graphs that are not quantized, whose merges cost nothing.
    merge_noise(const map_list& maps, const quantized_merges* bits) : maps_(maps), numbers_(maps) {
        if (bits == nullptr) return;
        is_quantized_ = true;
        levels_ = std::exp2(bits->weight_bits - 1) - 1;
        rounding_ = std::pow(8 / std::exp2(bits->activation_bits), 2) / 12;
    }

    /// Returns the noise of a sum that is merged, relative to that of its parts.
    [[nodiscard]] double growth_of(map_id sum) {
        const linear_map& m = maps_[sum];
        if (!is_quantized_ || !m.has_layer) return 1;
        const auto whole = noise_of(sum, m), first = noise_of(m.first, m), second = noise_of(m.second, m);
        if (!whole || !first || !second) return 1;  // its numbers may prevent the merge
        const double rounded = rounding_ * whole->power;
        const double apart =
            rounded + first->weights + second->weights + rounding_ * (first->power + second->power);
        return apart == 0 ? 1 : (rounded + whole->weights) / apart;
    }

private:
    /// Powers, summed over output channels: of the result if it is computed, and of what its weights lose.
    struct layer_noise {
        double power = 0, weights = 0;
    };
    std::optional<layer_noise> noise_of(map_id i, const linear_map& like) {
        const linear_map& m = maps_[i];
        if (m.steps == 0) return layer_noise{};  // the root is there anyway
        auto numbers = numbers_.compute_as(i, like);
        if (!numbers) return std::nullopt;
        layer_noise all;
        for (std::int64_t o = 0; o != numbers->shape.out; ++o) {
            const std::span<const double> row = numbers->row(o);
            double largest = 0;
            for (const double w : row) {
                largest = std::max(largest, std::abs(w));
                all.power += w * w;
            }
            // Single factors are multiples of their own scale.
            const bool is_exact = row.size() == 1;
            if (!is_exact)
                all.weights += static_cast<double>(row.size()) * std::pow(largest / levels_, 2) / 12;
        }
        return all;
    }

    const map_list& maps_;
    number_computer numbers_;
    bool is_quantized_ = false;
    double levels_ = 1, rounding_ = 0;
};

}  // namespace headrace::maps

#endif
