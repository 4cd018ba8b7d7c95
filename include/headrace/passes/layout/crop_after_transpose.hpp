// SPDX-License-Identifier: MIT
// Defines headrace::crop_after_transpose.
#ifndef HEADRACE_PASSES_LAYOUT_CROP_AFTER_TRANSPOSE_HPP
#define HEADRACE_PASSES_LAYOUT_CROP_AFTER_TRANSPOSE_HPP

#include <algorithm>
#include <optional>

#include <headrace/passes/properties.hpp>
#include <headrace/passes/support/permuting.hpp>
#include <headrace/target/preferences.hpp>

namespace headrace {

struct merge_transposed_axes;
/// Moves a SLICE that keeps most of a tensor after the TRANSPOSE that reads it, if windows read the result.
/// Example: an image of even size, of which a convolution with stride 2 reads all except the last row and
/// column. Convolutions and pooling on an Ethos-U read part of a tensor in place; a TRANSPOSE does not, so
/// the part would be copied first.
struct crop_after_transpose : pass {
    using runs_after = pass_list<layouts_chosen>;
    using runs_before = pass_list<merge_transposed_axes>;
    static constexpr std::string_view summary =
        "transposes before a SLICE of most of a tensor what windows read then";

    using targeted_ops = ops<tosa::transpose>;
    using produces = ops<tosa::transpose, tosa::slice, tosa::const_shape>;

    [[nodiscard]] bool should_run(const graph& g) const {
        return preferences_of(g.target()).crops_after_transpose;
    }

    std::optional<value> operator()(const args<tosa::transpose>& a, emit<produces>& e) const {
        const auto* part = match<tosa::slice>(a.input1);
        const auto* start = part == nullptr ? nullptr : match<tosa::const_shape>(part->start);
        const bool is_most =
            start != nullptr && e.meta(part->input1).elements() / 2 < e.meta(a.input1).elements();
        const auto uses = e.current().uses();
        const bool is_for_windows = std::all_of(uses.begin(), uses.end(), [](const edge& use) {
            const node& n = *use.target;
            return is<tosa::conv2d>(n) || is<tosa::depthwise_conv2d>(n) || is<tosa::max_pool2d>(n) ||
                is<tosa::avg_pool2d>(n);
        });
        if (!is_most || !is_for_windows || !has_one_use(a.input1)) return std::nullopt;
        return e.make<tosa::slice>({.input1 = build::transpose(e, part->input1, a.perms),
            .start = build::const_shape(e, build::permuted(start->values, a.perms)),
            .size = build::const_shape(e, e.result_meta().shape)});
    }
};
HEADRACE_COMPILED_PASS(crop_after_transpose);

}  // namespace headrace

#endif
