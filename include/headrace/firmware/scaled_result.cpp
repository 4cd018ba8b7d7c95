// SPDX-License-Identifier: MIT
// Reads the RESCALE and the CLAMP after a sum of products, and writes them as arguments of its kernel.
#include <headrace/firmware/scaled_result.hpp>

#include <fmt/format.h>

#include <algorithm>

#include <headrace/passes/support/constants.hpp>

namespace headrace::firmware {

std::optional<scaled_result> find_scale(const layer_body& body, const node& anchor) {
    const node* const reader = body.only_reader({const_cast<node*>(&anchor), 0});
    const auto* const a = reader == nullptr ? nullptr : args_if<tosa::rescale>(*reader);
    if (a == nullptr || a->rounding_mode == rounding_mode::double_round || a->input_unsigned)
        return std::nullopt;
    const auto multipliers = constant_integers(body.outside(a->multiplier));
    const auto shifts = constant_integers(body.outside(a->shift));
    const auto input_zero = constant_integer(body.outside(a->input_zp));
    const auto output_zero = constant_integer(body.outside(a->output_zp));
    const dtype sum = meta_of(a->input)->dtype;
    if (!multipliers || !shifts || !output_zero || input_zero != 0 || a->scale32 != (sum == dtype::int32))
        return std::nullopt;
    scaled_result found{{reader}, {}, {}};
    for (const std::int64_t m : *multipliers) found.multipliers.push_back(static_cast<std::int32_t>(m));
    for (const std::int64_t s : *shifts) found.shifts.push_back(static_cast<std::int8_t>(s));
    const auto out = element_of(reader->results[0].meta->dtype);
    if (out != on_device::element::int8 && out != on_device::element::uint8 &&
        out != on_device::element::int16)
        return std::nullopt;
    if (a->output_unsigned && out != on_device::element::uint8) return std::nullopt;
    found.type = *out;
    found.output_zero = static_cast<std::int32_t>(*output_zero);
    const bool is_wide = out == on_device::element::int16, is_unsigned = out == on_device::element::uint8;
    found.minimum = is_wide ? -32768 : is_unsigned ? 0 : -128;
    found.maximum = is_wide ? 32767 : is_unsigned ? 255 : 127;
    const node* const next = body.only_reader({const_cast<node*>(reader), 0});
    if (const auto* const clamp = next == nullptr ? nullptr : args_if<tosa::clamp>(*next)) {
        found.nodes.push_back(next);
        found.minimum = std::max(found.minimum, static_cast<std::int32_t>(clamp->min_val.to_int()));
        found.maximum = std::min(found.maximum, static_cast<std::int32_t>(clamp->max_val.to_int()));
    }
    return found;
}

std::vector<const node*> others(
    const layer_body& body, const node& anchor, const std::optional<scaled_result>& scale) {
    std::vector<const node*> left;
    for (const node* n : body.nodes) {
        const bool is_scale = scale && std::ranges::find(scale->nodes, n) != scale->nodes.end();
        if (n != &anchor && !is_scale) left.push_back(n);
    }
    return left;
}

std::string_view format_scaling(on_device::scaling how) {
    static constexpr std::string_view names[] = {"none", "high_word", "doubled", "wide"};
    return names[static_cast<std::size_t>(how)];
}
namespace {

std::string format_row(const auto& q) {
    return fmt::format("{{{}, {}, {}, {}}}", number_literal(q.bias, on_device::element::int32), q.multiplier,
        q.addend, q.shift);
}

}  // namespace

std::string format_channel(const on_device::channel& q) { return format_row(q); }
std::string format_channel(const on_device::wide_channel& q) { return format_row(q); }

}  // namespace headrace::firmware
