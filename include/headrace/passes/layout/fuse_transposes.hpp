// SPDX-License-Identifier: MIT
// Defines headrace::fuse_transposes.
#ifndef HEADRACE_PASSES_LAYOUT_FUSE_TRANSPOSES_HPP
#define HEADRACE_PASSES_LAYOUT_FUSE_TRANSPOSES_HPP

#include <headrace/match/node_pattern.hpp>
#include <headrace/passes/properties.hpp>
#include <headrace/passes/support/permuting.hpp>

namespace headrace {

/// Fuses a TRANSPOSE of a TRANSPOSE into one, or into none if they cancel. A TRANSPOSE that moves only axes
/// of size 1 becomes a RESHAPE.
struct fuse_transposes : pass {
    using runs_after = pass_list<tosa_only>;
    using runs_before = pass_list<layouts_chosen>;
    static constexpr std::string_view summary = "fuses a TRANSPOSE of a TRANSPOSE into one, or removes both";
    static constexpr bool repeatable = true;

    static auto rewrites() {
        return rules(
            on_match(twice<tosa::transpose>) =
                [](auto x, const auto& m) {
                    const sizes inner = get<"inner">(m).perms;
                    return permuted(x, build::composed(inner, get<"outer">(m).perms));
                },
            on<tosa::transpose> =
                [](auto x, const auto& a) {
                    const auto reshaped = [&] { return permuted(x, a.perms); };
                    return choose(build::moves_only_ones(x.shape(), a.perms), reshaped, unchanged);
                });
    }

private:
    static auto permuted(const auto& x, const shape_builder& perms) {
        return code<build::permute_ops>(
            [&](emit<build::permute_ops> e, value v) { return build::permute(e, v, perms); }, x);
    }
};
HEADRACE_COMPILED_PASS(fuse_transposes);

}  // namespace headrace

#endif
