// SPDX-License-Identifier: MIT
// Defines headrace::pt2::scope, which maps the names of one exported graph to values.
#ifndef HEADRACE_IO_PT2_SCOPE_HPP
#define HEADRACE_IO_PT2_SCOPE_HPP

#include <array>
#include <cstdint>
#include <map>
#include <memory_resource>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include <headrace/base/name_table.hpp>
#include <headrace/io/file/json.hpp>
#include <headrace/io/pt2/symbols.hpp>
#include <headrace/io/pt2/tensor.hpp>
#include <headrace/io/pt2/weights.hpp>
#include <headrace/ir/graph.hpp>

namespace headrace::pt2 {

/// The parts of a graph's JSON, as text.
struct graph_text {
    std::string_view inputs;
    std::string_view outputs;
    std::string_view nodes;
    std::string_view tensor_values;
    /// Descriptions of the numbers that are computed from sizes.
    std::array<std::string_view, 3> number_values;
};

/// Reads the parts of the graph at this position.
[[nodiscard]] inline graph_text read_graph_text(json_cursor& at) {
    graph_text parts;
    at.members([&](std::string_view key) {
        const std::string_view text = at.skip();
        if (key == "inputs") parts.inputs = text;
        if (key == "outputs") parts.outputs = text;
        if (key == "nodes") parts.nodes = text;
        if (key == "tensor_values") parts.tensor_values = text;
        if (key == "sym_int_values") parts.number_values[0] = text;
        if (key == "sym_float_values") parts.number_values[1] = text;
        if (key == "sym_bool_values") parts.number_values[2] = text;
    });
    if (parts.inputs.empty() || parts.outputs.empty() || parts.nodes.empty() || parts.tensor_values.empty()) {
        fail_malformed("a graph has no 'inputs', 'outputs', 'nodes' or 'tensor_values'");
    }
    return parts;
}

/// Maps names to values, and to their metadata, which is parsed when a value is made. Constants become nodes
/// when they are first used, so that unused ones never do.
class scope {
public:
    scope(headrace::graph& g, const graph_text& text, const symbol_table& symbols, json_parser& json,
        std::pmr::memory_resource* arena)
        : graph_(g), symbols_(symbols), json_(json), numbers_(arena), values_(arena) {
        // A description takes some hundred characters. Growing a table would read all its entries again.
        values_.reserve(text.tensor_values.size() / 256);
        read_descriptions(
            text.tensor_values, "tensor", [&](std::string_view name, std::string_view described) {
                return values_.try_emplace(name, {.description = described}).second;
            });
        for (const std::string_view values : text.number_values) {
            if (values.empty()) continue;
            read_descriptions(values, "number", [&](std::string_view name, std::string_view described) {
                return numbers_.try_emplace(name, described).second;
            });
        }
    }

    [[nodiscard]] headrace::graph& owner() { return graph_; }

    /// Returns the export's description of a tensor or a number of that name; empty if there is none.
    [[nodiscard]] std::string_view description(std::string_view name) const {
        const entry* tensor = values_.find(name);
        if (tensor != nullptr && !tensor->description.empty()) return tensor->description;
        const auto number = numbers_.find(name);
        return number != numbers_.end() ? number->second : std::string_view();
    }
    /// Returns a number that the program computes from sizes.
    [[nodiscard]] scalar number(std::string_view name) {
        const auto found = numbers_.find(name);
        if (found == numbers_.end())
            fail_malformed("it uses the number " + in_quotes(name) + ", which nothing defines");
        const simdjson::dom::object described = json_.parse_object(found->second);
        std::string_view formula;
        if (described["as_expr"]["expr_str"].get(formula) == simdjson::SUCCESS)
            return symbols_.evaluate(formula);
        if (std::int64_t whole = 0; described["as_int"].get(whole) == simdjson::SUCCESS) return whole;
        if (double real = 0; described["as_float"].get(real) == simdjson::SUCCESS) return real;
        if (bool truth = false; described["as_bool"].get(truth) == simdjson::SUCCESS) return truth;
        fail_malformed("the number " + in_quotes(name) + " has no value");
    }

    /// Gives a value its name and, if the graph has it, its metadata.
    void define(value v, std::string_view name) {
        graph_.set_name(v, name);
        entry& e = claim(name);
        e.known = v;
        if (!e.description.empty()) set_meta(v, name, e);
    }

