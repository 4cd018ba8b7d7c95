// SPDX-License-Identifier: MIT
// Renames an op to one without infer_results.
// EXPECT: emit: an op has no infer_results
// EXPECT: no_inference<mine::twice>

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
    static auto rewrites() { return rules(on<toy::relu> = call<mine::twice>); }
};

result<node_counts> lower(graph& g, pass_context& context) { return apply_pass(lower_relu{}, g, context); }
