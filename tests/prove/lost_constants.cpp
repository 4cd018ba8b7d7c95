// SPDX-License-Identifier: MIT
// Tests that infinities and huge numbers are reported if a quantized range cannot hold them.
#include <catch2/catch.hpp>

#include <limits>
#include <string>
#include <vector>

#include <headrace/dialect/aten.hpp>
#include <headrace/dialect/quantized_decomposed.hpp>
#include <headrace/prove/lost_constants.hpp>

#include "../support/program.hpp"

using namespace headrace;

namespace {

std::vector<std::string> lost_if_filled_with(double number, bool is_pooled = false) {
    testing::program p;
    const value x = p.input(dtype::float32, {2, 4});
    const value mask =
        p.constant(dtype::boolean, {2, 4}, {false, true, false, true, false, false, true, false});
    const value filled = p.make<aten::masked_fill_scalar>({x, mask, scalar(number)});
    p.g.set_name(filled, "filled");
    const value moved = p.make<aten::transpose_int>({filled, 0, 1});
    const value q =
        p.make<quantized_decomposed::quantize_per_tensor>({moved, 0.1, 0, -128, 127, dtype::int8});
    const value real =
        p.make<quantized_decomposed::dequantize_per_tensor>({q, 0.1, 0, -128, 127, dtype::int8});
    p.output(is_pooled ? p.make<aten::amax>({.self = real, .dim = {0}}) : real);
    p.finish();
    return prove::lost_constants(p.g);
}

}  // namespace

TEST_CASE("an infinity that a quantized range cannot hold is reported by its node") {
    const auto lost = lost_if_filled_with(-std::numeric_limits<double>::infinity());
    REQUIRE(lost.size() == 1);
    CHECK(lost[0].find("filled: -inf is outside of the quantized range [-12.8, 12.7") != std::string::npos);
    CHECK(lost_if_filled_with(-1e9).size() == 1);
    CHECK(lost_if_filled_with(-13).empty());
    // A maximum never is the smallest number.
    CHECK(lost_if_filled_with(-1e9, true).empty());
    CHECK(lost_if_filled_with(1e9, true).size() == 1);
}
