// SPDX-License-Identifier: MIT
// Defines the builtin dialect: the nodes that every graph has, whatever its other ops.
#ifndef HEADRACE_DIALECT_BUILTIN_HPP
#define HEADRACE_DIALECT_BUILTIN_HPP

#include <string_view>

#include <headrace/op/op.hpp>

namespace headrace::builtin {

struct dialect;

/// An input of the graph.
struct placeholder : op<dialect, "builtin.placeholder", ""> {
    struct args {};
};

/// A tensor that is known before the program runs: a weight, a buffer, or the result of a pass.
struct constant : op<dialect, "builtin.constant", "data"> {
    struct args {
        tensor_data data;
    };
};

/// The graph's outputs. Each graph has one such node, and it is the last.
struct output : op<dialect, "builtin.output", "values", 0> {
    struct args {
        list<value> values;
    };
};

/// An op of a dialect that the program does not know. It keeps its name and its arguments, so that it can be
/// written, reported, and run by programs that know it. `arguments` is in the graph text format, where %0 is
/// the first operand: "self=%0, dims=[1, 2], other=[none, %1]"; it is empty if there are only operands.
/// resolve_opaque (io/text/opaque.hpp) turns such nodes into nodes of a dialect that has the op.
struct opaque : op<dialect, "builtin.opaque", "target, operands, arguments", variadic_results> {
    struct args {
        std::string_view target;
        list<value> operands;
        std::string_view arguments{};
    };
};

struct dialect : dialect_of<"builtin", placeholder, constant, output, opaque> {};

}  // namespace headrace::builtin

#endif
