// SPDX-License-Identifier: MIT
// Emits an op that its dialect does not list.
// EXPECT: op: not in its dialect's list
// EXPECT: mine::second

#include <headrace/rewrite/emit.hpp>

namespace mine {

using headrace::op;
using headrace::value;

struct dialect;
struct first : op<dialect, "mine.first", "self"> {
    struct args {
        value self;
    };
};
struct second : op<dialect, "mine.second", "self"> {
    struct args {
        value self;
    };
};
struct dialect : headrace::dialect_of<"mine", first, second> {};

template <class Op>
headrace::result<void> infer_results(Op, const headrace::args<Op>& a, headrace::inference& out) {
    out.add(headrace::inference::of(a.self));
    return {};
}

}  // namespace mine

headrace::value rewritten(headrace::emit<headrace::ops<mine::second>>& e, headrace::value v) {
    return e.make<mine::second>({.self = v});
}
