// SPDX-License-Identifier: MIT
// Defines headrace::pt2::provenance_reader, which notes on each node where it comes from in the program.
#ifndef HEADRACE_IO_PT2_PROVENANCE_HPP
#define HEADRACE_IO_PT2_PROVENANCE_HPP

#include <string_view>

#include <headrace/io/file/json.hpp>
#include <headrace/io/pt2/node_text.hpp>
#include <headrace/ir/graph.hpp>

namespace headrace::pt2 {

/// Annotates nodes with names, modules and lines of source. Texts that nodes share are stored once.
class provenance_reader {
public:
    explicit provenance_reader(json_parser& json) : json_(json) {}

    // A node that is read as another op, or as two nodes, keeps its name in the program.
    void annotate(node& n, const node_text& text, std::string_view target, std::string_view name);

private:
    void annotate_source(node& n, const node_text& text);

    json_parser& json_;
    text_cache modules_;
    text_cache custom_;
    text_cache traces_;
    text_cache functions_;
    text_cache torch_functions_;
    text_cache from_nodes_;
};

}  // namespace headrace::pt2

#endif
