// SPDX-License-Identifier: MIT
// Tests execution by a memory plan: graphs have the same results in exactly the planned bytes.
#include <catch2/catch.hpp>

#include <algorithm>
#include <random>
#include <vector>

#include <headrace/eval/evaluator.hpp>
#include <headrace/eval/planned_arena.hpp>
#include <headrace/infer/delegate.hpp>
#include <headrace/memory/out_variant.hpp>

#include "../support/pass_test.hpp"

using namespace headrace;

namespace {

constexpr dtype fp32 = dtype::float32;

planning_options counting_evaluated(planning_algorithm algorithm = planning_algorithm::greedy) {
    return {.algorithm = algorithm, .alignment = 8, .bytes_of = &eval::evaluated_bytes};
}

std::vector<tensor> random_inputs(const graph& g, unsigned seed) {
    std::mt19937 random(seed);
    std::vector<tensor> inputs;
    for (const node& n : g.inputs()) inputs.push_back(random_tensor(random, *n.results[0].meta));
    return inputs;
}

bool same(const std::vector<tensor>& a, const std::vector<tensor>& b) {
    return std::ranges::equal(a, b, [](const tensor& x, const tensor& y) {
        return x.type() == y.type() && x.shape() == y.shape() && std::ranges::equal(x.bytes(), y.bytes());
    });
}

// Returns the difference between the results with and without a plan; empty if there is none.
std::pmr::string compare(const graph& g, planning_options options = counting_evaluated()) {
    const auto plan = make_memory_plan(g, options);
    if (!plan) return plan.error().message;
    if (const auto sound = verify_plan(g, plan.value()); !sound) return sound.error().message;
    const auto inputs = random_inputs(g, 5);
    const auto expected = run_graph(g, inputs);
    if (!expected) return expected.error().message;
    const auto got = run_planned(g, plan.value(), inputs);
    if (!got) return got.error().message;
    return same(expected.value(), got.value()) ? "" : "the results differ";
}

// Adds sums, products, views, concatenations and reductions of existing values.
void fill_random(program& p, std::mt19937& random, int count) {
    std::vector<value> values;
    for (int i = 0; i != 3; ++i) values.push_back(p.input(fp32, {4, 6}));
    for (int i = 0; i != count; ++i) {
        const std::size_t window = std::min<std::size_t>(values.size(), random() % 8 == 0 ? 20 : 4);
        const auto pick = [&] { return values[values.size() - 1 - random() % window]; };
        const value a = pick();
        switch (random() % 6) {
            case 0:
                values.push_back(p.make<aten::add_tensor>({.self = a, .other = pick()}));
                break;
            case 1:
                values.push_back(p.make<aten::mul_tensor>({.self = a, .other = pick()}));
                break;
            case 2: {
                const value flat = p.make<aten::view>({.self = a, .size = {24}});
                values.push_back(p.make<aten::view>({.self = p.make<aten::relu>({flat}), .size = {4, 6}}));
                break;
            }
            case 3: {
                const std::vector<value> both{a, pick(), a};
                const value joined = p.make<aten::cat>({.tensors = both, .dim = 1});
                values.push_back(
                    p.make<aten::slice_tensor>({.self = joined, .dim = 1, .start = 3, .end = 9}));
                break;
            }
            case 4: {
                const value turned = p.make<aten::permute>({.self = a, .dims = {1, 0}});
                values.push_back(p.make<aten::mm>(
                    {.self = a, .mat2 = p.make<aten::mm>({.self = turned, .mat2 = pick()})}));
                break;
            }
            default:
                values.push_back(p.make<aten::sub_tensor>({.self = a,
                    .other = p.make<aten::mean_dim>({.self = pick(), .dim = int_list{1}, .keepdim = true})}));
        }
        values.back() = p.make<aten::tanh>({values.back()});  // keeps numbers small
    }
    p.output(values.back());
    p.output(values[values.size() / 2]);
    p.output(values.back());
}

}  // namespace

TEST_CASE("random graphs compute the same in planned memory") {
    for (unsigned seed = 0; seed != 25; ++seed) {
        INFO("seed " << seed);
        std::mt19937 random(seed);
        program p;
        fill_random(p, random, 10 + static_cast<int>(seed));
        p.finish();
        REQUIRE(p.fault.empty());
        CHECK(compare(p.g, counting_evaluated(planning_algorithm::greedy)) == "");
        CHECK(compare(p.g, counting_evaluated(planning_algorithm::best_fit)) == "");
    }
}

TEST_CASE("the caller's inputs and outputs stay outside of the arena") {
    program p;
    std::mt19937 random(3);
    fill_random(p, random, 30);
    p.finish();
    planning_options options = counting_evaluated();
    options.place_inputs = options.place_outputs = false;
    CHECK(compare(p.g, options) == "");
}

