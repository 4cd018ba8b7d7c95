// SPDX-License-Identifier: MIT
// Tests that what is said of a node is said once, however much there is to say.
#include <set>
#include <string>

#include <catch2/catch.hpp>

#include <headrace/dialect/builtin.hpp>
#include <headrace/pass/pass_context.hpp>

using namespace headrace;

TEST_CASE("each reason is reported once for a node, in the order of the reports") {
    graph g;
    node& n = g.create<builtin::placeholder>({});
    node& m = g.create<builtin::placeholder>({});
    g.annotate(n, provenance{"n", "aten.add.Tensor"});
    g.annotate(m, provenance{"m", "aten.mul.Tensor"});
    pass_context context;
    std::set<std::pmr::string> said;
    for (int turn = 0; turn != 2; ++turn) {
        for (int i = 0; i != 1000; ++i) {
            const std::pmr::string reason = "reason " + number_text(i);
            context.report(n, reason);
            context.report(m, reason);
        }
    }
    REQUIRE(context.diagnostics().size() == 2000);
    for (const diagnostic& d : context.diagnostics()) said.insert(d.node + ": " + d.reason);
    CHECK(said.size() == 2000);
    CHECK(context.diagnostics()[0].reason == "reason 0");
    CHECK(context.diagnostics()[1].node != context.diagnostics()[0].node);
    CHECK(context.diagnostics()[1999].reason == "reason 999");
}
