// SPDX-License-Identifier: MIT
// Tests the emitter that handlers receive: nodes, constants, copies, and failures, which persist.

#include <catch2/catch.hpp>

#include <array>
#include <set>
#include <span>
#include <vector>

#include <headrace/dialect/tosa.hpp>
#include <headrace/passes/support/build.hpp>
#include <headrace/rewrite/emit.hpp>

#include "../support/toy.hpp"

using namespace headrace;

namespace {

struct relu_graph : graph {
    relu_graph() {
        node& x = create<builtin::placeholder>({});
        set_meta(x.result(), {dtype::float32, {2, 3}});
        relu = &create<toy::relu>({x.result()});
        set_meta(relu->result(), {dtype::float32, {2, 3}});
        annotate(*relu, provenance{"act", "aten.relu.default"});
        create<builtin::output>({.values = {relu->result()}});
    }
    node* relu;
};
struct relu_of_input : relu_graph {
    pass_context context;
    emission made{*this, relu, relu, context};
    emit<ops<toy::neg, toy::add, toy::sum, toy::cat>> e{made};
};

template <class T>
T element(value v, std::size_t i = 0) {
    T found;
    std::memcpy(&found, args_of<builtin::constant>(*v.producer).data.bytes + i * sizeof(T), sizeof(T));
    return found;
}

}  // namespace

TEST_CASE("nodes come before the one that is rewritten, with types and annotations", "[emit]") {
    relu_of_input g;
    const value v = g.e.make<toy::neg>(g.relu->operand(0));
    REQUIRE(v);
    CHECK(v.producer->next == g.relu);
    CHECK(g.e.shape(v) == int_list{2, 3});
    CHECK(g.e.dtype(v) == dtype::float32);
    CHECK(g.e.rank(v) == 2);
    CHECK(g.e.result_meta() == g.e.meta(v));
    CHECK(origin_name(*v.producer) == "act");
    CHECK(&g.e.current() == g.relu);
}

TEST_CASE("an op without a rule of inference is refused, whoever adds it", "[emit]") {
    struct unchecked : emitter {
        using emitter::add;
        using emitter::emitter;
    };
    relu_of_input g;
    const value x = g.relu->operand(0);
    CHECK(unchecked(g.made).add<toy::conv2d>({.input = x, .weight = x}) == nullptr);
    CHECK(g.e.failed());
    REQUIRE(g.context.diagnostics().size() == 1);
    CHECK(g.context.diagnostics()[0].reason.find("toy.conv2d.default: nothing infers") !=
        std::string_view::npos);
}

TEST_CASE("a number fills a constant of any type that holds it", "[emit]") {
    relu_of_input g;
    CHECK(element<float>(g.e.splat(1.5, dtype::float32, 2)) == 1.5F);
    CHECK(element<double>(g.e.splat(-2, dtype::float64, 0)) == -2.0);
    CHECK(element<std::uint16_t>(g.e.splat(1.0, dtype::float16, 1)) == 0x3c00);
    CHECK(element<std::uint16_t>(g.e.splat(1.00390625, dtype::bfloat16, 1)) == 0x3f80);  // a tie: to even
    CHECK(element<std::uint16_t>(g.e.splat(1.01171875, dtype::bfloat16, 1)) == 0x3f82);
    CHECK((element<std::uint16_t>(g.e.splat(std::nan(""), dtype::bfloat16, 1)) & 0x7fffU) > 0x7f80U);
    CHECK(element<std::int8_t>(g.e.splat(-128, dtype::int8, 1)) == -128);
    CHECK(element<std::uint8_t>(g.e.splat(255, dtype::uint8, 1)) == 255);
    CHECK(element<std::int16_t>(g.e.splat(-300, dtype::int16, 1)) == -300);
    CHECK(element<std::int32_t>(g.e.splat(70000, dtype::int32, 1)) == 70000);
    CHECK(element<std::int64_t>(g.e.splat(-1, dtype::int64, 1)) == -1);
    CHECK(element<std::uint8_t>(g.e.splat(2, dtype::boolean, 1)) == 1);
    const value ones = g.e.splat(1, dtype::int32, std::array<std::int64_t, 2>{2, 2});
    CHECK(element<std::int32_t>(ones, 3) == 1);
    CHECK(g.e.shape(g.e.splat(1, dtype::int8, 3)) == int_list{1, 1, 1});
    CHECK_FALSE(g.e.failed());
    CHECK_FALSE(g.e.splat(1, dtype::int4, 1));  // two to a byte
    CHECK(g.e.failed());
}

