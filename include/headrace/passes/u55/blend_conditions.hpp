// SPDX-License-Identifier: MIT
// Defines headrace::blend_conditions.
#ifndef HEADRACE_PASSES_U55_BLEND_CONDITIONS_HPP
#define HEADRACE_PASSES_U55_BLEND_CONDITIONS_HPP

#include <memory_resource>
#include <unordered_map>
#include <vector>

#include <headrace/pass/driver.hpp>
#include <headrace/passes/support/build.hpp>
#include <headrace/passes/support/same_node.hpp>
#include <headrace/passes/u55/for_u55.hpp>

namespace headrace {

/// COND_IF without control flow, which Ethos-U55 does not have: both branches run, and each result is
/// selected from theirs. Branches that do more than compute, such as write variables, stay.
struct blend_conditions : pass, for_u55 {
    static constexpr std::string_view summary = "COND_IF as both branches and a SELECT between their results";
    using targets = ops<tosa::cond_if>;
    using produces = joined<build::reshape_ops, ops<tosa::select>>;

    result<std::size_t> operator()(graph& g, pass_context& context) const {
        std::size_t count = 0;
        for (node *n = g.first(), *next = nullptr; n != nullptr; n = next) {
            next = n->next;
            if (!is<tosa::cond_if>(*n) || !only_computes(*args_of<tosa::cond_if>(*n).then_graph) ||
                !only_computes(*args_of<tosa::cond_if>(*n).else_graph))
                continue;
            node* before = n->previous;
            blend(g, *n, context);
            next = before == nullptr ? g.first() : before->next;  // branches may hold conditions themselves
            ++count;
        }
        return count;
    }

private:
    static bool only_computes(const graph& region) {
        for (const node& n : region.nodes()) {
            if (const auto* a = args_if<tosa::cond_if>(n)) {
                if (!only_computes(*a->then_graph) || !only_computes(*a->else_graph)) return false;
            } else if (n.op->dialect != &info_of_dialect<builtin::dialect> && !is_pure(n) &&
                       !is<tosa::identity>(n)) {
                return false;
            }
        }
        return true;
    }

    static void blend(graph& g, node& n, pass_context& context) {
        const args<tosa::cond_if> a = args_of<tosa::cond_if>(n);
        const std::pmr::vector<value> on_true = inlined(g, *a.then_graph, n, a.inputs);
        const std::pmr::vector<value> on_false = inlined(g, *a.else_graph, n, a.inputs);
        emit<produces> e(g, &n, &n, context);
        for (std::uint32_t i = 0; i != n.result_count; ++i) {
            if (i >= on_true.size() || i >= on_false.size()) return;
            const shape_builder one = shape_builder::filled(e.rank(n.result(i)), 1);
            const value chosen =
                e.make<tosa::select>(build::reshape(e, a.condition, one), on_true[i], on_false[i]);
            if (!chosen) return;
            detail::hand_over_name(n.results[i], chosen);
            g.replace_all_uses(n.result(i), chosen);
        }
        detail::erase_dead(g, n);
        for (graph* region : {a.then_graph, a.else_graph}) {  // so that no pass finds its nodes
            while (region->last() != nullptr) region->erase(*region->last());
        }
    }
    // The region's outputs, of copies of its nodes.
    static std::pmr::vector<value> inlined(graph& g, const graph& region, node& call,
                                           const list<value>& inputs) {
        std::pmr::unordered_map<const node*, node*> copies;
        std::pmr::unordered_map<const node*, value> given;
        std::size_t next = 0;
        for (const node& n : region.nodes()) {
            if (is<builtin::placeholder>(n) && next < inputs.size()) given[&n] = inputs[next++];
        }
        const auto mapped = [&](value v) {
            const auto input = given.find(v.producer);
            return input != given.end() ? input->second : value{copies.at(v.producer), v.result};
        };
        for (const node& n : region.nodes()) {
            if (is<builtin::placeholder>(n) || is<builtin::output>(n)) continue;
            node& made = g.create(*n.op, n.arguments, n.result_count, &call);
            for (edge& e : std::span(made.operands, made.operand_count)) g.set_operand(e, mapped(*e.slot));
            for (std::uint32_t i = 0; i != n.result_count; ++i) made.results[i] = n.results[i];
            made.annotations = n.annotations;
            g.inherit_annotations(made, call);
            copies[&n] = &made;
        }
        std::pmr::vector<value> outputs;
        for (const value v : region.outputs()) outputs.push_back(mapped(v));
        return outputs;
    }
};

}  // namespace headrace

#endif
