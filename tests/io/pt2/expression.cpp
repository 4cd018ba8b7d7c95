// SPDX-License-Identifier: MIT
// Tests io/pt2/expression.hpp.
#include <catch2/catch.hpp>

#include <string>

#include <headrace/io/file/json.hpp>
#include <headrace/io/pt2/expression.hpp>

namespace {

using namespace headrace;

scalar value_of(std::string_view text) {
    return pt2::evaluate_expression(text, [](std::string_view s) {
        return s == "s0" ? std::optional<std::int64_t>(6)
            : s == "s1"  ? std::optional<std::int64_t>(-7)
                         : std::nullopt;
    });
}
error error_of(std::string_view text) {
    try {
        static_cast<void>(value_of(text));
    } catch (const failure& f) {
        return f.what;
    }
    return {error_kind::invalid, "none"};
}

constexpr const char* s0 = "Symbol('s0', positive=True, integer=True)";
constexpr const char* s1 = "Symbol('s1', integer=True)";

}  // namespace

TEST_CASE("formulas of sizes: integers", "[io][pt2]") {
    const auto of = [](const std::string& function, const std::string& operands) {
        return value_of(function + "(" + operands + ")");
    };
    CHECK(value_of(s0) == scalar(6));
    CHECK(of("Add", std::string(s0) + ", Integer(-2), " + s1) == scalar(-3));
    CHECK(of("Mul", std::string("Integer(4), ") + s0) == scalar(24));
    CHECK(of("Pow", std::string(s1) + ", Integer(3)") == scalar(-343));
    CHECK(of("FloorDiv", std::string(s1) + ", Integer(2)") == scalar(-4));
    CHECK(of("Mod", std::string(s1) + ", Integer(4)") == scalar(1));
    CHECK(of("ModularIndexing", std::string(s0) + ", Integer(2), Integer(2)") == scalar(1));
    CHECK(of("Max", std::string(s0) + ", Integer(9), " + s1) == scalar(9));
    CHECK(of("Min", std::string("Integer(9), ") + s0) == scalar(6));
    CHECK(of("Add", "FloorDiv(Add(" + std::string(s0) + ", Integer(-1)), Integer(2)), Integer(1)") ==
        scalar(3));
}

TEST_CASE("formulas of sizes: floats and truth", "[io][pt2]") {
    CHECK(value_of("Float('0.25', precision=53)") == scalar(0.25));
    CHECK(value_of(std::string("IntTrueDiv(Integer(3), ToFloat(") + s0 + "))") == scalar(0.5));
    CHECK(value_of("Mul(Rational(1, 4), Integer(3))") == scalar(0.75));
    CHECK(value_of("CeilToInt(Float('2.5', precision=53))") == scalar(3));
    CHECK(value_of("Pow(Integer(4), Float('0.5', precision=53))") == scalar(2.0));
    CHECK(value_of("And(true, StrictLessThan(Integer(1), Integer(2)))") == scalar(true));
    CHECK(value_of("Not(Equality(Integer(1), Integer(1)))") == scalar(false));
    CHECK(value_of("Where(GreaterThan(Integer(1), Integer(2)), Integer(3), Integer(4))") == scalar(4));
}

TEST_CASE("formulas of sizes: as torch 2.5 wrote them", "[io][pt2]") {
    CHECK(value_of("s0") == scalar(6));
    CHECK(value_of("2*s0 + 1") == scalar(13));
    CHECK(value_of("((s0 - 1)//2)*4 - s1") == scalar(15));
    CHECK(value_of("-s0**2 + 40") == scalar(4));
    CHECK(value_of("Max(1, s0, Mod(s1, 4))") == scalar(6));
    CHECK(value_of("TruncToInt(0.5*s0 + s0/4)") == scalar(4));
    CHECK(error_of("u0 + 1").kind == error_kind::unsupported);
    for (const char* broken :
        {"s0 +", "(s0", "s0)", "s0 s1", "2 3", "s0//0", "*s0", "s0.x", "s0 ** ", "9999999999*9999999999"})
        CHECK(error_of(broken).kind == error_kind::malformed);
    CHECK(error_of(std::string(100'000, '-')).message.find("deep") != std::string::npos);
    CHECK(error_of(std::string(100'000, '(')).message.find("deep") != std::string::npos);
    CHECK(pt2::symbols_of("2*s0 + Max(1, s1, 1.5e3*s0)") == std::vector<std::string_view>{"s0", "s1"});
}

TEST_CASE("formulas of sizes: what is wrong", "[io][pt2]") {
    const std::string large = "Integer(9223372036854775807)";
    CHECK(error_of("Symbol('u0', integer=True)").kind == error_kind::unsupported);
    CHECK(error_of("Symbol('u0', integer=True)").message.find("'u0'") != std::string::npos);
    CHECK(error_of("Gamma(Integer(1))").message.find("'Gamma'") != std::string::npos);
    for (const std::string& broken : {std::string(), std::string("Add("), std::string("Add()"),
             std::string("Integer(x)"), std::string("FloorDiv(Integer(1))"), std::string("Integer(1) "),
             std::string("Symbol('s0"), "Add(" + large + ", Integer(1))", "Mul(" + large + ", Integer(2))",
             std::string("FloorDiv(Integer(1), Integer(0))"), std::string("Mod(Integer(1), Integer(0))"),
             std::string("FloorDiv(Integer(-9223372036854775808), Integer(-1))")}) {
        CAPTURE(broken);
        CHECK(error_of(broken).kind == error_kind::malformed);
    }
    std::string deep;
    for (int i = 0; i != 100'000; ++i) deep += "Add(";
    CHECK(error_of(deep).message.find("deep") != std::string::npos);
}

TEST_CASE("formulas of sizes: their symbols", "[io][pt2]") {
    const std::string formula = std::string("Mul(") + s1 + ", " + s0 + ", " + s1 + ")";
    const auto found = pt2::symbols_of(formula);
    CHECK(found == std::vector<std::string_view>{"s1", "s0"});
    CHECK(pt2::symbols_of("Integer(3)").empty());
}
