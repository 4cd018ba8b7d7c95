// SPDX-License-Identifier: MIT
// Tests the conversion to out-variants: what it makes, what it leaves, and that graphs compute the same.
#include <catch2/catch.hpp>

#include <headrace/eval/planned_arena.hpp>
#include <headrace/infer/delegate.hpp>
#include <headrace/ir/listing.hpp>
#include <headrace/memory/to_out_variants.hpp>

#include "../support/pass_test.hpp"

using namespace headrace;

namespace {

constexpr dtype fp32 = dtype::float32;

std::vector<tensor> random_inputs(const graph& g) {
    std::mt19937 random(1);
    std::vector<tensor> inputs;
    for (const node& n : g.inputs()) inputs.push_back(random_tensor(random, *n.results[0].meta));
    return inputs;
}

// Returns the difference of a graph's results before and after the conversion, and in planned memory; empty
// if none.
template <class Build>
std::pmr::string compare_converted(const Build& build) {
    program before;
    program after;
    for (program* p : {&before, &after}) {
        build(*p);
        p->finish();
        if (!p->fault.empty()) return p->fault;
    }
    pass_context context;
    const auto converted = to_out_variants{}(after.g, context);
    if (!converted) return converted.error().message;
    const auto inputs = random_inputs(before.g);
    const auto expected = run_graph(before.g, inputs);
    const auto plain = run_graph(after.g, inputs);
    const auto plan = make_memory_plan(after.g, {.bytes_of = &eval::evaluated_bytes});
    if (!expected || !plain || !plan) return "it does not run";
    if (!verify_plan(after.g, plan.value())) return "the plan is not sound";
    const auto planned = run_planned(after.g, plan.value(), inputs);
    if (!planned) return planned.error().message;
    for (std::size_t i = 0; i != expected.value().size(); ++i) {
        for (const auto* results : {&plain.value(), &planned.value()}) {
            const std::pmr::string difference = tensor_difference(expected.value()[i], (*results)[i], 0);
            if (!difference.empty()) return difference;
        }
    }
    return {};
}

}  // namespace

TEST_CASE("an op gets a buffer and writes to it") {
    program p;
    const value x = p.input(fp32, {2, 3});
    p.g.set_name(x, "x");
    const value sum = p.make<aten::add_tensor>({.self = x, .other = x, .alpha = 2});
    p.g.set_name(sum, "sum");
    p.output(sum);
    p.finish();
    pass_context context;
    CHECK(to_out_variants{}(p.g, context).value() == 1);
    CHECK(listing(p.g) ==
        "%x: float32[2, 3] = input\n"
        "%alloc: float32[2, 3] = memory.alloc(size=[2, 3], dtype=float32)\n"
        "%sum: float32[2, 3] = aten.add.out(%x, %x, alpha=2, out=%alloc)\n"
        "output %sum\n");
    CHECK(to_out_variants{}(p.g, context).value() == 0);  // nothing is left to convert
}

TEST_CASE("converted graphs compute the same") {
    CHECK(compare_converted([](program& p) {
        const value x = p.input(fp32, {2, 3, 4});
        const value y = p.make<aten::softmax_int>({.self = x, .dim = -1});
        const value turned = p.make<aten::permute>({.self = y, .dims = {0, 2, 1}});
        const value product = p.make<aten::bmm>({.self = x, .mat2 = turned});
        const value flat = p.make<aten::view>({.self = product, .size = {2, 9}});
        const std::vector<value> parts{flat, p.make<aten::exp>({flat})};
        p.output(p.make<aten::cat>({.tensors = parts, .dim = 1}));
        p.output(p.make<aten::mean_dim>({.self = x, .dim = int_list{1}}));
    }) == "");
    CHECK(compare_converted([](program& p) {
        const value x = p.input(fp32, {3, 4});
        const value codes = p.make<quantized_decomposed::quantize_per_tensor>({.input = x,
            .scale = 0.1,
            .zero_point = 1,
            .quant_min = -128,
            .quant_max = 127,
            .dtype = dtype::int8});
        p.output(p.make<quantized_decomposed::dequantize_per_tensor>({.input = codes,
            .scale = 0.1,
            .zero_point = 1,
            .quant_min = -128,
            .quant_max = 127,
            .dtype = dtype::int8}));
    }) == "");
    CHECK(compare_converted([](program& p) {  // also TOSA
        const value x = p.input(fp32, {3, 4});
        p.output(p.make<tosa::maximum>({.input1 = p.make<tosa::exp>({x}), .input2 = x}));
    }) == "");
}

