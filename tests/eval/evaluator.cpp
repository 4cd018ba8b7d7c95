// SPDX-License-Identifier: MIT
// Tests run_graph and evaluate_node.
#include <catch2/catch.hpp>

#include <vector>

#include <headrace/eval/evaluator.hpp>

using namespace headrace;

namespace {

using reals = std::vector<double>;

value add_input(graph& g, const tensor_meta& meta) {
    node& n = g.create<builtin::placeholder>({});
    g.set_meta(n.result(), meta);
    g.set_name(n.result(), "x");
    return n.result();
}
const tensor_meta pair{dtype::float32, {2}, {}};
const tensor one_two = tensor::of(dtype::float32, {2}, reals{1, 2});

}  // namespace

TEST_CASE("a graph runs, its metadata inferred where it is missing") {
    graph g;
    const value x = add_input(g, pair);
    const value doubled = g.create<aten::add_tensor>({x, x}).result();
    const std::vector<value> outputs{doubled, x};
    g.create<builtin::output>({outputs});
    const auto results = run_graph(g, std::vector{one_two});
    REQUIRE(results.has_value());
    CHECK(results.value()[0].to<double>() == reals{2, 4});
    CHECK(results.value()[1].to<double>() == reals{1, 2});
}

TEST_CASE("dialects mix in one graph") {
    graph g;
    const value x = add_input(g, pair);
    const value negative = g.create<aten::neg>({x}).result();
    g.set_meta(negative, pair);
    const value magnitude = g.create<tosa::abs>({negative}).result();
    g.set_meta(magnitude, pair);
    const std::vector<value> outputs{magnitude};
    g.create<builtin::output>({outputs});
    CHECK(run_graph(g, std::vector{one_two}).value()[0].to<double>() == reals{1, 2});
}

TEST_CASE("wrong inputs are refused") {
    graph g;
    const std::vector<value> outputs{add_input(g, pair)};
    g.create<builtin::output>({outputs});
    CHECK(run_graph(g, {}).error().message == "the graph has more inputs than were given");
    CHECK(run_graph(g, std::vector{one_two, one_two}).error().message ==
        "the graph has fewer inputs than were given");
    const auto result = run_graph(g, std::vector{tensor(dtype::int8, {2})});
    CHECK(result.error().message == "x (builtin.placeholder): the input is int8 [2], not float32 [2]");
}

TEST_CASE("an op without a kernel, and metadata that is wrong, are errors of the node") {
    graph g;
    const value x = add_input(g, {dtype::float32, {1, 2, 2}, {}});
    const value custom =
        g.create<tosa::custom>({.inputs = {x}, .operator_name = "own", .domain_name = "test"}, 1).result();
    g.set_name(custom, "own");
    const tensor input(dtype::float32, {1, 2, 2});
    CHECK(evaluate_node(*custom.producer, std::vector{input}).error().message ==
        "own (tosa.CUSTOM): evaluation has no kernel for this op");
    const value wrong = g.create<aten::relu>({x}).result();
    g.set_name(wrong, "wrong");
    g.set_meta(wrong, pair);
    CHECK(evaluate_node(*wrong.producer, std::vector{input}).error().message ==
        "wrong (aten.relu.default): its metadata is not what inference says");
}

namespace {

const tensor_meta number{dtype::float32, {}, {}};

// Doubles its input while it is below 100.
void add_doubling_loop(graph& g) {
    const value x = add_input(g, number);
    graph& condition = g.create_region();
    const value carried = add_input(condition, number);
    const value small = condition.create<aten::lt_scalar>({carried, 100}).result();
    condition.set_meta(small, {dtype::boolean, {}, {}});
    const std::vector<value> goes_on{small};
    condition.create<builtin::output>({goes_on});
    graph& body = g.create_region();
    const value inner = add_input(body, number);
    const std::vector<value> doubled{body.create<aten::mul_scalar>({inner, 2}).result()};
    body.set_meta(doubled[0], number);
    body.create<builtin::output>({doubled});
    const std::vector<value> operands{x};
    node& loop = g.create<higher_order::while_loop>({&condition, &body, operands, {}}, 1);
    g.set_meta(loop.result(), number);
    const std::vector<value> outputs{loop.result()};
    g.create<builtin::output>({outputs});
}

}  // namespace

TEST_CASE("loops run their graphs, but not forever") {
    graph g;
    add_doubling_loop(g);
    const auto results = run_graph(g, std::vector{tensor::of_number(dtype::float32, 3.0)});
    INFO((results ? "" : results.error().message));
    REQUIRE(results.has_value());
    CHECK(results.value()[0].real(0) == 192);
    const auto endless = run_graph(g, std::vector{tensor::of_number(dtype::float32, 0.0)});
    REQUIRE(!endless);
    CHECK_THAT(std::string(endless.error().message), Catch::Contains("it never ends"));
    CHECK(endless.error().kind == error_kind::malformed);
}
