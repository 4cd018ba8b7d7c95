// SPDX-License-Identifier: MIT
// Defines headrace::fuse_reshapes.
#ifndef HEADRACE_PASSES_LAYOUT_FUSE_RESHAPES_HPP
#define HEADRACE_PASSES_LAYOUT_FUSE_RESHAPES_HPP

#include <headrace/match/node_pattern.hpp>
#include <headrace/passes/properties.hpp>
#include <headrace/passes/support/build.hpp>

namespace headrace {

struct fuse_reshapes : pass {
    using runs_after = pass_list<tosa_only>;
    static constexpr std::string_view summary =
        "fuses a RESHAPE of a RESHAPE into one; removes those that change nothing";
    static constexpr bool repeatable = true;
    static constexpr bool in_execution_order = true;

    static auto rewrites() {
        return rules(
            on_match(twice<tosa::reshape>) = [](auto x) { return reshaped(x); },
            on<tosa::reshape> =
                [](auto x, const args<tosa::reshape>&) {
                    return choose(x.shape() == x.result_meta().shape, x, unchanged);
                });
    }

private:
    static auto reshaped(const auto& x) {
        return code<build::reshape_ops>(
            [](emit<build::reshape_ops> e, value v) { return build::reshape(e, v, e.result_meta().shape); },
            x);
    }
};
HEADRACE_COMPILED_PASS(fuse_reshapes);

}  // namespace headrace

#endif
