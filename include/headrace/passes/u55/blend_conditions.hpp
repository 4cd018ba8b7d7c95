// SPDX-License-Identifier: MIT
// Defines headrace::blend_conditions.
#ifndef HEADRACE_PASSES_U55_BLEND_CONDITIONS_HPP
#define HEADRACE_PASSES_U55_BLEND_CONDITIONS_HPP

#include <headrace/base/pmr_vector.hpp>
#include <headrace/ir/edits.hpp>
#include <headrace/ir/purity.hpp>
#include <headrace/pass/driver.hpp>
#include <headrace/passes/npu/preferring.hpp>
#include <headrace/passes/support/build.hpp>
#include <headrace/passes/support/inlining.hpp>

namespace headrace {

struct number_booleans;

/// Computes both branches of a COND_IF and selects the results: Ethos-U55 has no control flow. A COND_IF is
/// kept if its branches do more than compute, such as write variables.
struct blend_conditions : for_u55 {
    using runs_before = pass_list<number_booleans>;
    static constexpr std::string_view summary =
        "runs both branches of a COND_IF and selects each result from one of them";

    using targeted_ops = ops<tosa::cond_if>;
    using produces = joined<build::reshape_ops, ops<tosa::select>>;

    result<std::size_t> operator()(graph& g, pass_context& context) const {
        std::size_t count = 0;
        for (node *n = g.first(), *next = nullptr; n != nullptr; n = next) {
            next = n->next;
            if (!is<tosa::cond_if>(*n) || !only_computes(*args_of<tosa::cond_if>(*n).then_graph) ||
                !only_computes(*args_of<tosa::cond_if>(*n).else_graph))
                continue;
            node* before = n->previous;
            if (!blend(g, *n, context)) continue;
            next = before == nullptr ? g.first() : before->next;  // branches may contain further conditions
            ++count;
        }
        return count;
    }

private:
    static bool only_computes(const graph& region) {
        for (const node& n : region.nodes()) {
            if (const auto* a = args_if<tosa::cond_if>(n)) {
                if (!only_computes(*a->then_graph) || !only_computes(*a->else_graph)) return false;
            } else if (!is_of_dialect<builtin::dialect>(n) && !is_pure(n) && !is<tosa::identity>(n)) {
                return false;
            }
        }
        return true;
    }

    // Returns false if the node is kept.
    static bool blend(graph& g, node& n, pass_context& context) {
        const args<tosa::cond_if> a = args_of<tosa::cond_if>(n);
        const pmr_vector<value> on_true = inline_region(*a.then_graph, n, a.inputs);
        const pmr_vector<value> on_false = inline_region(*a.else_graph, n, a.inputs);
        emission made(g, &n, &n, context);
        emit<produces> e(made);
        for (std::uint32_t i = 0; i != n.result_count; ++i) {
            if (i >= on_true.size() || i >= on_false.size()) return false;
            const shape_builder one = shape_builder::filled(e.rank(n.result(i)), 1);
            const value chosen =
                e.make<tosa::select>(build::reshape(e, a.condition, one), on_true[i], on_false[i]);
            if (!chosen) return false;
            hand_over_name(n.results[i], chosen);
            g.replace_all_uses(n.result(i), chosen);
        }
        erase_dead(g, n);
        erase_nodes(*a.then_graph);
        erase_nodes(*a.else_graph);
        return true;
    }
};
HEADRACE_COMPILED_PASS(blend_conditions);

}  // namespace headrace

#endif
