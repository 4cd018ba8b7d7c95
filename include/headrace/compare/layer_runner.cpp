// SPDX-License-Identifier: MIT
// Defines the functions of headrace/compare/layer_runner.hpp.

#include <headrace/compare/layer_runner.hpp>

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <utility>

#include <headrace/dialect/builtin.hpp>
#include <headrace/dialect/delegate.hpp>
#include <headrace/eval/evaluator.hpp>

namespace headrace {

namespace {

using result_key = std::pair<const node*, std::uint32_t>;

// The values that a visitor is given.
struct visited_values {
    std::set<result_key> keys{};
    const layer_visitor& visit;
};

result<std::vector<tensor>> run_region(
    const graph& g, std::span<const tensor> inputs, const visited_values& visited) {
    std::vector<std::vector<tensor>> values(g.id_bound());
    std::vector<std::size_t> readers(g.id_bound(), 0);
    std::size_t next_input = 0;
    for (const node& n : g.nodes()) {
        std::vector<tensor> operands;
        operands.reserve(n.operand_count);
        for (const edge& e : n.operand_edges()) operands.push_back(values[e.source->id][e.slot->result]);
        if (is<builtin::output>(n)) return operands;
        if (is<builtin::placeholder>(n)) {
            if (next_input == inputs.size()) return invalid("there are fewer inputs than the graph has");
            values[n.id] = {inputs[next_input++]};
        } else if (const auto* call = args_if<delegate::call_delegate>(n)) {
            if (call->lowered_graph == nullptr) return invalid("a delegate has no graph");
            HEADRACE_TRY(results, run_region(*call->lowered_graph, operands, visited));
            values[n.id] = std::move(results);
        } else {
            HEADRACE_TRY(results, evaluate_node(n, operands));
            values[n.id] = std::move(results);
        }
        for ([[maybe_unused]] const edge& e : n.uses()) ++readers[n.id];
        for (std::uint32_t i = 0; i != values[n.id].size(); ++i) {
            if (visited.keys.contains({&n, i})) visited.visit({const_cast<node*>(&n), i}, values[n.id][i]);
        }
        for (const edge& e : n.operand_edges()) {
            if (--readers[e.source->id] == 0) values[e.source->id].clear();
        }
    }
    return invalid("the graph has no output node");
}

}  // namespace

layer_runner::layer_runner(const graph& g, std::span<const value> wanted)
    : graph_(g), wanted_(wanted.begin(), wanted.end()) {}

result<std::vector<tensor>> layer_runner::run(std::span<const tensor> inputs) const {
    std::map<result_key, tensor> kept;
    const layer_visitor keep = [&](value v, const tensor& t) { kept[{v.producer, v.result}] = t; };
    HEADRACE_TRY(run(inputs, keep));
    std::vector<tensor> found;
    found.reserve(wanted_.size());
    for (const value v : wanted_) found.push_back(kept[{v.producer, v.result}]);
    return found;
}

result<std::vector<tensor>> layer_runner::run(
    std::span<const tensor> inputs, const layer_visitor& visit) const {
    visited_values visited{.visit = visit};
    for (const value v : wanted_) visited.keys.emplace(v.producer, v.result);
    return run_region(graph_, inputs, visited);
}

}  // namespace headrace
