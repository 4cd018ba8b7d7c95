// SPDX-License-Identifier: MIT
// Defines headrace::lay_out_interface and headrace::choose_layouts.
#ifndef HEADRACE_PASSES_LAYOUT_CHOOSE_LAYOUTS_HPP
#define HEADRACE_PASSES_LAYOUT_CHOOSE_LAYOUTS_HPP

#include <algorithm>
#include <span>

#include <headrace/infer/tosa.hpp>
#include <headrace/ir/regions.hpp>
#include <headrace/ir/signature.hpp>
#include <headrace/passes/layout/layout_rewrite.hpp>
#include <headrace/passes/layout/layout_search.hpp>
#include <headrace/passes/properties.hpp>
#include <headrace/passes/support/build.hpp>

namespace headrace {

struct fuse_transposes;
/// Makes 4-D inputs and outputs NHWC. The transposes that this adds cancel with those of the convolutions.
struct lay_out_interface : pass {
    using runs_after = pass_list<tosa_only, nodes_sorted>;
    using runs_before = pass_list<fuse_transposes, layouts_chosen>;
    static constexpr std::string_view summary =
        "makes 4-D inputs and outputs NHWC where channels_last_signature asks for it";

    using produces = build::transpose_ops;

    [[nodiscard]] bool should_run(const graph& g) const {
        return std::ranges::any_of(g.inputs(), is_asked) || (g.output() != nullptr && is_asked(*g.output()));
    }

    result<std::size_t> operator()(graph& g, pass_context& context) const {
        std::size_t laid_out = 0;
        for (node& n : g.inputs()) {
            const tensor_meta meta = n.results[0].meta != nullptr ? *n.results[0].meta : tensor_meta{};
            if (!is_asked(n)) continue;
            g.annotate(n, channels_last_signature{true});
            if (meta.rank() != 4) continue;
            const int_list& s = meta.shape;
            g.set_meta(n.result(), {meta.dtype, {s[0], s[2], s[3], s[1]}, {}});
            emission made(g, &n, n.next, context);
            emit<produces> e(made);
            const value exported = build::transpose(e, n.result(), build::to_channels_first(4));
            if (!exported) continue;
            g.replace_all_uses(n.result(), exported, exported.producer);
            ++laid_out;
        }
        node* out = g.output();
        if (out == nullptr || !is_asked(*out)) return laid_out;
        emission made(g, out, out, context);
        emit<produces> e(made);
        for (edge& operand : std::span(out->operands, out->operand_count)) {
            if (e.rank(*operand.slot) != 4) continue;
            const value v = build::transpose(e, *operand.slot, build::to_channels_last(4));
            if (v) g.set_operand(operand, v);
            ++laid_out;
        }
        g.annotate(*out, channels_last_signature{true});
        return laid_out;
    }

private:
    static bool is_asked(const node& n) {
        const auto* asked = n.find_annotation<channels_last_signature>();
        return asked != nullptr && !asked->applied;
    }
};
HEADRACE_COMPILED_PASS(lay_out_interface);

/// Chooses the layouts in which ops are computed; see layout_search. The result is never worse than the
/// original graph. Transposing constants is free, since they are folded, and a convolution takes its channels
/// in any order, since its weights are reordered. Where matrices would be multiplied one by one, layouts
/// without that are chosen as well, and the faster ones taken.
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
            if (!search.has_separate_matrices()) {
                moves += rewritten(sub, search, made, context);
                return;
            }
            layout_search whole(sub, layout_search::matrices::whole);
            const std::size_t made_whole = whole.run();
            const bool separates = search.estimated_time() < whole.estimated_time();
            moves += separates ? rewritten(sub, search, made, context)
                               : rewritten(sub, whole, made_whole, context);
        });
        return moves;
    }

private:
    static std::size_t rewritten(
        graph& g, const layout_search& chosen, std::size_t moves, pass_context& context) {
        if (moves != 0) layout_rewrite(g, chosen, context).run();
        return moves;
    }
};
HEADRACE_COMPILED_PASS(choose_layouts);

}  // namespace headrace

#endif
