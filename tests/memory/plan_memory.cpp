// SPDX-License-Identifier: MIT
// Tests memory planning as a pass: what it stores in the graph, alone and after to_out_variants.
#include <catch2/catch.hpp>

#include <headrace/dialect/higher_order.hpp>
#include <headrace/fx/pass_manager.hpp>
#include <headrace/infer/delegate.hpp>
#include <headrace/ir/listing.hpp>
#include <headrace/memory/plan_memory.hpp>
#include <headrace/memory/to_out_variants.hpp>

#include "../support/pass_test.hpp"

using namespace headrace;

namespace {

constexpr dtype fp32 = dtype::float32;

// x -> a -> b -> c
void chain(program& p) {
    value v = p.input(fp32, {100});
    for (int i = 0; i != 3; ++i) v = p.make<aten::relu>({v});
    p.output(v);
    p.finish();
}

}  // namespace

TEST_CASE("each value that was planned has its place") {
    program p;
    chain(p);
    pass_context context;
    CHECK(plan_memory{}(p.g, context).value() == 4);
    std::vector<std::int64_t> offsets;
    for (node& n : p.g.nodes()) {
        if (n.result_count == 0) continue;
        REQUIRE(place_of(n.result()).has_value());
        CHECK(place_of(n.result())->memory == 0);
        CHECK(place_of(n.result())->bytes == 400);
        offsets.push_back(place_of(n.result())->offset);
    }
    CHECK(offsets[0] == offsets[2]);
    CHECK(offsets[1] == offsets[3]);
    const auto* sizes = p.g.output()->find_annotation<memory_sizes>();
    REQUIRE(sizes != nullptr);
    CHECK(sizes->bytes[0] == 800);
    CHECK(sizes->lower_bounds[0] == 800);
}

TEST_CASE("buffers get their places as arguments") {
    program p;
    const value x = p.input(fp32, {4});
    p.g.set_name(x, "x");
    const value y = p.make<aten::relu>({x});
    p.g.set_name(y, "y");
    p.output(y);
    p.finish();
    pass_manager manager(
        {any_pass("to_out_variants", to_out_variants{}), any_pass("plan_memory", plan_memory{})});
    pass_context context;
    REQUIRE(manager(p.g, context).has_value());
    const std::pmr::string text = listing(p.g);
    CHECK(text.find("memory.alloc(size=[4], dtype=float32, memory=0, offset=") != std::string::npos);
    CHECK(text.find("%y: float32[4] = aten.relu.out(%x, %alloc)") != std::string::npos);
    for (const node& n : p.g.nodes_of(info_of<memory::alloc>)) {
        const value buffer{const_cast<node*>(&n), 0};
        CHECK(place_of(buffer)->offset == args_of<memory::alloc>(n).offset);
        CHECK(place_of(buffer) == place_of(p.g.outputs()[0]));
    }
}

TEST_CASE("constants have no place, and a delegate has its own memory") {
    program p;
    const value x = p.input(fp32, {2});
    const value w = p.constant<float>(fp32, {2}, {1, 2});
    const value sum = p.make<aten::add_tensor>({.self = x, .other = w});
    graph& lowered = p.g.create_region();
    node& in = lowered.create<builtin::placeholder>({});
    lowered.set_meta(in.result(), {fp32, {2}, {}});
    node& inner = lowered.create<aten::exp>({in.result()});
    lowered.set_meta(inner.result(), {fp32, {2}, {}});
    const value result = inner.result();
    lowered.create<builtin::output>({{&result, 1}});
    node& call = p.g.create<delegate::call_delegate>({"tosa", &lowered, {&sum, 1}}, 1);
    p.g.set_meta(call.result(), {fp32, {2}, {}});
    p.output(call.result());
    p.finish();
    pass_context context;
    REQUIRE(plan_memory{}(p.g, context).has_value());
    CHECK_FALSE(place_of(w).has_value());
    CHECK(place_of(sum)->memory == 0);
    CHECK(place_of(result)->memory == 1);
    CHECK(p.g.output()->find_annotation<memory_sizes>()->bytes.size() == 2);
}

TEST_CASE("what cannot be planned is an error of the pass") {
    program p;
    chain(p);
    plan_memory odd;
    odd.options.alignment = 12;
    pass_context context;
    CHECK(odd(p.g, context).error().message == "the alignment of tensors must be a power of two, not 12");
}
