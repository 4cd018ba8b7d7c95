// SPDX-License-Identifier: MIT
// Defines a pass that emits an op without infer_results.
// EXPECT: emit: an op has no infer_results
// EXPECT: no_inference<mine::twice>

#include <headrace/rewrite/emit.hpp>

#include <headrace/pass/pipeline.hpp>

#include "../support/toy.hpp"

using namespace headrace;

namespace mine {
struct dialect;
struct twice : op<dialect, "mine.twice", "self"> {
    struct args {
        value self;
    };
};
struct dialect : dialect_of<"mine", twice> {};
result<void> infer_results(twice, const args<twice>& a, inference& out);
}  // namespace mine

struct lower_relu : pass {
    using targeted_ops = ops<toy::relu>;
    using produces = ops<mine::twice>;
    value operator()(const args<toy::relu>& a, emit<produces>& e) const {
        return e.make<mine::twice>(a.self);
    }
};

struct lowering : pipeline<from<toy::relu>, to<mine::dialect>, lower_relu> {};
