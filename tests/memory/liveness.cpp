// SPDX-License-Identifier: MIT
// Tests lifetimes: of inputs and outputs, views, buffers, nested graphs and delegates.
#include <catch2/catch.hpp>

#include <string>
#include <utility>
#include <vector>

#include <headrace/base/pmr_vector.hpp>
#include <headrace/dialect/aten.hpp>
#include <headrace/dialect/higher_order.hpp>
#include <headrace/dialect/tosa.hpp>
#include <headrace/memory/liveness.hpp>
#include <headrace/memory/out_variant.hpp>

using namespace headrace;

namespace {

using steps = std::pair<std::uint32_t, std::uint32_t>;

const tensor_meta pair_type{dtype::float32, {2}, {}};

value typed(graph& g, node& n, const tensor_meta& meta = pair_type) {
    for (std::uint32_t i = 0; i != n.result_count; ++i) g.set_meta(n.result(i), meta);
    return n.result();
}
value input(graph& g) { return typed(g, g.create<builtin::placeholder>({})); }
value relu(graph& g, value v) { return typed(g, g.create<aten::relu>({v})); }
value add(graph& g, value a, value b) {
    return typed(g, g.create<aten::add_tensor>({.self = a, .other = b}));
}
void output(graph& g, pmr_vector<value> values) { g.create<builtin::output>({values}); }

steps life(const liveness& l, value v) {
    const live_tensor* t = l.find(v);
    REQUIRE(t != nullptr);
    return {t->first, t->last};
}

}  // namespace

TEST_CASE("a tensor lives from its node to the last user") {
    graph g;
    const value x = input(g);
    const value unused = input(g);
    const value a = relu(g, x);     // step 1
    const value b = relu(g, a);     // 2
    const value dead = relu(g, b);  // 3
    const value c = add(g, a, b);   // 4
    output(g, {c, b});              // 5
    const liveness l(g);
    CHECK(l.step_count() == 6);
    CHECK(life(l, x) == steps{0, 1});
    CHECK(life(l, unused) == steps{0, 0});
    CHECK(life(l, a) == steps{1, 4});
    CHECK(life(l, b) == steps{2, 5});
    CHECK(life(l, dead) == steps{3, 3});
    CHECK(life(l, c) == steps{4, 5});
    CHECK(l.find(x)->is_input);
    CHECK(l.find(b)->is_output);
    CHECK_FALSE(l.find(a)->is_output);
}

TEST_CASE("constants and shapes take no memory") {
    graph g;
    const value x = input(g);
    const value weight = create_constant(g, pair_type, nullptr, [](auto) {});
    const value shape = typed(g, g.create<tosa::const_shape>({.values = {2}}), {dtype::shape, {1}, {}});
    const value y = typed(g, g.create<tosa::add>({.input1 = x, .input2 = weight}));
    const value z = typed(g, g.create<tosa::tile>({.input1 = y, .multiples = shape}));
    output(g, {z, weight});
    const liveness l(g);
    CHECK(l.find(weight) == nullptr);
    CHECK(l.find(shape) == nullptr);
    CHECK(l.tensors().size() == 3);
    CHECK(l.step_count() == 4);
}

TEST_CASE("a view lies where its operand lies") {
    graph g;
    const value x = input(g);
    const value a = relu(g, x);
    const value view =
        typed(g, g.create<aten::view>({.self = a, .size = {1, 2}}), {dtype::float32, {1, 2}, {}});
    const value back = typed(g, g.create<aten::squeeze_dim>({.self = view, .dim = 0}));
    const value b = relu(g, back);
    output(g, {b});
    const liveness l(g);
    CHECK(l.tensor_of(view) == l.tensor_of(a));
    CHECK(l.tensor_of(back) == l.tensor_of(a));
    CHECK(life(l, a) == steps{1, 4});
    // A result of another dtype is not a view.
    node& cast = g.create<aten::contiguous>({.self = a}, g.output());
    g.set_meta(cast.result(), {dtype::float16, {2}, {}});
    CHECK(liveness(g).tensor_of(cast.result()) != liveness(g).tensor_of(a));
}

TEST_CASE("the result of an out-variant lies in its buffer") {
    graph g;
    const value x = input(g);
    const value buffer = typed(g, g.create<memory::alloc>({.size = {2}, .dtype = dtype::float32}));
    const value y = typed(g, g.create<out::variant<aten::relu>>({.functional = {x}, .out = buffer}));
    const value z = relu(g, y);
    output(g, {z});
    const liveness l(g);
    CHECK(l.tensor_of(y) == l.tensor_of(buffer));
    CHECK(life(l, buffer) == steps{1, 2});
    CHECK(l.find(buffer)->tensor == buffer);
}

