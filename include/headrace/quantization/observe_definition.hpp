// SPDX-License-Identifier: MIT
// Defines the functions of quantization/observe.hpp.
#ifndef HEADRACE_QUANTIZATION_OBSERVE_DEFINITION_HPP
#define HEADRACE_QUANTIZATION_OBSERVE_DEFINITION_HPP

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include <headrace/base/compiled.hpp>
#include <headrace/base/text.hpp>
#include <headrace/eval/evaluator.hpp>
#include <headrace/quantization/observe.hpp>
#include <headrace/quantization/read_in_order.hpp>

namespace headrace {

namespace detail {

/// Runs a graph and keeps the values of some points. Results common to all samples are computed once.
class point_runner {
public:
    point_runner(const graph& g, std::span<const quantization_point> points)
        : graph_(g), points_(points), constants_(g.id_bound()), readers_(g.id_bound(), 0) {
        for (const quantization_point& p : points) ++readers_[p.source.producer->id];  // never the last one
        for (const node& n : g.nodes()) {
            readers_[n.id] += static_cast<std::size_t>(std::ranges::distance(n.uses()));
            if (const auto* c = args_if<builtin::constant>(n))
                constants_[n.id] = {tensor_of_constant(c->data, *n.results[0].meta)};
        }
    }

    [[nodiscard]] result<std::vector<tensor>> run(std::span<const tensor> inputs) const {
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

private:
    using node_results = std::vector<tensor>;

    [[nodiscard]] result<node_results> evaluate(
        const node& n, const std::vector<node_results>& values) const {
        std::vector<tensor> operands;
        operands.reserve(n.operand_count);
        for (const edge& e : n.operand_edges())
            operands.push_back(value_of({e.source, e.slot->result}, values));
        return evaluate_node(n, operands);
    }
    [[nodiscard]] const tensor& value_of(value v, const std::vector<node_results>& values) const {
        const bool is_constant = is<builtin::constant>(*v.producer);
        return (is_constant ? constants_ : values)[v.producer->id][v.result];
    }

    const graph& graph_;
    std::span<const quantization_point> points_;
    std::vector<node_results> constants_;  // by node id
    std::vector<std::size_t> readers_;     // of a node's results, by node id
};

/// Returns the numbers that do not stand for infinity.
[[nodiscard]] inline tensor ordinary_numbers(const tensor& t) {
    std::vector<float> kept;
    std::ranges::copy_if(
        t.data<float>(), std::back_inserter(kept), [](float x) { return !seems_excluding(-std::abs(x)); });
    return tensor::of(dtype::float32, {static_cast<std::int64_t>(kept.size())}, kept);
}

}  // namespace detail

HEADRACE_INLINE result<std::vector<range_observer>> observe_ranges(const graph& g,
    const quantization_groups& groups, std::span<const quantization_point> points,
    const sample_source& samples, const parallel_for& in_parallel, std::span<const value> masks) {
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
    // Ranges are computed where samples run: samples run in parallel, but the readers of one tensor do not.
    struct sample_values {
        std::vector<tensor> tensors;
        std::vector<observed_range> ranges;
    };
    const auto run_sample = [&](std::size_t i) -> result<sample_values> {
        HEADRACE_TRY(inputs, samples.inputs(i));
        HEADRACE_TRY(tensors, runner.run(inputs));
        std::vector<observed_range> ranges(tensors.size());
        for (const std::size_t group : fed) {
            for (const std::size_t p : points_of[group]) {
                const bool is_mask = std::ranges::find(masks, points[p].source) != masks.end();
                if (is_mask) tensors[p] = detail::ordinary_numbers(tensors[p]);
                ranges[p] = range_of(tensors[p].data<float>());
            }
        }
        return sample_values{std::move(tensors), std::move(ranges)};
    };
    const auto observe = [&](std::size_t i, const sample_values& values) {
        for (const std::size_t p : points_of[fed[i]])
            observers[fed[i]].feed(values.tensors[p].data<float>(), values.ranges[p], p);
    };
    HEADRACE_TRY(read_in_order<sample_values>(samples.count, run_sample, fed.size(), observe, in_parallel));
    return observers;
}

}  // namespace headrace

#endif
