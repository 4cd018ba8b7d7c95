// SPDX-License-Identifier: MIT
// Defines the functions of headrace/lowering/lower_pte.hpp.

#include <headrace/lowering/lower_pte.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <range/v3/range/conversion.hpp>
#include <range/v3/view/concat.hpp>
#include <range/v3/view/transform.hpp>

#include <headrace/base/printable.hpp>
#include <headrace/base/result.hpp>
#include <headrace/base/strings.hpp>
#include <headrace/base/target_text.hpp>
#include <headrace/dialect/builtin.hpp>
#include <headrace/dialect/executorch.hpp>
#include <headrace/dialect/higher_order.hpp>
#include <headrace/dialect/quantized_decomposed.hpp>
#include <headrace/io/file/atomic_file.hpp>
#include <headrace/io/program.hpp>
#include <headrace/io/pte/method.hpp>
#include <headrace/io/pte/tosa_delegates.hpp>
#include <headrace/io/signature/io_description.hpp>
#include <headrace/io/tosa/delegate.hpp>
#include <headrace/io/unread_nodes.hpp>
#include <headrace/ir/dead_code.hpp>
#include <headrace/ir/regions.hpp>
#include <headrace/ir/state.hpp>
#include <headrace/lowering/device/kept_device_numbers.hpp>
#include <headrace/lowering/executorch_pipeline.hpp>
#include <headrace/lowering/image_layout.hpp>
#include <headrace/lowering/integer_signature.hpp>
#include <headrace/lowering/kernels/kernel_parts.hpp>
#include <headrace/lowering/kernels/placement.hpp>
#include <headrace/lowering/pte_delegates.hpp>
#include <headrace/lowering/state.hpp>
#include <headrace/run/execution.hpp>
#include <headrace/run/make_real.hpp>

