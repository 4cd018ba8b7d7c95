// SPDX-License-Identifier: MIT
// Defines how constants and quantization parameters are written on one line.
#ifndef HEADRACE_SHOW_LITERALS_HPP
#define HEADRACE_SHOW_LITERALS_HPP

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <vector>

#include <headrace/base/strings.hpp>
#include <headrace/dialect/builtin.hpp>
#include <headrace/dialect/tosa.hpp>
#include <headrace/eval/tensor.hpp>
#include <headrace/ir/graph.hpp>
#include <headrace/passes/quantize/quantization.hpp>

namespace headrace::detail {

/// Returns the elements of a constant of any dialect; nothing for other nodes.
[[nodiscard]] inline std::optional<tensor> constant_elements(const node& n) {
    if (const auto* a = args_if<tosa::const_shape>(n)) {
        const std::vector<std::int64_t> sizes(a->values.begin(), a->values.end());
        return tensor::of(dtype::int64, {static_cast<std::int64_t>(sizes.size())}, sizes);
    }
    const auto* exported = args_if<builtin::constant>(n);
    const auto* lowered = args_if<tosa::const_>(n);
    if ((exported == nullptr && lowered == nullptr) || !n.results[0].meta) return std::nullopt;
    const tensor_data& data = exported != nullptr ? exported->data : lowered->data;
    if (data.bytes == nullptr || n.results[0].meta->dtype == dtype::unknown) return std::nullopt;
    return tensor_of_constant(data, *n.results[0].meta);
}

[[nodiscard]] inline bool is_constant_node(const node& n) {
    return is<builtin::constant>(n) || is<tosa::const_>(n) || is<tosa::const_shape>(n);
}

[[nodiscard]] inline std::string number_text_of(const tensor& t, std::int64_t i) {
    if (is_boolean(t.type())) return t.integer(i) != 0 ? "true" : "false";
    if (!is_floating(t.type())) return join_text(t.integer(i));
    std::array<char, 40> digits{};
    std::snprintf(digits.data(), digits.size(), "%.6g", t.real(i));
    return digits.data();
}

/// Returns "[1, 16]", or "0.5" for a tensor of rank 0; nothing for tensors with many elements, or with
/// several axes of more than one.
[[nodiscard]] inline std::optional<std::string> literal_of(const node& n) {
    constexpr std::int64_t max_elements = 8;
    if (!is_constant_node(n) || !n.results[0].meta || n.results[0].meta->elements() > max_elements)
        return std::nullopt;
    if (n.results[0].meta->rank() > 1 && n.results[0].meta->elements() != 1) return std::nullopt;
    const auto elements = constant_elements(n);
    if (!elements) return std::nullopt;
    std::string text;
    for (std::int64_t i = 0; i != elements->size(); ++i)
        text += (i == 0 ? "" : ", ") + number_text_of(*elements, i);
    return n.results[0].meta->rank() == 0 ? text : '[' + text + ']';
}

[[nodiscard]] inline std::string scale_text(double scale) {
    std::array<char, 40> digits{};
    std::snprintf(digits.data(), digits.size(), "%.5g", scale);
    return digits.data();
}

/// Returns "<0.05, -3>" or "<0.001..0.02, axis 0>".
[[nodiscard]] inline std::string parameters_text(const quantization& q) {
    if (q.is_per_tensor()) return join_text('<', scale_text(q.scale()), ", ", q.zero_point(), '>');
    const auto [least, largest] = std::minmax_element(q.scales.begin(), q.scales.end());
    return join_text('<', scale_text(*least), "..", scale_text(*largest), ", axis ", *q.axis, '>');
}

}  // namespace headrace::detail

#endif