TEST_CASE("a run of a pass makes one constant for equal numbers, and one node for equal shapes", "[emit]") {
    relu_of_input g;
    emit<ops<tosa::const_shape>> e(g.made);
    const auto zero = [&] { return e.splat(0, dtype::int8, 1); };
    const auto shape = [&](std::int64_t size) { return build::const_shape(e, shape_builder{size, 1}); };
    const value first = zero(), two = shape(2);
    CHECK(zero() == first);
    CHECK(shape(2) == two);
    CHECK(args_of<tosa::const_shape>(*two.producer).values == int_list{2, 1});

    SECTION("others are others") {
        for (const value v :
            {e.splat(1, dtype::int8, 1), e.splat(0, dtype::int16, 1), e.splat(0, dtype::int8, 2)})
            CHECK(v != first);
        CHECK(e.splat(-0.0, dtype::float32, 1) != e.splat(0.0, dtype::float32, 1));
        CHECK(shape(3) != two);
        std::set<const node*> made;
        for (std::int64_t i = 0; i != 1000; ++i) made.insert(shape(4 + i).producer);
        CHECK(made.size() == 1000);
    }
    SECTION("for the nodes behind it, as far as they are of the same graph") {
        g.made.begin(g, g.output(), g.output());
        CHECK(zero() == first);
        CHECK(shape(2) == two);
        node* const before = g.first();
        g.made.begin(g, before, before);
        const value earlier = zero();
        CHECK(earlier != first);
        CHECK(earlier.producer->next == before);
        g.made.begin(g, g.relu, g.relu);
        CHECK(zero() == earlier);
        graph& region = g.create_region();
        node& x = region.create<builtin::placeholder>({});
        g.made.begin(region, &x, &x);
        CHECK(zero().producer->owner == &region);
        CHECK(shape(2).producer->owner == &region);
    }
    SECTION("until it is erased") {
        g.erase(*first.producer);
        g.erase(*two.producer);
        CHECK(zero().producer->owner == &g);
        CHECK(shape(2).producer->owner == &g);
    }
    SECTION("not after a failure") {
        e.unsupported("not this one");
        CHECK_FALSE(zero());
        CHECK_FALSE(shape(2));
    }
}

TEST_CASE("a failure sticks, and is told once", "[emit]") {
    relu_of_input g;
    const std::size_t size = g.size();
    CHECK_FALSE(g.e.unsupported("not this one"));
    CHECK_FALSE(g.e.make<toy::neg>(g.relu->operand(0)));
    CHECK(g.e.make_node<toy::sum>({g.relu->operand(0)}) == nullptr);
    CHECK_FALSE(g.e.unsupported("nor that"));
    REQUIRE(g.context.diagnostics().size() == 1);
    CHECK(g.context.diagnostics()[0].node == "act");
    CHECK(g.context.diagnostics()[0].op == "aten.relu.default");
    CHECK(g.context.diagnostics()[0].reason == "not this one");
    CHECK(g.size() == size);
    CHECK(g.e.dtype(value{}) == dtype::unknown);
}

TEST_CASE("what one rewrite makes is limited", "[emit]") {
    relu_of_input g;
    CHECK(g.e.may_unroll(max_unrolled_nodes));
    CHECK(g.e.may_compute(std::int64_t{1} << 26, dtype::float32));
    value v = g.relu->operand(0);
    for (std::int64_t i = 0; i != max_unrolled_nodes; ++i) v = g.e.make<toy::neg>(v);
    CHECK(v);
    CHECK_FALSE(g.e.make<toy::neg>(v));
    CHECK(g.context.diagnostics()[0].reason.find("unrolled into more than 65536 nodes") != std::string::npos);
    for (const std::int64_t elements : {(std::int64_t{1} << 26) + 1, std::int64_t{1} << 60, INT64_MAX}) {
        relu_of_input h;
        CHECK_FALSE(h.e.splat(0, dtype::float32, std::array{elements}));
        CHECK(h.context.diagnostics()[0].reason.find("above the limit of 268435456 bytes") !=
            std::string::npos);
        relu_of_input i;
        CHECK_FALSE(
            i.e.constant_of(dtype::float32, std::array{elements}, [](std::size_t) { return scalar(0); }));
    }
}

