// SPDX-License-Identifier: MIT
// Tests of strings that are assembled from parts, and of numbers in as few digits as needed.

#include <catch2/catch.hpp>

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <random>
#include <string>
#include <string_view>

#include <headrace/base/strings.hpp>

using namespace headrace;

TEST_CASE("parts are joined", "[strings]") {
    CHECK(join_text() == "");
    CHECK(
        join_text("a", std::string("b"), std::string_view("c"), 'd', 1, -2, std::uint64_t{3}) == "abcd1-23");
    CHECK(join_text(INT64_MIN, ' ', UINT64_MAX) == "-9223372036854775808 18446744073709551615");
}

TEST_CASE("a number has the fewest digits that read back as it", "[strings]") {
    CHECK(shortest_text(0) == "0");
    CHECK(shortest_text(-0.0) == "-0");
    CHECK(shortest_text(12) == "12");
    CHECK(shortest_text(0.1) == "0.1");
    CHECK(shortest_text(0.0001) == "0.0001");
    CHECK(shortest_text(0.00001) == "1e-05");
    CHECK(shortest_text(1e14) == "100000000000000");
    CHECK(shortest_text(1e15) == "1e+15");
    CHECK(shortest_text(static_cast<double>(0.0039215688F)) == "0.003921568859368563");
    std::mt19937_64 engine(1);
    std::uniform_real_distribution<double> exponent(-300, 300);
    for (int i = 0; i != 1000; ++i) {
        const double number = std::pow(10, exponent(engine));
        CHECK(std::strtod(shortest_text(number).c_str(), nullptr) == number);
    }
}
