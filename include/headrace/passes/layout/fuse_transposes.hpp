// SPDX-License-Identifier: MIT
// Defines headrace::fuse_transposes.
#ifndef HEADRACE_PASSES_LAYOUT_FUSE_TRANSPOSES_HPP
#define HEADRACE_PASSES_LAYOUT_FUSE_TRANSPOSES_HPP

#include <optional>

#include <headrace/passes/support/permuting.hpp>

namespace headrace {

/// A TRANSPOSE of a TRANSPOSE is one, and none if they undo each other. One that moves only axes of size 1 is
/// a RESHAPE.
struct fuse_transposes : pass {
    using targets = ops<tosa::transpose>;
    using produces = build::permute_ops;
    static constexpr bool repeatable = true;

    std::optional<value> operator()(const args<tosa::transpose>& a, emit<produces>& e) const {
        const auto* inner = match<tosa::transpose>(a.input1);
        const value from = inner != nullptr ? inner->input1 : a.input1;
        const shape_builder perms =
            inner != nullptr ? build::composed(inner->perms, a.perms) : shape_builder(a.perms);
        if (inner == nullptr && !build::moves_only_ones(e.shape(from), perms)) return std::nullopt;
        return build::permute(e, from, perms);
    }
};

}  // namespace headrace

#endif
