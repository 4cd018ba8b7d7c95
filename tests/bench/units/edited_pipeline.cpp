// SPDX-License-Identifier: MIT
// The standard pipeline with a user-defined pass: its proof and the code that runs it.
#include <headrace/pass/algebra.hpp>
#include <headrace/passes/passes.hpp>
#include <headrace/rewrite/arithmetic.hpp>

using namespace headrace;

struct decompose_softsign : pass {
    static auto rewrites() {
        return rules(on<aten::celu> = [](auto x) { return x / (abs(x) + 1); });
    }
};
struct edited : insert_before<standard_lowering, decompose_gelu, decompose_softsign> {};

result<run_statistics> lower(graph& g, pass_context& context) { return edited::run(g, context); }
