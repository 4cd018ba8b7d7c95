// SPDX-License-Identifier: MIT
// Tests choose_qparams and quantized.
#include <catch2/catch.hpp>

#include <limits>

#include <headrace/quantization/tensor_scheme.hpp>

using namespace headrace;

namespace {

const tensor_scheme affine{};
const tensor_scheme weight{.lowest = -127, .symmetric = true};
const tensor_scheme int16{
    .type = dtype::int16, .lowest = -32767, .highest = 32767, .symmetric = true, .smallest_scale = 0x1p-12};

}  // namespace

TEST_CASE("an affine range is spread over all integers, and 0 is one of them") {
    CHECK(choose_qparams({-1, 3}, affine) == qparams{4.0F / 255, -64});
    CHECK(choose_qparams({1, 3}, affine) == qparams{3.0F / 255, -128});
    CHECK(choose_qparams({-3, -1}, affine) == qparams{3.0F / 255, 127});
}

TEST_CASE("a constant tensor has a scale, and so has one of zeros") {
    CHECK(choose_qparams({2, 2}, affine) == qparams{2.0F / 255, -128});
    CHECK(choose_qparams({0, 0}, affine) == qparams{0x1p-16, -128});
    CHECK(choose_qparams({}, affine) == qparams{1, 0});
}

TEST_CASE("a symmetric range has its zero in the middle") {
    CHECK(choose_qparams({-2, 1}, weight) == qparams{2.0F / 127, 0});
    CHECK(choose_qparams({-2, 16}, int16) == qparams{16.0F / 32767, 0});
    CHECK(choose_qparams({-1, 1}, int16) == qparams{0x1p-12, 0});  // the smallest scale
}

TEST_CASE("numbers are rounded half to even, by the inverse of the scale, and saturate") {
    CHECK(quantized(2.5F, 1, 0, affine) == 2);
    CHECK(quantized(3.5F, 1, 0, affine) == 4);
    CHECK(quantized(1000, 1, 0, affine) == 127);
    CHECK(quantized(-std::numeric_limits<float>::infinity(), 1, 5, affine) == -128);
    CHECK(quantized(std::numeric_limits<float>::quiet_NaN(), 1, 5, affine) == 0);
}

TEST_CASE("a bias that does not fit keeps its sign") {
    const tensor_scheme bias{.type = dtype::int32, .lowest = -2147483647, .highest = 2147483647};
    CHECK(quantized(1e20F, 1, 0, bias) == 2147483647);
    CHECK(quantized(-1e20F, 1, 0, bias) == -2147483647);
}