TEST_CASE("an op of several results gets a buffer for each") {
    const auto build = [](program& p) {
        const value x = p.input(fp32, {3, 4});
        node& largest = p.make_node<aten::max_dim>({.self = x, .dim = 1});
        p.output(largest.result(0));
        p.output(largest.result(1));
    };
    program p;
    build(p);
    p.finish();
    pass_context context;
    CHECK(to_out_variants{}(p.g, context).has_value());
    CHECK(p.g.census().count(info_of<memory::alloc>) == 2);
    CHECK(p.g.census().count(info_of<out::variant<aten::max_dim>>) == 1);
    CHECK(compare_converted(build) == "");
}

TEST_CASE("all ops without an out-variant are named at once, and nothing is changed") {
    program p;
    const value x = p.input(fp32, {2, 3});
    const value a = p.make<aten::relu6>({x});
    const value b = p.make<aten::layer_norm>({.input = a, .normalized_shape = {3}});
    p.output(p.make<aten::add_tensor>({.self = p.make<aten::relu6>({b}), .other = x}));
    p.finish();
    const std::pmr::string before = listing(p.g);
    pass_context context;
    CHECK(to_out_variants{}(p.g, context).error().message ==
        "no out-variant is known for aten.relu6.default, aten.layer_norm.default; decompose them, or leave "
        "them to allocate their results themselves");
    CHECK(listing(p.g) == before);

    to_out_variants lenient;
    lenient.ignore_missing = true;
    CHECK(lenient(p.g, context).value() == 1);
    CHECK(p.g.census().count(info_of<aten::relu6>) == 2);
}

TEST_CASE("views and what writes in place stay; conversion goes into nested graphs, not into delegates") {
    program p;
    const value x = p.input(fp32, {2, 3});
    const value flag = p.input(dtype::boolean, {});
    const tensor_meta pair{fp32, {2, 3}, {}};
    const auto region_of = [&] {
        graph& g = p.g.create_region();
        node& in = g.create<builtin::placeholder>({});
        g.set_meta(in.result(), pair);
        node& n = g.create<aten::exp>({in.result()});
        g.set_meta(n.result(), pair);
        const value out = n.result();
        g.create<builtin::output>({{&out, 1}});
        return &g;
    };
    graph* const yes = region_of();
    graph* const lowered = region_of();
    node& choice = p.g.create<higher_order::cond>({flag, yes, region_of(), {&x, 1}}, 1);
    p.g.set_meta(choice.result(), pair);
    const value chosen = choice.result();
    node& call = p.g.create<delegate::call_delegate>({"tosa", lowered, {&chosen, 1}}, 1);
    p.g.set_meta(call.result(), pair);
    const value turned = p.make<aten::permute>({.self = call.result(), .dims = {1, 0}});
    p.output(p.make<aten::relu_inplace>({turned}));
    p.finish();
    pass_context context;
    CHECK(to_out_variants{}(p.g, context).value() == 2);
    CHECK(yes->census().count(info_of<out::variant<aten::exp>>) == 1);
    CHECK(lowered->census().count(info_of<aten::exp>) == 1);
    CHECK(p.g.census().count(info_of<memory::alloc>) == 0);
}

TEST_CASE("a node without metadata has no size") {
    program p;
    const value x = p.input(fp32, {2, 3});
    node& n = p.g.create<aten::relu>({x});
    p.g.set_name(n.result(), "y");
    p.output(n.result());
    p.finish();
    pass_context context;
    CHECK(to_out_variants{}(p.g, context).error().message ==
        "y (aten.relu.default): without metadata its buffer has no size");
}
