// SPDX-License-Identifier: MIT
// Tests the kernels of TOSA's operators.
#include "kernel_test.hpp"

#include <headrace/dialect/tosa.hpp>

using namespace headrace;

namespace {

constexpr dtype real = dtype::float32;
constexpr dtype i32 = dtype::int32;

tensor bytes_of(eval::extents shape, const integers& numbers) {
    return whole(dtype::int8, std::move(shape), numbers);
}
tensor shape_of(const integers& numbers) {
    return whole(dtype::shape, {static_cast<std::int64_t>(numbers.size())}, numbers);
}

}  // namespace

TEST_CASE("RESCALE rounds as its mode says and saturates") {
    kernel_test k;
    const value x = k(whole(i32, {4}, {3, -3, 1000, 5}));
    const value half = k(whole(i32, {1}, {1 << 30}));
    const value shift = k(bytes_of({1}, {31}));
    const value in_zp = k(whole(i32, {1}, {0}));
    const value out_zp = k(bytes_of({1}, {1}));
    CHECK(k.numbers<tosa::rescale>({x, half, shift, in_zp, out_zp}, {dtype::int8, {4}, {}}) ==
        reals{3, 0, 127, 4});
    const value small = k(whole(i32, {1}, {1 << 30}));
    const value far = k(bytes_of({1}, {32}));
    const value odd = k(whole(i32, {2}, {6, -6}));
    const value zero = k(bytes_of({1}, {0}));
    CHECK(k.numbers<tosa::rescale>({odd, small, far, in_zp, zero, true, rounding_mode::single_round},
              {dtype::int8, {2}, {}}) == reals{2, -1});
    CHECK(k.numbers<tosa::rescale>({odd, small, far, in_zp, zero, true, rounding_mode::double_round},
              {dtype::int8, {2}, {}}) == reals{2, -2});
}

TEST_CASE("RESCALE reads and writes bytes as unsigned, and scales channels") {
    kernel_test k;
    const value x = k(bytes_of({1, 2}, {-56, -56}));  // 200 as unsigned
    const value multipliers = k(whole(dtype::int16, {2}, {1 << 14, 1 << 13}));
    const value shifts = k(bytes_of({2}, {14, 14}));
    const value in_zp = k(bytes_of({1}, {-128}));  // 128
    const value out_zp = k(bytes_of({1}, {0}));
    const auto mode = rounding_mode::single_round;
    CHECK(k.numbers<tosa::rescale>({x, multipliers, shifts, in_zp, out_zp, false, mode, true, true, true},
              {dtype::int8, {1, 2}, {}}) == reals{72, 36});
}

TEST_CASE("TABLE looks up and interpolates") {
    kernel_test k;
    integers squares;
    for (std::int64_t i = -128; i != 128; ++i) squares.push_back(i / 2);
    CHECK(k.numbers<tosa::table>({k(bytes_of({3}, {-128, 0, 127})), k(bytes_of({256}, squares))},
              {dtype::int8, {3}, {}}) == reals{-64, 0, 63});
    integers ramp;
    for (std::int64_t i = -256; i != 257; ++i) ramp.push_back(i);
    CHECK(k.numbers<tosa::table>(
              {k(whole(dtype::int16, {3}, {-32768, 1, 32767})), k(whole(dtype::int16, {513}, ramp))},
              {i32, {3}, {}}) == reals{-32768, 1, 32767});
}

TEST_CASE("CAST rounds half to even and saturates") {
    kernel_test k;
    const value x = k(f32({5}, {2.5, -3.5, 300, -1e30, 0.4}));
    CHECK(k.numbers<tosa::cast>({x, dtype::int8}, {dtype::int8, {5}, {}}) == reals{2, -4, 127, -128, 0});
    CHECK(
        k.numbers<tosa::cast>({k(whole(i32, {1}, {300})), dtype::int8}, {dtype::int8, {1}, {}}) == reals{44});
    CHECK(k.numbers<tosa::cast>({k(whole(i32, {1}, {2})), dtype::boolean}, {dtype::boolean, {1}, {}}) ==
        reals{1});
}

