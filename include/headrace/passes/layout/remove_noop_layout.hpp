// SPDX-License-Identifier: MIT
// Defines headrace::remove_noop_layout.
#ifndef HEADRACE_PASSES_LAYOUT_REMOVE_NOOP_LAYOUT_HPP
#define HEADRACE_PASSES_LAYOUT_REMOVE_NOOP_LAYOUT_HPP

#include <optional>

#include <headrace/dialect/tosa.hpp>
#include <headrace/infer/tosa.hpp>
#include <headrace/pass/pass.hpp>
#include <headrace/passes/tosa_only.hpp>

namespace headrace {

/// Removes operators that give their operand as it is: a SLICE of everything, a TILE of one copy, a PAD of
/// nothing, a CONCAT of one tensor, a REVERSE of one element, and a CAST to the same type.
struct remove_noop_layout : pass {
    using runs_after = pass_list<tosa_only>;
    using runs_before = pass_list<layouts_chosen>;
    using invalidates = pass_list<distinct_outputs>;
    static constexpr std::string_view summary =
        "removes SLICE, TILE, PAD, CONCAT, REVERSE and CAST that change nothing";
    using targeted_ops = ops<tosa::slice, tosa::tile, tosa::pad, tosa::concat, tosa::reverse, tosa::cast>;
    using produces = ops<>;

    std::optional<value> operator()(const args<tosa::slice>& a, emit<produces>& e) const {
        return if_same(e, a.input1);
    }
    std::optional<value> operator()(const args<tosa::tile>& a, emit<produces>& e) const {
        return if_same(e, a.input1);
    }
    std::optional<value> operator()(const args<tosa::pad>& a, emit<produces>& e) const {
        const auto* padding = match<tosa::const_shape>(a.padding);
        if (padding == nullptr) return std::nullopt;
        for (const std::int64_t amount : padding->values) {
            if (amount != 0) return std::nullopt;
        }
        return if_same(e, a.input1);
    }
    std::optional<value> operator()(const args<tosa::concat>& a, emit<produces>& e) const {
        return a.input1.size() == 1 ? if_same(e, a.input1[0]) : std::nullopt;
    }
    std::optional<value> operator()(const args<tosa::reverse>& a, emit<produces>& e) const {
        const auto axis = static_cast<std::size_t>(a.axis);
        return axis < e.rank(a.input1) && e.shape(a.input1)[axis] == 1 ? if_same(e, a.input1) : std::nullopt;
    }
    std::optional<value> operator()(const args<tosa::cast>& a, emit<produces>& e) const {
        return if_same(e, a.input);
    }

private:
    // Slices and tiles of the same shape as their operand are whole, as no size is 0.
    static std::optional<value> if_same(const emit<produces>& e, value v) {
        return e.meta(v) == e.result_meta() ? std::optional(v) : std::nullopt;
    }
};
HEADRACE_COMPILED_PASS(remove_noop_layout);

}  // namespace headrace

#endif
