// SPDX-License-Identifier: MIT
// Tests io/pt2/symbols.hpp.
#include <catch2/catch.hpp>

#include <memory_resource>
#include <string>

#include <headrace/io/pt2/symbols.hpp>

namespace {

using namespace headrace;

constexpr const char* s0 = "Symbol('s0', positive=True, integer=True)";
constexpr const char* s1 = "Symbol('s1', positive=True, integer=True)";

/// x[s0, 4 * s1], y[s0, 3], exported with s0 = 2 and s1 = 5; s0 is at most 8, s1 at least 3.
pt2::symbol_table table() {
    pt2::symbol_table symbols;
    std::pmr::monotonic_buffer_resource arena;
    json_parser json(&arena);
    const simdjson::padded_string ranges(
        std::string(R"({"s0": {"min_val": 2, "max_val": 8}, "s1": {"min_val": 3, "max_val": null}, )"
                    R"("4*s1": {"min_val": 12, "max_val": null}})"));
    symbols.read_ranges(ranges, json);
    symbols.add_size("x:0", true, s0, 2);
    symbols.add_size("x:1", false, std::string("Mul(Integer(4), ") + s1 + ")", 20);
    symbols.add_size("y:0", true, s0, 2);
    return symbols;
}
std::string chosen(const size_choices& choices) {
    pt2::symbol_table symbols = table();
    try {
        symbols.choose(choices);
    } catch (const failure& f) {
        return std::string(f.what.message);
    }
    std::string values;
    for (const dynamic_size& s : symbols.symbols())
        values += s.symbol + " " + (s.value ? std::to_string(*s.value) : "open") + " ";
    return values;
}

}  // namespace

TEST_CASE("dynamic sizes are chosen by axis, symbol or as the batch", "[io][pt2]") {
    CHECK(chosen({{{"x:0", 3}, {"x:1", 16}}}) == "s0 3 s1 4 ");
    CHECK(chosen({{{"y:0", 3}, {"s1", 4}}}) == "s0 3 s1 4 ");
    CHECK(chosen({{{"batch", 8}, {"s1", 3}}}) == "s0 8 s1 3 ");
    CHECK(chosen({{{"batch", 1}, {"s1", 3}}}) == "s0 1 s1 3 ");  // PyTorch does not require 2 either
    CHECK(chosen({{{"x:0", 3}, {"y:0", 3}, {"s1", 3}}}) == "s0 3 s1 3 ");
    CHECK(chosen({{}, true}) == "s0 2 s1 5 ");
    CHECK(chosen({{{"x:1", 12}}, true}) == "s0 2 s1 3 ");
}

TEST_CASE("a choice of sizes that does not fit is refused", "[io][pt2]") {
    const auto says = [](const size_choices& choices, const char* part) {
        CAPTURE(chosen(choices));
        return chosen(choices).find(part) != std::string::npos;
    };
    CHECK(says({}, "s0 (x:0, y:0) is 2 to 8, s1 (x:1) is 3 or more"));
    CHECK(says({}, "--dim x:0=SIZE"));
    CHECK(says({{{"s0", 1}}}, "not chosen: s1 (x:1)"));
    CHECK(says({{{"x:0", 9}}}, "x:0 is out of range: s0 (x:0, y:0) is 2 to 8"));
    CHECK(says({{{"s1", 2}}}, "out of range"));
    CHECK(says({{{"x:1", 18}}}, "x:1 cannot be 18, but 16 or 20"));
    CHECK(says({{{"x:0", 3}, {"y:0", 4}}}, "y:0 is 3 then, not 4"));
    CHECK(says({{{"x:0", 3}, {"s0", 4}}}, "chosen twice"));
    CHECK(says({{{"z:0", 3}}}, "no dynamic size 'z:0'; it has x:0, x:1, y:0"));
    CHECK(says({{{"x:1", INT64_MIN}}}, ""));
}

TEST_CASE("the batch is not ambiguous", "[io][pt2]") {
    pt2::symbol_table symbols = table();
    symbols.add_size("z:0", true, s1, 5);
    CHECK_THROWS_AS(symbols.choose({.sizes = {{"batch", 3}}}), failure);
    pt2::symbol_table fixed;
    fixed.choose({});
    CHECK(fixed.empty());
    CHECK_THROWS_AS(fixed.choose({.sizes = {{"batch", 3}}}), failure);
}

TEST_CASE("formulas have the values of the symbols", "[io][pt2]") {
    pt2::symbol_table symbols = table();
    symbols.choose({{{"x:0", 3}, {"x:1", 16}}});
    CHECK(symbols.evaluate(std::string("Mul(") + s0 + ", " + s1 + ")") == scalar(12));
}
