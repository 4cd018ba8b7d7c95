// SPDX-License-Identifier: MIT
// Defines the functions of headrace/lowering/state.hpp.

#include <headrace/lowering/state.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include <range/v3/range/conversion.hpp>
#include <range/v3/view/indices.hpp>
#include <range/v3/view/transform.hpp>

#include <headrace/base/strings.hpp>
#include <headrace/dialect/builtin.hpp>
#include <headrace/eval/evaluator.hpp>
#include <headrace/ir/exported_types.hpp>
#include <headrace/ir/signature.hpp>
#include <headrace/ir/state.hpp>
#include <headrace/ir/unread.hpp>

namespace headrace {

namespace {

// Returns the constant that an in-place write reaches, through views; null if there is none.
node* written_constant(const node& write) {
    constexpr int max_depth = 64;
    value v = write.operand(0);
    for (int i = 0; i != max_depth && !is<builtin::constant>(*v.producer); ++i) {
        if (v.producer->operand_count == 0 || !v.producer->op->has(trait::aliasing | trait::in_place))
            return nullptr;
        v = v.producer->operand(0);
    }
    return is<builtin::constant>(*v.producer) ? v.producer : nullptr;
}

// Replaces the output node by one with other values; annotations of the outputs are kept, position by
// position.
node& replace_output(graph& g, std::span<const value> values, std::span<const std::size_t> taken_over) {
    node& before = *g.output();
    node& made = g.create<builtin::output>({.values = list<value>(values)});
    const auto pick = [&]<class T>(const list<T>& from) {
        std::vector<T> items;
        for (const std::size_t i : taken_over) items.push_back(i < from.size() ? from[i] : T{});
        return g.own(list<T>(items));
    };
    if (const auto* names = before.find_annotation<output_names>())
        g.annotate(made, output_names{pick(names->names)});
    if (const auto* all = before.find_annotation<output_quantizations>())
        g.annotate(made, output_quantizations{pick(all->values)});
    if (const auto* states = before.find_annotation<output_states>())
        g.annotate(made, output_states{pick(states->names)});
    if (const auto* bytes = before.find_annotation<unsigned_outputs>()) {
        std::vector<std::int64_t> positions;
        for (std::size_t k = 0; k != taken_over.size(); ++k) {
            const auto was = static_cast<std::int64_t>(taken_over[k]);
            if (std::ranges::find(bytes->positions, was) != bytes->positions.end())
                positions.push_back(static_cast<std::int64_t>(k));
        }
        g.annotate(made, unsigned_outputs{g.own(list<std::int64_t>(positions))});
    }
    if (const auto* layout = before.find_annotation<channels_last_signature>()) g.annotate(made, *layout);
    if (const auto* notes = before.find_annotation<reading_notes>()) g.annotate(made, *notes);
    if (const auto* exported = before.find_annotation<exported_output_types>())
        g.annotate(made, exported_output_types{pick(exported->types)});
    g.inherit_annotations(made, before);
    g.erase(before);
    return made;
}

}  // namespace

std::vector<buffer_write> buffer_writes(const graph& g) {
    std::vector<buffer_write> written;
    for (node& n : g.nodes()) {
        if (!detail::writes_in_place(*n.op) || n.operand_count == 0) continue;
        node* const buffer = written_constant(n);
        if (buffer != nullptr && !buffer->name().empty() &&
            std::ranges::find(written, buffer, &buffer_write::buffer) == written.end())
            written.push_back({buffer, &n});
    }
    return written;
}

void declare_writes(program& p) {
    graph& g = *p.graph;
    std::vector<buffer_write> written = buffer_writes(g);
    std::erase_if(written, [&](const buffer_write& w) {  // those that the reader has found
        return std::ranges::find(p.mutations, w.buffer->name(), &mutation::tensor) != p.mutations.end();
    });
    if (written.empty()) return;
    const list<value> old = g.outputs();
    std::vector<value> values(old.begin(), old.end());
    std::vector<std::size_t> places(values.size());
    std::iota(places.begin(), places.end(), std::size_t{0});
    const auto* names = g.output()->find_annotation<output_names>();
    std::vector<std::string_view> all_names;
    if (names != nullptr) all_names.assign(names->names.begin(), names->names.end());
    for (const auto& [buffer, write] : written) {
        p.mutations.push_back({mutation::kind_type::buffer, std::string(buffer->name()), values.size(),
            std::string(buffer->name())});
        values.push_back(buffer->result());
        all_names.push_back(g.own(join_text("new_", buffer->name())));
    }
    node& made = replace_output(g, values, places);
    if (names != nullptr) g.annotate(made, output_names{g.own(list<std::string_view>(all_names))});
}

namespace {

node* find_by_name(auto&& nodes, std::string_view name) {
    for (node& n : nodes) {
        if (!name.empty() && n.name() == name) return &n;
    }
    return nullptr;
}

}  // namespace

detail::buffer_input detail::replace_buffer(graph& g, std::string_view name) {
    node* const constant = find_by_name(g.nodes_of(info_of<builtin::constant>), name);
    if (constant == nullptr) return {};
    const tensor_meta& meta = *meta_of(constant->result());
    node& input = g.create<builtin::placeholder>({}, g.first());
    g.set_meta(input.result(), {meta.dtype, meta.shape, {}});
    g.set_name(input.result(), name);
    g.replace_all_uses(constant->result(), input.result());
    return {constant, &input};
}

result<void> check_states(const program& p) {
    for (const mutation& m : p.mutations) {
        if (m.kind == mutation::kind_type::user_input) continue;
        const node* const buffer = find_by_name(p.graph->nodes_of(info_of<builtin::constant>), m.tensor);
        const tensor_meta* const next = meta_of(p.graph->outputs()[m.position]);
        if (buffer == nullptr || next == nullptr) continue;
        const tensor_meta& held = *buffer->results[0].meta;
        if (held.dtype == next->dtype && held.shape == next->shape) continue;
        return unsupported(join_text(m.name, ": the buffer is ", name_of(held.dtype), shape_text(held.shape),
            " and its next value ", name_of(next->dtype), shape_text(next->shape),
            ", but a state keeps its type and shape; if it was quantized as a constant, quantize the float "
            "model again, otherwise cast or reshape the value that is written to it"));
    }
    return {};
}

void leave_inputs_unwritten(program& p) {
    const auto is_input = [](const mutation& m) { return m.kind == mutation::kind_type::user_input; };
    if (std::ranges::none_of(p.mutations, is_input)) return;
    const list<value> all = p.graph->outputs();
    auto kept = ranges::views::indices(p.user_outputs) | ranges::to<std::vector>();
    std::erase_if(p.mutations, is_input);
    for (mutation& m : p.mutations) {
        kept.push_back(m.position);
        m.position = kept.size() - 1;
    }
    const auto values =
        kept | ranges::views::transform([&](std::size_t i) { return all[i]; }) | ranges::to<std::vector>();
    replace_output(*p.graph, values, kept);
}

std::vector<initial_state> expose_states(program& p) {
    declare_writes(p);
    graph& g = *p.graph;
    std::vector<initial_state> states;
    std::vector<std::string_view> of_outputs(g.outputs().size());
    for (const mutation& m : p.mutations) {
        const std::string_view name = g.own(m.name);
        of_outputs[m.position] = name;
        if (m.kind == mutation::kind_type::user_input) {
            if (node* input = find_by_name(g.inputs(), m.name)) g.annotate(*input, input_state{name});
            continue;
        }
        const auto [buffer, input] = detail::replace_buffer(g, m.tensor);
        if (buffer == nullptr) continue;
        states.push_back({name, args_of<builtin::constant>(*buffer).data, *meta_of(buffer->result())});
        g.annotate(*input, input_state{name});
    }
    if (!p.mutations.empty())
        g.annotate(*g.output(), output_states{g.own(list<std::string_view>(of_outputs))});
    p.mutations.clear();
    p.user_outputs = of_outputs.size();
    return states;
}

namespace {

// Returns the input that takes a state; null if there is none.
node* input_of(const graph& g, std::string_view state) {
    for (node& n : g.inputs()) {
        const auto* annotated = n.find_annotation<input_state>();
        if (annotated != nullptr && annotated->name == state) return &n;
    }
    return nullptr;
}

// Returns a state's first value in the integers that its input takes, if its output gives the same ones.
std::optional<tensor_data> quantized_first_value(graph& g, const initial_state& s, node& input) {
    const auto* by = input.find_annotation<signature_quantization>();
    const auto* of_outputs = g.output()->find_annotation<output_states>();
    const auto* given = g.output()->find_annotation<output_quantizations>();
    if (by == nullptr || by->scale <= 0 || given == nullptr || s.meta.dtype != dtype::float32)
        return std::nullopt;
    const auto at =
        static_cast<std::size_t>(std::ranges::find(of_outputs->names, s.name) - of_outputs->names.begin());
    const dtype type = meta_of(input.result())->dtype;
    if (at >= given->values.size() || meta_of(g.outputs()[at])->dtype != type ||
        given->values[at].scale != by->scale || given->values[at].zero_point != by->zero_point)
        return std::nullopt;
    std::vector<double> numbers = eval::tensor_of_constant(s.data, s.meta).to<double>();
    for (double& x : numbers)
        x = std::clamp(std::nearbyint(x / by->scale) + static_cast<double>(by->zero_point),
            static_cast<double>(by->lowest), static_cast<double>(by->highest));
    const auto integers = eval::tensor::of(type, {s.meta.shape.begin(), s.meta.shape.end()}, numbers);
    const std::span<std::byte> bytes = g.allocate_data(integers.bytes().size());
    std::ranges::copy(integers.bytes(), bytes.begin());
    return tensor_data{bytes.data()};
}

// Returns a state's first value as its input takes it; nothing if that has another type or layout.
std::optional<tensor_data> first_value_for(graph& g, const initial_state& s, node* input) {
    if (input == nullptr) return s.data;
    const tensor_meta& taken = *meta_of(input->result());
    if (taken.shape != s.meta.shape) return std::nullopt;
    return taken.dtype == s.meta.dtype ? s.data : quantized_first_value(g, s, *input);
}

}  // namespace

result<void> make_variables(graph& g, std::span<const initial_state> states) {
    if (states.empty()) return {};
    if (!g.target().has(target_feature::variable))
        return unsupported("variables need a target that has them: give --target one with +var");
    const auto* of_outputs = g.output()->find_annotation<output_states>();
    std::vector<std::optional<tensor_data>> first_values;
    for (const initial_state& s : states) first_values.push_back(first_value_for(g, s, input_of(g, s.name)));
    std::vector<std::size_t> kept;
    std::vector<value> values;
    for (std::size_t i = 0; i != g.outputs().size(); ++i) {
        const value v = g.outputs()[i];
        const auto state = std::ranges::find(states, of_outputs->names[i], &initial_state::name);
        if (state == states.end()) {
            kept.push_back(i);
            values.push_back(v);
            continue;
        }
        g.create<tosa::variable_write>({v, state->name}, g.output());
    }
    replace_output(g, values, kept);
    for (std::size_t i = 0; i != states.size(); ++i) {
        const initial_state& s = states[i];
        node* const input = input_of(g, s.name);
        if (input == nullptr) continue;
        const tensor_meta& meta = *meta_of(input->result());
        if (!first_values[i])
            return unsupported(join_text(s.name, ": the state is ", name_of(s.meta.dtype), " and becomes ",
                name_of(meta.dtype),
                " or gets another layout, which a variable's first value does not; "
                "use --state io"));
        node* const first = g.first();
        node& declared = g.create<tosa::variable>({s.name, meta.shape, meta.dtype, *first_values[i]}, first);
        node& read = g.create<tosa::variable_read>({s.name, meta.shape, meta.dtype}, first);
        g.set_meta(read.result(), meta);
        g.set_name(read.result(), input->name());
        g.replace_all_uses(input->result(), read.result());
        g.erase(*input);
        for (const node* n : {&declared, &read}) {
            if (const auto legal = verify_tosa(*n, g.target()); !legal)
                return unsupported(join_text(s.name, ": ", legal.error().message, "; use --state io"));
        }
    }
    return {};
}

}  // namespace headrace
