// SPDX-License-Identifier: MIT
// Defines the functions of headrace/io/text/opaque.hpp.

#include <headrace/io/text/opaque.hpp>

#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <string>
#include <vector>

#include <headrace/base/text.hpp>
#include <headrace/infer/inference.hpp>
#include <headrace/io/file/json.hpp>
#include <headrace/io/text/arguments.hpp>
#include <headrace/io/text/opaque_text.hpp>
#include <headrace/ir/regions.hpp>

namespace headrace {

namespace {

/// Creates the node of `op` that replaces an opaque one. Throws headrace::failure.
node& known_node(graph& g, node& opaque, const op_info& op) {
    const auto& a = args_of<builtin::opaque>(opaque);
    std::string text = "(";
    if (a.arguments.empty()) {
        for (std::size_t i = 0; i != a.operands.size(); ++i)
            ((text += i == 0 ? "%" : ", %") += std::to_string(i));
    }
    (text += a.arguments) += ')';
    if (op.results != variadic_results && static_cast<std::size_t>(op.results) != opaque.result_count)
        fail_malformed("the op gives " + std::to_string(op.results) + " results, the node " +
            std::to_string(opaque.result_count));
    text::cursor at(text, "its arguments");
    std::pmr::monotonic_buffer_resource memory;
    const auto no_graph = [&]() -> graph* { at.fail_here("no graph can be given here"); };
    const auto no_data = [&]() -> tensor_data { at.fail_here("no elements can be given here"); };
    text::argument_reader arguments(at, memory, {text::operand_numbers(at, a.operands), no_graph, no_data});
    const void* const read = arguments.read(op);
    if (!at.at_end()) at.fail_here("the arguments end before");
    return g.create(op, read, opaque.result_count, &opaque);
}

void take_place(graph& g, node& made, node& opaque) {
    g.inherit_annotations(made, opaque);
    for (std::uint32_t i = 0; i != opaque.result_count; ++i) {
        if (const tensor_meta* meta = meta_of(opaque.result(i))) g.set_meta(made.result(i), *meta);
        g.set_name(made.result(i), opaque.results[i].name);
        g.replace_all_uses(opaque.result(i), made.result(i));
    }
    g.erase(opaque);
}

}  // namespace

result<void> resolve_opaque(graph& g, op_finder find) {
    result<void> done;
    for_each_graph(g, [&](graph& sub) {
        std::vector<node*> unknown;
        for (node& n : sub.nodes()) {
            if (is<builtin::opaque>(n)) unknown.push_back(&n);
        }
        for (node* n : unknown) {
            const op_info* op = done ? find(args_of<builtin::opaque>(*n).target) : nullptr;
            if (op == nullptr) continue;
            try {
                take_place(sub, known_node(sub, *n, *op), *n);
            } catch (const failure& f) {
                done = malformed(message_prefix(*n) + f.what.message);
            }
        }
    });
    return done;
}

}  // namespace headrace
