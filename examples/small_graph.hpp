// SPDX-License-Identifier: MIT
// Defines small_graph, with which the examples build their graphs.
#ifndef HEADRACE_EXAMPLES_SMALL_GRAPH_HPP
#define HEADRACE_EXAMPLES_SMALL_GRAPH_HPP

#include <headrace/infer/inference.hpp>
#include <headrace/ir/graph.hpp>

struct small_graph : headrace::graph {
    headrace::value input(std::string_view name, std::initializer_list<std::int64_t> shape) {
        const headrace::value v = create<headrace::builtin::placeholder>({}).result();
        set_meta(v, {headrace::dtype::float32, headrace::int_list(shape), {}});
        set_name(v, name);
        return v;
    }
    /// Makes a node of that op; shape and dtype of its result are inferred.
    template <headrace::op_tag Op>
    headrace::value make(const headrace::args<Op>& a) {
        headrace::inference inferred(arena());
        if (!infer_op<Op>(a, inferred)) return {};
        const headrace::value v = create<Op>(a).result();
        set_meta(v, inferred.results()[0]);
        return v;
    }
    void output(headrace::value v) { create<headrace::builtin::output>({.values = {&v, 1}}); }
};

#endif
