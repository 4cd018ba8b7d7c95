// SPDX-License-Identifier: MIT
// Tests how one op is followed through the passes by lowering a program of it.

#include <algorithm>
#include <string_view>
#include <vector>

#include <catch2/catch.hpp>

#include <headrace/show/op_support.hpp>
#include <headrace/show/op_trace.hpp>

using namespace headrace;

namespace {

std::vector<op_trace> traces_of_name(std::string_view name) {
    const auto ops = probed_ops();
    const auto op = std::ranges::find(ops, name, &op_info::name);
    REQUIRE(op != ops.end());
    return traces_of(**op);
}

}  // namespace

TEST_CASE("an op is followed to the ops that a device has", "[op_trace]") {
    const auto traces = traces_of_name("aten.silu.default");
    REQUIRE(traces.size() == 2);
    CHECK(traces[0].elements == "float32");
    CHECK(traces[0].passes.front().pass == "decompose_sigmoids");
    CHECK(traces[0].passes.back().ops == op_name_list{"tosa.SIGMOID", "tosa.MUL"});
    CHECK(traces[1].elements == "quantized");
    CHECK(traces[1].passes.back().ops == op_name_list{"tosa.TABLE"});
}

TEST_CASE("an op that cannot be lowered has no trace", "[op_trace]") {
    CHECK(traces_of_name("aten.bernoulli.p").empty());
}
