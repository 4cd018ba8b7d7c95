// SPDX-License-Identifier: MIT
// Two passes, which take my_dialect.hpp to ATen.
#ifndef HEADRACE_EXAMPLES_MY_PASSES_HPP
#define HEADRACE_EXAMPLES_MY_PASSES_HPP

#include <headrace/infer/aten.hpp>
#include <headrace/pass/pass.hpp>

#include "my_dialect.hpp"

namespace my {

using namespace headrace;

/// Writes x * sigmoid(beta * x) with my.scale_shift for the product with beta.
struct decompose_swish : pass {
    using targeted_ops = ops<swish>;
    using produces = ops<scale_shift, aten::sigmoid, aten::mul_tensor>;
    value operator()(const args<swish>& a, emit<produces>& e) const {
        const value scaled = e.make<scale_shift>({.self = a.self, .scale = a.beta});
        return e.make<aten::mul_tensor>(a.self, e.make<aten::sigmoid>(scaled));
    }
};

/// Writes x * scale + shift.
struct lower_scale_shift : pass {
    using targeted_ops = ops<scale_shift>;
    using produces = ops<aten::mul_tensor, aten::add_tensor>;
    using requires_before = pass_list<decompose_swish>;
    value operator()(const args<scale_shift>& a, emit<produces>& e) const {
        const auto number = [&](double x) { return e.splat(x, e.dtype(a.self), e.rank(a.self)); };
        return e.make<aten::add_tensor>(
            {.self = e.make<aten::mul_tensor>(a.self, number(a.scale)), .other = number(a.shift)});
    }
};

}  // namespace my

#endif
