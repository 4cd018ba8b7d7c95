// SPDX-License-Identifier: MIT
// Defines the higher_order dialect: the ops of torch.export that hold graphs.
#ifndef HEADRACE_DIALECT_HIGHER_ORDER_HPP
#define HEADRACE_DIALECT_HIGHER_ORDER_HPP

#include <optional>
#include <string_view>

#include <headrace/op/op.hpp>

namespace headrace::higher_order {

/// These ops have no overloads. A .pt2 file does not name their arguments: members are in its order.
struct dialect;

/// Calls the graph that `pred`, one boolean, chooses. Both take `operands`. The results are the graph's.
struct cond : op<dialect, "higher_order.cond", "pred, true_graph, false_graph, operands", variadic_results> {
    struct args {
        value pred;
        graph* true_graph;
        graph* false_graph;
        list<value> operands;
    };
};

/// Runs `body_graph` while `cond_graph` returns true. Both take `carried_inputs`, then `additional_inputs`.
/// The results of the body are the next carried inputs; the results of the loop are the last ones.
struct while_loop : op<dialect, "higher_order.while_loop",
                        "cond_graph, body_graph, carried_inputs, additional_inputs", variadic_results> {
    struct args {
        graph* cond_graph;
        graph* body_graph;
        list<value> carried_inputs;
        list<value> additional_inputs;
    };
};

/// Calls a graph. In a .pt2 file `operands` are trailing inputs of one tensor each, not one list.
struct wrap_with_set_grad_enabled : op<dialect, "higher_order.wrap_with_set_grad_enabled",
                                        "enabled, wrapped_graph, operands", variadic_results> {
    struct args {
        bool enabled;
        graph* wrapped_graph;
        list<value> operands;
    };
};

/// Calls a graph; if `enabled`, PyTorch chooses the dtypes of its ops.
struct wrap_with_autocast
    : op<dialect, "higher_order.wrap_with_autocast",
          "device_type, dtype, enabled, cache_enabled, wrapped_body, operands", variadic_results> {
    struct args {
        std::string_view device_type;
        std::optional<headrace::dtype> dtype;
        bool enabled;
        std::optional<bool> cache_enabled;
        graph* wrapped_body;
        list<value> operands;
    };
};

/// Calls `body_graph` for each index of the first dimension of all `xs`. The graph takes one slice of each,
/// then `operands`. The results are the graph's, stacked.
struct map_impl : op<dialect, "higher_order.map_impl", "body_graph, xs, operands", variadic_results> {
    struct args {
        graph* body_graph;
        list<value> xs;
        list<value> operands;
    };
};

/// Calls `combine_graph` for each index of the first dimension of all `xs`. The graph takes the carried
/// values (initially `init`), one slice of each of `xs`, and `additional_inputs`; it returns the next carried
/// values and the outputs. The results are the last carried values, then the outputs, stacked.
struct scan
    : op<dialect, "higher_order.scan", "combine_graph, init, xs, additional_inputs", variadic_results> {
    struct args {
        graph* combine_graph;
        list<value> init;
        list<value> xs;
        list<value> additional_inputs;
    };
};

struct dialect : dialect_of<"higher_order", cond, while_loop, wrap_with_autocast, wrap_with_set_grad_enabled,
                     map_impl, scan> {};

}  // namespace headrace::higher_order

#endif
