// SPDX-License-Identifier: MIT
// Defines how states become inputs and outputs, and where methods of .pte files need copies.
#ifndef HEADRACE_LOWERING_PTE_COPIES_HPP
#define HEADRACE_LOWERING_PTE_COPIES_HPP

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include <headrace/base/result.hpp>
#include <headrace/base/strings.hpp>
#include <headrace/dialect/builtin.hpp>
#include <headrace/dialect/executorch.hpp>
#include <headrace/dialect/higher_order.hpp>
#include <headrace/io/program.hpp>
#include <headrace/io/pte/method.hpp>
#include <headrace/ir/regions.hpp>

namespace headrace::detail {

[[nodiscard]] inline node* find_constant(const graph& g, std::string_view name) {
    for (node& n : g.nodes_of(info_of<builtin::constant>)) {
        if (!name.empty() && n.name() == name) return &n;
    }
    return nullptr;
}

/// Turns the buffers that the program writes back into inputs, and their next values into outputs, as
/// pte_method says. A buffer that is written but never read is not a state, since its value has no effect.
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

/// Inserts a node before the output that copies one of its values.
inline void copy_output(graph& g, node& output, edge& e) {
    const tensor_meta meta = *meta_of(*e.slot);
    const args<aten::_to_copy> whole{.self = *e.slot, .dtype = meta.dtype};
    node& copy = g.create(*executorch::kernel_for(info_of<aten::_to_copy>).kernel, &whole, 1, &output);
    g.set_meta(copy.result(), meta);
    g.set_operand(e, copy.result());
}

[[nodiscard]] inline value origin_of_reshapes(value v) {
    while (is<executorch::reshape>(*v.producer)) v = v.producer->operand(0);
    return v;
}

/// Copies carried values that would be overwritten too early: they are written one after another when the
/// body of a loop ends, so a carried value that is another input of the body needs a copy.
inline void copy_carried_values(graph& g) {
    for (node& n : g.nodes()) {
        for_each_region(n, [](const field_info&, graph* region) {
            if (region != nullptr) copy_carried_values(*region);
        });
        if (!is<higher_order::while_loop>(n)) continue;
        graph& body = *args_of<higher_order::while_loop>(n).body_graph;
        node& output = *body.output();
        std::size_t next = 0;
        std::vector<value> inputs;
        for (node& input : body.inputs()) inputs.push_back(input.result());
        for (edge& e : std::span(output.operands, output.operand_count)) {
            const value origin = origin_of_reshapes(*e.slot);
            const bool is_input =
                is<builtin::placeholder>(*origin.producer) && origin.producer->owner == &body;
            if (is_input && origin != inputs[next]) copy_output(body, output, e);
            ++next;
        }
    }
}

/// Copies values that would be overwritten too early: states are written one after another when the method
/// ends, so an output, or the next value of another state, that is the old value of a state needs a copy.
inline void copy_kept_inputs(graph& g, std::size_t states) {
    if (states == 0) return;
    node& output = *g.output();
    const std::size_t count = output.operand_count - states;
    for (std::size_t i = 0; i != count; ++i) {
        edge& e = output.operands[i];
        const value origin = origin_of_reshapes(*e.slot);
        std::size_t held = count;
        while (held != output.operand_count && *output.operands[held].slot != origin) ++held;
        if (held == output.operand_count || held == i + states) continue;
        copy_output(g, output, e);
    }
}

}  // namespace headrace::detail

#endif
