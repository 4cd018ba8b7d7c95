// SPDX-License-Identifier: MIT
// Defines the functions of headrace/io/pt2/signature.hpp.

#include <headrace/io/pt2/signature.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <ranges>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <headrace/base/printable.hpp>
#include <headrace/base/strings.hpp>
#include <headrace/io/file/json.hpp>
#include <headrace/io/program.hpp>
#include <headrace/io/pt2/convert.hpp>
#include <headrace/io/pt2/scope.hpp>
#include <headrace/io/pt2/symbols.hpp>
#include <headrace/ir/graph.hpp>
#include <headrace/ir/signature.hpp>
#include <headrace/ir/unread.hpp>

namespace headrace::pt2 {

namespace {

/// An input or a stored tensor. Its name is not empty.
struct written_tensor {
    node* tensor;
    mutation::kind_type kind;
};

/// True if the result shares the memory of the first operand.
[[nodiscard]] bool shares_memory(const node& n) {
    if (n.operand_count == 0) return false;
    const op_info& op = n.op->functional();
    const tensor_meta* const from = meta_of(n.operand(0));
    const tensor_meta* const to = n.result_count == 0 ? nullptr : meta_of(value{const_cast<node*>(&n), 0});
    if (op.has(trait::casting)) return from != nullptr && to != nullptr && from->dtype == to->dtype;
    return n.op->has(trait::aliasing | trait::in_place);
}

/// Returns the node that owns the memory of a value.
[[nodiscard]] node& owner_of(value v) {
    while (shares_memory(*v.producer)) v = v.producer->operand(0);
    return *v.producer;
}

/// Returns the inputs and stored tensors that in-place ops write to, in order. Exports that were not
/// decomposed have such ops, and do not say in their signature that the caller sees the new values.
[[nodiscard]] std::vector<written_tensor> written_in_place(graph& g) {
    std::vector<written_tensor> written;
    for (const node& n : g.nodes()) {
        const bool writes = n.op->has(trait::in_place) && !n.op->functional().has(trait::aliasing);
        if (!writes || n.operand_count == 0) continue;
        node& owner = owner_of(n.operand(0));
        const bool is_input = is<builtin::placeholder>(owner);
        if (owner.name().empty() || (!is_input && !is<builtin::constant>(owner)) ||
            std::ranges::find(written, &owner, &written_tensor::tensor) != written.end())
            continue;
        written.push_back({&owner, is_input ? mutation::kind_type::user_input : mutation::kind_type::buffer});
    }
    return written;
}

}  // namespace

void find_dynamic_axes(const scope& names, std::string_view graph_inputs, symbol_table& symbols,
    json_parser& json, json_parser& values_json) {
    const auto add = [&](std::string_view name, std::size_t axis, simdjson::dom::element size, bool is_axis) {
        simdjson::dom::object formula;
        if (size["as_expr"].get(formula)) return;
        std::optional<std::int64_t> example;
        if (std::int64_t hint = 0; formula["hint"]["as_int"].get(hint) == simdjson::SUCCESS) example = hint;
        symbols.add_size(is_axis ? join_text(name, ':', axis) : std::string(name), is_axis && axis == 0,
            json_get<std::string_view>(formula, "expr_str"), example);
    };
    json_cursor at(graph_inputs);
    at.elements([&] {
        const argument a(json.parse(at.skip()));
        const bool is_tensor = a.is("as_tensor");
        if (!is_tensor && !a.is("as_sym_int")) return;
        const auto name = json_get<std::string_view>(a.content, is_tensor ? "name" : "as_name");
        const std::string_view description = names.description(name);
        if (description.empty()) return;
        const simdjson::dom::element described = values_json.parse(description);
        if (!is_tensor) return add(name, 0, described, false);
        std::size_t axis = 0;
        for (const simdjson::dom::element size : json_get<simdjson::dom::array>(described, "sizes"))
            add(name, axis++, size, true);
    });
}

void signature_reader::read_inputs(std::string_view specs, std::string_view graph_inputs) {
    std::vector<std::string> tensors;
    for_each(graph_inputs, [&](const argument& a) {
        if (a.is("as_tensor")) tensors.emplace_back(json_get<std::string_view>(a.content, "name"));
    });
    std::size_t next = 0;
    for_each(specs, [&](const argument& spec) {
        const std::string name = read_input(spec);
        if (name.empty()) return;
        if (next == tensors.size() || tensors[next] != name) {
            fail_malformed("the signature's input " + in_quotes(name) + " is not the graph's in that place");
        }
        ++next;
    });
    if (next != tensors.size()) {
        fail_malformed("the graph's input " + in_quotes(tensors[next]) + " is not in the signature");
    }
}

void signature_reader::read_outputs(std::string_view specs, program& out) {
    for_each(specs, [&](const argument& spec) { read_output(spec); });
    out.user_outputs = users_.size();
    for (mutation& m : mutations_) {
        m.position += users_.size();
        if (const auto known = tensors_.find(m.name); known != tensors_.end()) m.tensor = known->second;
        out.mutations.push_back(std::move(m));
    }
    std::vector<value> values;
    std::vector<std::string_view> texts;
    for (const auto* list : {&users_, &written_}) {
        for (const result_name& r : *list) {
            values.push_back(r.known);
            texts.push_back(names_.owner().own(r.name));
        }
    }
    graph& g = names_.owner();
    for (written_tensor& w : written_in_place(g)) {
        const std::string_view name = w.tensor->name();
        out.mutations.push_back({w.kind, std::string(known_as(name)), values.size(), std::string(name)});
        values.push_back(w.tensor->result());
        texts.push_back(g.own("new_" + std::string(name)));
    }
    node& output = g.create<builtin::output>({.values = values});
    g.annotate(output, output_names{g.own(list<std::string_view>(texts))});
    std::vector<std::string_view> notes;
    for (const std::string& note : notes_) notes.push_back(g.own(note));
    if (!notes.empty()) g.annotate(output, reading_notes{g.own(list<std::string_view>(notes))});
}

argument signature_reader::argument_in(const argument& spec) {
    simdjson::dom::element inner;
    if (spec.content["arg"].get(inner)) fail_malformed("a specification in the signature has no 'arg'");
    return argument(inner);
}

std::string signature_reader::read_input(const argument& spec) {
    if (spec.is("user_input")) return read_user_input(argument_in(spec));
    if (spec.is("parameter")) return read_weight(spec, "parameter_name");
    if (spec.is("buffer")) return read_weight(spec, "buffer_name");
    if (spec.is("tensor_constant")) return read_weight(spec, "tensor_constant_name");
    if (spec.is("constant_input")) return {};
    fail_unsupported("the program has an input of kind " + in_quotes(spec.tag));
}

std::string signature_reader::read_user_input(const argument& a) {
    if (is_symbolic(a)) {  // already chosen, and inserted into the nodes that use it
        static_cast<void>(names_.number(json_get<std::string_view>(a.content, "as_name")));
        return {};
    }
    if (a.is("as_custom_obj")) fail_unsupported("the program has an input that is an object");
    if (!a.is("as_tensor")) return {};
    const std::string name(json_get<std::string_view>(a.content, "name"));
    try {
        names_.define(names_.owner().create<builtin::placeholder>({}).result(), name);
    } catch (failure& f) {
        f.what.message = "input " + f.what.message;
        throw;
    }
    return name;
}

std::string signature_reader::read_weight(const argument& spec, std::string_view key) {
    simdjson::dom::element inner;
    if (spec.content["arg"].get(inner)) fail_malformed("a specification in the signature has no 'arg'");
    std::string name(json_get<std::string_view>(inner, "name"));
    const auto fqn = json_get<std::string_view>(spec.content, key);
    names_.define_weight(name, fqn, weights_);
    tensors_.emplace(fqn, name);
    return name;
}

void signature_reader::read_output(const argument& spec) {
    if (spec.is("token")) fail_unsupported("the program has an output of kind 'token'");
    const argument a = argument_in_output(spec);
    const bool user = spec.is("user_output") || spec.is("loss_output");
    const std::size_t position = position_;
    if (user) ++position_;
    if (user && a.is("as_none")) return;
    if (user && is_number(a)) {
        notes_.push_back("output " + std::to_string(position) + " is " + number_text(a) +
            ", not a tensor; it is left out");
        return;
    }
    if (!a.is("as_tensor")) {
        fail_unsupported("the program's output " + std::to_string(position) + " is " + in_quotes(a.tag) +
            ", not a tensor");
    }
    const std::string name(json_get<std::string_view>(a.content, "name"));
    if (!user) add_mutation(spec);
    try {
        (user ? users_ : written_).push_back({names_.find(name), name});
    } catch (failure& f) {
        f.what.message = "the signature's outputs: " + f.what.message;
        throw;
    }
}

std::string signature_reader::number_text(const argument& a) {
    if (is_symbolic(a)) return "a Python number";
    std::string text(printable(simdjson::minify(a.content), 80));
    return (a.is("as_string") ? "the text " : a.is("as_bool") ? "the boolean " : "the number ") + text;
}

argument signature_reader::argument_in_output(const argument& spec) {
    if (spec.is("user_output")) return argument_in(spec);
    argument whole = spec;
    whole.tag = "as_tensor";
    if (spec.content["arg"].get(whole.content))
        fail_malformed("a specification in the signature has no 'arg'");
    return whole;
}

void signature_reader::add_mutation(const argument& spec) {
    using kind = mutation::kind_type;
    const auto add = [&](kind k, std::string_view key) {
        mutations_.push_back(
            {k, std::string(json_get<std::string_view>(spec.content, key)), written_.size()});
    };
    if (spec.is("buffer_mutation")) return add(kind::buffer, "buffer_name");
    if (spec.is("parameter_mutation")) return add(kind::parameter, "parameter_name");
    if (spec.is("user_input_mutation")) return add(kind::user_input, "user_input_name");
    fail_unsupported("the program has an output of kind " + in_quotes(spec.tag));
}

std::string_view signature_reader::known_as(std::string_view name) const {
    for (const auto& [fqn, tensor] : tensors_) {
        if (tensor == name) return fqn;
    }
    return name;
}

template <class F>
void signature_reader::for_each(std::string_view items, F&& f) {
    json_cursor at(items);
    at.elements([&] { f(argument(json_.parse(at.skip()))); });
}

}  // namespace headrace::pt2
