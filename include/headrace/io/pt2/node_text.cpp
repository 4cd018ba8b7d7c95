// SPDX-License-Identifier: MIT
// Defines the functions of headrace/io/pt2/node_text.hpp.

#include <headrace/io/pt2/node_text.hpp>

#include <string_view>

#include <headrace/io/file/json.hpp>
#include <headrace/ir/graph.hpp>

namespace headrace::pt2 {

std::string_view text_cache::own(graph& g, json_parser& json, std::string_view raw) {
    if (raw == raw_) return owned_;
    std::string_view text;
    if (json.parse(raw).get(text)) fail_malformed("its metadata is not text");
    raw_ = raw;
    owned_ = g.own(text);
    return owned_;
}

std::string_view text_cache::own_if_text(graph& g, json_parser& json, std::string_view raw) {
    if (raw.empty() || raw == raw_) return raw.empty() ? raw : owned_;
    std::string_view text;
    raw_ = raw;
    owned_ = {};
    if (!json.parse(raw).get(text)) owned_ = g.own(text);
    return owned_;
}

node_text read_node_text(json_cursor& at) {
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
    return parts;
}

}  // namespace headrace::pt2