TEST_CASE("TOSA: integer arithmetic") {
    kernel_test k;
    const value a = k(whole(i32, {3}, {7, -7, 6}));
    const value b = k(whole(i32, {3}, {2, 2, -4}));
    const tensor_meta meta{i32, {3}, {}};
    CHECK(k.numbers<tosa::intdiv>({a, b}, meta) == reals{3, -3, -1});
    CHECK(k.numbers<tosa::mul>({a, b, k(bytes_of({1}, {2}))}, meta) == reals{4, -3, -6});
    CHECK(k.numbers<tosa::clz>({a}, meta) == reals{29, 0, 29});
    CHECK(k.numbers<tosa::bitwise_not>({a}, meta) == reals{-8, 6, -7});
    const value by = k(whole(i32, {1}, {1}));
    CHECK(k.numbers<tosa::arithmetic_right_shift>({a, by, true}, meta) == reals{4, -3, 3});
    CHECK(k.numbers<tosa::arithmetic_right_shift>({a, by, false}, meta) == reals{3, -4, 3});
    CHECK(k.numbers<tosa::logical_right_shift>({a, by}, meta) == reals{3, 2147483644, 3});
    const value zero = k(bytes_of({1}, {0}));
    const value least = k(bytes_of({2}, {-128, 5}));
    CHECK(k.numbers<tosa::negate>({least, zero, zero}, {dtype::int8, {2}, {}}) == reals{127, -5});
}

TEST_CASE("TOSA: NaN propagates or is ignored") {
    kernel_test k;
    const value a = k(f32({2}, {not_a_number, 1}));
    const value b = k(f32({2}, {3, 2}));
    const tensor_meta meta{real, {2}, {}};
    check_close(k.numbers<tosa::maximum>({a, b}, meta), {not_a_number, 2});
    CHECK(k.numbers<tosa::maximum>({a, b, nan_mode::ignore}, meta) == reals{3, 2});
    check_close(k.numbers<tosa::clamp>({a, -1.0, 0.5}, meta), {not_a_number, 0.5});
    CHECK(k.numbers<tosa::clamp>({a, -1.0, 0.5, nan_mode::ignore}, meta) == reals{-1, 0.5});
    check_close(k.numbers<tosa::reduce_max>({a, 0}, {real, {1}, {}}), {not_a_number});
    CHECK(k.numbers<tosa::reduce_min>({a, 0, nan_mode::ignore}, {real, {1}, {}}) == reals{1});
    CHECK(k.numbers<tosa::argmax>({a, 0}, {i32, {}, {}}) == reals{0});
    CHECK(k.numbers<tosa::argmax>({a, 0, nan_mode::ignore}, {i32, {}, {}}) == reals{1});
}

TEST_CASE("CONV2D takes zero points off, and pads with them") {
    kernel_test k;
    const value x = k(bytes_of({1, 2, 2, 1}, {2, 3, 4, 5}));
    const value w = k(bytes_of({1, 2, 2, 1}, {1, 1, 1, 1}));
    const value bias = k(whole(i32, {1}, {100}));
    const value x_zp = k(bytes_of({1}, {1}));
    const value w_zp = k(bytes_of({1}, {0}));
    CHECK(k.numbers<tosa::conv2d>({x, w, bias, x_zp, w_zp, {1, 0, 1, 0}, {1, 1}, {1, 1}, false, i32},
              {i32, {1, 2, 2, 1}, {}}) == reals{101, 103, 104, 110});
}

TEST_CASE("DEPTHWISE_CONV2D and TRANSPOSE_CONV2D") {
    kernel_test k;
    const value x = k(f32({1, 1, 1, 2}, {1, 10}));
    const value zero = k(f32({1}, {0}));
    const value w = k(f32({1, 1, 2, 2}, {1, 2, 3, 4}));
    const value none = k(f32({4}, {0, 0, 0, 0}));
    CHECK(
        k.numbers<tosa::depthwise_conv2d>({x, w, none, zero, zero, {0, 0, 0, 0}, {1, 1}, {1, 1}, false, real},
            {real, {1, 1, 1, 4}, {}}) == reals{1, 2, 30, 40});
    const value row = k(f32({1, 1, 2, 1}, {1, 2}));
    const value kernel = k(f32({1, 1, 3, 1}, {1, 10, 100}));
    CHECK(
        k.numbers<tosa::transpose_conv2d>({row, kernel, zero, zero, zero, {0, 0, -1, 0}, {1, 2}, false, real},
            {real, {1, 1, 4, 1}, {}}) == reals{10, 102, 20, 200});
}

TEST_CASE("MATMUL takes zero points off") {
    kernel_test k;
    const value a = k(bytes_of({1, 1, 2}, {3, 4}));
    const value b = k(bytes_of({1, 2, 1}, {5, 6}));
    const value one = k(bytes_of({1}, {1}));
    CHECK(k.numbers<tosa::matmul>({a, b, one, one, i32}, {i32, {1, 1, 1}, {}}) == reals{2 * 4 + 3 * 5});
}

