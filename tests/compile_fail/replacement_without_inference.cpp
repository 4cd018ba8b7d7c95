// SPDX-License-Identifier: MIT
// Replaces a pattern by an op without infer_results.
// EXPECT: emit: an op has no infer_results
// EXPECT: no_inference<mine::twice>

#include <headrace/fx/pattern_pass.hpp>
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
result<void> inferred_results(twice, const args<twice>& a, inference& out);
}  // namespace mine

struct relu_of {
    auto operator()(auto x) const { return call<toy::relu>(x); }
};
struct twice_of {
    auto operator()(auto x) const { return call<mine::twice>(x); }
};
struct lower_relu : pattern_pass<relu_of, twice_of> {};

struct lowering : pipeline<from<toy::relu>, to<mine::dialect>, lower_relu> {};

result<run_statistics> lower(graph& g, pass_context& context) { return lowering::run(g, context); }
