// SPDX-License-Identifier: MIT
// Defines headrace::pt2::detail::check_regions, which checks that nested graphs fit the node that holds them.
#ifndef HEADRACE_IO_PT2_REGIONS_HPP
#define HEADRACE_IO_PT2_REGIONS_HPP

#include <cstddef>

#include <headrace/dialect/higher_order.hpp>
#include <headrace/io/file/json.hpp>
#include <headrace/ir/graph.hpp>

namespace headrace::pt2::detail {

// Passes inline regions by position: the counts must agree.
inline void check_regions(const node& n) {
    const auto check = [](const graph* region, std::size_t inputs, std::size_t outputs) {
        std::size_t count = 0;
        for ([[maybe_unused]] const node& input : region->inputs()) ++count;
        if (count != inputs || region->outputs().size() != outputs) {
            fail_malformed("a nested graph does not have as many inputs or outputs as it is called with");
        }
    };
    if (is<higher_order::cond>(n)) {
        const auto& a = args_of<higher_order::cond>(n);
        check(a.true_graph, a.operands.size(), n.result_count);
        check(a.false_graph, a.operands.size(), n.result_count);
    } else if (is<higher_order::while_loop>(n)) {
        const auto& a = args_of<higher_order::while_loop>(n);
        const std::size_t inputs = a.carried_inputs.size() + a.additional_inputs.size();
        check(a.cond_graph, inputs, 1);
        check(a.body_graph, inputs, a.carried_inputs.size());
        if (n.result_count != a.carried_inputs.size())
            fail_malformed("it does not have as many results as it carries");
    } else if (is<higher_order::wrap_with_set_grad_enabled>(n)) {
        const auto& a = args_of<higher_order::wrap_with_set_grad_enabled>(n);
        check(a.wrapped_graph, a.operands.size(), n.result_count);
    } else if (is<higher_order::wrap_with_autocast>(n)) {
        const auto& a = args_of<higher_order::wrap_with_autocast>(n);
        check(a.wrapped_body, a.operands.size(), n.result_count);
    }
}

}  // namespace headrace::pt2::detail

#endif
