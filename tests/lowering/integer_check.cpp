// SPDX-License-Identifier: MIT
// Tests what a lowering reports about integers that may not fit in 32 bits, and what it fixes.

#include <catch2/catch.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <headrace/io/text/graph_text.hpp>
#include <headrace/lowering/integer_check.hpp>
#include <headrace/lowering/lower.hpp>
#include <headrace/run/execution.hpp>

using namespace headrace;

namespace {

program graph_of(std::string_view nodes) {
    auto parsed = parse_graph_text("headrace 1\n" + std::string(nodes));
    if (!parsed) FAIL(parsed.error().message);
    return std::move(parsed).value();
}

constexpr std::string_view modulo = R"(
    %x: int64[2] = input
    %y: int64[2] = aten.remainder.Scalar(%x, other=100)
    output %y)";

}  // namespace

TEST_CASE("what is assumed of inputs is a warning, and --strict refuses it", "[integers]") {
    const auto lowered = lower_to_tosa(graph_of(modulo));
    REQUIRE(lowered);
    REQUIRE(lowered.value().warnings.size() == 1);
    CHECK(lowered.value().warnings[0] ==
        "int64 becomes int32, as TOSA 1.0 has no INT64; this assumes that input 'x' (int64) holds values in "
        "[-2147483648, 2147483647]; --strict refuses it");
    lowering_options strict;
    strict.strict = true;
    const auto refused = lower_to_tosa(graph_of(modulo), strict);
    REQUIRE(!refused);
    CHECK(refused.error().kind == error_kind::unsupported);
    CHECK(std::string(refused.error().message).find("x (") != std::string::npos);
}

TEST_CASE("what does not fit for some input is refused by name", "[integers]") {
    const auto refused = lower_to_tosa(graph_of(R"(
        %x: float32[2, 5] = input
        %p: int64[2] = aten.argmax.default(%x, dim=-1)
        %c: int64[] = constant [1073741824]
        %y: int64[2] = aten.mul.Tensor(%p, %c)
        output %y)"));
    REQUIRE(!refused);
    CHECK(
        std::string(refused.error().message).find("its values are in [0, 4294967296]") != std::string::npos);
}

TEST_CASE("the least int32 is its own negation and magnitude", "[integers]") {
    const program p = graph_of(R"(
        %x: int32[3] = input
        %n: int32[3] = aten.neg.default(%x)
        %a: int32[3] = aten.abs.default(%x)
        output %n, %a)");
    const auto check = check_integers(*p.graph, true);
    REQUIRE(check);
    CHECK(check.value().refusals.empty());
    const std::vector<tensor> inputs{
        tensor::of(dtype::int32, {3}, std::vector<double>{-2147483648.0, 5, -7})};
    const auto before = execute(*p.graph, inputs);
    REQUIRE(prepare_integers(*p.graph));
    const auto after = execute(*p.graph, inputs);
    REQUIRE(before);
    REQUIRE(after);
    for (std::size_t i = 0; i != 2; ++i) {
        CHECK(after.value()[i].to<double>() == before.value()[i].to<double>());
        CHECK(after.value()[i].to<double>()[0] == -2147483648.0);
    }
    CHECK(p.graph->census().count(info_of<aten::where_self>) == 2);
}

TEST_CASE("a negation of what is never the least int32 stays as it is", "[integers]") {
    const program p = graph_of(R"(
        %x: int32[3] = input
        %m: int32[3] = aten.clamp.default(%x, min=-9)
        %n: int32[3] = aten.neg.default(%m)
        output %n)");
    REQUIRE(prepare_integers(*p.graph));
    CHECK(p.graph->census().count(info_of<aten::where_self>) == 0);
}

TEST_CASE("constants are computed with 64 bits before they are narrowed", "[integers]") {
    const auto lowered = lower_to_tosa(graph_of(R"(
        %x: int32[4] = input
        %i: int64[4] = aten.arange.default(end=4)
        %large: int64[4] = aten.mul.Scalar(%i, other=1500000000)
        %small: int64[4] = aten.floor_divide.Scalar(%large, other=1000000000)
        %s: int32[4] = aten._to_copy.default(%small, dtype=int32)
        %c: int32[4] = aten.clamp.default(%x, min=0, max=5)
        %y: int32[4] = aten.add.Tensor(%c, %s)
        output %y)"));
    if (!lowered) FAIL(lowered.error().message);
    CHECK(lowered.value().warnings.empty());
}
