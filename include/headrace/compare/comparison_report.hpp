// SPDX-License-Identifier: MIT
// Declares headrace::sorted_layers, headrace::comparison_lines, headrace::comparison_json and
// headrace::comparison_dot, which present a comparison of two models.
#ifndef HEADRACE_COMPARE_COMPARISON_REPORT_HPP
#define HEADRACE_COMPARE_COMPARISON_REPORT_HPP

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <headrace/base/result.hpp>
#include <headrace/compare/compare_models.hpp>

namespace headrace {

/// The figure by which layers are sorted, worst first.
enum class comparison_order : unsigned char {
    own,         ///< the noise that a layer adds
    sqnr,        ///< the noise in its output
    difference,  ///< the largest difference
    cosine,
    saturated,
    model  ///< in the order of the model
};
/// Parses "own", "sqnr", "difference", "cosine", "saturated" or "model".
[[nodiscard]] result<comparison_order> parse_comparison_order(std::string_view text);

/// Returns the positions of the layers, sorted; equal ones in the order of the model.
[[nodiscard]] std::vector<std::size_t> sorted_layers(const model_comparison& c, comparison_order by);

/// A line of the table: a layer, or all layers that compute one time step of a recurrent network.
struct comparison_line {
    std::string name;                 ///< the layer's, or "gru_l0, step 3 of 32"
    std::vector<std::size_t> layers;  ///< by position; the first is the worst, or the first in the model
};
/// Returns the lines of the table, sorted by the worst layer of each.
[[nodiscard]] std::vector<comparison_line> comparison_lines(const model_comparison& c, comparison_order by);

/// Returns all figures as JSON, sorted, and the worst layer of each time step of recurrent networks. Decibels
/// are null for equal layers; the largest difference is null if there is NaN.
[[nodiscard]] std::string comparison_json(const model_comparison& c, comparison_order by);

/// Returns a picture for Graphviz: layers from top to bottom, green above 40 dB, red below 10.
[[nodiscard]] std::string comparison_dot(const model_comparison& c);

}  // namespace headrace

#endif
