// SPDX-License-Identifier: MIT
// Tests the builder of graphs: results have inferred types and shapes, and nothing follows an error.
#include <catch2/catch.hpp>

#include <string>
#include <vector>

#include <headrace/dialect/aten.hpp>
#include <headrace/infer/graph_builder.hpp>

using namespace headrace;

TEST_CASE("graph_builder infers each result, also of several") {
    graph g;
    graph_builder b(g);
    const value x = b.input("x", {2, 8}, dtype::float16);
    const value sum = b.make<aten::add_tensor>({.self = x, .other = b.input("y", {8})});
    CHECK(*meta_of(sum) == tensor_meta{dtype::float32, {2, 8}, {}});
    const std::vector<value> best = b.make_all<aten::topk>({.self = sum, .k = 3});
    REQUIRE(best.size() == 2);
    CHECK(*meta_of(best[1]) == tensor_meta{dtype::int64, {2, 3}, {}});
    b.output({best[0], best[1]});
    CHECK(b.status());
    CHECK(g.size() == 5);
}

TEST_CASE("graph_builder adds nothing after an error, which it keeps") {
    graph g;
    graph_builder b(g);
    const value sum = b.make<aten::add_tensor>({.self = b.input("x", {2}), .other = b.input("y", {3})});
    CHECK(sum.producer == nullptr);
    CHECK(b.make<aten::relu>({.self = sum}).producer == nullptr);
    b.output({sum});
    REQUIRE_FALSE(b.status());
    CHECK_THAT(std::string(b.status().error().message), Catch::Contains("broadcast"));
    CHECK(g.size() == 2);
}
