// SPDX-License-Identifier: MIT
// Tests partitions that are lowered on trial: refused nodes move to the host, with the reason.

#include <catch2/catch.hpp>

#include <headrace/match/node_pattern.hpp>
#include <headrace/partition/trial_partitioner.hpp>
#include <headrace/pass/pipeline.hpp>

#include "../support/pass_test.hpp"

using namespace headrace;

namespace {

// A backend that takes only additions of two different values, which no set of ops expresses.
result<void> lower_sums(graph& program, pass_context& context) {
    for (const node& n : program.nodes()) {
        if (is<aten::add_tensor>(n) && n.operand(0) == n.operand(1))
            context.report(n, "it adds a value to itself");
    }
    return {};
}

value named(program& p, value v, std::string_view name) {
    p.g.set_name(v, name);
    return v;
}
value add(program& p, value x, value y, std::string_view name) {
    return named(p, p.make<aten::add_tensor>({.self = x, .other = y}), name);
}

// Makes one node of a sum and a ReLU, which has the ReLU's name.
struct fuse_sums : pass {
    static auto rewrites() {
        return rules(on_match([](auto x, auto y) {
            return node_of<"relu", aten::relu>(node_of<"sum", aten::add_tensor>(x, y));
        }) = [](auto x, auto y) { return call<aten::maximum>(x, y); });
    }
};
result<void> lower_fused_sums(graph& program, pass_context& context) {
    HEADRACE_TRY(apply_pass(fuse_sums{}, program, context));
    for (const node& n : program.nodes()) {
        if ((is<aten::maximum>(n) || is<aten::add_tensor>(n)) && n.operand(0) == n.operand(1))
            context.report(n, "it adds a value to itself");
    }
    return {};
}

const partitioner_options singles{.allows_single_node_partition = true};

}  // namespace

TEST_CASE("what a trial refuses stays on the host, with its reason", "[trial_partitioner]") {
    program p;
    const value x = p.input(dtype::float32, {2});
    const value y = p.input(dtype::float32, {2});
    const value first = add(p, x, y, "first");
    const value twice = add(p, first, first, "twice");
    const value last = add(p, twice, y, "last");
    p.output(named(p, p.make<aten::relu>({.self = last}), "relu"));
    p.finish();
    const trial_partitioner partitioner(create_op_support<aten::add_tensor>(), &lower_sums, singles);
    const auto found = partitioner.propose_partitions(p.g);
    REQUIRE(found.has_value());
    CHECK(found.value().partitions == std::vector<node_group>{{first.producer}, {last.producer}});
    REQUIRE(found.value().host.size() == 2);
    CHECK(found.value().host[0].which == twice.producer);
    CHECK(found.value().host[0].reason == "it adds a value to itself");
    CHECK(found.value().host[1].reason == "no pass lowers this op");
}

TEST_CASE(
    "the node at fault stays on the host, not the one that a fusion is named after", "[trial_partitioner]") {
    program p;
    const value x = p.input(dtype::float32, {2});
    const value y = p.input(dtype::float32, {2});
    const value twice = add(p, add(p, x, y, "first"), x, "second");
    const value wrong = add(p, twice, twice, "wrong");
    const value relu = named(p, p.make<aten::relu>({.self = wrong}), "relu");
    p.output(named(p, p.make<aten::relu>({.self = add(p, relu, y, "last")}), "end"));
    p.finish();
    const auto taken = create_op_support<aten::add_tensor, aten::relu>();
    const auto found = trial_partitioner(taken, &lower_fused_sums, singles).propose_partitions(p.g);
    REQUIRE(found.has_value());
    REQUIRE(found.value().host.size() == 1);
    CHECK(found.value().host[0].which == wrong.producer);
    CHECK(found.value().host[0].reason == "it adds a value to itself");
    REQUIRE(found.value().partitions.size() == 2);
    CHECK(found.value().partitions[1].front() == relu.producer);
}

TEST_CASE("what reads an input that the backend does not take stays on the host", "[trial_partitioner]") {
    const auto of_float32 = [](graph& program, pass_context& context) -> result<void> {
        for (const node& n : program.inputs()) {
            if (n.results[0].meta->dtype != dtype::float32) context.report(n, "an input of another type");
        }
        return {};
    };
    program p;
    const value x = named(p, p.input(dtype::float32, {2}), "x");
    const value y = named(p, p.input(dtype::float64, {2}), "y");
    const value first = add(p, x, x, "first");
    const value mixed = add(p, first, y, "mixed");
    const value last = add(p, first, x, "last");
    p.output(mixed);
    p.output(last);
    p.finish();
    const trial_partitioner partitioner(create_op_support<aten::add_tensor>(), of_float32, singles);
    const auto found = partitioner.propose_partitions(p.g);
    REQUIRE(found.has_value());
    REQUIRE(found.value().partitions.size() == 1);
    CHECK(found.value().partitions[0].size() == 2);
    REQUIRE(found.value().host.size() == 1);
    CHECK(found.value().host[0].which == mixed.producer);
    CHECK(found.value().host[0].reason == "an input of another type");
}

