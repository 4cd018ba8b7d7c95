// SPDX-License-Identifier: MIT
// Tests nodes whose op no dialect knows: what they keep, and how a dialect adopts them.

#include <catch2/catch.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include <headrace/infer/shape_builder.hpp>
#include <headrace/io/pt2/pt2.hpp>
//! [parse]
#include <headrace/io/text/graph_text.hpp>
//! [parse]
//! [adopt]
#include <headrace/io/program.hpp>
#include <headrace/io/text/opaque.hpp>
//! [adopt]
#include <headrace/ir/listing.hpp>
#include <headrace/ir/purity.hpp>
#include <headrace/op/custom.hpp>

namespace {

//! [adopt]
/// Makes the nodes whose ops a dialect has nodes of that dialect.
template <class Dialect>
headrace::result<void> adopt(headrace::program& p) {
    return headrace::resolve_opaque(*p.graph, &headrace::find_op<Dialect>);
}
//! [adopt]

//! [parse]
template <class Dialect>
headrace::result<headrace::program> parse_with(std::string_view text) {
    return headrace::parse_graph_text(text, {.find_own_op = &headrace::find_op<Dialect>});
}
//! [parse]

}  // namespace

using namespace headrace;

namespace mine {

enum class mode : std::uint8_t { fast, exact };
constexpr std::string_view enumerator_names(mode) { return "fast, exact"; }

struct window {
    std::int32_t height = 1, width = 1;
    mode rounding = mode::fast;
};
constexpr std::string_view member_names(const window&) { return "height, width, rounding"; }

struct dialect;
struct blend : op<dialect, "mine.blend.default", "self, others, weights, mode, window, level, labels"> {
    struct args {
        value self;
        list<std::optional<value>> others;
        list<double> weights{};
        mine::mode mode{};
        mine::window window{};
        std::int8_t level = 3;
        list<std::string_view> labels{};
    };
};
struct dialect : dialect_of<"mine", blend> {};

template <op_where<dialect> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    out.add(out.of(a.self));
    return {};
}

}  // namespace mine

namespace {

constexpr std::string_view text = R"(headrace 1

%x: float32[2] = input
%y: float32[2] = opaque mine.blend.default(self=%x, others=[none, %x], weights=[0.5, inf], mode=exact, window=[height=2, width=-3, rounding=exact], level=-128, labels=["a", "b\"%0"]) {origin, source="m.py:3"}
opaque mine.log(%y)
output %y
)";
constexpr std::string_view known_text = R"(headrace 1

%x: float32[2] = input
%y: float32[2] = mine.blend.default(%x, [none, %x], weights=[0.5, inf], mode=exact, window=[height=2, width=-3, rounding=exact], level=-128, labels=["a", "b\"%0"]) {origin, source="m.py:3"}
opaque mine.log(%y)
output %y
)";

program parsed(std::string_view from) {
    auto read = parse_graph_text(from);
    INFO((read ? std::pmr::string() : read.error().message));
    REQUIRE(read);
    return std::move(read).value();
}
std::string message_of(std::string_view from) {
    const auto read = parse_with<mine::dialect>(from);
    return read ? "" : std::string(read.error().message);
}

}  // namespace

TEST_CASE("an unknown op keeps its arguments in text and listings", "[opaque]") {
    const program p = parsed(text);
    CHECK(graph_text(p).value() == text);
    const std::string listed(listing(*p.graph));
    CHECK(listed.find("mine.blend.default(self=%x, others=[none, %x], weights=[0.5, inf], mode=exact") !=
        std::string::npos);
    CHECK(listed.find(R"(labels=["a", "b\"%0"]))") != std::string::npos);

    const program again = parsed(graph_text(p).value());
    for (const node& n : again.graph->nodes_of(info_of<builtin::opaque>))
        CHECK(has_effects(n) == (n.result_count == 0));
}

TEST_CASE("a dialect that knows the op takes its nodes over", "[opaque]") {
    program p = parsed(text);
    REQUIRE(adopt<mine::dialect>(p));
    CHECK(graph_text(p).value() == known_text);
    CHECK(graph_text(parse_with<mine::dialect>(text).value()).value() == known_text);
    CHECK_FALSE(parse_graph_text(known_text));  // without the dialect, the op needs the word opaque
}

TEST_CASE("what does not fit the op is an error with the node's name", "[opaque]") {
    const auto with = [](std::string_view call) {
        return message_of("headrace 1 %x: float32[2] = input %y: ? = opaque mine.blend.default(" +
            std::string(call) + ") output %y");
    };
    CHECK(with("%x, []").empty());
    CHECK(with("%x, [], foo=1").find("y (mine.blend.default): its arguments:1:") != std::string::npos);
    CHECK(with("%x, [], foo=1").find("has no argument 'foo'") != std::string::npos);
    CHECK(with("%x, [], mode=slow").find("takes one of fast, exact") != std::string::npos);
    CHECK(with("%x, [], level=128").find("takes an integer from -128 to 127") != std::string::npos);
    CHECK(with("%x, [], window=[1, 2, 3]").find("takes members such as [height=1, width=1, rounding=fast]") !=
        std::string::npos);
    CHECK(with("%x, [], window=[1, 2").find("brackets are not closed") == std::string::npos);
    CHECK(with("%x").find("'others' of mine.blend.default is missing") != std::string::npos);
}
