// SPDX-License-Identifier: MIT
// Defines headrace::fuse_clamps.
#ifndef HEADRACE_PASSES_FOLD_FUSE_CLAMPS_HPP
#define HEADRACE_PASSES_FOLD_FUSE_CLAMPS_HPP

#include <headrace/dialect/tosa.hpp>
#include <headrace/infer/tosa.hpp>
#include <headrace/match/node_pattern.hpp>
#include <headrace/pass/pass.hpp>
#include <headrace/passes/properties.hpp>

namespace headrace {

/// A CLAMP to the whole range of its dtype is kept: it costs an NPU nothing, and Vela estimates fewer cycles
/// for a convolution that ends in one.
struct fuse_clamps : pass {
    using runs_after = pass_list<tosa_only>;
    static constexpr std::string_view summary =
        "fuses a CLAMP of a CLAMP into one where their ranges overlap";
    static constexpr bool in_execution_order = true;

    static auto rewrites() {
        return rules(on_match(twice<tosa::clamp>) = [](auto x, const auto& m) {
            const args<tosa::clamp>& outer = get<"outer">(m);
            const args<tosa::clamp>& inner = get<"inner">(m);
            const scalar min = less(outer.min_val, inner.min_val) ? inner.min_val : outer.min_val;
            const scalar max = less(inner.max_val, outer.max_val) ? inner.max_val : outer.max_val;
            const auto both = [&] { return call<tosa::clamp>(x, min, max, outer.nan_mode); };
            return choose(inner.nan_mode == outer.nan_mode && !less(max, min), both, unchanged);
        });
    }

private:
    static bool less(scalar a, scalar b) { return a.to_double() < b.to_double(); }
};
HEADRACE_COMPILED_PASS(fuse_clamps);

}  // namespace headrace

#endif
