// SPDX-License-Identifier: MIT
// Defines headrace::fuse_reshapes.
#ifndef HEADRACE_PASSES_LAYOUT_FUSE_RESHAPES_HPP
#define HEADRACE_PASSES_LAYOUT_FUSE_RESHAPES_HPP

#include <optional>

#include <headrace/passes/support/build.hpp>

namespace headrace {

/// A RESHAPE of a RESHAPE is one, and none if it gives the shape that the tensor had.
struct fuse_reshapes : pass {
    using targets = ops<tosa::reshape>;
    using produces = build::reshape_ops;
    static constexpr bool repeatable = true;

    std::optional<value> operator()(const args<tosa::reshape>& a, emit<produces>& e) const {
        value from = a.input1;
        while (const auto* inner = match<tosa::reshape>(from)) from = inner->input1;
        const sizes shape(e.result_meta().shape);
        if (from == a.input1 && e.shape(from) != int_list(shape)) return std::nullopt;
        return build::reshape(e, from, shape);
    }
};

}  // namespace headrace

#endif
