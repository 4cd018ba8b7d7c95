// SPDX-License-Identifier: MIT
// Defines headrace::merge_tables, which leaves one table where several follow each other.
#ifndef HEADRACE_PASSES_CORTEX_M_TABLES_MERGING_HPP
#define HEADRACE_PASSES_CORTEX_M_TABLES_MERGING_HPP

#include <algorithm>
#include <optional>

#include <headrace/infer/aten.hpp>
#include <headrace/infer/cortex_m.hpp>
#include <headrace/pass/pass.hpp>
#include <headrace/passes/cortex_m/bounds.hpp>
#include <headrace/passes/cortex_m/images.hpp>
#include <headrace/passes/support/constants.hpp>

namespace headrace {

/// Makes one table of a table and of the one before it, whose result it alone reads, directly or as a view. A
/// table that only clamps becomes the bounds of the kernel before it, and one that changes nothing goes. The
/// results are the same to the bit.
struct merge_tables : pass {
    static constexpr std::string_view summary = "tables that follow tables, clamp, or change nothing";
    static constexpr bool in_execution_order = true;

    static auto rewrites() { return rules(on<cortex_m::quantized_activation> = code<merged>()); }

private:
    using made = joined<cortex_m::bounded_ops, ops<cortex_m::quantized_activation, aten::view>>;
    using numbers = pmr_vector<std::int64_t>;  // of the arguments -128 to 127

    static std::int64_t at(const numbers& table, std::int64_t i) {
        return table[static_cast<std::size_t>(i + 128)];
    }

    static std::optional<value> merged(emit<made> e, const args<cortex_m::quantized_activation>& a) {
        const auto table = constant_integers(a.lut);
        if (!table) return std::nullopt;
        value whole = a.input;
        while (const auto* const shown = match<aten::view>(whole)) whole = shown->self;
        const auto bounds = cortex_m::bounds_of(whole);
        const auto before = cortex_m::shown_alone(a.input);
        std::optional<value> v;
        if (const std::int64_t lowest = at(*table, bounds.first), highest = at(*table, bounds.second);
            is_clamp(*table, bounds, lowest, highest)) {
            if (bounds == std::pair(lowest, highest))
                return cortex_m::view(e, a.input, e.result_meta().shape);
            if (before) v = cortex_m::clamped_kernel(e, *before, lowest, highest);
        }
        if (!v && before) v = joined_tables(e, *before, *table);
        return v ? std::optional(cortex_m::view(e, *v, e.result_meta().shape)) : std::nullopt;
    }
    // True if the table clamps whatever the kernel before it gives.
    static bool is_clamp(const numbers& table, std::pair<std::int64_t, std::int64_t> arguments,
        std::int64_t lowest, std::int64_t highest) {
        if (lowest > highest) return false;
        for (std::int64_t i = arguments.first; i <= arguments.second; ++i) {
            if (at(table, i) != std::clamp(i, lowest, highest)) return false;
        }
        return true;
    }
    static std::optional<value> joined_tables(emit<made> e, value first, const numbers& table) {
        const auto* const inner = match<cortex_m::quantized_activation>(first);
        const auto inner_table = inner != nullptr ? constant_integers(inner->lut) : std::nullopt;
        if (!inner_table) return std::nullopt;
        const std::int64_t shape[] = {256};
        const value lut = e.constant_of(
            dtype::int8, shape, [&](std::size_t i) { return scalar(at(table, (*inner_table)[i])); });
        return e.make<cortex_m::quantized_activation>({.input = inner->input, .lut = lut});
    }
};

}  // namespace headrace

#endif
