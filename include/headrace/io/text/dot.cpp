// SPDX-License-Identifier: MIT
// Defines the functions of headrace/io/text/dot.hpp.

#include <headrace/io/text/dot.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory_resource>
#include <ostream>
#include <sstream>
#include <string>
#include <string_view>

#include <boost/graph/filtered_graph.hpp>
#include <boost/graph/graphviz.hpp>

#include <headrace/base/pmr_vector.hpp>
#include <headrace/base/text.hpp>
#include <headrace/io/text/node_text.hpp>
#include <headrace/ir/boost_graph.hpp>
#include <headrace/ir/listing.hpp>
#include <headrace/ir/meta_text.hpp>
#include <headrace/ir/opaque_text.hpp>
#include <headrace/ir/operand_fields.hpp>
#include <headrace/ir/regions.hpp>
#include <headrace/partition/source_partitions.hpp>

namespace headrace {

namespace {

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

[[nodiscard]] std::pmr::string dot_quoted(std::string_view text) {
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

[[nodiscard]] std::string_view dialect_color(const op_info& op) {
    struct color_of {
        std::string_view dialect, color;
    };
    static constexpr color_of colors[] = {{"builtin", "#e8e8e8"}, {"aten", "#cfe2f3"}, {"tosa", "#d9ead3"},
        {"quantized_decomposed", "#fff2cc"}, {"dim_order_ops", "#ead1dc"}, {"cortex_m", "#fce5cd"},
        {"higher_order", "#d9d2e9"}};
    for (const color_of& c : colors) {
        if (c.dialect == op.dialect->name) return c.color;
    }
    return "#ffffff";
}

// Appends the constants that a node uses: "weight int8[64, 1, 3, 3]", or their elements if they are few.
void append_constants(std::pmr::string& label, const node& n) {
    constexpr std::size_t max_elements_text = 40;  // wider boxes push the others apart
    const auto fields = operand_fields(n);
    for (const edge& e : n.operand_edges()) {
        if (!is<builtin::constant>(*e.source)) continue;
        const std::string elements = small_constant_text(*e.source);
        (label += '\n') += fields[e.operand];
        if (elements.empty() || elements.size() > max_elements_text) {
            (label += ' ') += meta_text(meta_of(*e.slot));
        } else {
            (label += " = ") += elements;
        }
    }
}

// Returns the label of a node: its op, the arguments that are not the op's defaults, constants, and its
// values.
[[nodiscard]] std::pmr::string dot_label(const node& n, const printed_names& names) {
    const auto* opaque = args_if<builtin::opaque>(n);
    std::pmr::string label(op_name(n));
    if (opaque != nullptr) ((label += '(') += opaque_arguments(*opaque, detail::listed_names(names))) += ')';
    for (const field_info& f : *n.op) {
        if (opaque != nullptr || holds_tensors(f.kind) || f.kind == field_kind::region ||
            is<builtin::constant>(n) || equal_field(f, n.arguments, n.op->default_args))
            continue;
        ((label += '\n') += f.name) += ' ';
        print_field(label, f, n.arguments, detail::listed_names(names));
    }
    append_constants(label, n);
    for (std::uint32_t i = 0; i != n.result_count; ++i) {
        const value v{const_cast<node*>(&n), i};
        (((label += "\n%") += names[v]) += ": ") += meta_text(meta_of(v));
    }
    return label;
}

void write_dot(std::ostream& out, const graph& g, const printed_names& names, const std::pmr::string& prefix);

// Returns the text that Boost writes between the braces of "digraph G { … }".
[[nodiscard]] std::pmr::string dot_body(
    const graph& g, const printed_names& names, const std::pmr::string& prefix) {
    std::ostringstream whole;
    write_dot(whole, g, names, prefix);
    const std::string text = whole.str();
    const std::size_t begin = text.find('\n') + 1;
    return std::pmr::string(text.substr(begin, text.rfind('}') - begin));
}

// Constants are drawn inside the nodes that use them.
struct is_drawn {
    bool operator()(const node* n) const { return !is<builtin::constant>(*n); }
};
using drawn_graph = boost::filtered_graph<graph, boost::keep_all, is_drawn>;

/// The modules of a graph as nested clusters, each with the ids of its nodes; the nodes are described later.
class module_clusters {
public:
    module_clusters(const graph& g, const dot_id_map& ids) {
        for (const node& n : g.nodes()) {
            const auto* stack = n.find_annotation<module_stack>();
            if (stack == nullptr || !is_drawn{}(&n)) continue;
            cluster* at = &whole_;
            const auto frames = module_frames(stack->text);
            // The outermost module is the model itself.
            for (std::size_t i = 1; i < std::min(frames.size(), max_depth); ++i) {
                at = &at->inner[std::pmr::string(frames[i].call)];
                at->label = std::pmr::string(frames[i].path.empty() ? frames[i].call : frames[i].path);
            }
            at->nodes.push_back(get(ids, &n));
        }
        prefix_ = ids.prefix;
    }
    void write(std::ostream& out) {
        for (const auto& [call, inner] : whole_.inner) write(out, inner);
    }

private:
    static constexpr std::size_t max_depth = 64;  // Graphviz reads clusters recursively
    struct cluster {
        std::pmr::string label;
        pmr_vector<std::pmr::string> nodes;
        std::map<std::pmr::string, cluster> inner;
    };

    void write(std::ostream& out, const cluster& c) {
        out << "subgraph \"cluster_" << prefix_ << "m" << number_++ << "\" {\nlabel=" << dot_quoted(c.label)
            << ";\n";
        for (const std::pmr::string& id : c.nodes) out << id << ";\n";
        for (const auto& [call, inner] : c.inner) write(out, inner);
        out << "}\n";
    }

    cluster whole_;
    std::pmr::string prefix_;
    std::size_t number_ = 0;
};

void write_regions(
    std::ostream& out, const graph& g, const printed_names& names, const std::pmr::string& prefix) {
    for (const node& n : g.nodes()) {
        for_each_region(n, [&](const field_info& f, const graph* region) {
            if (region == nullptr || region->parent() != &g) return;
            const std::pmr::string inner = prefix + "r" + detail::listed_names(names)(region).substr(1) + "_";
            const std::pmr::string holder = n.result_count == 0
                ? std::pmr::string(n.op->name)
                : detail::listed_names(names)(const_cast<node&>(n).result());
            out << "subgraph \"cluster_" << inner
                << "\" {\nlabel=" << dot_quoted(std::pmr::string(f.name) + " of " + holder) << ";\n"
                << dot_body(*region, names, inner) << "}\n";
        });
    }
}

void write_dot(
    std::ostream& out, const graph& g, const printed_names& names, const std::pmr::string& prefix) {
    const dot_id_map ids{prefix};
    const auto vertex = [&](std::ostream& o, const node* n) {
        o << " [label=" << dot_quoted(dot_label(*n, names)) << ", fillcolor=\"" << dialect_color(*n->op)
          << "\"]";
    };
    const auto operand = [&](std::ostream& o, const edge* e) {
        o << " [label=" << dot_quoted(operand_fields(*e->target)[e->operand]) << "]";
    };
    const auto header = [&](std::ostream& o) {
        if (prefix.empty()) o << "node [shape=box, style=filled, fontname=\"monospace\"];\n";
        module_clusters(g, ids).write(o);
        write_regions(o, g, names, prefix);
    };
    boost::write_graphviz(out, drawn_graph(g, {}, {}), vertex, operand, header, ids);
}

}  // namespace

void write_dot(std::ostream& out, const graph& g) { write_dot(out, g, printed_names(g), ""); }

}  // namespace headrace
