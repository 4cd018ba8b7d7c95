// SPDX-License-Identifier: MIT
// Defines headrace::merge_selections.
#ifndef HEADRACE_PASSES_NPU_MERGE_SELECTIONS_HPP
#define HEADRACE_PASSES_NPU_MERGE_SELECTIONS_HPP

#include <algorithm>
#include <optional>

#include <headrace/base/pmr_vector.hpp>
#include <headrace/passes/properties.hpp>
#include <headrace/passes/support/build.hpp>
#include <headrace/passes/support/widening.hpp>
#include <headrace/target/preferences.hpp>

namespace headrace {

/// Lets a convolution of selected channels read all channels, with zero weights for the others, if that takes
/// fewer products than the selection.
struct merge_selections : pass {
    using phase = tuning;
    static constexpr std::string_view summary =
        "merges a convolution that selects channels into the weight of the one that reads them";

    using targeted_ops = ops<tosa::conv2d>;
    using produces = ops<tosa::conv2d>;

    [[nodiscard]] bool should_run(const graph& g) const {
        return preferences_of(g.target()).selected_channels != 0;
    }

    std::optional<value> operator()(const args<tosa::conv2d>& a, emit<produces>& e) const {
        const auto* narrowed = match<tosa::rescale>(a.input);
        if (narrowed == nullptr || !has_one_use(a.input) || log2_of_factor(*narrowed) != 0 ||
            constant_integer(narrowed->input_zp) != 0 || constant_integer(narrowed->output_zp) != 0 ||
            e.dtype(a.input) != dtype::int8 || narrowed->output_unsigned) {
            return std::nullopt;
        }
        const auto* selection = match<tosa::conv2d>(narrowed->input);
        if (selection == nullptr || !has_one_use(narrowed->input)) return std::nullopt;
        const auto positions = selected_by(*selection, e);
        const shape_builder kernel(e.shape(a.weight));
        const auto all = static_cast<std::int64_t>(positions.size());
        const std::int64_t more = kernel[0] * kernel[1] * kernel[2] * (all - kernel[3]);
        if (all == 0 || more > kernel[3] * all || e.dtype(a.weight) != dtype::int8) return std::nullopt;
        const auto taps = constant_integers(a.weight);
        const auto zero = constant_integer(a.weight_zp);
        if (!taps || !zero) return std::nullopt;
        args<tosa::conv2d> merged = a;
        merged.input = selection->input;
        const shape_builder wide{kernel[0], kernel[1], kernel[2], all};
        merged.weight = build::constant_at(e, dtype::int8, wide, [&](const shape_builder& at) {
            const std::int64_t channel = positions[static_cast<std::size_t>(at[3])];
            if (channel == none) return *zero;
            return (*taps)[build::element_index(kernel, {at[0], at[1], at[2], channel})];
        });
        return e.make<tosa::conv2d>(merged);
    }

private:
    static constexpr std::int64_t none = -1;

    // Returns, for each channel that a convolution reads, the channel it becomes, or `none`. Empty if the
    // convolution does anything but select.
    static pmr_vector<std::int64_t> selected_by(const args<tosa::conv2d>& a, emit<produces>& e) {
        const shape_builder kernel(e.shape(a.weight));
        const auto biases = constant_integers(a.bias);
        const bool is_plain = kernel[1] == 1 && kernel[2] == 1 && build::all_are(a.pad, 0) &&
            build::all_are(a.stride, 1) && e.dtype(a.input) == dtype::int8 &&
            constant_integer(a.input_zp) == 0 && constant_integer(a.weight_zp) == 0 && biases &&
            std::count(biases->begin(), biases->end(), 0) == static_cast<std::ptrdiff_t>(biases->size());
        const auto taps = is_plain ? constant_integers(a.weight) : std::nullopt;
        if (!taps) return {};
        const auto channels = static_cast<std::size_t>(kernel[3]);
        pmr_vector<std::int64_t> positions(channels, none);
        for (std::size_t row = 0; row * channels != taps->size(); ++row) {
            const auto first = taps->begin() + static_cast<std::ptrdiff_t>(row * channels);
            const auto last = first + static_cast<std::ptrdiff_t>(channels);
            const auto one = std::find(first, last, 1);
            if (one == last || std::count(first, last, 0) + 1 != last - first) return {};
            std::int64_t& position = positions[static_cast<std::size_t>(one - first)];
            if (position != none) return {};  // a channel selected twice
            position = static_cast<std::int64_t>(row);
        }
        return positions;
    }
};
HEADRACE_COMPILED_PASS(merge_selections);

}  // namespace headrace

#endif
