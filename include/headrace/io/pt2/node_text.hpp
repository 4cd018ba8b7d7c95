// SPDX-License-Identifier: MIT
// Defines headrace::pt2::node_text, the parts of an exported node in the JSON.
#ifndef HEADRACE_IO_PT2_NODE_TEXT_HPP
#define HEADRACE_IO_PT2_NODE_TEXT_HPP

#include <string_view>

#include <headrace/io/file/json.hpp>
#include <headrace/ir/graph.hpp>

namespace headrace::pt2 {

/// Stores a text that neighbouring nodes share only once: module stacks mostly repeat.
class text_cache {
public:
    [[nodiscard]] std::string_view own(graph& g, json_parser& json, std::string_view raw) {
        if (raw == raw_) return owned_;
        std::string_view text;
        if (json.parse(raw).get(text)) fail_malformed("its metadata is not text");
        raw_ = raw;
        owned_ = g.own(text);
        return owned_;
    }
    /// Returns the text; empty if there is none, or if it is not a string: only messages, pictures and
    /// partitions by source need this metadata.
    [[nodiscard]] std::string_view own_if_text(graph& g, json_parser& json, std::string_view raw) {
        if (raw.empty() || raw == raw_) return raw.empty() ? raw : owned_;
        std::string_view text;
        raw_ = raw;
        owned_ = {};
        if (!json.parse(raw).get(text)) owned_ = g.own(text);
        return owned_;
    }

private:
    std::string_view raw_;
    std::string_view owned_;
};

/// The parts of a node, as pieces of the JSON.
struct node_text {
    std::string_view target;
    std::string_view name;
    std::string_view inputs;
    std::string_view outputs;
    std::string_view custom;
    std::string_view modules;
    std::string_view trace;
    std::string_view source_functions;
    std::string_view torch_function;
    std::string_view from_node;
};

[[nodiscard]] inline node_text read_node_text(json_cursor& at) {
    node_text parts;
    at.members([&](std::string_view key) {
        if (key == "metadata") {
            at.members([&](std::string_view kind) {
                const std::string_view text = at.skip();
                if (kind == "custom") parts.custom = text;
                if (kind == "nn_module_stack") parts.modules = text;
                if (kind == "stack_trace") parts.trace = text;
                if (kind == "source_fn_stack") parts.source_functions = text;
                if (kind == "torch_fn") parts.torch_function = text;
                if (kind == "from_node") parts.from_node = text;
            });
            return;
        }
        const std::string_view text = at.skip();
        if (key == "target") parts.target = text;
        if (key == "name") parts.name = text;
        if (key == "inputs") parts.inputs = text;
        if (key == "outputs") parts.outputs = text;
    });
    if (parts.inputs.empty() || parts.outputs.empty())
        fail_malformed("a node has no 'inputs' or no 'outputs'");
    return parts;
}

}  // namespace headrace::pt2

#endif
