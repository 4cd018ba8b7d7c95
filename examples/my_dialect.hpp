// SPDX-License-Identifier: MIT
// A user-defined dialect: tags, arguments with their defaults, traits, and a shape rule, in one header.
#ifndef HEADRACE_EXAMPLES_MY_DIALECT_HPP
#define HEADRACE_EXAMPLES_MY_DIALECT_HPP

//! [dialect]
#include <headrace/infer/inference.hpp>
#include <headrace/op/op.hpp>

namespace my {

struct dialect;

/// self * scale + shift, elementwise.
struct scale_shift
    : headrace::op<dialect, "my.scale_shift.default", "self, scale, shift", headrace::trait::unary> {
    struct args {
        headrace::value self;
        double scale = 1, shift = 0;
    };
};
/// x * sigmoid(beta * x).
struct swish : headrace::op<dialect, "my.swish.default", "self, beta", headrace::trait::unary> {
    struct args {
        headrace::value self;
        double beta = 1;
    };
};

struct dialect : headrace::dialect_of<"my", scale_shift, swish> {};

/// The result of a unary op is a tensor like its operand. Found by argument-dependent lookup where nodes of
/// these ops are made.
template <headrace::op_where<dialect, headrace::trait::unary> Op>
headrace::result<void> infer_results(Op, const headrace::args<Op>& a, headrace::inference& out) {
    out.add(out.of(a.self));
    return {};
}

}  // namespace my
//! [dialect]

#endif
