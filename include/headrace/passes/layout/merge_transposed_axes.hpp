// SPDX-License-Identifier: MIT
// Defines headrace::merge_transposed_axes.
#ifndef HEADRACE_PASSES_LAYOUT_MERGE_TRANSPOSED_AXES_HPP
#define HEADRACE_PASSES_LAYOUT_MERGE_TRANSPOSED_AXES_HPP

#include <headrace/infer/tosa.hpp>
#include <headrace/passes/properties.hpp>
#include <headrace/passes/support/permuting.hpp>
#include <headrace/target/preferences.hpp>

namespace headrace {

struct fuse_reshapes;
/// Rewrites a TRANSPOSE of more than four axes as one of fewer axes between RESHAPEs: axes of size 1 are left
/// out, and axes that stay adjacent are merged. NPUs move four axes at a time. An Ethos-U55 is faster with
/// fewer axes; an Ethos-U85 is slow with two.
struct merge_transposed_axes : pass {
    using runs_after = pass_list<layouts_chosen>;
    using runs_before = pass_list<fuse_reshapes>;
    static constexpr std::string_view summary =
        "splits a TRANSPOSE of more than four axes into RESHAPEs and one of fewer";
    using targeted_ops = ops<tosa::transpose>;
    using produces = joined<build::reshape_ops, build::transpose_ops>;

    std::optional<value> operator()(const args<tosa::transpose>& a, emit<produces>& e) const {
        const std::size_t most = preferences_of(e.target()).transposed_axes;
        const auto merged = build::merge_axes(e.shape(a.input1), a.perms);
        if (a.perms.size() <= most || merged.perms.size() == a.perms.size()) return std::nullopt;
        const value moved = build::transpose(e, build::reshape(e, a.input1, merged.shape), merged.perms);
        return build::reshape(e, moved, e.result_meta().shape);
    }
};
HEADRACE_COMPILED_PASS(merge_transposed_axes);

}  // namespace headrace

#endif