TEST_CASE("a wrong plan gives wrong results") {
    program p;
    const value x = p.input(fp32, {8});
    const value a = p.make<aten::relu>({x});
    const value b = p.make<aten::neg>({x});
    p.output(p.make<aten::add_tensor>({.self = a, .other = b}));
    p.finish();
    memory_plan plan = make_memory_plan(p.g, counting_evaluated()).value();
    plan.tensors[*plan.lifetimes.tensor_of(b)].offset = plan.find(a)->offset;  // b overwrites a
    CHECK(verify_plan(p.g, plan).has_error());
    const auto inputs = random_inputs(p.g, 1);
    CHECK_FALSE(same(run_planned(p.g, plan, inputs).value(), run_graph(p.g, inputs).value()));
}

TEST_CASE("plans that evaluation cannot work with are refused") {
    program p;
    const value x = p.input(dtype::int4, {3});
    p.output(p.make<aten::view>({.self = x, .size = {3, 1}}));
    p.finish();
    const auto inputs = random_inputs(p.g, 1);
    const memory_plan packed = make_memory_plan(p.g).value();
    CHECK(run_planned(p.g, packed, inputs).error().message.find("too small for evaluation") !=
        std::string::npos);
    memory_plan outside = make_memory_plan(p.g, counting_evaluated()).value();
    outside.tensors[0].offset = 1024;
    CHECK(run_planned(p.g, outside, inputs).error().message.find("outside the memory") != std::string::npos);
    outside.tensors[0].offset = 4;
    CHECK(run_planned(p.g, outside, inputs).error().message.find("not aligned") != std::string::npos);
}

TEST_CASE("loops carry their values in planned memory") {
    // while (i < 5) { i = i + 1; (a, b) = (b + relu(a), a) }
    program p;
    const value i = p.input(fp32, {});
    const value a = p.make<aten::neg>({p.input(fp32, {3})});
    const value b = p.make<aten::neg>({p.input(fp32, {3})});
    const value fixed = p.make<aten::neg>({p.input(fp32, {3})});
    program condition;  // for inference; the graphs are regions
    graph& goes_on = p.g.create_region();
    graph& body = p.g.create_region();
    const tensor_meta number{fp32, {}, {}};
    const tensor_meta three{fp32, {3}, {}};
    const auto input = [](graph& g, const tensor_meta& meta) {
        const value v = g.create<builtin::placeholder>({}).result();
        g.set_meta(v, meta);
        return v;
    };
    const auto typed = [](graph& g, node& n, const tensor_meta& meta) {
        g.set_meta(n.result(), meta);
        return n.result();
    };
    {
        const value counter = input(goes_on, number);
        for (int k = 0; k != 3; ++k) static_cast<void>(input(goes_on, three));
        const value more = typed(goes_on, goes_on.create<aten::lt_scalar>({.self = counter, .other = 5}),
            {dtype::boolean, {}, {}});
        goes_on.create<builtin::output>({{&more, 1}});
    }
    {
        const value counter = input(body, number);
        const value x = input(body, three);
        const value y = input(body, three);
        const value shared = input(body, three);
        const value next = typed(body, body.create<aten::add_scalar>({.self = counter, .other = 1}), number);
        const value positive = typed(body, body.create<aten::relu>({x}), three);
        const value sum = typed(body, body.create<aten::add_tensor>({.self = positive, .other = y}), three);
        const value shifted =
            typed(body, body.create<aten::add_tensor>({.self = sum, .other = shared}), three);
        const std::vector<value> results{next, shifted, x};
        body.create<builtin::output>({results});
    }
    const std::vector<value> carried{i, a, b};
    node& loop = p.g.create<higher_order::while_loop>({&goes_on, &body, carried, {&fixed, 1}}, 3);
    p.g.set_meta(loop.result(0), number);
    p.g.set_meta(loop.result(1), three);
    p.g.set_meta(loop.result(2), three);
    p.output(p.make<aten::sub_tensor>({.self = loop.result(1), .other = loop.result(2)}));
    p.output(p.make<aten::add_tensor>({.self = a, .other = loop.result(2)}));
    p.finish();
    REQUIRE(p.fault.empty());
    CHECK(compare(p.g) == "");
}

