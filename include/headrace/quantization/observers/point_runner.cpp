// SPDX-License-Identifier: MIT
// Defines the members of headrace::point_runner.

#include <headrace/quantization/observers/point_runner.hpp>

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

namespace headrace {

point_runner::point_runner(const graph& g, std::span<const quantization_point> points)
    : graph_(g), points_(points), constants_(g.id_bound()), readers_(g.id_bound(), 0) {
    for (const quantization_point& p : points) ++readers_[p.source.producer->id];  // never the last one
    for (const node& n : g.nodes()) {
        readers_[n.id] += static_cast<std::size_t>(std::ranges::distance(n.uses()));
        if (const auto* c = args_if<builtin::constant>(n))
            constants_[n.id] = {tensor_of_constant(c->data, *n.results[0].meta)};
    }
}

result<std::vector<tensor>> point_runner::run(std::span<const tensor> inputs) const {
    std::vector<std::vector<tensor>> values(graph_.id_bound());
    std::vector<std::size_t> readers = readers_;
    std::size_t next_input = 0;
    for (const node& n : graph_.nodes()) {
        if (is<builtin::output>(n)) break;
        if (is<builtin::constant>(n)) continue;
        if (is<builtin::placeholder>(n)) {
            if (next_input == inputs.size()) return invalid("there are fewer inputs than the graph has");
            values[n.id] = {inputs[next_input++]};
        } else {
            HEADRACE_TRY(results, evaluate(n, values));
            values[n.id] = std::move(results);
        }
        for (const edge& e : n.operand_edges()) {
            if (--readers[e.source->id] == 0) values[e.source->id].clear();
        }
    }
    std::vector<tensor> found;
    found.reserve(points_.size());
    for (const quantization_point& p : points_) found.push_back(value_of(p.source, values));
    return found;
}

result<point_runner::node_results> point_runner::evaluate(
    const node& n, const std::vector<node_results>& values) const {
    std::vector<tensor> operands;
    operands.reserve(n.operand_count);
    for (const edge& e : n.operand_edges()) operands.push_back(value_of({e.source, e.slot->result}, values));
    return evaluate_node(n, operands);
}

}  // namespace headrace