TEST_CASE("what is too little for a call says so", "[trial_partitioner]") {
    program p;
    const value x = p.input(dtype::float32, {2});
    const value y = p.input(dtype::float32, {2});
    p.output(add(p, x, y, "sum"));
    p.finish();
    const trial_partitioner partitioner(create_op_support<aten::add_tensor>(), &lower_sums);
    const auto found = partitioner.propose_partitions(p.g);
    REQUIRE(found.has_value());
    CHECK(found.value().partitions.empty());
    REQUIRE(found.value().host.size() == 1);
    CHECK(found.value().host[0].reason == "too little to be worth a call");
}

TEST_CASE("what the host computes from constants says so", "[trial_partitioner]") {
    program p;
    const value x = p.input(dtype::float32, {2});
    const value weight = p.constant<float>(dtype::float32, {2}, {1, 2});
    const value bias = p.constant<float>(dtype::float32, {2}, {3, 4});
    const value shared = add(p, weight, bias, "shared");
    const value first = add(p, x, shared, "first");
    p.output(named(p, p.make<aten::minimum>({.self = first, .other = shared}), "least"));
    p.finish();
    const trial_partitioner partitioner(create_op_support<aten::add_tensor>(), &lower_sums, singles);
    const auto found = partitioner.propose_partitions(p.g);
    REQUIRE(found.has_value());
    REQUIRE(found.value().partitions.size() == 1);
    CHECK(found.value().partitions[0].size() == 2);  // with a copy of `shared`
    REQUIRE(found.value().host.size() == 2);
    CHECK(found.value().host[0].which == shared.producer);
    CHECK(found.value().host[0].reason == "it depends on no input, and the host uses it");
}

TEST_CASE("a refusal that names no node of the partition refuses all of it", "[trial_partitioner]") {
    program p;
    const value x = p.input(dtype::float32, {2});
    const value y = p.input(dtype::float32, {2});
    p.output(add(p, add(p, x, y, "a"), x, "b"));
    p.finish();
    const auto refuse = [](graph& program, pass_context& context) -> result<void> {
        context.report(*program.output(), "no outputs, please");
        return {};
    };
    const auto found =
        trial_partitioner(create_op_support<aten::add_tensor>(), refuse, singles).propose_partitions(p.g);
    REQUIRE(found.has_value());
    CHECK(found.value().partitions.empty());
    REQUIRE(found.value().host.size() == 2);
    CHECK(found.value().host[1].reason ==
        "an operator without a name beside it, builtin.output: no outputs, please");

    const auto fail = [](graph&, pass_context&) -> result<void> { return invalid("it cannot"); };
    const auto failed =
        trial_partitioner(create_op_support<aten::add_tensor>(), fail, singles).propose_partitions(p.g);
    REQUIRE(failed.has_value());
    CHECK(failed.value().host[0].reason == "it cannot");
}

TEST_CASE("a node answers for the graphs that it holds", "[trial_partitioner]") {
    program p;
    const value x = p.input(dtype::float32, {2});
    const value flag = p.input(dtype::boolean, {});
    graph* branches[2];
    for (graph*& region : branches) {
        region = &p.g.create_region();
        const value inner = region->create<builtin::placeholder>({}).result();
        region->set_meta(inner, {dtype::float32, {2}, {}});
        const value made = region->create<aten::add_tensor>({.self = inner, .other = inner}).result();
        region->set_meta(made, {dtype::float32, {2}, {}});
        region->set_name(made, "inside");
        region->create<builtin::output>({.values = {&made, 1}});
    }
    const value chosen = p.make<higher_order::cond>({flag, branches[0], branches[1], {&x, 1}});
    p.output(named(p, chosen, "cond"));
    p.finish();
    const auto lower_all = [](graph& program, pass_context& context) -> result<void> {
        for_each_graph(program, [&](graph& sub) { static_cast<void>(lower_sums(sub, context)); });
        return {};
    };
    const auto support = create_op_support<higher_order::cond, aten::add_tensor>();
    const auto found = trial_partitioner(support, lower_all, singles).propose_partitions(p.g);
    REQUIRE(found.has_value());
    CHECK(found.value().partitions.empty());
    REQUIRE(found.value().host.size() == 1);
    CHECK(found.value().host[0].reason == "it adds a value to itself");

    const auto without =
        trial_partitioner(create_op_support<aten::relu>(), lower_all).propose_partitions(p.g);
    REQUIRE(without.has_value());
    CHECK(without.value().host[0].reason == "it holds inside (aten.add.Tensor), which no pass lowers");
}
