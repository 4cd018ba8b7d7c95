// SPDX-License-Identifier: MIT
// Defines headrace::choose_layouts.
#ifndef HEADRACE_PASSES_LAYOUT_CHOOSE_LAYOUTS_HPP
#define HEADRACE_PASSES_LAYOUT_CHOOSE_LAYOUTS_HPP

#include <headrace/ir/regions.hpp>
#include <headrace/passes/layout/layout_rewrite.hpp>
#include <headrace/passes/layout/layout_search.hpp>
#include <headrace/passes/properties.hpp>

namespace headrace {

/// Chooses the layouts in which ops are computed; see layout_search. The result is never worse than the
/// original graph. Transposing constants is free, since they are folded, and a convolution takes its channels
/// in any order, since its weights are reordered.
struct choose_layouts : pass {
    using runs_after = pass_list<tosa_only, constants_folded, nodes_sorted>;
    using runs_before = pass_list<no_dead_code, constants_folded>;
    using ensures = pass_list<layouts_chosen>;
    using invalidates = pass_list<constants_folded, no_dead_code, duplicates_merged>;
    static constexpr std::string_view summary =
        "chooses the order of each op's axes so that the fewest bytes are transposed";

    using targeted_ops = ops<tosa::transpose>;
    using produces = layout_rewrite::produces;

    result<std::size_t> operator()(graph& g, pass_context& context) const {
        std::size_t moves = 0;
        for_each_graph(g, [&](graph& sub) {
            layout_search search(sub);
            const std::size_t made = search.run();
            if (made != 0) layout_rewrite(sub, search, context).run();
            moves += made;
        });
        return moves;
    }
};
HEADRACE_COMPILED_PASS(choose_layouts);

}  // namespace headrace

#endif