TEST_CASE("scans carry and stack in planned memory") {
    program p;
    const value first = p.make<aten::relu>({p.input(fp32, {3})});
    const value xs = p.make<aten::neg>({p.input(fp32, {4, 3})});
    graph& step = p.g.create_region();
    const tensor_meta three{fp32, {3}, {}};
    const auto typed = [&](node& n) {
        step.set_meta(n.result(), three);
        return n.result();
    };
    const value sum = typed(step.create<builtin::placeholder>({}));
    const value x = typed(step.create<builtin::placeholder>({}));
    const value next = typed(step.create<aten::add_tensor>({.self = sum, .other = x}));
    const std::vector<value> results{next, typed(step.create<aten::exp>({next}))};
    step.create<builtin::output>({results});
    node& scan = p.g.create<higher_order::scan>({&step, {&first, 1}, {&xs, 1}, {}}, 2);
    p.g.set_meta(scan.result(0), three);
    p.g.set_meta(scan.result(1), {fp32, {4, 3}, {}});
    p.output(p.make<aten::neg>({scan.result(0)}));
    p.output(scan.result(1));
    p.finish();
    CHECK(compare(p.g) == "");
}

TEST_CASE("conditions and delegates run in planned memory") {
    program p;
    const value x = p.make<aten::neg>({p.input(fp32, {3})});
    const value flag = p.input(dtype::boolean, {});
    const tensor_meta three{fp32, {3}, {}};
    const auto region_of = [&]<op_tag Op>(Op) -> graph* {
        graph& g = p.g.create_region();
        node& in = g.create<builtin::placeholder>({});
        g.set_meta(in.result(), three);
        node& twice = g.create<aten::add_tensor>({.self = in.result(), .other = in.result()});
        g.set_meta(twice.result(), three);
        node& n = g.create<Op>({twice.result()});
        g.set_meta(n.result(), three);
        const value out = n.result();
        g.create<builtin::output>({{&out, 1}});
        return &g;
    };
    node& choice =
        p.g.create<higher_order::cond>({flag, region_of(aten::exp{}), region_of(aten::relu{}), {&x, 1}}, 1);
    p.g.set_meta(choice.result(), three);
    const value chosen = choice.result();
    node& call = p.g.create<delegate::call_delegate>({"tosa", region_of(aten::tanh{}), {&chosen, 1}}, 1);
    p.g.set_meta(call.result(), three);
    p.output(p.make<aten::add_tensor>({.self = call.result(), .other = x}));
    p.finish();
    CHECK(compare(p.g) == "");
    CHECK(make_memory_plan(p.g).value().memories.size() == 2);
}

TEST_CASE("variables outlive the arena") {
    program p;
    const value x = p.make<aten::neg>({p.input(fp32, {3})});
    p.g.create<tosa::variable>({.variable_name = "v", .shape = {3}, .type = fp32});
    p.g.create<tosa::variable_write>({.input1 = x, .variable_name = "v"});
    const value other = p.make<aten::exp>({p.input(fp32, {3})});
    node& read = p.g.create<tosa::variable_read>({.variable_name = "v", .shape = {3}, .output_type = fp32});
    p.g.set_meta(read.result(), {fp32, {3}, {}});
    p.output(p.make<aten::add_tensor>({.self = read.result(), .other = other}));
    p.finish();
    CHECK(compare(p.g) == "");
}

TEST_CASE("out-variants write to their buffers, with and without a plan") {
    program p;
    const value x = p.input(fp32, {2, 3});
    const value buffer = p.g.create<memory::alloc>({.size = {2, 3}, .dtype = fp32}).result();
    p.g.set_meta(buffer, {fp32, {2, 3}, {}});
    node& sum =
        p.g.create<out::variant<aten::add_tensor>>({.functional = {.self = x, .other = x}, .out = buffer});
    p.g.set_meta(sum.result(), {fp32, {2, 3}, {}});
    p.output(sum.result());
    p.output(buffer);
    p.finish();
    const auto inputs = random_inputs(p.g, 2);
    const auto results = run_graph(p.g, inputs).value();
    CHECK(results[0].real(4) == 2 * inputs[0].real(4));
    CHECK(results[0].bytes().data() == results[1].bytes().data());
    CHECK(compare(p.g) == "");
}

TEST_CASE("a buffer of the wrong type is refused") {
    program p;
    const value x = p.input(fp32, {2, 3});
    const value buffer = p.g.create<memory::alloc>({.size = {2, 2}, .dtype = fp32}).result();
    p.g.set_meta(buffer, {fp32, {2, 2}, {}});
    node& n = p.g.create<out::variant<aten::relu>>({.functional = {x}, .out = buffer});
    p.g.set_name(n.result(), "y");
    p.output(n.result());
    p.finish();
    CHECK(run_graph(p.g, random_inputs(p.g, 1)).error().message ==
        "y (aten.relu.out): its buffer differs from its result in type or shape");
}
