// SPDX-License-Identifier: MIT
// Defines headrace::write_dot.
#ifndef HEADRACE_IO_DOT_DEFINITION_HPP
#define HEADRACE_IO_DOT_DEFINITION_HPP

#include <cstdint>
#include <memory_resource>
#include <ostream>
#include <sstream>
#include <string>
#include <string_view>

#include <boost/graph/graphviz.hpp>

#include <headrace/base/compiled.hpp>
#include <headrace/base/text.hpp>
#include <headrace/io/dot.hpp>
#include <headrace/ir/boost_graph.hpp>
#include <headrace/ir/listing.hpp>
#include <headrace/ir/regions.hpp>

namespace headrace {

namespace detail {

// Vertices of all regions share one drawing: "n3" in the graph itself, "r1_n3" in its second region.
struct dot_id_map {
    using key_type = node*;
    using value_type = std::pmr::string;
    using reference = std::pmr::string;
    using category = boost::readable_property_map_tag;
    std::pmr::string prefix;
    friend std::pmr::string get(const dot_id_map& map, const node* n) {
        return map.prefix + "n" + number_text(n->id);
    }
};

[[nodiscard]] inline std::pmr::string dot_quoted(std::string_view text) {
    std::pmr::string out = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\') out += '\\';
        if (c == '\n') {
            out += "\\n";
        } else {
            out += c;
        }
    }
    return out += '"';
}

[[nodiscard]] inline std::string_view dialect_color(const op_info& op) {
    struct color_of {
        std::string_view dialect, color;
    };
    static constexpr color_of colors[] = {{"builtin", "#e8e8e8"},       {"aten", "#cfe2f3"},
                                          {"tosa", "#d9ead3"},          {"quantized_decomposed", "#fff2cc"},
                                          {"dim_order_ops", "#ead1dc"}, {"cortex_m", "#fce5cd"},
                                          {"higher_order", "#d9d2e9"}};
    for (const color_of& c : colors) {
        if (c.dialect == op.dialect->name) return c.color;
    }
    return "#ffffff";
}

[[nodiscard]] inline std::pmr::string dot_label(const node& n, const printed_names& names) {
    std::pmr::string label(n.op->name);
    for (std::uint32_t i = 0; i != n.result_count; ++i) {
        const value v{const_cast<node*>(&n), i};
        (((label += "\n%") += names[v]) += ": ") += meta_text(meta_of(v));
    }
    return label;
}

inline void write_dot(std::ostream& out, const graph& g, const printed_names& names,
                      const std::pmr::string& prefix);

// What Boost writes between the braces of "digraph G { … }".
[[nodiscard]] inline std::pmr::string dot_body(const graph& g, const printed_names& names,
                                               const std::pmr::string& prefix) {
    std::ostringstream whole;
    write_dot(whole, g, names, prefix);
    const std::string text = whole.str();
    const std::size_t begin = text.find('\n') + 1;
    return std::pmr::string(text.substr(begin, text.rfind('}') - begin));
}

inline void write_dot(std::ostream& out, const graph& g, const printed_names& names,
                      const std::pmr::string& prefix) {
    const auto vertex = [&](std::ostream& o, const node* n) {
        o << " [label=" << dot_quoted(dot_label(*n, names)) << ", fillcolor=\"" << dialect_color(*n->op)
          << "\"]";
    };
    const auto operand = [&](std::ostream& o, const edge* e) { o << " [label=\"" << e->operand << "\"]"; };
    const auto header = [&](std::ostream& o) {
        if (prefix.empty()) o << "node [shape=box, style=filled, fontname=\"monospace\"];\n";
        for (const node& n : g.nodes()) {
            for_each_region(n, [&](const field_info& f, const graph* region) {
                if (region == nullptr || region->parent() != &g) return;
                const std::pmr::string inner = prefix + "r" + listed_names(names)(region).substr(1) + "_";
                const std::pmr::string holder = n.result_count == 0 ? std::pmr::string(n.op->name)
                                                                    : "%" + names[{const_cast<node*>(&n), 0}];
                o << "subgraph \"cluster_" << inner
                  << "\" {\nlabel=" << dot_quoted(std::pmr::string(f.name) + " of " + holder) << ";\n"
                  << dot_body(*region, names, inner) << "}\n";
            });
        }
    };
    boost::write_graphviz(out, g, vertex, operand, header, dot_id_map{prefix});
}

}  // namespace detail

HEADRACE_INLINE void write_dot(std::ostream& out, const graph& g) {
    detail::write_dot(out, g, printed_names(g), "");
}

}  // namespace headrace

#endif
