// SPDX-License-Identifier: MIT
// Defines headrace::remove_noop_layout.
#ifndef HEADRACE_PASSES_LAYOUT_REMOVE_NOOP_LAYOUT_HPP
#define HEADRACE_PASSES_LAYOUT_REMOVE_NOOP_LAYOUT_HPP

#include <optional>

#include <headrace/dialect/tosa.hpp>
#include <headrace/infer/tosa.hpp>
#include <headrace/pass/pass.hpp>
#include <headrace/passes/properties.hpp>
#include <headrace/passes/support/build.hpp>

namespace headrace {

/// Removes operators that return their operand unchanged: a SLICE of everything, a TILE of one copy, a PAD of
/// nothing, a CONCAT of one tensor, a REVERSE of one element, and a CAST to the same dtype.
struct remove_noop_layout : pass {
    using runs_after = pass_list<tosa_only>;
    using runs_before = pass_list<layouts_chosen>;
    using invalidates = pass_list<distinct_outputs>;
    static constexpr std::string_view summary =
        "removes SLICE, TILE, PAD, CONCAT, REVERSE and CAST that change nothing";
    using targeted_ops = ops<tosa::concat>;
    using produces = ops<>;

    static auto rewrites() {
        return rules(
            on<tosa::slice, tosa::tile, tosa::cast> = [](auto x, const auto&...) { return if_same(x); },
            on<tosa::pad> =
                [](auto x, auto padding, auto, const auto&...) {
                    const auto* amounts = match<tosa::const_shape>(padding.value());
                    const bool is_empty = amounts != nullptr && build::all_are(amounts->values, 0);
                    return choose(
                        is_empty, [&] { return if_same(x); }, unchanged);
                },
            on<tosa::reverse> =
                [](auto x, const auto& a) {
                    return choose(
                        x.size(a.axis) == 1, [&] { return if_same(x); }, unchanged);
                });
    }

    std::optional<value> operator()(const args<tosa::concat>& a, emit<produces>& e) const {
        const bool is_same = a.input1.size() == 1 && e.meta(a.input1[0]) == e.result_meta();
        return is_same ? std::optional(a.input1[0]) : std::nullopt;
    }

private:
    // Slices and tiles with their operand's shape return all of it, since no size is 0.
    static auto if_same(const auto& x) { return choose(x.meta() == x.result_meta(), x, unchanged); }
};
HEADRACE_COMPILED_PASS(remove_noop_layout);

}  // namespace headrace

#endif
