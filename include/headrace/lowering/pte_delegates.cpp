// SPDX-License-Identifier: MIT
// Defines the functions of headrace/lowering/pte_delegates.hpp.

#include <headrace/lowering/pte_delegates.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <headrace/base/result.hpp>
#include <headrace/dialect/builtin.hpp>
#include <headrace/dialect/delegate.hpp>
#include <headrace/dialect/executorch.hpp>
#include <headrace/io/pte/tosa_delegates.hpp>
#include <headrace/ir/regions.hpp>
#include <headrace/partition/delegate_border.hpp>
#include <headrace/partition/extract.hpp>

namespace headrace {

result<pte_delegate> stored_delegate(lowered_delegate& d, const named_data_store_output& data) {
    pte_delegate made{.id = d.delegation.backend,
        .bytes = std::move(d.processed.processed_bytes),
        .specs = d.delegation.specs};
    if (made.id != tosa_backend_id) return made;
    for (const std::string& key : d.processed.data_keys) {
        const auto known = data.keys.find(key);
        if (known == data.keys.end()) {
            return unsupported(
                {"a delegate of 'tosa' with constants in another file: a .pte file is written "
                 "with all of its data"});
        }
        made.constants.emplace_back(data.buffers[known->second]->bytes);
    }
    return made;
}

named_data_store_output data_of_backends(const lowered_methods& lowered) {
    named_data_store_output found{.buffers = lowered.data.buffers, .keys = {}, .external = {}};
    const auto take = [&](const auto& own, const auto& all, auto& into) {
        for (const auto& [key, buffer] : own) into.insert(*all.find(key));
    };
    for (const auto& [name, m] : lowered.methods) {
        for (const lowered_delegate& d : m.delegates) {
            if (d.delegation.backend == tosa_backend_id) continue;
            take(d.processed.data.keys, lowered.data.keys, found.keys);
            for (const auto& [tag, keys] : d.processed.data.external)
                take(keys, lowered.data.external.find(tag)->second, found.external[tag]);
        }
    }
    return found;
}

void number_call(node& call, std::size_t number) {
    graph& g = *call.owner;
    const args<executorch::call_delegate> arguments{
        static_cast<std::int64_t>(number), args_of<delegate::call_delegate>(call).operands};
    node& made = g.create<executorch::call_delegate>(arguments, call.result_count, &call);
    for (std::uint32_t i = 0; i != call.result_count; ++i) {
        made.results[i] = call.results[i];
        g.replace_all_uses(call.result(i), made.result(i));
    }
    g.inherit_annotations(made, call);
    g.annotate(made, called_program{args_of<delegate::call_delegate>(call).lowered_graph});
    g.erase(call);
}

delegate_programs copy_programs(graph& host) {
    delegate_programs programs;
    for_each_node(host, [&](node& n) {
        const auto* call = args_if<executorch::call_delegate>(n);
        const auto* called = n.find_annotation<called_program>();
        if (call == nullptr || called == nullptr) return;
        auto& program = programs[call->number];
        program = std::make_unique<graph>();
        copy_graph(*called->program, *program);
    });
    return programs;
}

void restore_calls(graph& copy, const delegate_programs& programs) {
    for_each_node(copy, [&](node& n) {
        const auto* call = args_if<executorch::call_delegate>(n);
        if (call == nullptr) return;
        const auto called = programs.find(call->number);
        if (called == programs.end()) return;
        graph& g = *n.owner;
        graph& program = g.create_region();
        copy_graph(*called->second, program);
        const args<delegate::call_delegate> arguments{{}, &program, call->operands};
        node& made = g.create<delegate::call_delegate>(arguments, n.result_count, &n);
        for (std::uint32_t i = 0; i != n.result_count; ++i) {
            made.results[i] = n.results[i];
            g.replace_all_uses(n.result(i), made.result(i));
        }
        g.erase(n);
    });
}

whole_method make_whole_method(graph& program, std::size_t states) {
    whole_method made{std::make_unique<graph>(), nullptr};
    graph& host = *made.host;
    host.set_target(program.target());
    std::vector<value> inputs;
    const auto describe = [&](value v, value like) {
        if (const tensor_meta* const meta = meta_of(like)) host.set_meta(v, *meta);
        host.set_name(v, like.producer->results[like.result].name);
    };
    for (node& n : program.inputs()) {
        inputs.push_back(host.create<builtin::placeholder>({}).result());
        describe(inputs.back(), n.result());
    }
    const list<value> results = program.outputs();
    made.call = &host.create<delegate::call_delegate>({{}, &program, list<value>(inputs)}, results.size());
    std::vector<value> outputs;
    for (std::uint32_t i = 0; i != results.size(); ++i) {
        outputs.push_back(made.call->result(i));
        describe(outputs.back(), results[i]);
    }
    for (std::size_t i = 0; i != states; ++i)
        outputs[outputs.size() - states + i] = inputs[inputs.size() - states + i];
    host.create<builtin::output>({.values = list<value>(outputs)});
    return made;
}

result<void> enter_whole_methods(lowered_methods& lowered,
    const std::map<std::string, graph*, std::less<>>& given,
    const std::map<std::string, whole_method, std::less<>>& wholes) {
    for (auto& [name, m] : lowered.methods) {
        const auto known = given.find(name);
        if (known == given.end() || m.host != known->second)
            return invalid({"method ", name, ": the backends were not given this graph"});
        if (!m.is_whole) continue;
        const whole_method& whole = wholes.find(name)->second;
        detail::delegate_border(*whole.host, *whole.call).write();
        m.host = whole.host.get();
        m.delegates.front().call = whole.call;
    }
    return {};
}

}  // namespace headrace
