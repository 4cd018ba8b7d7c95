// SPDX-License-Identifier: MIT
// Defines headrace::fuse_clamps.
#ifndef HEADRACE_PASSES_FOLD_FUSE_CLAMPS_HPP
#define HEADRACE_PASSES_FOLD_FUSE_CLAMPS_HPP

#include <algorithm>
#include <optional>

#include <headrace/infer/tosa.hpp>
#include <headrace/passes/support/build.hpp>

namespace headrace {

/// A CLAMP of a CLAMP is one where their ranges meet. One to the whole range of its type stays: it costs an
/// NPU nothing, and Vela estimates fewer cycles for a convolution that ends in one.
struct fuse_clamps : pass {
    using targets = ops<tosa::clamp>;
    using produces = ops<tosa::clamp>;
    static constexpr bool in_execution_order = true;

    std::optional<value> operator()(const args<tosa::clamp>& a, emit<produces>& e) const {
        const auto* inner = match<tosa::clamp>(a.input);
        if (inner == nullptr || inner->nan_mode != a.nan_mode) return std::nullopt;
        const auto larger = [](scalar x, scalar y) { return x.to_double() < y.to_double() ? y : x; };
        const auto smaller = [](scalar x, scalar y) { return y.to_double() < x.to_double() ? y : x; };
        args<tosa::clamp> both = a;
        both.input = inner->input;
        both.min_val = larger(a.min_val, inner->min_val);
        both.max_val = smaller(a.max_val, inner->max_val);
        const bool meet = both.min_val.to_double() <= both.max_val.to_double();
        return meet ? std::optional(e.make<tosa::clamp>(both)) : std::nullopt;
    }
};

}  // namespace headrace

#endif
