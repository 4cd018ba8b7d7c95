// SPDX-License-Identifier: MIT
// Defines headrace::reduce_testing: programs of many nodes for tests of reductions, and questions about them.
#ifndef HEADRACE_TESTS_REDUCE_NETWORKS_HPP
#define HEADRACE_TESTS_REDUCE_NETWORKS_HPP

#include <catch2/catch.hpp>

#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include <headrace/base/strings.hpp>
#include <headrace/io/text/graph_text.hpp>
#include <headrace/reduce/reduce.hpp>
#include <headrace/run/execution.hpp>
#include <headrace/run/models.hpp>

namespace headrace::reduce_testing {

/// Returns the program of a text, with types inferred.
inline program program_of(const std::string& nodes) {
    auto made = parse_graph_text("headrace 1\n" + nodes);
    INFO(nodes);
    if (!made) FAIL(made.error().message);
    const result<void> complete = complete_metadata(*made.value().graph);
    if (!complete) FAIL(complete.error().message);
    return std::move(made).value();
}

/// Returns the text of a network of residual blocks of five nodes. Before block `at`, `inserted` makes
/// %seeded of %x: a text in which "%x" and "%seeded" stand for the names there.
inline std::string residual_network(int blocks, int at, std::string_view inserted) {
    const auto with = [](std::string text, std::string_view name, std::string_view by) {
        for (std::size_t p = text.find(name); p != std::string::npos; p = text.find(name, p + by.size()))
            text.replace(p, name.size(), by);
        return text;
    };
    std::string text =
        "%x0: float32[1, 8, 12, 12] = input\n"
        "%w: float32[8, 8, 3, 3] = constant [0.125] strides [0, 0, 0, 0]\n"
        "%b: float32[8] = constant [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]\n";
    std::string last = "%x0";
    for (int i = 0; i != blocks; ++i) {
        if (i == at) {
            text += with(with(std::string(inserted), "%x", last), "%seeded", "%after");
            last = "%after";
        }
        const std::string n(join_text(i));
        text += "%c" + n + ": ? = aten.conv2d.default(" + last + ", %w, %b, padding=[1, 1])\n";
        text += "%r" + n + ": ? = aten.relu.default(%c" + n + ")\n";
        text += "%d" + n + ": ? = aten.conv2d.default(%r" + n + ", %w, %b, padding=[1, 1])\n";
        text += "%a" + n + ": ? = aten.add.Tensor(%d" + n + ", " + last + ")\n";
        text += "%y" + n + ": ? = aten.hardtanh.default(%a" + n + ")\n";
        last = "%y" + n;
    }
    return text + "output y=" + last + "\n";
}

inline bool is_op(const node& n, std::string_view op) { return n.op->name == op; }

/// Returns the first node of an op, or null.
inline const node* find_op_node(const program& p, std::string_view op) {
    for (const node& n : p.graph->nodes()) {
        if (is_op(n, op)) return &n;
    }
    return nullptr;
}

/// True if a node of `reader` reads a result of a node of `maker` directly.
inline bool reads(const program& p, std::string_view reader, std::string_view maker) {
    for (const node& n : p.graph->nodes()) {
        if (!is_op(n, reader)) continue;
        for (const edge& e : n.operand_edges()) {
            if (is_op(*e.source, maker)) return true;
        }
    }
    return false;
}

/// True if a node of `reader` depends on a node of `maker`.
inline bool depends_on(const program& p, std::string_view reader, std::string_view maker) {
    std::unordered_set<const node*> after;
    for (const node& n : p.graph->nodes()) {
        bool is_after = is_op(n, maker);
        for (const edge& e : n.operand_edges()) is_after = is_after || after.contains(e.source);
        if (is_after && is_op(n, reader) && !is_op(n, maker)) return true;
        if (is_after) after.insert(&n);
    }
    return false;
}

}  // namespace headrace::reduce_testing

#endif