TEST_CASE("a buffer lives from its first user, however early it is made") {
    graph g;
    const auto buffer = [&] {
        return typed(g, g.create<memory::alloc>({.size = {2}, .dtype = dtype::float32}));
    };
    const value early = buffer();
    const value unused = buffer();
    const value captured = buffer();
    const value x = input(g);
    const value a = relu(g, x);  // step 1
    const value y = typed(g, g.create<out::variant<aten::relu>>({.functional = {a}, .out = early}));  // 2
    graph& region = g.create_region();
    const value inner = input(region);
    output(region,
        {typed(region, region.create<out::variant<aten::relu>>({.functional = {inner}, .out = captured}))});
    node& call = g.create<higher_order::cond>({y, &region, nullptr, {&y, 1}}, 1);
    output(g, {typed(g, call)});
    const liveness l(g);
    CHECK(life(l, early).first == 2);
    CHECK(life(l, early).second == *l.step_of(call));
    CHECK(life(l, unused) == steps{1, 1});
    CHECK(life(l, captured).first == 1);  // the nested graph may run again
}

TEST_CASE("what a loop takes and gives lives as long as the loop") {
    graph g;
    const value x = input(g);
    const value factor = relu(g, x);
    graph& condition = g.create_region();
    {
        const value v = input(condition);
        static_cast<void>(input(condition));
        const tensor_meta flag{dtype::boolean, {}, {}};
        output(condition, {typed(condition, condition.create<aten::any>({v}), flag)});
    }
    graph& body = g.create_region();
    const value carried = input(body);
    const value inner = relu(body, carried);
    output(body, {add(body, inner, input(body))});
    node& loop = g.create<higher_order::while_loop>({&condition, &body, {&x, 1}, {&factor, 1}}, 1);
    const value result = typed(g, loop);
    const value last = relu(g, result);
    output(g, {last});

    const liveness l(g);
    const std::uint32_t end = *l.step_of(loop);
    CHECK(life(l, x) == steps{0, end});
    CHECK(life(l, factor) == steps{1, end});
    CHECK(life(l, result) == steps{2, end + 1});
    CHECK(l.find(carried) == nullptr);  // it is stored where the loop keeps it
    CHECK(life(l, inner).first > 2);
    CHECK(life(l, inner).second < end);
    CHECK(l.memories().size() == 1);
}

TEST_CASE("what a nested graph takes from outside lives until it has run for the last time") {
    graph g;
    const value x = input(g);
    const value outer = relu(g, x);
    graph& yes = g.create_region();
    output(yes, {relu(yes, outer)});
    graph& no = g.create_region();
    output(no, {relu(no, outer)});
    node& choice =
        g.create<higher_order::cond>({.pred = x, .true_graph = &yes, .false_graph = &no, .operands = {}}, 1);
    output(g, {typed(g, choice)});
    const liveness l(g);
    CHECK(life(l, outer) == steps{1, *l.step_of(choice)});
}

TEST_CASE("the branches of a condition do not need memory at the same time") {
    graph g;
    const value x = input(g);
    pmr_vector<value> inner;
    graph* branches[2];
    for (graph*& branch : branches) {
        branch = &g.create_region();
        inner.push_back(relu(*branch, input(*branch)));
        output(*branch, {inner.back()});
    }
    node& choice = g.create<higher_order::cond>(
        {.pred = x, .true_graph = branches[0], .false_graph = branches[1], .operands = {&x, 1}}, 1);
    output(g, {typed(g, choice)});
    const liveness l(g);
    CHECK(life(l, inner[0]).second < life(l, inner[1]).first);
}

TEST_CASE("a graph that two nodes hold keeps its memory from the first to the second") {
    graph g;
    const value x = input(g);
    graph& shared = g.create_region();
    const value inner = relu(shared, input(shared));
    output(shared, {inner});
    const auto call = [&](value v) {
        return typed(g,
            g.create<higher_order::cond>(
                {.pred = x, .true_graph = &shared, .false_graph = &shared, .operands = {&v, 1}}, 1));
    };
    const value first = call(x);
    const value second = call(first);
    output(g, {second});
    const liveness l(g);
    CHECK(life(l, inner).first > life(l, first).first);
    CHECK(life(l, inner).second > life(l, second).first);
}

TEST_CASE("a delegate computes in memory of its own") {
    graph g;
    const value x = input(g);
    graph& lowered = g.create_region();
    const value inner = relu(lowered, input(lowered));
    output(lowered, {inner});
    node& call = g.create<delegate::call_delegate>(
        {.backend = "tosa", .lowered_graph = &lowered, .operands = {&x, 1}}, 1);
    const value y = typed(g, call);
    output(g, {y});
    const liveness l(g);
    REQUIRE(l.memories().size() == 2);
    CHECK(l.memories()[1] == &lowered);
    CHECK(l.find(inner)->memory == 1);
    CHECK(l.find(x)->memory == 0);
    CHECK(l.find(y)->memory == 0);
}
