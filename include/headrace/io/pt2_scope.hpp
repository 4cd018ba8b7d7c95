// SPDX-License-Identifier: MIT
// Defines headrace::pt2::scope, the names of one exported graph and the values behind them.
#ifndef HEADRACE_IO_PT2_SCOPE_HPP
#define HEADRACE_IO_PT2_SCOPE_HPP

#include <memory_resource>
#include <string>
#include <string_view>
#include <unordered_map>

#include <headrace/io/json.hpp>
#include <headrace/io/pt2_tensor.hpp>
#include <headrace/io/pt2_weights.hpp>
#include <headrace/ir/graph.hpp>

namespace headrace::pt2 {

/// The parts of a graph's JSON, as text.
struct graph_text {
    std::string_view inputs;
    std::string_view outputs;
    std::string_view nodes;
    std::string_view tensor_values;
};

/// Reads which parts the graph at this place has.
[[nodiscard]] inline graph_text read_graph_text(json_cursor& at) {
    graph_text parts;
    at.members([&](std::string_view key) {
        const std::string_view text = at.skip();
        if (key == "inputs") parts.inputs = text;
        if (key == "outputs") parts.outputs = text;
        if (key == "nodes") parts.nodes = text;
        if (key == "tensor_values") parts.tensor_values = text;
    });
    if (parts.inputs.empty() || parts.outputs.empty() || parts.nodes.empty() || parts.tensor_values.empty()) {
        fail_malformed("a graph has no 'inputs', 'outputs', 'nodes' or 'tensor_values'");
    }
    return parts;
}

/// Names to values, and to their metadata, which is parsed when a value is made. Constants become nodes when
/// they are first used, so that unused ones never do.
class scope {
public:
    scope(headrace::graph& g, std::string_view tensor_values, json_parser& json,
          std::pmr::memory_resource* arena)
        : graph_(g), json_(json), metas_(arena), values_(arena) {
        json_cursor at(tensor_values);
        at.members([&](std::string_view key) {
            const std::string_view name = json.text(key);
            if (!metas_.try_emplace(name, at.skip()).second) {
                fail_malformed("the graph describes the tensor " + in_quotes(name) + " twice");
            }
        });
        at.finish();
    }

    [[nodiscard]] headrace::graph& owner() { return graph_; }

    /// Gives a value its name and, if the graph has it, its metadata.
    void define(value v, std::string_view name) {
        graph_.set_name(v, name);
        const std::string_view owned = v.producer->results[v.result].name;
        if (!values_.try_emplace(owned, binding{v, {}, nullptr}).second) fail_twice(name);
        const auto meta = metas_.find(name);
        if (meta == metas_.end()) return;
        try {
            extents order;
            const tensor_layout layout = read_layout(json_.parse_object(meta->second));
            graph_.set_meta(v, meta_of_layout(layout, order));
        } catch (failure& f) {
            f.what = f.what.in(in_quotes(name));
            throw;
        }
    }

    /// Names a weight of that store.
    void define_weight(std::string_view name, std::string_view fqn, weight_store& store) {
        const std::string_view owned = graph_.own(name);
        if (!values_.try_emplace(owned, binding{{}, graph_.own(fqn), &store}).second) fail_twice(name);
    }

    [[nodiscard]] value find(std::string_view name) {
        const auto found = values_.find(name);
        if (found == values_.end())
            fail_malformed("it uses " + in_quotes(name) + ", which nothing before it defines");
        binding& b = found->second;
        if (!b.known) {
            try {
                b.known = make_constant(found->first, b);
            } catch (failure& f) {
                f.what = f.what.in(in_quotes(found->first));
                throw;
            }
        }
        return b.known;
    }

private:
    struct binding {
        value known;
        std::string_view fqn;
        weight_store* store;
    };

    [[noreturn]] static void fail_twice(std::string_view name) {
        fail_malformed("the name " + in_quotes(name) + " is used twice");
    }

    value make_constant(std::string_view name, const binding& b) {
        const weight w = b.store->load(b.fqn, graph_);
        tensor_data data{w.bytes, {}};
        if (!w.layout.is_row_major()) data.strides = w.layout.strides.span();
        extents order;
        const tensor_meta meta = meta_of_layout(w.layout, order);
        const auto described = metas_.find(name);
        if (described != metas_.end()) {
            const tensor_layout other = read_layout(json_.parse_object(described->second));
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
    json_parser& json_;
    std::pmr::unordered_map<std::string_view, std::string_view> metas_;
    std::pmr::unordered_map<std::string_view, binding> values_;
};

}  // namespace headrace::pt2

#endif
