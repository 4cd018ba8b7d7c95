// SPDX-License-Identifier: MIT
// Defines headrace::decompose_stack.
#ifndef HEADRACE_PASSES_DECOMPOSE_DECOMPOSE_STACK_HPP
#define HEADRACE_PASSES_DECOMPOSE_DECOMPOSE_STACK_HPP

#include <memory_resource>
#include <vector>

#include <headrace/dialect/aten.hpp>
#include <headrace/infer/aten.hpp>
#include <headrace/pass/pass.hpp>
#include <headrace/passes/properties.hpp>

namespace headrace {

/// stack(x, y) = cat(x[None], y[None]) along the new axis.
struct decompose_stack : pass {
    using phase = decomposition;
    using targets = ops<aten::stack>;
    using produces = ops<aten::unsqueeze, aten::cat>;

    value operator()(const args<aten::stack>& a, emit<produces>& e) const {
        std::pmr::vector<value> parts;
        for (const value v : a.tensors) parts.push_back(e.make<aten::unsqueeze>({.self = v, .dim = a.dim}));
        return e.make<aten::cat>({.tensors = list<value>(parts), .dim = a.dim});
    }
};

}  // namespace headrace

#endif
