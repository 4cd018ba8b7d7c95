// SPDX-License-Identifier: MIT
// Defines the builtin dialect: the nodes that every graph has, whatever its ops.
#ifndef HEADRACE_DIALECT_BUILTIN_HPP
#define HEADRACE_DIALECT_BUILTIN_HPP

#include <headrace/op/op.hpp>

namespace headrace::builtin {

struct dialect;

/// An input of the graph.
struct placeholder : op<dialect, "builtin.placeholder", ""> {
    struct args {};
};

/// A tensor that is known before the program runs: a weight, a buffer, or what a pass computed.
struct constant : op<dialect, "builtin.constant", "data"> {
    struct args {
        tensor_data data;
    };
};

/// The graph's outputs. Each graph has one, and it is last.
struct output : op<dialect, "builtin.output", "values", 0> {
    struct args {
        list<value> values;
    };
};

/// An op of no dialect that the program knows: it keeps its name and all that it was given, so that it can be
/// written, run by those who know it, and reported. `arguments` is text as graphs have it, in which %0 is the
/// first operand: "self=%0, dims=[1, 2], other=[none, %1]"; it is empty where operands are all that is given.
/// resolve_opaque (io/opaque.hpp) makes such nodes those of a dialect that knows the op.
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
