// SPDX-License-Identifier: MIT
// Defines the delegate dialect: the call with which a host graph replaces a partition.
#ifndef HEADRACE_DIALECT_DELEGATE_HPP
#define HEADRACE_DIALECT_DELEGATE_HPP

#include <string_view>

#include <headrace/op/op.hpp>

namespace headrace::delegate {

struct dialect;

/// Calls `lowered_graph`, which the backend named `backend` runs, with `operands` as its inputs. Its results
/// are the graph's.
struct call_delegate
    : op<dialect, "delegate.call_delegate", "backend, lowered_graph, operands", variadic_results> {
    struct args {
        std::string_view backend;
        graph* lowered_graph;
        list<value> operands;
    };
};

struct dialect : dialect_of<"delegate", call_delegate> {};

}  // namespace headrace::delegate

#endif
