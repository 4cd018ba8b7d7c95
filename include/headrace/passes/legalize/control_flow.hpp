// SPDX-License-Identifier: MIT
// Defines headrace::legalize_control_flow.
#ifndef HEADRACE_PASSES_LEGALIZE_CONTROL_FLOW_HPP
#define HEADRACE_PASSES_LEGALIZE_CONTROL_FLOW_HPP

#include <headrace/dialect/higher_order.hpp>
#include <headrace/passes/properties.hpp>
#include <headrace/passes/support/build.hpp>

namespace headrace {

/// Lowers cond to COND_IF and while_loop to WHILE_LOOP (TOSA 1.0, 2.15.1 and 2.15.2), which need the control
/// flow extension. A loop's additional inputs become carried values that the body returns unchanged, since
/// TOSA's loop bodies return all their inputs. The regions themselves are lowered by the other passes.
struct legalize_control_flow : pass_in<legalization> {
    using runs_after = pass_list<constants_in_regions>;
    static constexpr std::string_view summary = "cond and while_loop to COND_IF and WHILE_LOOP";

    static auto rewrites() {
        return rules(
            on<higher_order::cond> = code<branched>(), on<higher_order::while_loop> = code<looped>());
    }

private:
    static value_list branched(emit<ops<tosa::cond_if>> e, const args<higher_order::cond>& a) {
        if (!allowed(e)) return {};
        return results_of(e.make_node<tosa::cond_if>({.condition = a.pred,
                              .inputs = a.operands,
                              .then_graph = a.true_graph,
                              .else_graph = a.false_graph}),
            e.current().result_count);
    }

    static value_list looped(emit<ops<tosa::while_loop>> e, const args<higher_order::while_loop>& a) {
        if (!allowed(e)) return {};
        value_list inputs;
        for (const value v : a.carried_inputs) inputs.push_back(v);
        for (const value v : a.additional_inputs) inputs.push_back(v);
        hand_on(*a.body_graph, a.carried_inputs.size());
        return results_of(e.make_node<tosa::while_loop>(
                              {.inputs = inputs, .cond_graph = a.cond_graph, .body_graph = a.body_graph}),
            e.current().result_count);
    }
    static bool allowed(emitter e) {
        if (e.target().has(target_feature::control_flow)) return true;
        e.unsupported("control flow needs the extension cf in the target: TOSA-1.0+FP+cf");
        return false;
    }
    // Makes the body also return inputs that it does not carry; the loop's results for these are unread.
    static void hand_on(graph& body, std::size_t carried) {
        value_list values;
        for (const value v : body.outputs()) values.push_back(v);
        std::size_t i = 0;
        for (node& input : body.inputs()) {
            if (i++ >= carried) values.push_back(input.result());
        }
        body.erase(*body.output());
        body.create<builtin::output>({.values = values});
    }
};
HEADRACE_COMPILED_PASS(legalize_control_flow);

}  // namespace headrace

#endif
