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
    [[nodiscard]] std::string_view own(graph& g, json_parser& json, std::string_view raw);
    /// Returns the text; empty if there is none, or if it is not a string: only messages, pictures and
    /// partitions by source need this metadata.
    [[nodiscard]] std::string_view own_if_text(graph& g, json_parser& json, std::string_view raw);

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

[[nodiscard]] node_text read_node_text(json_cursor& at);

}  // namespace headrace::pt2

#endif
