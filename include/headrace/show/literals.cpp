// SPDX-License-Identifier: MIT
// Defines the functions of headrace/show/literals.hpp.

#include <headrace/show/literals.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <range/v3/range/conversion.hpp>
#include <range/v3/view/cache1.hpp>
#include <range/v3/view/indices.hpp>
#include <range/v3/view/join.hpp>
#include <range/v3/view/transform.hpp>

#include <headrace/eval/tensor.hpp>
#include <headrace/ir/graph.hpp>

namespace headrace::detail {

namespace {

// Returns the elements of a constant of any dialect; nothing for other nodes.
std::optional<tensor> constant_elements(const node& n) {
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

std::string format_element(const tensor& t, std::int64_t i) {
    if (is_boolean(t.type())) return t.integer(i) != 0 ? "true" : "false";
    if (!is_floating(t.type())) return join_text(t.integer(i));
    std::array<char, 40> digits{};
    std::snprintf(digits.data(), digits.size(), "%.6g", t.real(i));
    return digits.data();
}

}  // namespace

std::optional<std::string> literal_of(const node& n) {
    constexpr std::int64_t max_elements = 8;
    if (!is_constant_node(n) || !n.results[0].meta || n.results[0].meta->elements() > max_elements)
        return std::nullopt;
    if (n.results[0].meta->rank() > 1 && n.results[0].meta->elements() != 1) return std::nullopt;
    const auto elements = constant_elements(n);
    if (!elements) return std::nullopt;
    const auto text = ranges::views::indices(elements->size()) |
        ranges::views::transform([&](std::int64_t i) { return format_element(*elements, i); }) |
        ranges::views::cache1 | ranges::views::join(std::string_view(", ")) | ranges::to<std::string>();
    return n.results[0].meta->rank() == 0 ? text : '[' + text + ']';
}

namespace {

std::string format_scale(double scale) {
    std::array<char, 40> digits{};
    std::snprintf(digits.data(), digits.size(), "%.5g", scale);
    return digits.data();
}

}  // namespace

std::string format_parameters(const quantization& q) {
    if (q.is_per_tensor()) return join_text('<', format_scale(q.scale()), ", ", q.zero_point(), '>');
    const auto [least, largest] = std::minmax_element(q.scales.begin(), q.scales.end());
    return join_text('<', format_scale(*least), "..", format_scale(*largest), ", axis ", *q.axis, '>');
}

}  // namespace headrace::detail
