// SPDX-License-Identifier: MIT
// Defines the two drivers that run a pass's handlers over a graph: in place, and retracing.
#ifndef HEADRACE_PASS_DRIVER_HPP
#define HEADRACE_PASS_DRIVER_HPP

#include <headrace/pass/erased_pass.hpp>
#include <headrace/pass/pass.hpp>

namespace headrace {

namespace detail {

result<node_counts> run_handlers(const erased_pass& p, graph& g, pass_context& context, driver_kind driver);
/// Continues a run in a region of the visited node.
result<void> retrace_region(retracing_run& run, graph& region);

}  // namespace detail

/// Visits only nodes of the pass's targets, op by op or in execution order (visits_in_execution_order), and
/// rewrites them in place. Nodes that handlers add are not visited in the same run.
template <pass_type P>
class in_place_driver {
public:
    [[nodiscard]] static result<node_counts> run(const P& p, graph& g, pass_context& context) {
        return detail::run_handlers(detail::erase_type(p), g, context, driver_kind::in_place);
    }
};

/// Visits all nodes in execution order, like an interpreter. Nodes of target ops go to their handlers. Other
/// nodes are copied; those without `val` are dispatched in full, that is, inferred again. Use it for passes
/// that change metadata globally.
template <pass_type P>
class retracing_driver {
public:
    [[nodiscard]] static result<node_counts> run(const P& p, graph& g, pass_context& context) {
        return detail::run_handlers(detail::erase_type(p), g, context, driver_kind::retracing);
    }
};

}  // namespace headrace

#ifndef HEADRACE_COMPILED
#include <headrace/pass/driver_definition.hpp>
#endif

#endif
