// SPDX-License-Identifier: MIT
// Defines headrace::decompose_stack.
#ifndef HEADRACE_PASSES_DECOMPOSE_DECOMPOSE_STACK_HPP
#define HEADRACE_PASSES_DECOMPOSE_DECOMPOSE_STACK_HPP

#include <headrace/dialect/aten.hpp>
#include <headrace/infer/aten.hpp>
#include <headrace/pass/pass.hpp>
#include <headrace/passes/properties.hpp>

namespace headrace {

struct decompose_stack : pass {
    using phase = decomposition;
    static constexpr std::string_view summary = "stack(x, y) as cat(x[None], y[None]) along the new axis";

    using targeted_ops = ops<aten::stack>;
    using produces = ops<aten::unsqueeze, aten::cat>;

    value operator()(const args<aten::stack>& a, emit<produces>& e) const {
        value_list parts;
        for (const value v : a.tensors) parts.push_back(e.make<aten::unsqueeze>({.self = v, .dim = a.dim}));
        return e.make<aten::cat>({.tensors = parts, .dim = a.dim});
    }
};
HEADRACE_COMPILED_PASS(decompose_stack);

}  // namespace headrace

#endif
