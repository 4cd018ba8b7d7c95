// SPDX-License-Identifier: MIT
// Defines headrace::hoist_casts.
#ifndef HEADRACE_PASSES_NORMALIZE_HOIST_CASTS_HPP
#define HEADRACE_PASSES_NORMALIZE_HOIST_CASTS_HPP

#include <array>
#include <optional>

#include <headrace/base/pmr_vector.hpp>
#include <headrace/dialect/aten.hpp>
#include <headrace/infer/aten.hpp>
#include <headrace/pass/pass.hpp>
#include <headrace/passes/properties.hpp>

namespace headrace {

/// Rewrites cast(move(x)) to move(cast(x)) for ops that only move elements. Casts from integers to floats
/// move to the front: the data layout operators of the floating-point profile do not take integers (TOSA 1.0,
/// 2.9).
struct hoist_casts : pass {
    using runs_after = pass_list<canonical_casts, canonical_fills>;
    using runs_before = pass_list<functions_tabulated, narrow_types>;
    static constexpr std::string_view summary =
        "moves casts from integers to floats ahead of ops that only move elements";
    using targeted_ops = ops<aten::_to_copy>;
    using produces = targeted_ops;

    std::optional<value> operator()(const args<aten::_to_copy>& a, emit<produces>& e) const {
        if (!a.dtype || !is_integral(e.dtype(a.self)) || !is_floating(*a.dtype)) return std::nullopt;
        pmr_vector<const node*> moves;  // from the cast upwards
        value v = a.self;
        for (; has_one_use(v) && only_moves(*v.producer); v = v.producer->operand(0))
            moves.push_back(v.producer);
        if (moves.empty()) return std::nullopt;
        args<aten::_to_copy> cast = a;
        cast.self = v;
        v = e.make<aten::_to_copy>(cast);
        for (; !moves.empty(); moves.pop_back()) {
            node* moved =
                e.clone(*moves.back(), std::array{v}, [&](tensor_meta& meta) { meta.dtype = *a.dtype; });
            v = moved == nullptr ? value{} : moved->result();
        }
        return v;
    }

private:
    static bool only_moves(const node& n) { return n.op->has(trait::rearranging) && n.operand_count == 1; }
};
HEADRACE_COMPILED_PASS(hoist_casts);

}  // namespace headrace

#endif
