// SPDX-License-Identifier: MIT
// Defines the functions of headrace/prove/lost_constants.hpp.

#include <headrace/prove/lost_constants.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <unordered_set>

#include <headrace/base/printable.hpp>
#include <headrace/base/strings.hpp>
#include <headrace/dialect/aten.hpp>
#include <headrace/dialect/builtin.hpp>
#include <headrace/dialect/quantized_decomposed.hpp>
#include <headrace/infer/ranges/held_interval.hpp>
#include <headrace/ir/nearest_named.hpp>
#include <headrace/ir/source_location.hpp>
#include <headrace/quantization/masks/picked_extremes.hpp>

namespace headrace::prove {

namespace {

template <op_tag... Ops>
bool is_any(const node& n) {
    return ((&n.op->functional() == &info_of<Ops>) || ...);
}
bool fills_by_mask(const node& n) {
    return is_any<aten::masked_fill_scalar, aten::masked_fill_tensor, aten::where_self, aten::where_scalar,
        aten::where_scalarother, aten::where_scalarself>(n);
}
bool has_number(const node& n) {
    using enum trait;
    return fills_by_mask(n) ||
        (is_of_dialect<aten::dialect>(n) && n.op->functional().has(gives_number | padding));
}
// True if elements of the operands, or sums of them, are elements of the result.
bool passes_numbers(const node& n) {
    using enum trait;
    return fills_by_mask(n) || is_any<aten::add_tensor>(n) ||
        (is_of_dialect<aten::dialect>(n) &&
            n.op->has(
                rearranging | copying | splitting | gathering | aliasing | reshaping | joining | padding));
}

std::optional<interval> numbers_of(const node& n) {
    if (const auto* a = args_if<builtin::constant>(n)) {
        const tensor_meta& meta = *n.results[0].meta;
        const bool is_readable = meta.dtype == dtype::float32 && a->data.bytes != nullptr;
        if (!is_readable || meta.elements() == 0) return std::nullopt;
        return headrace::detail::interval_of_elements<float>(a->data, meta);
    }
    if (!has_number(n)) return std::nullopt;
    std::optional<interval> all{};
    for (const field_info& f : *n.op) {
        const void* const item = f.kind == field_kind::number ? f.item_in(n.arguments) : nullptr;
        if (item == nullptr) continue;
        const interval x =
            headrace::number(static_cast<bound>(static_cast<const scalar*>(item)->to_double()));
        all = all ? *all | x : x;
    }
    return all;
}

std::string format_number(double x) { return std::isinf(x) ? (x < 0 ? "-inf" : "inf") : shortest_text(x); }

/// A quantize_per_tensor, and the range that it holds.
class quantized_end {
public:
    explicit quantized_end(const args<quantized_decomposed::quantize_per_tensor>& a)
        : lowest_(a.scale * (static_cast<double>(a.quant_min) - static_cast<double>(a.zero_point))),
          highest_(a.scale * (static_cast<double>(a.quant_max) - static_cast<double>(a.zero_point))) {}

    // Ranges are chosen to clip a little.
    [[nodiscard]] bool loses(double x) const {
        constexpr double far = 64;
        return std::abs(x) > far * std::max(std::abs(lowest_), std::abs(highest_));
    }
    [[nodiscard]] std::string text(const node& n, double x) const {
        const auto line = source_line(n);
        const node& named = nearest_named(n);
        return join_text(printable(std::string_view(line)), line.empty() ? "" : ": ",
            printable(origin_name(named).empty() ? op_name(n) : origin_name(named)), ": ",
            relation_text(n, named), format_number(x), " is outside of the quantized range [",
            format_number(lowest_), ", ", format_number(highest_), "] and becomes ",
            format_number(x < 0 ? lowest_ : highest_));
    }

private:
    double lowest_, highest_;
};

// True if all that reads the quantized numbers gives the same results for any very large ones.
bool is_passed_over_by_all(const node& quantize, bool is_negative) {
    bool is_read = false;
    for (const edge& q : quantize.uses()) {
        if (!is<quantized_decomposed::dequantize_per_tensor>(*q.target)) return false;
        for (const edge& e : q.target->uses()) {
            if (!is_passed_over(*e.target, is_negative)) return false;
            is_read = true;
        }
    }
    return is_read;
}

void find_lost(const node& reader, const quantized_end& end, std::vector<std::string>& warnings) {
    std::unordered_set<const node*> met;
    std::vector<const node*> pending{reader.operand(0).producer};
    while (!pending.empty()) {
        const node& n = *pending.back();
        pending.pop_back();
        if (!met.insert(&n).second) continue;
        if (const auto numbers = numbers_of(n)) {
            for (const bound x : {numbers->low, numbers->high}) {
                if (!end.loses(static_cast<double>(x)) || is_passed_over_by_all(reader, x < 0)) continue;
                std::string text = end.text(n, static_cast<double>(x));
                if (std::ranges::find(warnings, text) == warnings.end()) warnings.push_back(std::move(text));
            }
        }
        if (!passes_numbers(n)) continue;
        for (const edge& e : n.operand_edges()) pending.push_back(e.source);
    }
}

}  // namespace

std::vector<std::string> lost_constants(const graph& g) {
    std::vector<std::string> warnings;
    for (const node& n : g.nodes_of(info_of<quantized_decomposed::quantize_per_tensor>))
        find_lost(n, quantized_end(args_of<quantized_decomposed::quantize_per_tensor>(n)), warnings);
    return warnings;
}

}  // namespace headrace::prove
