// SPDX-License-Identifier: MIT
// Defines the members of headrace::quantized_states.

#include <headrace/lowering/quantized_states.hpp>

#include <memory>
#include <string_view>
#include <utility>

#include <range/v3/range/conversion.hpp>
#include <range/v3/view/reverse.hpp>
#include <range/v3/view/transform.hpp>

#include <headrace/dialect/builtin.hpp>
#include <headrace/eval/fold.hpp>
#include <headrace/ir/state.hpp>
#include <headrace/lowering/state.hpp>
#include <headrace/partition/extract.hpp>
#include <headrace/run/execution.hpp>

namespace headrace {

quantized_states::quantized_states(program& p) : program_(p) {
    graph& g = *p.graph;
    declare_writes(p);
    std::vector<std::string_view> names(g.outputs().size());
    for (const mutation& m : p.mutations) {
        if (m.kind == mutation::kind_type::user_input) continue;
        const auto [buffer, input] = detail::replace_buffer(g, m.tensor);
        if (buffer == nullptr) continue;
        names[m.position] = g.own(m.tensor);
        g.annotate(*input, input_state{names[m.position]});
        states_.push_back({m.position, input, buffer->annotations, args_of<builtin::constant>(*buffer).data});
    }
    if (states_.empty()) return;
    g.annotate(*g.output(), output_states{g.own(list<std::string_view>(names))});
    // Samples are given in the order of the inputs, and used in that of the nodes.
    std::vector<node*> inputs;
    for (node& n : g.inputs()) inputs.push_back(&n);
    for (node* n : inputs | ranges::views::reverse) g.move_before(*n, g.first());
}

result<sample_source> quantized_states::samples(const sample_source& users) const {
    if (states_.empty()) return users;
    graph executed;
    copy_graph(*program_.graph, executed);
    HEADRACE_TRY(make_functional(executed));
    const auto values = std::make_shared<std::vector<std::vector<tensor>>>();
    std::vector<tensor> now = states_ | ranges::views::transform([](const state& s) {
        return tensor_of_constant(s.data, *s.input->results[0].meta);
    }) | ranges::to<std::vector>();
    const auto inputs_of = [users, values](std::size_t i) -> result<std::vector<tensor>> {
        HEADRACE_TRY(inputs, users.inputs(i));
        inputs.insert(inputs.end(), (*values)[i].begin(), (*values)[i].end());
        return inputs;
    };
    for (std::size_t i = 0; i != users.count; ++i) {
        values->push_back(now);
        if (i + 1 == users.count) break;
        HEADRACE_TRY(inputs, inputs_of(i));
        HEADRACE_TRY(made, execute(executed, inputs));
        for (std::size_t k = 0; k != states_.size(); ++k) now[k] = made[states_[k].position];
    }
    return sample_source{users.count, inputs_of};
}

void quantized_states::restore() {
    graph& g = *program_.graph;
    for (const state& s : states_) {
        node& buffer = g.create<builtin::constant>({.data = s.data}, s.input);
        g.set_meta(buffer.result(), *s.input->results[0].meta);
        g.set_name(buffer.result(), s.input->name());
        buffer.annotations = s.annotations;
        g.replace_all_uses(s.input->result(), buffer.result());
        g.erase(*s.input);
    }
    if (!states_.empty()) g.annotate(*g.output(), output_states{});
    states_.clear();
}

}  // namespace headrace
