// SPDX-License-Identifier: MIT
// Defines headrace::legalize_expand.
#ifndef HEADRACE_PASSES_LEGALIZE_LEGALIZE_EXPAND_HPP
#define HEADRACE_PASSES_LEGALIZE_LEGALIZE_EXPAND_HPP

#include <algorithm>

#include <headrace/dialect/aten.hpp>
#include <headrace/pass/rules.hpp>
#include <headrace/passes/properties.hpp>
#include <headrace/passes/support/build.hpp>

namespace headrace {

/// Lowers ops that repeat a tensor to TILE (TOSA 1.0, 2.9.7), after adding leading axes of size 1. Expanded
/// axes are those of size 1 whose size changes; repeats count whole copies.
struct legalize_expand : pass {
    using phase = legalization;
    static constexpr std::string_view summary = "expand, repeat and tile to TILE";

    static auto rewrites() {
        return rules(
            on<aten::expand, aten::broadcast_to, aten::expand_as> =
                [](auto x, const auto&...) { return code<build::broadcast>(x, x.result_meta().shape); },
            on<aten::repeat> = [](auto x, const auto& a) { return code<tiled>(x, a.repeats); },
            on<aten::tile> = [](auto x, const auto& a) { return code<tiled>(x, a.dims); });
    }

private:
    static value tiled(emit<build::broadcast_ops> e, value v, sizes repeats) {
        const std::size_t rank = std::max(repeats.size(), e.rank(v));
        shape_builder multiples = shape_builder::filled(rank - repeats.size(), 1);
        multiples.append(repeats);
        v = build::with_rank(e, v, rank);
        if (std::count(multiples.begin(), multiples.end(), 1) == static_cast<std::ptrdiff_t>(rank)) return v;
        return e.make<tosa::tile>({.input1 = v, .multiples = build::const_shape(e, multiples)});
    }
};
HEADRACE_COMPILED_PASS(legalize_expand);

}  // namespace headrace

#endif
