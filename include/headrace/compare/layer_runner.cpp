// SPDX-License-Identifier: MIT
// Defines the functions of headrace/compare/layer_runner.hpp.

#include <headrace/compare/layer_runner.hpp>

#include <cstddef>
#include <map>
#include <utility>

#include <headrace/dialect/builtin.hpp>
#include <headrace/dialect/delegate.hpp>
#include <headrace/eval/evaluator.hpp>

namespace headrace {

struct layer_runner::kept_values {
    using key = std::pair<const node*, std::uint32_t>;
    [[nodiscard]] tensor& operator[](value v) { return tensors[key(v.producer, v.result)]; }
    std::map<key, tensor> tensors;
};

layer_runner::layer_runner(const graph& g, std::span<const value> wanted)
    : graph_(g), wanted_(wanted.begin(), wanted.end()) {}

result<std::vector<tensor>> layer_runner::run(std::span<const tensor> inputs) const {
    kept_values kept;
    for (const value v : wanted_) kept[v] = {};
    HEADRACE_TRY(run_region(graph_, inputs, kept));
    std::vector<tensor> found;
    found.reserve(wanted_.size());
    for (const value v : wanted_) found.push_back(kept[v]);
    return found;
}

result<std::vector<tensor>> layer_runner::run_region(
    const graph& g, std::span<const tensor> inputs, kept_values& kept) const {
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
            HEADRACE_TRY(results, run_region(*call->lowered_graph, operands, kept));
            values[n.id] = std::move(results);
        } else {
            HEADRACE_TRY(results, evaluate_node(n, operands));
            values[n.id] = std::move(results);
        }
        for ([[maybe_unused]] const edge& e : n.uses()) ++readers[n.id];
        for (std::uint32_t i = 0; i != values[n.id].size(); ++i) {
            const auto wanted = kept.tensors.find({&n, i});
            if (wanted != kept.tensors.end()) wanted->second = values[n.id][i];
        }
        for (const edge& e : n.operand_edges()) {
            if (--readers[e.source->id] == 0) values[e.source->id].clear();
        }
    }
    return invalid("the graph has no output node");
}

}  // namespace headrace
