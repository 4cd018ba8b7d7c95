// SPDX-License-Identifier: MIT
// Defines headrace::choose_layouts.
#ifndef HEADRACE_PASSES_LAYOUT_CHOOSE_LAYOUTS_HPP
#define HEADRACE_PASSES_LAYOUT_CHOOSE_LAYOUTS_HPP

#include <headrace/passes/layout/layout_rewrite.hpp>
#include <headrace/passes/layout/layout_search.hpp>

namespace headrace {

/// Chooses in which order of its axes, and of their parts, each op is computed, so that the fewest bytes are
/// transposed in the whole graph; see layout_search. Never worse than the graph as it stands. Constants are
/// transposed for nothing, as they are folded; a convolution takes its channels in any order, as its weights
/// are reordered.
struct choose_layouts : pass {
    static constexpr std::string_view summary =
        "compute each op in the layout that moves the fewest bytes in the whole graph";
    using targets = ops<tosa::transpose>;
    using produces = layout_rewrite::produces;

    result<std::size_t> operator()(graph& g, pass_context& context) const {
        std::size_t moves = 0;
        detail::for_each_graph(g, [&](graph& sub) {
            layout_search search(sub);
            const std::size_t made = search.run();
            if (made != 0) layout_rewrite(sub, search, context).run();
            moves += made;
        });
        return moves;
    }
};

}  // namespace headrace

#endif
