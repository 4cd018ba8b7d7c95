// SPDX-License-Identifier: MIT
// Defines the functions of headrace/stream/additions.hpp.

#include <headrace/stream/additions.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <headrace/dialect/aten.hpp>
#include <headrace/dialect/quantized_decomposed.hpp>
#include <headrace/infer/inference.hpp>
#include <headrace/run/execution.hpp>
#include <headrace/stream/arguments.hpp>

namespace headrace::streams {

namespace {

// Returns the axes that a node reduces; empty if it keeps any of their elements apart.
std::vector<std::size_t> reduced_axes(const node& n) {
    const std::size_t rank = meta_of(n.operand(0))->rank();
    std::vector<std::size_t> axes;
    if (n.op->has(trait::pooling)) {
        const std::vector bins = integers_argument(n, "output_size");
        const bool all = !bins.empty() && std::ranges::all_of(bins, [](std::int64_t b) { return b == 1; });
        for (std::size_t i = rank - spatial_rank_in(n.op->traits); all && i != rank; ++i) axes.push_back(i);
        return axes;
    }
    for (const std::int64_t d : integers_argument(n, "dim"))
        if (const auto axis = normalized_axis(d, rank)) axes.push_back(*axis);
    return axes;
}

template <op_tag Op>
result<node*> add_reduction(node& n, args<Op> a) {
    graph& g = *n.owner;
    node& made = g.create<Op>(a, &n);
    inference inferred(g.arena());
    HEADRACE_TRY(infer_node(made, inferred));
    g.set_meta(made.result(), inferred.results()[0]);
    g.inherit_annotations(made, n);
    g.set_operand(n.operands[0], made.result());
    return &made;
}

}  // namespace

std::unordered_set<const node*> remembered_nodes(const graph& g) {
    std::vector<const node*> nodes;
    for (const node& n : g.nodes()) nodes.push_back(&n);
    std::ranges::reverse(nodes);
    std::unordered_set<const node*> found;
    for (const node* n : nodes) {
        if (!n->op->has(trait::recurrent_network) && !is<aten::cumsum>(*n) && !found.contains(n)) continue;
        found.insert(n);
        for (const edge& e : n->operand_edges()) found.insert(e.slot->producer);
    }
    return found;
}

result<node*> reduce_others_first(node& n, const flow_analysis& flows) {
    if (n.operand_count == 0) return nullptr;
    const value v = n.operand(0);
    const flow f = flows.of(v);
    if (f.kind != flow_kind::flowing || is<quantized_decomposed::dequantize_per_tensor>(*v.producer))
        return nullptr;
    std::vector<std::int64_t> others;
    bool over_axis = false;
    for (const std::size_t axis : reduced_axes(n)) {
        over_axis = over_axis || axis == f.axis;
        if (axis != f.axis && meta_of(v)->shape[axis] != 1) others.push_back(static_cast<std::int64_t>(axis));
    }
    if (!over_axis || others.empty()) return nullptr;
    const int_list dims = n.owner->own(int_list(others));
    if (is<aten::mean_dim>(n) || is<aten::adaptive_avg_pool2d>(n) || is<aten::_adaptive_avg_pool2d>(n))
        return add_reduction<aten::mean_dim>(n, {.self = v, .dim = dims, .keepdim = true});
    if (is<aten::sum_dim_intlist>(n))
        return add_reduction<aten::sum_dim_intlist>(n, {.self = v, .dim = dims, .keepdim = true});
    if (is<aten::amax>(n)) return add_reduction<aten::amax>(n, {.self = v, .dim = dims, .keepdim = true});
    if (is<aten::amin>(n)) return add_reduction<aten::amin>(n, {.self = v, .dim = dims, .keepdim = true});
    return nullptr;
}

node* clear_before(node& n, flow_analysis& flows) {
    if (!flows.wants_zeros(n)) return nullptr;
    graph& g = *n.owner;
    const value v = n.operand(0);
    node& made = g.create<aten::clone>({.self = v}, &n);
    g.set_meta(made.result(), *meta_of(v));
    g.inherit_annotations(made, n);
    g.set_operand(n.operands[0], made.result());
    flows.define_cleared(made);
    return &made;
}

}  // namespace headrace::streams
