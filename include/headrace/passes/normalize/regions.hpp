// SPDX-License-Identifier: MIT
// Defines the passes that inline regions and move constants into them.
#ifndef HEADRACE_PASSES_NORMALIZE_REGIONS_HPP
#define HEADRACE_PASSES_NORMALIZE_REGIONS_HPP

#include <headrace/dialect/higher_order.hpp>
#include <headrace/infer/higher_order.hpp>
#include <headrace/ir/edits.hpp>
#include <headrace/ir/regions.hpp>
#include <headrace/pass/driver.hpp>
#include <headrace/passes/properties.hpp>
#include <headrace/passes/support/inlining.hpp>

namespace headrace {

/// Inlines the graph that wrap_with_set_grad_enabled or wrap_with_autocast calls: gradients do not matter at
/// inference, and autocast is not enabled. The inputs of the inner graph become the operands, its outputs the
/// results; nodes keep their names.
struct inline_regions : pass {
    using ensures = pass_list<regions_inlined>;
    static constexpr std::string_view summary =
        "inlines the graphs of wrap_with_set_grad_enabled and wrap_with_autocast";
    using targeted_ops = ops<higher_order::wrap_with_set_grad_enabled, higher_order::wrap_with_autocast>;
    using removes = targeted_ops;

    result<std::size_t> operator()(graph& g, pass_context&) const {
        std::size_t count = 0;
        result<void> done;
        // A graph's own calls are inlined before its regions: inlining a call may leave further calls in the
        // graph, and erases their originals.
        for_each_graph(g, [&](graph& sub) {
            while (node* const call = done ? first_call(sub) : nullptr) {
                done = inline_call(*call);
                ++count;
            }
        });
        if (!done) return std::move(done).error();
        return count;
    }

private:
    static node* first_call(graph& g) {
        for (const op_info* op : {&info_of<higher_order::wrap_with_set_grad_enabled>,
                 &info_of<higher_order::wrap_with_autocast>}) {
            const auto calls = g.nodes_of(*op);
            if (!calls.empty()) return &*calls.begin();
        }
        return nullptr;
    }
    static result<void> inline_call(node& call) {
        if (const auto* a = args_if<higher_order::wrap_with_set_grad_enabled>(call))
            return inline_graph(call, *a->wrapped_graph, a->operands);
        const auto& a = args_of<higher_order::wrap_with_autocast>(call);
        return inline_graph(call, *a.wrapped_body, a.operands);
    }
    static result<void> inline_graph(node& call, graph& inner, list<value> operands) {
        if (inner.census().count(info_of<builtin::placeholder>) > operands.size())
            return invalid({message_prefix(call), "fewer operands than inputs"});
        if (inner.outputs().size() != call.result_count)
            return invalid({message_prefix(call), "results do not match its graph"});
        std::uint32_t i = 0;
        for (const value v : inline_region(inner, call, operands)) {
            hand_over_name(call.results[i], v);
            call.owner->replace_all_uses(call.result(i++), v);
        }
        erase_dead(*call.owner, call);
        erase_nodes(inner);
        return {};
    }
};
HEADRACE_COMPILED_PASS(inline_regions);

/// Turns a constant operand of a cond, or a constant additional input of a loop, into a constant of the
/// regions themselves, where it is a weight again, which can be folded.
struct move_constants_into_regions : pass {
    using runs_after = pass_list<regions_inlined>;
    using ensures = pass_list<constants_in_regions>;
    static constexpr std::string_view summary =
        "moves constants that are operands of cond and while_loop into their regions";

    static auto rewrites() {
        return rules(on<higher_order::cond> = code<condition>(), on<higher_order::while_loop> = code<loop>());
    }

private:
    static std::optional<value_list> condition(
        emit<ops<higher_order::cond>> e, const args<higher_order::cond>& a) {
        const value_list kept = move(a.operands, 0, {a.true_graph, a.false_graph});
        if (kept.size() == a.operands.size()) return std::nullopt;
        args<higher_order::cond> fewer = a;
        fewer.operands = kept;
        return results_of(e.make_node<higher_order::cond>(fewer));
    }
    static std::optional<value_list> loop(
        emit<ops<higher_order::while_loop>> e, const args<higher_order::while_loop>& a) {
        const value_list kept =
            move(a.additional_inputs, a.carried_inputs.size(), {a.cond_graph, a.body_graph});
        if (kept.size() == a.additional_inputs.size()) return std::nullopt;
        args<higher_order::while_loop> fewer = a;
        fewer.additional_inputs = kept;
        return results_of(e.make_node<higher_order::while_loop>(fewer));
    }

    // Moves constants; operand i is the region's input `first` + i.
    static value_list move(const list<value>& operands, std::size_t first, std::array<graph*, 2> regions) {
        value_list kept;
        for (const value v : operands) {
            if (!is<builtin::constant>(*v.producer)) kept.push_back(v);
        }
        if (kept.size() == operands.size()) return kept;
        for (graph* region : regions) {
            pmr_vector<node*> inputs;
            for (node& n : region->inputs()) inputs.push_back(&n);
            for (std::size_t i = 0; i != operands.size(); ++i) {
                if (const auto* data = match<builtin::constant>(operands[i])) {
                    replace_input(*region, *inputs[first + i], operands[i], *data);
                }
            }
        }
        return kept;
    }
    static void replace_input(
        graph& region, node& input, value outside, const args<builtin::constant>& data) {
        node& constant = region.create<builtin::constant>(data, region.first());
        region.set_meta(constant.result(), *meta_of(outside));
        region.set_name(constant.result(), input.name());
        region.replace_all_uses(input.result(), constant.result());
        region.erase(input);
    }
};
HEADRACE_COMPILED_PASS(move_constants_into_regions);

}  // namespace headrace

#endif
