// SPDX-License-Identifier: MIT
// Defines the functions of quantization/observe.hpp.
#ifndef HEADRACE_QUANTIZATION_OBSERVE_DEFINITION_HPP
#define HEADRACE_QUANTIZATION_OBSERVE_DEFINITION_HPP

#include <utility>

#include <headrace/base/compiled.hpp>
#include <headrace/base/text.hpp>
#include <headrace/eval/evaluator.hpp>
#include <headrace/quantization/observe.hpp>
#include <headrace/quantization/read_in_order.hpp>

namespace headrace {

namespace detail {

/// Runs a graph, and keeps the values of some of its points. Constants are read once for all samples.
class point_runner {
public:
    point_runner(const graph& g, std::span<const quantization_point> points)
        : graph_(g), points_(points), kept_(g.id_bound(), false), constants_(g.id_bound()) {
        for (const quantization_point& p : points) kept_[p.source.producer->id] = true;
        for (const node& n : g.nodes()) {
            if (const auto* c = args_if<builtin::constant>(n))
                constants_[n.id] = tensor_of_constant(c->data, *n.results[0].meta);
        }
    }

    [[nodiscard]] result<std::vector<tensor>> run(std::span<const tensor> inputs) const {
        std::vector<std::vector<tensor>> values(graph_.id_bound());
        std::vector<std::size_t> readers(graph_.id_bound(), 0);
        std::size_t next_input = 0;
        for (const node& n : graph_.nodes()) {
            if (is<builtin::output>(n)) break;
            for ([[maybe_unused]] const edge& e : n.uses()) ++readers[n.id];
            if (is<builtin::constant>(n)) {
                values[n.id] = {constants_[n.id]};
            } else if (is<builtin::placeholder>(n)) {
                if (next_input == inputs.size()) return invalid("there are fewer inputs than the graph has");
                values[n.id] = {inputs[next_input++]};
            } else {
                BOOST_OUTCOME_TRY(results, evaluate(n, values));
                values[n.id] = std::move(results);
            }
            for (const edge& e : n.operand_edges()) {
                const std::uint32_t id = e.source->id;
                if (--readers[id] == 0 && !kept_[id]) values[id].clear();
            }
        }
        std::vector<tensor> found;
        found.reserve(points_.size());
        for (const quantization_point& p : points_)
            found.push_back(values[p.source.producer->id][p.source.result]);
        return found;
    }

private:
    [[nodiscard]] static result<std::vector<tensor>> evaluate(
        const node& n, const std::vector<std::vector<tensor>>& values) {
        std::vector<tensor> operands;
        operands.reserve(n.operand_count);
        for (const edge& e : n.operand_edges()) operands.push_back(values[e.source->id][e.slot->result]);
        return evaluate_node(n, operands);
    }

    const graph& graph_;
    std::span<const quantization_point> points_;
    std::vector<bool> kept_;
    std::vector<tensor> constants_;  // by the node's id
};

}  // namespace detail

HEADRACE_INLINE result<std::vector<range_observer>> observe_ranges(const graph& g,
                                                                   const quantization_groups& groups,
                                                                   std::span<const quantization_point> points,
                                                                   const sample_source& samples,
                                                                   const parallel_for& in_parallel) {
    const detail::point_runner runner(g, points);
    std::vector<range_observer> observers;
    std::vector<std::vector<std::size_t>> points_of(groups.size());
    for (quantization_groups::key k = 0; k != groups.size(); ++k) observers.emplace_back(groups.scheme(k));
    std::vector<std::size_t> fed;
    for (std::size_t i = 0; i != points.size(); ++i) {
        const auto group = points[i].group;
        if (groups.is_bias(group) || groups.scheme(group).per_channel || groups.scheme(group).fixed) continue;
        if (points_of[group].empty()) fed.push_back(group);
        points_of[group].push_back(i);
    }
    using sample_values = std::vector<tensor>;
    const auto run_sample = [&](std::size_t i) -> result<sample_values> {
        BOOST_OUTCOME_TRY(inputs, samples.inputs(i));
        return runner.run(inputs);
    };
    const auto observe = [&](std::size_t i, const sample_values& values) {
        for (const std::size_t p : points_of[fed[i]]) observers[fed[i]].feed(values[p].data<float>());
    };
    BOOST_OUTCOME_TRY(
        read_in_order<sample_values>(samples.count, run_sample, fed.size(), observe, in_parallel));
    return observers;
}

}  // namespace headrace

#endif
