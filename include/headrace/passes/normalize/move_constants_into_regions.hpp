// SPDX-License-Identifier: MIT
// Defines headrace::move_constants_into_regions.
#ifndef HEADRACE_PASSES_NORMALIZE_MOVE_CONSTANTS_INTO_REGIONS_HPP
#define HEADRACE_PASSES_NORMALIZE_MOVE_CONSTANTS_INTO_REGIONS_HPP

#include <headrace/base/pmr_vector.hpp>
#include <headrace/infer/higher_order.hpp>
#include <headrace/pass/pass.hpp>
#include <headrace/passes/properties.hpp>

namespace headrace {

/// Turns a constant operand of a cond, or a constant additional input of a loop, into a constant of the
/// regions themselves, where it is a weight again, which can be folded.
struct move_constants_into_regions : pass {
    using runs_after = pass_list<regions_inlined>;
    using ensures = pass_list<constants_in_regions>;
    static constexpr std::string_view summary =
        "moves constants that are operands of cond and while_loop into their regions";
    using targeted_ops = ops<higher_order::cond, higher_order::while_loop>;
    using produces = targeted_ops;

    std::optional<value_list> operator()(const args<higher_order::cond>& a, emit<produces>& e) const {
        const value_list kept = move(a.operands, 0, {a.true_graph, a.false_graph});
        if (kept.size() == a.operands.size()) return std::nullopt;
        args<higher_order::cond> fewer = a;
        fewer.operands = kept;
        return results_of(e.make_node<higher_order::cond>(fewer));
    }
    std::optional<value_list> operator()(const args<higher_order::while_loop>& a, emit<produces>& e) const {
        const value_list kept =
            move(a.additional_inputs, a.carried_inputs.size(), {a.cond_graph, a.body_graph});
        if (kept.size() == a.additional_inputs.size()) return std::nullopt;
        args<higher_order::while_loop> fewer = a;
        fewer.additional_inputs = kept;
        return results_of(e.make_node<higher_order::while_loop>(fewer));
    }

private:
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
