// SPDX-License-Identifier: MIT
// Tests that each fact about a node is reported once, however many there are.
#include <array>
#include <set>
#include <string>

#include <catch2/catch.hpp>

#include <headrace/dialect/builtin.hpp>
#include <headrace/infer/inference.hpp>
#include <headrace/rewrite/pass_context.hpp>

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

TEST_CASE("a node without a name is told of by the nearest that has one") {
    graph g;
    node& input = g.create<builtin::placeholder>({});
    g.set_name(input.result(), "x");
    node& constant = g.create<builtin::constant>({});
    const std::array<value, 2> both{input.result(), constant.result()};
    node& reader = g.create<builtin::opaque>({.target = "mine.op", .operands = list<value>(both)}, 1);
    g.annotate(reader, provenance{"sum", "mine.op"});
    const std::array<value, 1> one{input.result()};
    node& copy = g.create<builtin::opaque>({.target = "mine.copy", .operands = list<value>(one)}, 1);
    pass_context context;
    context.report(constant, "it is too large");
    context.report(copy, "it is not there");
    REQUIRE(context.diagnostics().size() == 2);
    CHECK(
        diagnostic_text(context.diagnostics()[0]) == "sum (mine.op): one of its constants: it is too large");
    CHECK(context.diagnostics()[1].node == "x");
    CHECK(context.diagnostics()[1].reason ==
        "an operator without a name beside it, mine.copy: it is not there");
    CHECK(message_prefix(constant) == "sum (mine.op): one of its constants: ");
}
