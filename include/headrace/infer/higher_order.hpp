// SPDX-License-Identifier: MIT
// Defines the shape and dtype rules of the higher_order dialect: results are those of the regions.
#ifndef HEADRACE_INFER_HIGHER_ORDER_HPP
#define HEADRACE_INFER_HIGHER_ORDER_HPP

#include <headrace/base/text.hpp>
#include <headrace/dialect/higher_order.hpp>
#include <headrace/infer/preconditions.hpp>
#include <headrace/infer/shape_builder.hpp>
#include <headrace/ir/graph.hpp>

namespace headrace {

namespace detail {

/// The values that a region gives, if the metadata of all is known.
inline result<list<value>> region_values(const graph* region) {
    if (region == nullptr || region->output() == nullptr) return invalid("a region has no output");
    for (const value v : region->outputs()) {
        if (meta_of(v) == nullptr) return invalid("a result of a region has no metadata");
    }
    return region->outputs();
}

inline result<void> infer_region(inference& out, const graph* region) {
    BOOST_OUTCOME_TRY(values, region_values(region));
    for (const value v : values) {
        BOOST_OUTCOME_TRY(add_result(out, inference::of(v)));
    }
    return boost::outcome_v2::success();
}

/// Refuses a region that does not take as many inputs as it is given.
inline result<void> check_inputs(const graph* region, std::size_t given) {
    if (region == nullptr) return invalid("a region is missing");
    std::size_t taken = 0;
    for (const node& n : region->inputs()) taken += n.result_count;
    if (taken == given) return boost::outcome_v2::success();
    return invalid("a region takes " + number_text(taken) + " inputs, but is given " + number_text(given));
}

/// How often a region runs: the size of the first axis of all `xs`.
inline result<std::int64_t> iterations_of(list<value> xs) {
    if (xs.empty()) return invalid("there is nothing to iterate over");
    std::int64_t count = -1;
    for (const value v : xs) {
        const sizes shape(inference::of(v).shape);
        if (shape.empty() || (count != -1 && shape[0] != count)) {
            return invalid("tensors to iterate over must have the same first size");
        }
        count = shape[0];
    }
    return count;
}

/// Results of a region that runs once per slice: the last run's for the first `carried`, the others stacked.
inline result<void> infer_iterated(inference& out, const graph* region, list<value> xs, std::size_t carried) {
    BOOST_OUTCOME_TRY(values, region_values(region));
    BOOST_OUTCOME_TRY(count, iterations_of(xs));
    if (carried > values.size()) return invalid("the region gives fewer values than it carries");
    for (std::size_t i = 0; i != values.size(); ++i) {
        const tensor_meta& one = inference::of(values[i]);
        shape_builder shape(one.shape);
        if (i >= carried) shape.insert(0, count);
        BOOST_OUTCOME_TRY(add_result(out, one.dtype, shape));
    }
    return boost::outcome_v2::success();
}

}  // namespace detail

template <one_of<ops<higher_order::cond>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    BOOST_OUTCOME_TRY(require_elements("pred", inference::of(a.pred).shape, 1));
    BOOST_OUTCOME_TRY(detail::check_inputs(a.true_graph, a.operands.size()));
    BOOST_OUTCOME_TRY(detail::check_inputs(a.false_graph, a.operands.size()));
    return detail::infer_region(out, a.true_graph);
}
template <one_of<ops<higher_order::while_loop>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const std::size_t inputs = a.carried_inputs.size() + a.additional_inputs.size();
    BOOST_OUTCOME_TRY(detail::check_inputs(a.cond_graph, inputs));
    BOOST_OUTCOME_TRY(detail::check_inputs(a.body_graph, inputs));
    return detail::infer_region(out, a.body_graph);
}
template <one_of<ops<higher_order::wrap_with_set_grad_enabled>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    BOOST_OUTCOME_TRY(detail::check_inputs(a.wrapped_graph, a.operands.size()));
    return detail::infer_region(out, a.wrapped_graph);
}
template <one_of<ops<higher_order::map_impl>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    BOOST_OUTCOME_TRY(detail::check_inputs(a.body_graph, a.xs.size() + a.operands.size()));
    return detail::infer_iterated(out, a.body_graph, a.xs, 0);
}
template <one_of<ops<higher_order::scan>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    BOOST_OUTCOME_TRY(
        detail::check_inputs(a.combine_graph, a.init.size() + a.xs.size() + a.additional_inputs.size()));
    return detail::infer_iterated(out, a.combine_graph, a.xs, a.init.size());
}

}  // namespace headrace

#endif
