// SPDX-License-Identifier: MIT
// A dialect of one's own: tags, arguments with their defaults, and a shape rule for each op, in one header.
#ifndef HEADRACE_EXAMPLES_MY_DIALECT_HPP
#define HEADRACE_EXAMPLES_MY_DIALECT_HPP

#include <headrace/infer/inference.hpp>
#include <headrace/op/op.hpp>

namespace my {

//! [dialect]
struct dialect;

/// self * scale + shift, for each element.
struct scale_shift : headrace::op<dialect, "my.scale_shift.default", "self, scale, shift"> {
    struct args {
        headrace::value self;
        double scale = 1, shift = 0;
    };
};
/// x * sigmoid(beta * x).
struct swish : headrace::op<dialect, "my.swish.default", "self, beta"> {
    struct args {
        headrace::value self;
        double beta = 1;
    };
};

struct dialect : headrace::dialect_of<"my", scale_shift, swish> {};

/// Both give a tensor like the one that they take. Found where nodes of these ops are made, by
/// argument-dependent lookup.
template <headrace::one_of<headrace::ops<scale_shift, swish>> Op>
headrace::result<void> infer_results(Op, const headrace::args<Op>& a, headrace::inference& out) {
    out.add(out.of(a.self));
    return boost::outcome_v2::success();
}
//! [dialect]

}  // namespace my

#endif