    /// Gives a result of a node that could not be read its name, even if the name is defined already, and its
    /// metadata if that can be read.
    void define_unread(value v, std::string_view name) {
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

    /// Defines a Python number of that name as the only element of `tensor`, or, if that is null, as one that
    /// is computed in another way when the program runs. find() returns `v` for it.
    void define_number(value v, std::string_view name, value tensor) {
        define_unread(v, name);
        run_time_numbers_.insert_or_assign(graph_.own(name), tensor);
    }
    /// True if the number is known without running the program.
    [[nodiscard]] bool is_known_number(std::string_view name) {
        try {
            static_cast<void>(number(name));
            return true;
        } catch (const failure& f) {
            if (f.what.kind != error_kind::unsupported) throw;
            return false;
        }
    }
    /// Fails as define() does if the type and shape of a tensor cannot be read.
    void check(std::string_view name) {
        const entry* e = values_.find(name);
        if (e == nullptr || e->description.empty()) return;
        try {
            static_cast<void>(read_layout(json_.parse_object(e->description), symbols_));
        } catch (failure& f) {
            f.what = f.what.in(in_quotes(name));
            throw;
        }
    }
    [[nodiscard]] bool is_run_time_number(std::string_view name) const {
        return run_time_numbers_.contains(name);
    }
    /// Returns the tensor whose only element that number is; null if there is none.
    [[nodiscard]] value tensor_of_number(std::string_view name) const {
        const auto found = run_time_numbers_.find(name);
        return found == run_time_numbers_.end() ? value{} : found->second;
    }

    /// Returns the name of a result without metadata that was looked up since the last call; empty if there
    /// was none.
    [[nodiscard]] std::string_view take_unread() { return std::exchange(looked_up_unread_, {}); }

    /// Returns the sizes that the graph gives a tensor; nullopt if it gives none, or if some are not known.
    [[nodiscard]] std::optional<extents> sizes_of(std::string_view name) {
        const entry* e = values_.find(name);
        if (e == nullptr || e->description.empty()) return std::nullopt;
        try {
            return read_layout(json_.parse_object(e->description), symbols_).sizes;
        } catch (const failure&) {
            return std::nullopt;
        }
    }
    /// Returns the formula of the tensor's first size that is not known; empty if all are known.
    [[nodiscard]] std::string open_size(std::string_view name) {
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

    /// Names a weight of that store.
    void define_weight(std::string_view name, std::string_view fqn, weight_store& store) {
        entry& e = claim(name);
        e.fqn = graph_.own(fqn);
        e.store = &store;
    }

    [[nodiscard]] value find(std::string_view name) {
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

private:
    struct entry {
        std::string_view description{};  // the graph's description; may be missing
        bool is_defined = false;
        bool is_unread = false;  // its type and shape are not known
        value known{};           // of a weight: once it is used
        std::string_view fqn{};
        weight_store* store = nullptr;
    };

    // `add` gets a name and its description; it returns false if the name is known.
    template <class Add>
    void read_descriptions(std::string_view values, const char* what, const Add& add) {
        json_cursor at(values);
        at.members([&](std::string_view key) {
            const std::string_view name = json_.text(key);
            if (!add(name, at.skip())) {
                fail_malformed(
                    std::string("the graph describes the ") + what + " " + in_quotes(name) + " twice");
            }
        });
        at.finish();
    }

    void set_meta(value v, std::string_view name, const entry& e) {
        try {
            extents order;
            const tensor_layout layout = read_layout(json_.parse_object(e.description), symbols_);
            graph_.set_meta(v, meta_of_layout(layout, order));
        } catch (failure& f) {
            f.what = f.what.in(in_quotes(name));
            throw;
        }
    }

    // Returns the entry of a name whose value is defined now.
    entry& claim(std::string_view name) {
        entry* e = values_.find(name);
        if (e == nullptr) e = values_.try_emplace(graph_.own(name)).first;
        if (e->is_defined) fail_twice(name);
        e->is_defined = true;
        return *e;
    }

    [[noreturn]] static void fail_twice(std::string_view name) {
        fail_malformed("the name " + in_quotes(name) + " is used twice");
    }

    value make_constant(std::string_view name, const entry& e) {
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

    headrace::graph& graph_;
    const symbol_table& symbols_;
    json_parser& json_;
    std::pmr::unordered_map<std::string_view, std::string_view> numbers_;
    name_table<entry> values_;
    std::map<std::string_view, value> run_time_numbers_;
    std::string_view looked_up_unread_;
};

}  // namespace headrace::pt2

#endif