namespace headrace {

namespace {

// Turns the buffers that the program writes back into inputs, and their next values into outputs, as
// pte_method says. A buffer that is written but never read is not a state, since its value has no effect.
std::vector<pte_state> states_as_inputs(program& p) {
    declare_writes(p);
    if (p.mutations.empty()) return {};
    graph& g = *p.graph;
    node& before = *g.output();
    std::vector<pte_state> states;
    std::vector<std::size_t> positions;
    std::vector<value> inputs;
    for (const mutation& m : p.mutations) {
        const auto [buffer, input] = detail::replace_buffer(g, m.tensor);
        if (buffer == nullptr) continue;
        states.push_back({args_of<builtin::constant>(*buffer).data, *meta_of(buffer->result())});
        g.annotate(*input, first_value{states.back().data});
        positions.push_back(m.position);
        inputs.push_back(input->result());
    }
    const list<value> made = g.outputs();
    const auto outputs =
        ranges::views::concat(std::span(made.begin(), p.user_outputs),
            positions | ranges::views::transform([&](std::size_t at) { return made[at]; }), inputs) |
        ranges::to<std::vector>();
    g.inherit_annotations(g.create<builtin::output>({.values = list<value>(outputs)}), before);
    g.erase(before);
    p.mutations.clear();
    return states;
}

// Describes a method before states become inputs and outputs, which its caller does not see. A lowering for
// the runtime changes no types, unlike one to TOSA.
io_description describe_method(const program& p) {
    io_description io = describe_io(*p.graph);
    io.outputs.resize(std::min(io.outputs.size(), p.user_outputs));
    return io;
}

// Inserts a node before the output that copies one of its values.
void copy_output(graph& g, node& output, edge& e) {
    const tensor_meta meta = *meta_of(*e.slot);
    const args<aten::_to_copy> whole{.self = *e.slot, .dtype = meta.dtype};
    node& copy = g.create(*executorch::kernel_for(info_of<aten::_to_copy>).kernel, &whole, 1, &output);
    g.set_meta(copy.result(), meta);
    g.set_operand(e, copy.result());
}

value origin_of_reshapes(value v) {
    while (is<executorch::reshape>(*v.producer)) v = v.producer->operand(0);
    return v;
}

// Copies carried values that would be overwritten too early: they are written one after another when the
// body of a loop ends, so a carried value that is another input of the body needs a copy.
void copy_carried_values(graph& g) {
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

// Copies values that would be overwritten too early: states are written one after another when the method
// ends, so an output, or the next value of another state, that is the old value of a state needs a copy.
void copy_kept_inputs(graph& g, std::size_t states) {
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

// The state of a lowering of methods to one file.
class pte_lowering {
public:
    pte_lowering(std::map<std::string, program, std::less<>> methods, const pte_options& options)
        : options_(options) {
        made_.methods = std::move(methods);
    }

    [[nodiscard]] result<lowered_pte> run() {
        for (auto& [name, p] : made_.methods) {
            eliminate_dead_code(*p.graph);
            HEADRACE_TRY(of_method(name, refuse_unread(*p.graph)));
            leave_inputs_unwritten(p);
            restore_device_numbers(*p.graph);
            if (options_.integer_signature) {
                HEADRACE_TRY(of_method(name, take_integers(p)));
            }
            if (options_.channels_last) take_channels_last(p);
            made_.io.emplace(name, describe_method(p));
        }
        for (auto& [name, p] : made_.methods) {
            HEADRACE_TRY(check_states(p));
            states_[name] = states_as_inputs(p);
            HEADRACE_TRY(of_method(name, make_real(*p.graph)));
            HEADRACE_TRY(of_method(name, options_.observer.begin(*p.graph)));
        }
        for (auto& [name, p] : made_.methods) {
            if (options_.delegate || is_searched(p)) {
                HEADRACE_TRY(make_functional(*p.graph));
            }
            if (options_.delegate || options_.kernels) placements_[name].begin(*p.graph);
        }
        if (options_.delegate || options_.to_backends) {
            HEADRACE_TRY(options_.to_backends ? ask_backends() : find_delegates());
            clock_.end("delegate");
        }
        if (options_.kernels) {
            HEADRACE_TRY(select_integer_kernels());
            clock_.end("kernels");
        }
        for (auto& [name, p] : made_.methods) {
            pass_context context(standard_functions);
            HEADRACE_TRY(
                of_method(name, run_executorch_pipeline(*p.graph, context, options_.observer.watched_run())));
            HEADRACE_TRY(options_.observer.end(*p.graph, context.diagnostics()));
            for (const diagnostic& d : context.diagnostics()) made_.refusals.push_back(explained(name, d));
            if (const auto placed = placements_.find(name); placed != placements_.end())
                placed->second.end(*p.graph, made_.reports[name]);
            copy_kept_inputs(*p.graph, states_[name].size());
            copy_carried_values(*p.graph);
            written_.push_back({name, p.graph.get(), delegates_[name], states_[name],
                options_.memory ? &*options_.memory : nullptr});
        }
        clock_.end("lower");
        if (made_.refusals.empty()) {
            HEADRACE_TRY(file, emit_pte(written_, named_));
            made_.file = std::move(file);
        }
        for (const auto& [name, p] : made_.methods) {
            HEADRACE_TRY(p.file.check());
        }
        clock_.end("emit");
        made_.stages = clock_.stages();
        return std::move(made_);
    }

private:
    // Names the method in an error, if there are several.
    template <class T>
    [[nodiscard]] result<T> of_method(const std::string& name, result<T> done) const {
        if (done || made_.methods.size() == 1) return done;
        return done.error().in("method " + std::string(printable(name)));
    }

    result<void> find_delegates() {
        std::map<std::string, graph*, std::less<>> graphs;
        for (auto& [name, p] : made_.methods) graphs.emplace(name, p.graph.get());
        HEADRACE_TRY(delegated, delegate_to_tosa(graphs, {options_.target, true, options_.observer}));
        made_.reports = std::move(delegated.reports);
        return take(std::move(delegated.lowered));
    }
    // Lets the caller's backends take what they support.
    result<void> ask_backends() {
        std::map<std::string, graph*, std::less<>> graphs;
        std::map<std::string, whole_method, std::less<>> wholes;
        for (auto& [name, p] : made_.methods) {
            HEADRACE_TRY(make_functional(*p.graph));
            eliminate_dead_code(*p.graph);  // no backend stores the buffers that became inputs
            graphs.emplace(name, p.graph.get());
            wholes.emplace(name, make_whole_method(*p.graph, states_[name].size()));
        }
        HEADRACE_TRY(lowered, options_.to_backends(graphs));
        HEADRACE_TRY(enter_whole_methods(lowered, graphs, wholes));
        for (const auto& [name, m] : lowered.methods) {
            std::vector<delegate_report>& told = made_.reports[name].delegates;
            for (const lowered_delegate& d : m.delegates)
                told.push_back({d.delegation.backend, d.program->size()});
            if (!m.is_whole) continue;
            std::unique_ptr<graph>& host = made_.methods.find(name)->second.graph;
            made_.whole.push_back(std::exchange(host, std::move(wholes.find(name)->second.host)));
        }
        named_ = data_of_backends(lowered);
        return take(std::move(lowered));
    }
    // Numbers the delegates of each method, and makes them those of the file.
    result<void> take(lowered_methods lowered) {
        made_.data = std::move(lowered.data);
        for (auto& [name, m] : lowered.methods) {
            std::vector<pte_delegate>& delegates = delegates_[name];
            std::vector<const graph*> programs;
            for (lowered_delegate& d : m.delegates) {
                programs.push_back(d.program);
                number_call(*d.call, delegates.size());
                HEADRACE_TRY(made, stored(d));
                made_.reports[name].delegates[delegates.size()].backend = made.id;
                delegates.push_back(std::move(made));
            }
            HEADRACE_TRY(options_.observer.see(delegation_record(delegates.size()), *m.host));
            if (const auto placed = placements_.find(name); placed != placements_.end())
                placed->second.note_delegates(*m.host, programs);
        }
        return {};
    }

    // Only what is quantized can have integer kernels.
    [[nodiscard]] bool is_searched(const program& p) const {
        return options_.kernels && p.graph->census().contains(info_of_dialect<quantized_decomposed::dialect>);
    }
    result<void> select_integer_kernels() {
        for (auto& [name, p] : made_.methods) {
            method_report& told = made_.reports[name];
            if (!options_.delegate) told.target = target_text(*options_.kernels);
            if (!is_searched(p)) continue;
            HEADRACE_TRY(parts, lower_quantized_parts(*p.graph, *options_.kernels));
            HEADRACE_TRY(of_method(name, options_.observer.see(kernels_record(parts.parts), *p.graph)));
            placements_[name].note_kernels(std::move(parts));
        }
        return {};
    }

    [[nodiscard]] result<pte_delegate> stored(lowered_delegate& delegate) const {
        HEADRACE_TRY(d, stored_delegate(delegate, made_.data));
        if (!options_.compile || d.id != tosa_backend_id) return std::move(d);
        HEADRACE_TRY(flatbuffer, join_tosa(d.bytes, d.constants));
        return options_.compile(flatbuffer);
    }
    // Gives both reasons if neither the runtime nor TOSA has the op.
    [[nodiscard]] diagnostic explained(std::string_view method, diagnostic d) const {
        // Passes that both pipelines share give TOSA's reasons.
        if (d.reason.find("TOSA") != std::pmr::string::npos)
            d.reason =
                "ExecuTorch's runtime has no kernel for this op, and rewriting it to others fails as it does "
                "for TOSA: " +
                d.reason;
        const auto told = made_.reports.find(method);
        if (told == made_.reports.end()) return d;
        for (const host_note& n : told->second.host_nodes) {
            if (n.node != std::string_view(d.node)) continue;
            d.reason += "; not delegated to TOSA: " + n.reason;
            break;
        }
        return d;
    }

    pte_options options_;
    lowered_pte made_;
    stage_clock clock_;
    std::map<std::string, std::vector<pte_delegate>, std::less<>> delegates_;
    std::map<std::string, std::vector<pte_state>, std::less<>> states_;
    std::map<std::string, placement_log, std::less<>> placements_;
    std::vector<pte_method> written_;
    named_data_store_output named_;  // of the caller's backends
};

}  // namespace

result<lowered_pte> lower_to_pte(
    std::map<std::string, program, std::less<>> methods, const pte_options& options) {
    return pte_lowering(std::move(methods), options).run();
}

result<void> write_pte(const std::string& path, const lowered_pte& lowered) {
    if (!lowered.refusals.empty())
        return error{error_kind::unsupported, diagnostic_text(lowered.refusals.front())};
    return write_atomically(path, [&](const byte_sink& sink) -> result<void> {
        static_cast<void>(lowered.file.write_to(sink));  // the sink keeps its error
        return {};
    });
}

}  // namespace headrace
