// SPDX-License-Identifier: MIT
// Tests the intervals of values, and which integers fit in 32 bits. tests/lowering/random_programs.cpp checks
// them on random programs.

#include <catch2/catch.hpp>

#include <string>
#include <string_view>

#include <headrace/infer/ranges/integer_width.hpp>
#include <headrace/infer/ranges/value_ranges.hpp>
#include <headrace/io/text/graph_text.hpp>

using namespace headrace;

namespace {

program graph_of(std::string_view nodes) {
    auto parsed = parse_graph_text("headrace 1\n" + std::string(nodes));
    if (!parsed) FAIL(parsed.error().message);
    return std::move(parsed).value();
}

/// Returns the interval of a program's first output.
interval range_of_output(std::string_view nodes) {
    const program p = graph_of(nodes);
    return value_ranges(*p.graph).held_by(p.graph->outputs()[0]);
}

/// Returns "mul (certain), add": the integers that may not fit.
std::string wide(std::string_view nodes) {
    const program p = graph_of(nodes);
    std::string text;
    for (const wide_integer& w : find_wide_integers(*p.graph).values) {
        text += (text.empty() ? "" : ", ") + std::string(w.which.producer->name());
        if (w.certain) text += " (certain)";
    }
    return text;
}
/// Returns the inputs that are assumed to fit in 32 bits, as the program computes with them.
std::string assumed(std::string_view nodes) {
    const program p = graph_of(nodes);
    std::string text;
    for (const assumed_input& input : find_wide_integers(*p.graph).inputs) {
        if (input.computed_with) text += (text.empty() ? "" : ", ") + std::string(input.which->name());
    }
    return text;
}

}  // namespace

TEST_CASE("intervals are computed with", "[value_ranges]") {
    CHECK(interval{1, 2} + interval{-3, 4} == interval{-2, 6});
    CHECK(interval{1, 2} - interval{-3, 4} == interval{-3, 5});
    CHECK(interval{-1, 2} * interval{-3, 4} == interval{-6, 8});
    CHECK(interval{0, 0} * interval{} == interval{0, 0});
    CHECK(interval{-7, 3} / interval{0, 1} == interval{});
    CHECK(magnitude({-7, 3}) == interval{0, 7});
    CHECK(remainder_downward({-1000, 1000}, number(100)) == interval{0, 99});
    CHECK(remainder_downward({-1000, 1000}, number(-100)) == interval{-99, 0});
    CHECK(remainder_downward({0, 7}, number(100)) == interval{0, 7});
    CHECK(remainder_toward_zero({-1000, 5}, number(100)) == interval{-99, 5});
    CHECK(bitwise_and({-1000, 1000}, {0, 255}) == interval{0, 255});
    CHECK(bitwise_or({-3, 4}, {0, 9}) == interval{-16, 15});
    CHECK(bitwise_or(interval_of(dtype::int32), number(1)) == interval_of(dtype::int32));
    CHECK(product_of({0, 3}, 4) == interval{0, 81});
    CHECK(product_of({-1, 1}, 40) == interval{-1, 1});
    CHECK(interval_of(dtype::int64).contains(static_cast<bound>(INT64_MAX)));
    CHECK(!interval_of(dtype::int64).contains(static_cast<bound>(INT64_MAX) + 1));
}

