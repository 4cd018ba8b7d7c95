// SPDX-License-Identifier: MIT
// Tests listings, word for word.

#include <catch2/catch.hpp>

#include <headrace/base/text.hpp>
#include <headrace/dialect/aten.hpp>
#include <headrace/dialect/higher_order.hpp>
#include <headrace/dialect/tosa.hpp>
#include <headrace/ir/listing.hpp>

using namespace headrace;

namespace {

node& typed(graph& g, node& n, std::string_view name, dtype type, int_list shape, std::uint32_t i = 0) {
    g.set_meta(n.result(i), {type, shape, {}});
    if (!name.empty()) g.set_name(n.result(i), name);
    return n;
}
constexpr auto f32 = dtype::float32;

TEST_CASE("a listing has a line for each node") {
    graph g;
    node& x = typed(g, g.create<builtin::placeholder>({}), "x", f32, {1, 16, 8, 8});
    node& w = typed(g, g.create<builtin::constant>({}), "w", f32, {4, 16, 3, 3});
    node& b = typed(g, g.create<builtin::constant>({.data = {.strides = {2}}}), "", f32, {4});
    node& conv = g.create<aten::conv2d>(
        {.input = x.result(), .weight = w.result(), .bias = b.result(), .stride = {2, 2}});
    typed(g, conv, "conv", f32, {1, 4, 3, 3});
    node& bare = g.create<aten::conv2d>({.input = x.result(), .weight = w.result(), .groups = 2});
    node& max = g.create<aten::max_dim>({.self = conv.result(), .dim = 1});
    typed(g, max, "values", f32, {1, 3, 3}, 0);
    typed(g, max, "conv", dtype::int64, {1, 3, 3}, 1);
    node& cat = g.create<aten::cat>({.tensors = {max.result(), bare.result()}});
    node& out = g.create<builtin::output>({.values = {cat.result(), max.result()}});
    const std::string_view names[] = {"logits", "values"};
    g.annotate(out, output_names{list<std::string_view>(names, 2)});

    CHECK(listing(g) == R"(%x: float32[1, 16, 8, 8] = input
%w: float32[4, 16, 3, 3] = constant
%constant: float32[4] = constant, strides [2]
%conv: float32[1, 4, 3, 3] = aten.conv2d.default(%x, %w, %constant, stride=[2, 2])
%conv2d: ? = aten.conv2d.default(%x, %w, groups=2)
%values: float32[1, 3, 3], %conv_1: int64[1, 3, 3] = aten.max.dim(%conv, dim=1)
%cat: ? = aten.cat.default([%values, %conv2d])
output logits=%cat, %values
)");
}

TEST_CASE("arguments of every kind are printed") {
    graph g;
    node& x = g.create<builtin::placeholder>({});
    g.create<aten::gelu>({.self = x.result(), .approximate = "ta\"nh\n"});
    g.create<aten::add_scalar>({.self = x.result(), .other = 2});
    g.create<aten::add_scalar>({.self = x.result(), .other = 2.0});
    g.create<aten::add_scalar>({.self = x.result(), .other = true});
    g.create<aten::softmax_int>({.self = x.result(), .dim = -1, .dtype = dtype::float16});
    g.create<aten::layer_norm>({.input = x.result(), .normalized_shape = {8}, .eps = 1e-6});
    g.create<aten::index_tensor>({.self = x.result(), .indices = {std::nullopt, x.result()}});
    g.create<aten::contiguous>({.self = x.result(), .memory_format = memory_format::channels_last});
    using pool = tosa::max_pool2d;
    g.create<pool>(pool::args{x.result(), {2, 2}, {2, 2}, {}, nan_mode::ignore});
    CHECK(listing(g) == R"(%placeholder: ? = input
%gelu: ? = aten.gelu.default(%placeholder, approximate="ta\"nh\x0a")
%add: ? = aten.add.Scalar(%placeholder, other=2)
%add_1: ? = aten.add.Scalar(%placeholder, other=2.0)
%add_2: ? = aten.add.Scalar(%placeholder, other=true)
%softmax: ? = aten.softmax.int(%placeholder, dim=-1, dtype=float16)
%layer_norm: ? = aten.layer_norm.default(%placeholder, normalized_shape=[8], eps=1e-06)
%index: ? = aten.index.Tensor(%placeholder, [none, %placeholder])
%contiguous: ? = aten.contiguous.default(%placeholder, memory_format=channels_last)
%max_pool2d: ? = tosa.MAX_POOL2D(%placeholder, kernel=[2, 2], stride=[2, 2], nan_mode=ignore)
)");
}

TEST_CASE("regions follow the node that holds them") {
    graph g;
    node& p = typed(g, g.create<builtin::placeholder>({}), "p", dtype::boolean, {});
    graph& yes = g.create_region();
    graph& no = g.create_region();
    for (graph* region : {&yes, &no}) {
        node& x = typed(*region, region->create<builtin::placeholder>({}), "x", f32, {2});
        region->create<builtin::output>({.values = {x.result()}});
    }
    using branch = higher_order::cond;
    node& held = g.create<branch>({p.result(), &yes, &no, {p.result()}}, 1);
    g.create<builtin::output>({.values = {held.result()}});
    CHECK(listing(g) == R"(%p: bool[] = input
%cond: ? = higher_order.cond(%p, true_graph=#0, false_graph=#1, operands=[%p])
    #0:
        %x: float32[2] = input
        output %x
    #1:
        %x_1: float32[2] = input
        output %x_1
output %cond
)");
}

TEST_CASE("the numbers of regions cost a step each, however many there are") {
    // Comparing each with all others would take minutes.
    constexpr std::size_t count = 30'000;
    graph g;
    node& p = typed(g, g.create<builtin::placeholder>({}), "p", f32, {2});
    for (std::size_t i = 0; i != count; ++i) {
        graph& body = g.create_region();
        node& x = typed(body, body.create<builtin::placeholder>({}), "x", f32, {2});
        body.create<builtin::output>({.values = {x.result()}});
        using wrapped = higher_order::wrap_with_set_grad_enabled;
        typed(g, g.create<wrapped>({false, &body, {p.result()}}, 1), "y", f32, {2});
    }
    g.create<builtin::output>({.values = {p.result()}});
    const std::pmr::string text = listing(g);
    CHECK(text.find("    #" + number_text(count - 1) + ":\n") != std::pmr::string::npos);
    CHECK(text.find("    #" + number_text(count) + ":\n") == std::pmr::string::npos);
}

}  // namespace
