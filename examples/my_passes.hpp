// SPDX-License-Identifier: MIT
// Two passes that lower my_dialect.hpp to ATen.
#ifndef HEADRACE_EXAMPLES_MY_PASSES_HPP
#define HEADRACE_EXAMPLES_MY_PASSES_HPP

//! [passes]
#include <headrace/infer/aten.hpp>
#include <headrace/pass/order.hpp>
#include <headrace/pass/pass.hpp>
#include <headrace/rewrite/arithmetic.hpp>

#include "my_dialect.hpp"

namespace my {

using namespace headrace;

/// No my.swish is left.
struct swish_decomposed : property {};

/// Rewrites to x * sigmoid(beta * x), with my.scale_shift for the product with beta.
struct decompose_swish : pass {
    using ensures = pass_list<swish_decomposed>;
    static auto rewrites() {
        return rules(
            on<swish> = [](auto x, const auto& a) { return x * sigmoid(call<scale_shift>(x, a.beta)); });
    }
};

/// Rewrites to x * scale + shift.
struct lower_scale_shift : pass {
    using requires_before = pass_list<swish_decomposed>;
    static auto rewrites() {
        return rules(on<scale_shift> = [](auto x, const auto& a) { return x * a.scale + a.shift; });
    }
};

}  // namespace my
//! [passes]

#endif
