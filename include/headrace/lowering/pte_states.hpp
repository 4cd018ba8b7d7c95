// SPDX-License-Identifier: MIT
// Defines how a program that writes its buffers back becomes one of functions: states are inputs and outputs.
#ifndef HEADRACE_LOWERING_PTE_STATES_HPP
#define HEADRACE_LOWERING_PTE_STATES_HPP

#include <cstddef>
#include <string_view>
#include <vector>

#include <headrace/base/error.hpp>
#include <headrace/base/strings.hpp>
#include <headrace/dialect/builtin.hpp>
#include <headrace/dialect/executorch.hpp>
#include <headrace/io/pt2_program.hpp>
#include <headrace/io/pte_method.hpp>

namespace headrace::detail {

/// The runtime copies inputs before a method runs: what is written to them is lost.
[[nodiscard]] inline result<void> refuse_written_inputs(const program& p) {
    for (const mutation& m : p.mutations) {
        if (m.kind != mutation::kind_type::user_input) continue;
        return unsupported(join_text(m.name,
                                     ": the program writes this input back when it ends, which ExecuTorch's "
                                     "runtime does not; return the new value as an output instead"));
    }
    return boost::outcome_v2::success();
}

[[nodiscard]] inline node* find_constant(const graph& g, std::string_view name) {
    for (node& n : g.nodes_of(info_of<builtin::constant>)) {
        if (!name.empty() && n.name() == name) return &n;
    }
    return nullptr;
}

/// Makes the buffers that the program writes back inputs, and their next values outputs, as pte_method says.
/// A buffer that is written and never read is no state: nobody sees it.
[[nodiscard]] inline std::vector<pte_state> states_as_inputs(program& p) {
    if (p.mutations.empty()) return {};
    graph& g = *p.graph;
    node& before = *g.output();
    std::vector<pte_state> states;
    std::vector<std::size_t> positions;
    std::vector<value> inputs;
    for (const mutation& m : p.mutations) {
        node* const buffer = find_constant(g, m.tensor);
        if (buffer == nullptr) continue;
        const tensor_meta meta = *meta_of(buffer->result());
        node& input = g.create<builtin::placeholder>({}, g.first());
        g.set_meta(input.result(), {meta.dtype, meta.shape, {}});
        g.set_name(input.result(), m.tensor);
        g.replace_all_uses(buffer->result(), input.result());
        states.push_back({args_of<builtin::constant>(*buffer).data, meta});
        positions.push_back(m.position);
        inputs.push_back(input.result());
    }
    const list<value> made = g.outputs();
    std::vector<value> outputs(made.begin(), made.begin() + p.user_outputs);
    for (const std::size_t position : positions) outputs.push_back(made[position]);
    outputs.insert(outputs.end(), inputs.begin(), inputs.end());
    g.create<builtin::output>({.values = list<value>(outputs)});
    g.erase(before);
    p.mutations.clear();
    return states;
}

/// States are written in turn when the method ends: an output, or another state, that is what a state was
/// needs a copy.
inline void copy_kept_inputs(graph& g, std::size_t states) {
    if (states == 0) return;
    node& output = *g.output();
    const std::size_t count = output.operand_count - states;
    for (std::size_t i = 0; i != count; ++i) {
        edge& e = output.operands[i];
        value origin = *e.slot;
        while (is<executorch::reshape>(*origin.producer)) origin = origin.producer->operand(0);
        std::size_t held = count;
        while (held != output.operand_count && *output.operands[held].slot != origin) ++held;
        if (held == output.operand_count || held == i + states) continue;
        const tensor_meta meta = *meta_of(*e.slot);
        const args<aten::_to_copy> whole{.self = *e.slot, .dtype = meta.dtype};
        node& copy = g.create(*executorch::kernel_for(info_of<aten::_to_copy>).kernel, &whole, 1, &output);
        g.set_meta(copy.result(), meta);
        g.set_operand(e, copy.result());
    }
}

}  // namespace headrace::detail

#endif