TEST_CASE("elements of another type than a constant's are refused", "[emit]") {
    const std::vector<double> numbers{1, 2, 3, 4};
    const std::array<std::int64_t, 1> shape{4};
    relu_of_input g;
    CHECK_FALSE(g.e.constant(dtype::float32, shape, std::span(numbers)));
    CHECK(g.context.diagnostics()[0].kind == error_kind::invalid);
    CHECK(g.context.diagnostics()[0].reason ==
        "a constant of float32 with 16 bytes is given 32 bytes: give an element of the type in which the dtype "
        "is stored for each place of the shape, or one number for all by `e.splat`");
    relu_of_input h;
    CHECK(element<double>(h.e.constant(dtype::float64, shape, std::span(numbers)), 3) == 4);
}

TEST_CASE("a constant is refused unless there is an element for each place of its shape", "[emit]") {
    const std::vector<float> numbers{1, 2, 3, 4};
    const std::array<std::int64_t, 2> shape{2, 2};
    for (const std::size_t given : {0U, 1U, 3U}) {
        relu_of_input g;
        CHECK_FALSE(g.e.constant(dtype::float32, shape, std::span(numbers).first(given)));
        CHECK(g.context.diagnostics()[0].reason.find("for each place of the shape") != std::string::npos);
    }
    relu_of_input h;
    CHECK(element<float>(h.e.constant(dtype::float32, shape, std::span(numbers)), 3) == 4);
}

TEST_CASE("the constants of a graph are limited together", "[emit]") {
    relu_of_input g;
    for (std::uint64_t bytes = 0; bytes != max_data_bytes; bytes += max_computed_bytes)
        static_cast<void>(g.allocate_data(max_computed_bytes));  // it is not touched, so it needs no memory
    CHECK_FALSE(g.e.splat(0, dtype::float32, std::array{std::int64_t{1}}));
    CHECK(g.context.diagnostics()[0].reason.find("more than the limit of 4294967296 bytes") !=
        std::string::npos);
}

TEST_CASE("operands without a type, and what inference refuses, are failures that name the op", "[emit]") {
    relu_of_input g;
    CHECK_FALSE(g.e.make<toy::cat>(list<value>{}));
    CHECK(g.context.diagnostics()[0].reason == "cannot make toy.cat.default: cat of no tensors");
    relu_of_input h;
    h.clear_meta(h.relu->operand(0));
    CHECK_FALSE(h.e.make<toy::neg>(h.relu->operand(0)));
    CHECK(h.context.diagnostics()[0].reason == "operand  of toy.neg.default has no `val`");
    CHECK(h.context.diagnostics()[0].kind == error_kind::invalid);
}

TEST_CASE("what fails beside a refused node is not told: it may be the consequence", "[emit]") {
    relu_of_input g;
    g.context.report(*g.relu, "no", error_kind::unsupported);
    g.clear_meta(g.relu->operand(0));
    CHECK_FALSE(g.e.make<toy::neg>(g.relu->operand(0)));
    CHECK(g.e.failed());
    CHECK(g.context.diagnostics().size() == 1);
}

TEST_CASE("what cannot be made of an empty tensor is no fault of the pass", "[emit]") {
    relu_of_input g;
    g.set_meta(g.relu->result(), {dtype::float32, {0, 3}});
    CHECK_FALSE(g.e.make<toy::cat>(list<value>{}));
    CHECK(g.context.diagnostics()[0].kind == error_kind::unsupported);
    CHECK(g.context.diagnostics()[0].reason ==
        "cannot make toy.cat.default: cat of no tensors: an empty tensor has no lowering; drop it from the "
        "model");
}

TEST_CASE("a copy of a node takes other operands and another type", "[emit]") {
    relu_of_input g;
    const value other = g.e.splat(1, dtype::float32, 2);
    const node* copy = g.e.clone(*g.relu, std::span(&other, 1), [](tensor_meta& meta) {
        meta.shape = {1, 1};
    });
    REQUIRE(copy != nullptr);
    CHECK(is<toy::relu>(*copy));  // although the pass does not declare it
    CHECK(copy->operand(0) == other);
    CHECK(copy->results[0].meta->shape == int_list{1, 1});
    CHECK(origin_name(*copy) == "act");
    const value none;
    CHECK(g.e.clone(*g.relu, std::span(&none, 1), [](tensor_meta&) {}) == nullptr);
    CHECK(g.e.failed());
}