TEST_CASE("values have the intervals of what they are made of", "[value_ranges]") {
    CHECK(range_of_output(R"(
        %x: float32[2, 5] = input
        %p: int64[2] = aten.argmax.default(%x, dim=-1)
        %c: int64[] = constant [100]
        %y: int64[2] = aten.mul.Tensor(%p, %c)
        output %y)") == interval{0, 400});
    CHECK(range_of_output(R"(
        %a: int64[6] = aten.arange.start_step(start=10, end=-2, step=-2)
        output %a)") == interval{0, 10});
    CHECK(range_of_output(R"(
        %x: uint8[3, 4] = input
        %s: int64[3] = aten.sum.dim_IntList(%x, dim=[1])
        output %s)") == interval{0, 1020});
    CHECK(range_of_output(R"(
        %x: int8[3, 4] = input
        %y: int8[3, 4] = aten.neg.default(%x)
        output %y)") == interval{-128, 127});
    CHECK(range_of_output(R"(
        %x: int64[3] = input
        %y: int64[3] = aten.clamp.default(%x, min=-2, max=7)
        %z: int64[3] = aten.floor_divide.Scalar(%y, other=3)
        output %z)") == interval{-1, 2});
    CHECK(range_of_output(R"(
        %x: float32[2] = constant [0.5, 2.5]
        %s: int8[] = aten.sum.default(%x, dtype=int8)
        output %s)") == interval{0, 4});
    CHECK(range_of_output(R"(
        %x: bool[3, 2] = input
        %s: int64[] = aten.trace.default(%x)
        output %s)") == interval{0, 2});
    CHECK(range_of_output(R"(
        %x: int64[] = constant [4]
        %y: int64[] = aten.addcmul.default(%x, %x, %x, value=-1.5)
        output %y)") == interval{-12, -12});
}

TEST_CASE("a loop's counter stays below the limit of its condition", "[value_ranges]") {
    const interval counted = range_of_output(R"(
        %start: int64[] = constant [0]
        %x: float32[4] = input
        %i: int64[], %y: float32[4] = higher_order.while_loop(cond_graph={
            %i0: int64[] = input
            %x0: float32[4] = input
            %more: bool[] = aten.lt.Scalar(%i0, other=10)
            output %more
        }, body_graph={
            %i1: int64[] = input
            %x1: float32[4] = input
            %next: int64[] = aten.add.Scalar(%i1, other=1)
            %y1: float32[4] = aten.add.Tensor(%x1, %x1)
            output %next, %y1
        }, carried_inputs=[%start, %x], additional_inputs=[])
        output %i)");
    CHECK(counted == interval{0, 10});
}

TEST_CASE("integers are wide where their numbers matter", "[integer_width]") {
    constexpr std::string_view scaled_position = R"(
        %x: float32[2, 5] = input
        %p: int64[2] = aten.argmax.default(%x, dim=-1)
        %y: int64[2] = aten.bitwise_left_shift.Tensor_Scalar(%p, other=30)
        output %y)";
    CHECK(wide(scaled_position) == "y (certain)");
    constexpr std::string_view square = R"(
        %x: int64[2] = input
        %y: int64[2] = aten.mul.Tensor(%x, %x)
        %z: int64[2] = aten.add.Scalar(%y, other=1)
        output %z)";
    CHECK(wide(square) == "y, z");
    CHECK(assumed(square) == "x");
    constexpr std::string_view modulo = R"(
        %x: int64[2] = input
        %y: int64[2] = aten.remainder.Scalar(%x, other=100)
        output %y)";
    CHECK(wide(modulo).empty());
    CHECK(assumed(modulo) == "x");
    constexpr std::string_view wrapping = R"(
        %x: int32[2] = input
        %w: int32[2] = input
        %y: int32[2] = aten.add.Tensor(%x, %w)
        output %y)";
    CHECK(wide(wrapping) == "y");
    CHECK(assumed(wrapping).empty());
}

TEST_CASE("indices and masks are no reason to warn", "[integer_width]") {
    for (const std::string_view usual : {
             R"(%x: float32[5] = input
                %limits: float32[4] = input
                %bin: int64[5] = aten.bucketize.Tensor(%x, %limits)
                %twice: int64[5] = aten.mul.Scalar(%bin, other=1000)
                %n: int64[] = aten.count_nonzero.default(%x)
                %square: int64[] = aten.mul.Tensor(%n, %n)
                output %twice, %square)",
             R"(%ids: int64[2, 6] = input
                %table: float32[100, 4] = input
                %e: float32[2, 6, 4] = aten.embedding.default(%table, %ids)
                %twice: int64[2, 6] = aten.mul.Scalar(%ids, other=2)
                output %e, %twice)",
             R"(%mask: int64[2, 6] = input
                %table: float32[100, 4] = input
                %sum: int64[2, 6] = aten.cumsum.default(%mask, dim=-1)
                %p: int64[2, 6] = aten.sub.Scalar(%sum, other=1)
                %none: bool[2, 6] = aten.eq.Scalar(%mask, other=0)
                %q: int64[2, 6] = aten.masked_fill.Scalar(%p, %none, value=1)
                %e: float32[2, 6, 4] = aten.embedding.default(%table, %q)
                output %e)",
             R"(%mask: int64[2, 6] = input
                %no: int64[2, 6] = aten.rsub.Scalar(%mask, other=1)
                %f: float32[2, 6] = aten._to_copy.default(%no, dtype=float32)
                output %f)",
             R"(%ids: int64[2, 6] = input
                %flat: int64[12] = aten.view.default(%ids, size=[12])
                %low: int64[12] = aten.bitwise_and.Scalar(%flat, other=255)
                output %flat, %low)"}) {
        CHECK(wide(usual).empty());
        CHECK(assumed(usual).empty());
    }
}

TEST_CASE("nodes that need 64 bits stay on the host", "[integer_width]") {
    const program p = graph_of(R"(
        %x: int64[3] = input
        %table: float32[100, 4] = input
        %r: int64[3] = aten.remainder.Scalar(%x, other=100)
        %e: float32[3, 4] = aten.embedding.default(%table, %r)
        output %e)");
    const auto host = find_host_integers(*p.graph);
    std::string names;
    for (const node& n : p.graph->nodes()) names += host.contains(&n) ? std::string(n.name()) : "";
    CHECK(names == "r");
}
