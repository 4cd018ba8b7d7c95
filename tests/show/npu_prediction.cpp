// SPDX-License-Identifier: MIT
// Tests the predicted cycles of graphs for Ethos-U against each other.

#include <catch2/catch.hpp>

#include <string>
#include <string_view>
#include <vector>

#include <headrace/io/text/graph_text.hpp>
#include <headrace/show/npu_prediction.hpp>

using namespace headrace;

namespace {

std::vector<predicted_operator> predicted(std::string_view npu, const std::string& body) {
    auto read = parse_graph_text("headrace 1\n\n" + body);
    if (!read) FAIL(read.error().message);
    return predict_cycles(*read.value().graph, *npu_named(npu));
}
double cycles_of_moving(
    std::string_view npu, std::string_view shape, std::string_view perms, std::string_view moved) {
    const auto all = predicted(npu,
        "%x: int8[" + std::string(shape) + "] = input\n%y: int8[" + std::string(moved) +
            "] = tosa.TRANSPOSE(%x, perms=[" + std::string(perms) + "])\noutput %y\n");
    REQUIRE(all.size() == 1);
    CHECK(all[0].op == "tosa.TRANSPOSE");
    CHECK(all[0].name == "y");
    return all[0].cycles;
}

}  // namespace

TEST_CASE("U55 exchanges two axes at a time, U85 moves all at once") {
    const auto three = [](std::string_view npu) {
        return cycles_of_moving(npu, "1, 32, 64, 3", "0, 3, 1, 2", "1, 3, 32, 64");
    };
    const auto two = [](std::string_view npu) {
        return cycles_of_moving(npu, "1, 32, 64, 3", "0, 1, 3, 2", "1, 32, 3, 64");
    };
    CHECK(three("ethos-u55-128") == 2 * two("ethos-u55-128"));
    CHECK(three("ethos-u85-256") == two("ethos-u85-256"));
}

TEST_CASE("axes of size 1 cost nothing") {
    CHECK(cycles_of_moving("ethos-u55-128", "1, 32, 3", "1, 2, 0", "32, 3, 1") ==
        cycles_of_moving("ethos-u55-128", "1, 32, 3", "0, 1, 2", "1, 32, 3"));
}
