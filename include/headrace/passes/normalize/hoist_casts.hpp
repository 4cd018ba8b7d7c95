// SPDX-License-Identifier: MIT
// Defines headrace::hoist_casts.
#ifndef HEADRACE_PASSES_NORMALIZE_HOIST_CASTS_HPP
#define HEADRACE_PASSES_NORMALIZE_HOIST_CASTS_HPP

#include <headrace/dialect/aten.hpp>
#include <headrace/infer/aten.hpp>
#include <headrace/pass/pass.hpp>
#include <headrace/passes/properties.hpp>

namespace headrace {

/// cast(move(x)) = move(cast(x)) for ops that only move elements. A cast from integers to floats goes to the
/// front: the data layout operators of the floating profile take no integers (TOSA 1.0, 2.9).
struct hoist_casts : pass {
    using runs_after = pass_list<canonical_casts, canonical_fills>;
    using runs_before = pass_list<functions_tabulated, narrow_types>;
    using movements =
        ops<aten::view, aten::reshape, aten::unsqueeze, aten::squeeze, aten::squeeze_dim, aten::squeeze_dims,
            aten::flatten_using_ints, aten::permute, aten::transpose_int, aten::t, aten::expand, aten::repeat,
            aten::slice_tensor, aten::select_int, aten::flip>;
    using targets = ops<aten::_to_copy>;
    using produces = joined<movements, targets>;

    std::optional<value> operator()(const args<aten::_to_copy>& a, emit<produces>& e) const {
        if (!a.dtype || !is_integral(e.dtype(a.self)) || !is_floating(*a.dtype)) return std::nullopt;
        const value moved = moved_cast(e, a.self, a, movements{});
        return moved ? std::optional(moved) : std::nullopt;
    }

private:
    // The cast of `v`, as far up as it goes; empty where `v` is no movement, or somebody else reads it.
    template <class... Ops>
    static value moved_cast(emit<produces>& e, value v, const args<aten::_to_copy>& cast, ops<Ops...>) {
        if (!has_one_use(v)) return {};
        value moved;
        const auto rebuild = [&]<class Op>() {
            const args<Op>* movement = match<Op>(v);
            if (movement == nullptr) return false;
            args<Op> same = *movement;
            same.self = moved_cast(e, movement->self, cast, ops<Ops...>{});
            if (!same.self) {
                args<aten::_to_copy> here = cast;
                here.self = movement->self;
                same.self = e.make<aten::_to_copy>(here);
            }
            moved = e.make<Op>(same);
            return true;
        };
        static_cast<void>((rebuild.template operator()<Ops>() || ...));
        return moved;
    }
};

}  // namespace headrace

#endif
