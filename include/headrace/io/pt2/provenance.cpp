// SPDX-License-Identifier: MIT
// Defines the functions of headrace/io/pt2/provenance.hpp.

#include <headrace/io/pt2/provenance.hpp>

#include <string_view>

#include <headrace/io/pt2/node_text.hpp>
#include <headrace/ir/graph.hpp>
#include <headrace/ir/source_location.hpp>

namespace headrace::pt2 {

void provenance_reader::annotate(
    node& n, const node_text& text, std::string_view target, std::string_view name) {
    graph& g = *n.owner;
    const std::string_view op = n.op->name == target ? n.op->name : g.own(target);
    g.annotate(n, provenance{g.own(name), op});
    if (!text.modules.empty()) g.annotate(n, module_stack{modules_.own(g, json_, text.modules)});
    if (!text.custom.empty()) g.annotate(n, custom_metadata{custom_.own(g, json_, text.custom)});
    annotate_source(n, text);
}

void provenance_reader::annotate_source(node& n, const node_text& text) {
    graph& g = *n.owner;
    const traced_call call{traces_.own_if_text(g, json_, text.trace),
        functions_.own_if_text(g, json_, text.source_functions),
        torch_functions_.own_if_text(g, json_, text.torch_function),
        from_nodes_.own_if_text(g, json_, text.from_node)};
    if (!call.stack_trace.empty() || !call.source_fn_stack.empty() || !call.torch_fn.empty() ||
        !call.from_node.empty())
        g.annotate(n, call);
    const std::string_view frame = model_frame(call.stack_trace);
    if (!frame.empty()) g.annotate(n, source_location{frame});
}

}  // namespace headrace::pt2