TEST_CASE("TOSA: pooling") {
    kernel_test k;
    const value x = k(bytes_of({1, 2, 2, 1}, {1, 2, 3, 5}));
    const value zero = k(bytes_of({1}, {0}));
    CHECK(k.numbers<tosa::avg_pool2d>({x, zero, zero, {2, 2}, {1, 1}, {0, 0, 0, 0}, i32},
              {dtype::int8, {1, 1, 1, 1}, {}}) == reals{3});
    CHECK(k.numbers<tosa::avg_pool2d>({x, zero, zero, {2, 2}, {2, 2}, {1, 1, 1, 1}, i32},
              {dtype::int8, {1, 2, 2, 1}, {}}) == reals{1, 2, 3, 5});
    CHECK(k.numbers<tosa::max_pool2d>({x, {2, 2}, {1, 1}, {0, 0, 0, 0}}, {dtype::int8, {1, 1, 1, 1}, {}}) ==
        reals{5});
}

TEST_CASE("RESIZE") {
    kernel_test k;
    const value x = k(bytes_of({1, 1, 2, 1}, {0, 4}));
    const value scale = k(shape_of({2, 2, 4, 2}));
    const value offset = k(shape_of({0, -1}));
    const value border = k(shape_of({0, 1}));
    CHECK(k.numbers<tosa::resize>({x, scale, offset, border, resize_mode::bilinear},
              {i32, {1, 1, 4, 1}, {}}) == reals{0, 8, 24, 32});
    CHECK(k.numbers<tosa::resize>({x, scale, offset, border, resize_mode::nearest},
              {dtype::int8, {1, 1, 4, 1}, {}}) == reals{0, 0, 4, 4});
    const value y = k(f32({1, 1, 2, 1}, {0, 4}));
    CHECK(k.numbers<tosa::resize>({y, scale, offset, border, resize_mode::bilinear},
              {real, {1, 1, 4, 1}, {}}) == reals{0, 1, 3, 4});
}

TEST_CASE("TOSA: layout") {
    kernel_test k;
    const value x = k(f32({2, 3}, {1, 2, 3, 4, 5, 6}));
    CHECK(k.numbers<tosa::transpose>({x, {1, 0}}, {real, {3, 2}, {}}) == reals{1, 4, 2, 5, 3, 6});
    CHECK(k.numbers<tosa::reverse>({x, 1}, {real, {2, 3}, {}}) == reals{3, 2, 1, 6, 5, 4});
    CHECK(k.numbers<tosa::slice>({x, k(shape_of({0, 1})), k(shape_of({2, 2}))}, {real, {2, 2}, {}}) ==
        reals{2, 3, 5, 6});
    CHECK(k.numbers<tosa::tile>({x, k(shape_of({1, 2}))}, {real, {2, 6}, {}}) ==
        reals{1, 2, 3, 1, 2, 3, 4, 5, 6, 4, 5, 6});
    CHECK(k.numbers<tosa::pad>({x, k(shape_of({1, 0, 0, 1})), k(f32({1}, {9}))}, {real, {3, 4}, {}}) ==
        reals{9, 9, 9, 9, 1, 2, 3, 9, 4, 5, 6, 9});
    const value values = k(f32({1, 3, 2}, {1, 2, 3, 4, 5, 6}));
    const value at = k(whole(i32, {1, 2}, {2, 0}));
    CHECK(k.numbers<tosa::gather>({values, at}, {real, {1, 2, 2}, {}}) == reals{5, 6, 1, 2});
    CHECK(k.numbers<tosa::scatter>({values, at, k(f32({1, 2, 2}, {7, 8, 9, 10}))}, {real, {1, 3, 2}, {}}) ==
        reals{9, 10, 3, 4, 7, 8});
    const auto outside =
        k.run_all<tosa::gather>({values, k(whole(i32, {1, 1}, {3}))}, {{real, {1, 1, 2}, {}}});
    CHECK(outside.error().message == "tested (tosa.GATHER): index 3 is out of range");
}

TEST_CASE("RFFT2D") {
    kernel_test k;
    const value x = k(f32({1, 1, 4}, {1, 2, 3, 4}));
    const auto results = k.run_all<tosa::rfft2d>({x}, {{real, {1, 1, 3}, {}}, {real, {1, 1, 3}, {}}});
    REQUIRE(results.has_value());
    check_close(results.value()[0].to<double>(), {10, -2, -2});
    check_close(results.value()[1].to<double>(), {0, 2, 0});
}
