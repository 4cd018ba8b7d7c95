// SPDX-License-Identifier: MIT
// Defines the functions of headrace/io/pt2/scope.hpp.

#include <headrace/io/pt2/scope.hpp>

#include <cstdint>
#include <memory_resource>
#include <optional>
#include <string>
#include <string_view>

#include <headrace/base/name_table.hpp>
#include <headrace/io/file/json.hpp>
#include <headrace/io/pt2/symbols.hpp>
#include <headrace/io/pt2/tensor.hpp>
#include <headrace/io/pt2/weights.hpp>
#include <headrace/ir/graph.hpp>

namespace headrace::pt2 {

namespace {

[[noreturn]] void fail_described_twice(const char* what, std::string_view name) {
    fail_malformed(std::string("the graph describes the ") + what + " " + in_quotes(name) + " twice");
}

}  // namespace

graph_text read_graph_text(json_cursor& at) {
    graph_text parts;
    at.members([&](std::string_view key) {
        if (key == "nodes") {
            parts.nodes.emplace();
            at.elements([&] { parts.nodes->push_back(read_node_text(at)); });
            return;
        }
        if (key == "tensor_values") {
            parts.tensor_values.emplace();
            at.members([&](std::string_view name) { parts.tensor_values->emplace_back(name, at.skip()); });
            return;
        }
        const std::string_view text = at.skip();
        if (key == "inputs") parts.inputs = text;
        if (key == "outputs") parts.outputs = text;
        if (key == "sym_int_values") parts.number_values[0] = text;
        if (key == "sym_float_values") parts.number_values[1] = text;
        if (key == "sym_bool_values") parts.number_values[2] = text;
    });
    if (parts.inputs.empty() || parts.outputs.empty() || !parts.nodes || !parts.tensor_values) {
        fail_malformed("a graph has no 'inputs', 'outputs', 'nodes' or 'tensor_values'");
    }
    return parts;
}

scope::scope(headrace::graph& g, const graph_text& text, const symbol_table& symbols, json_parser& json,
    std::pmr::memory_resource* arena)
    : graph_(g), symbols_(symbols), json_(json), numbers_(arena), values_(arena) {
    values_.reserve(text.tensor_values->size());  // growing a table would read all its entries again
    for (const auto& [key, described] : *text.tensor_values) {
        const std::string_view name = json_.text(key);
        if (!values_.try_emplace(name, {.description = described}).second)
            fail_described_twice("tensor", name);
    }
    for (const std::string_view values : text.number_values) {
        if (!values.empty()) read_numbers(values);
    }
}

std::string_view scope::description(std::string_view name) const {
    const entry* tensor = values_.find(name);
    if (tensor != nullptr && !tensor->description.empty()) return tensor->description;
    const auto number = numbers_.find(name);
    return number != numbers_.end() ? number->second : std::string_view();
}

scalar scope::number(std::string_view name) {
    const auto found = numbers_.find(name);
    if (found == numbers_.end())
        fail_malformed("it uses the number " + in_quotes(name) + ", which nothing defines");
    const simdjson::dom::object described = json_.parse_object(found->second);
    std::string_view formula;
    if (described["as_expr"]["expr_str"].get(formula) == simdjson::SUCCESS) return symbols_.evaluate(formula);
    if (std::int64_t whole = 0; described["as_int"].get(whole) == simdjson::SUCCESS) return whole;
    if (double real = 0; described["as_float"].get(real) == simdjson::SUCCESS) return real;
    if (bool truth = false; described["as_bool"].get(truth) == simdjson::SUCCESS) return truth;
    fail_malformed("the number " + in_quotes(name) + " has no value");
}

void scope::define(value v, std::string_view name) {
    graph_.set_name(v, name);
    entry& e = claim(name);
    e.known = v;
    if (!e.description.empty()) set_meta(v, name, e);
}

void scope::define_unread(value v, std::string_view name) {
    graph_.set_name(v, name);
    entry* e = values_.find(name);
    if (e == nullptr) e = values_.try_emplace(graph_.own(name)).first;
    e->is_defined = true;
    e->known = v;
    try {
        if (!e->description.empty()) set_meta(v, name, *e);
    } catch (failure& f) {
        if (f.what.kind != error_kind::unsupported) throw;
    }
    e->is_unread = meta_of(v) == nullptr;
}

void scope::define_number(value v, std::string_view name, value tensor) {
    define_unread(v, name);
    run_time_numbers_.insert_or_assign(graph_.own(name), tensor);
}

bool scope::is_known_number(std::string_view name) {
    try {
        static_cast<void>(number(name));
        return true;
    } catch (const failure& f) {
        if (f.what.kind != error_kind::unsupported) throw;
        return false;
    }
}

void scope::check(std::string_view name) {
    const entry* e = values_.find(name);
    if (e == nullptr || e->description.empty()) return;
    try {
        static_cast<void>(read_layout(json_.parse_object(e->description), symbols_));
    } catch (failure& f) {
        f.what = f.what.in(in_quotes(name));
        throw;
    }
}

value scope::tensor_of_number(std::string_view name) const {
    const auto found = run_time_numbers_.find(name);
    return found == run_time_numbers_.end() ? value{} : found->second;
}

std::optional<extents> scope::sizes_of(std::string_view name) {
    const entry* e = values_.find(name);
    if (e == nullptr || e->description.empty()) return std::nullopt;
    try {
        return read_layout(json_.parse_object(e->description), symbols_).sizes;
    } catch (const failure&) {
        return std::nullopt;
    }
}

std::string scope::open_size(std::string_view name) {
    const entry* e = values_.find(name);
    if (e == nullptr || e->description.empty()) return {};
    std::string_view formula;
    const simdjson::dom::object described = json_.parse_object(e->description);
    for (const simdjson::dom::element size : json_get<simdjson::dom::array>(described, "sizes")) {
        if (size["as_expr"]["expr_str"].get(formula) == simdjson::SUCCESS && !symbols_.is_known(formula))
            return std::string(formula);
    }
    return {};
}

void scope::define_weight(std::string_view name, std::string_view fqn, weight_store& store) {
    entry& e = claim(name);
    e.fqn = graph_.own(fqn);
    e.store = &store;
}

value scope::find(std::string_view name) {
    entry* e = values_.find(name);
    if (e == nullptr || !e->is_defined)
        fail_malformed("it uses " + in_quotes(name) + ", which nothing before it defines");
    if (e->is_unread) looked_up_unread_ = graph_.own(name);
    if (!e->known) {
        try {
            e->known = make_constant(name, *e);
        } catch (failure& f) {
            f.what = f.what.in(in_quotes(name));
            throw;
        }
    }
    return e->known;
}

void scope::set_meta(value v, std::string_view name, const entry& e) {
    try {
        extents order;
        const tensor_layout layout = read_layout(json_.parse_object(e.description), symbols_);
        graph_.set_meta(v, meta_of_layout(layout, order));
    } catch (failure& f) {
        f.what = f.what.in(in_quotes(name));
        throw;
    }
}

scope::entry& scope::claim(std::string_view name) {
    entry* e = values_.find(name);
    if (e == nullptr) e = values_.try_emplace(graph_.own(name)).first;
    if (e->is_defined) fail_twice(name);
    e->is_defined = true;
    return *e;
}

value scope::make_constant(std::string_view name, const entry& e) {
    const weight w = e.store->load(e.fqn, graph_);
    tensor_data data{w.bytes, {}};
    if (!w.layout.is_row_major()) data.strides = w.layout.strides.span();
    extents order;
    const tensor_meta meta = meta_of_layout(w.layout, order);
    if (!e.description.empty()) {
        const tensor_layout other = read_layout(json_.parse_object(e.description), symbols_);
        if (other.dtype != meta.dtype || int_list(other.sizes.span()) != meta.shape) {
            fail_malformed("its shape or type in the graph is not that of its data");
        }
    }
    node& n = graph_.create<builtin::constant>({.data = data});
    graph_.set_meta(n.result(), meta);
    graph_.set_name(n.result(), name);
    return n.result();
}

void scope::read_numbers(std::string_view values) {
    json_cursor at(values);
    at.members([&](std::string_view key) {
        const std::string_view name = json_.text(key);
        if (!numbers_.try_emplace(name, at.skip()).second) fail_described_twice("number", name);
    });
    at.finish();
}

}  // namespace headrace::pt2
