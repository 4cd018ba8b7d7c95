// SPDX-License-Identifier: MIT
// Tests calls of delegates: they have the operands and results of their graph.

#include <catch2/catch.hpp>

#include <headrace/infer/delegate.hpp>

#include "../support/toy.hpp"

using namespace headrace;

namespace {

// A graph that takes float32[2] and int32[3] and returns the second.
struct call_of_two : graph {
    call_of_two() {
        inside = &create_region();
        for (const auto& [type, size] : {std::pair(dtype::float32, 2), std::pair(dtype::int32, 3)}) {
            for (graph* g : {static_cast<graph*>(this), inside}) {
                const value v = g->create<builtin::placeholder>({}).result();
                g->set_meta(v, {type, {size}, {}});
                if (g == this) inputs_given.push_back(v);
                last = v;
            }
        }
        inside->create<builtin::output>({.values = {&last, 1}});
    }
    std::pmr::string call(const std::vector<value>& operands, graph* program) {
        inference out(arena());
        const auto done =
            infer_results(delegate::call_delegate{}, {"npu", program, list<value>(operands)}, out);
        if (!done) return done.error().message;
        return number_text(out.results().size()) + " of " + std::pmr::string(name_of(out.results()[0].dtype));
    }
    graph* inside;
    value last;
    std::vector<value> inputs_given;
};

}  // namespace

TEST_CASE("a call gives what its graph gives", "[delegate]") {
    call_of_two g;
    CHECK(g.call(g.inputs_given, g.inside) == "1 of int32");
}

TEST_CASE("a call must fit its graph", "[delegate]") {
    call_of_two g;
    const value a = g.inputs_given[0], b = g.inputs_given[1];
    CHECK(g.call({a, b}, nullptr) == "the call has no graph");
    CHECK(g.call({a}, g.inside) == "the call has fewer operands than its graph inputs");
    CHECK(g.call({a, b, b}, g.inside) == "the call has more operands than its graph inputs");
    CHECK(g.call({b, a}, g.inside) == "operand 0 is not of the type that its graph takes");
}
