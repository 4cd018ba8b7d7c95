// SPDX-License-Identifier: MIT
// Tests ATen's elementwise kernels: functions, activations, arithmetic, comparisons, bits, selection.
#include "kernel_test.hpp"

#include <headrace/dialect/aten.hpp>

using namespace headrace;

namespace {
constexpr dtype real = dtype::float32;
}

TEST_CASE("functions of one tensor") {
    kernel_test k;
    const value x = k(f32({4}, {-1.5, 0, 0.5, 2.5}));
    const tensor_meta meta{real, {4}, {}};
    CHECK(k.numbers<aten::round>({x}, meta) == reals{-2, 0, 0, 2});
    CHECK(k.numbers<aten::abs>({x}, meta) == reals{1.5, 0, 0.5, 2.5});
    CHECK(k.numbers<aten::sign>({x}, meta) == reals{-1, 0, 1, 1});
    CHECK(k.numbers<aten::trunc>({x}, meta) == reals{-1, 0, 0, 2});
    CHECK(k.numbers<aten::frac>({x}, meta) == reals{-0.5, 0, 0.5, 0.5});
    CHECK(k.numbers<aten::relu_inplace>({x}, meta) == reals{0, 0, 0.5, 2.5});
    check_close(k.numbers<aten::exp>({x}, meta), {0.22313016, 1, 1.6487213, 12.182494});
    check_close(k.numbers<aten::log>({x}, meta), {not_a_number, -infinity, -0.6931472, 0.9162907});
    check_close(k.numbers<aten::reciprocal>({x}, meta), {-2.0 / 3, infinity, 2, 0.4});
    check_close(k.numbers<aten::erf>({x}, meta), {-0.9661051, 0, 0.5204999, 0.9995930});
    check_close(k.numbers<aten::sigmoid>({x}, meta), {0.1824255, 0.5, 0.6224593, 0.9241418});
}

TEST_CASE("rounding to decimals computes in the type of the tensor") {
    // PyTorch's product of 0.45000002 and 10 is 4.5, a tie; the product of doubles is larger.
    kernel_test k;
    const tensor_meta meta{real, {4}, {}};
    const value x = k(f32({4}, {-0.45000002, 0.15, 0.45000002, 0.75}));
    check_close(k.numbers<aten::round_decimals>({x, 1}, meta), {-0.4, 0.2, 0.4, 0.8});
    const value large = k(f32({4}, {25, -15, 1e30, 3e38}));
    check_close(k.numbers<aten::round_decimals>({large, -1}, meta), {20, -20, 1e30, 3e38});
    CHECK(k.numbers<aten::round_decimals>({large, 3}, meta)[3] == infinity);
}

TEST_CASE("integers keep their dtype or become floats") {
    kernel_test k;
    const value x = k(whole(dtype::int32, {3}, {-3, 0, 2}));
    CHECK(k.numbers<aten::abs>({x}, {dtype::int32, {3}, {}}) == reals{3, 0, 2});
    CHECK(k.numbers<aten::neg>({x}, {dtype::int32, {3}, {}}) == reals{3, 0, -2});
    CHECK(k.numbers<aten::floor>({x}, {dtype::int32, {3}, {}}) == reals{-3, 0, 2});
    check_close(k.numbers<aten::exp>({x}, {real, {3}, {}}), {0.04978707, 1, 7.389056});
    const value large = k(whole(dtype::int64, {1}, {2147483647}));  // 2^31 as float32
    check_close(k.numbers<aten::cos>({large}, {real, {1}, {}}), {0.2378162});
    const value least = k(whole(dtype::int8, {1}, {-128}));
    CHECK(k.numbers<aten::neg>({least}, {dtype::int8, {1}, {}}) == reals{-128});
}

TEST_CASE("erfinv inverts erf up to its ends") {
    kernel_test k;
    const value x = k(f32({6}, {-1, -0.5, 0, 0.999, 1, 1.5}));
    check_close(k.numbers<aten::erfinv>({x}, {real, {6}, {}}),
        {-infinity, -0.47693628, 0, 2.3267562, infinity, not_a_number});
}

TEST_CASE("tests for NaN and infinity") {
    kernel_test k;
    const value x = k(f32({3}, {1, infinity, not_a_number}));
    const tensor_meta meta{dtype::boolean, {3}, {}};
    CHECK(k.numbers<aten::isnan>({x}, meta) == reals{0, 0, 1});
    CHECK(k.numbers<aten::isinf>({x}, meta) == reals{0, 1, 0});
    CHECK(k.numbers<aten::isfinite>({x}, meta) == reals{1, 0, 0});
    CHECK(k.numbers<aten::logical_not>({x}, meta) == reals{0, 0, 0});
    CHECK(k.numbers<aten::nan_to_num>({x, 7.0, {}, {}}, {real, {3}, {}})[2] == 7);
}

TEST_CASE("activations") {
    kernel_test k;
    const value x = k(f32({3}, {-2, 0.5, 7}));
    const tensor_meta meta{real, {3}, {}};
    CHECK(k.numbers<aten::hardtanh>({x, 0, 6}, meta) == reals{0, 0.5, 6});
    CHECK(k.numbers<aten::relu6>({x}, meta) == reals{0, 0.5, 6});
    check_close(k.numbers<aten::leaky_relu>({x, 0.1}, meta), {-0.2, 0.5, 7});
    check_close(k.numbers<aten::elu>({x}, meta), {-0.8646647, 0.5, 7});
    check_close(k.numbers<aten::gelu>({x}, meta), {-0.04550028, 0.3457312, 7});
    constexpr float infinite = std::numeric_limits<float>::infinity();
    const reals large = k.numbers<aten::gelu>({k(f32({3}, {infinite, 3e38F, -3e38F}))}, meta);
    CHECK(large == reals{infinite, 3e38F, 0});
    check_close(k.numbers<aten::gelu>({x, "tanh"}, meta), {-0.04540229, 0.3457140, 7});
    check_close(k.numbers<aten::silu>({x}, meta), {-0.2384058, 0.3112297, 6.9936228});
    check_close(k.numbers<aten::hardswish>({x}, meta), {-1.0 / 3, 0.2916667, 7});
    check_close(k.numbers<aten::softplus>({x}, meta), {0.1269280, 0.9740770, 7.0009115});
    check_close(k.numbers<aten::selu>({x}, meta), {-1.5201665, 0.5253505, 7.3549070});
    const value gated = k(f32({1, 4}, {1, 2, 0, 100}));
    check_close(k.numbers<aten::glu>({gated, -1}, {real, {1, 2}, {}}), {0.5, 2});
    const value weights = k(f32({2}, {0.5, 0.25}));
    const value image = k(f32({1, 2, 2}, {-2, 1, -4, 3}));
    CHECK(k.numbers<aten::prelu>({image, weights}, {real, {1, 2, 2}, {}}) == reals{-1, 1, -1, 3});
}

TEST_CASE("NaN passes through activations and limits") {
    kernel_test k;
    const value x = k(f32({1}, {not_a_number}));
    const tensor_meta meta{real, {1}, {}};
    check_close(k.numbers<aten::relu>({x}, meta), {not_a_number});
    check_close(k.numbers<aten::hardtanh>({x}, meta), {not_a_number});
    check_close(k.numbers<aten::clamp>({x, scalar(0), scalar(1)}, meta), {not_a_number});
    check_close(k.numbers<aten::maximum>({x, k(f32({1}, {1}))}, meta), {not_a_number});
    check_close(k.numbers<aten::minimum>({k(f32({1}, {1})), x}, meta), {not_a_number});
}

TEST_CASE("arithmetic broadcasts") {
    kernel_test k;
    const value column = k(f32({2, 1}, {1, 2}));
    const value row = k(f32({3}, {10, 20, 30}));
    const value number = k(f32({}, {5}));
    CHECK(k.numbers<aten::add_tensor>({column, row}, {real, {2, 3}, {}}) == reals{11, 21, 31, 12, 22, 32});
    CHECK(k.numbers<aten::sub_tensor>({row, number, 2}, {real, {3}, {}}) == reals{0, 10, 20});
    CHECK(k.numbers<aten::rsub_scalar>({row, 100}, {real, {3}, {}}) == reals{90, 80, 70});
    CHECK(k.numbers<aten::mul_tensor>({number, number}, {real, {}, {}}) == reals{25});
    const value nothing = k(f32({0, 3}, {}));
    CHECK(k.numbers<aten::mul_tensor>({nothing, row}, {real, {0, 3}, {}}).empty());
}

TEST_CASE("numbers are rounded to the dtype of the result") {
    kernel_test k;
    const value x = k(f32({1}, {0.1F}));
    CHECK(k.numbers<aten::eq_scalar>({x, 0.1}, {dtype::boolean, {1}, {}}) == reals{1});
    CHECK(k.numbers<aten::sub_scalar>({x, 0.1}, {real, {1}, {}}) == reals{0});
}

TEST_CASE("integer division is Python's") {
    kernel_test k;
    const value a = k(i64({4}, {7, -7, 7, -7}));
    const value b = k(i64({4}, {2, 2, -2, -2}));
    const tensor_meta meta{dtype::int64, {4}, {}};
    CHECK(k.numbers<aten::floor_divide>({a, b}, meta) == reals{3, -4, -4, 3});
    CHECK(k.numbers<aten::div_tensor_mode>({a, b, "trunc"}, meta) == reals{3, -3, -3, 3});
    CHECK(k.numbers<aten::remainder_tensor>({a, b}, meta) == reals{1, 1, -1, -1});
    CHECK(k.numbers<aten::fmod_tensor>({a, b}, meta) == reals{1, -1, 1, -1});
    CHECK(k.numbers<aten::div_tensor>({a, b}, {real, {4}, {}}) == reals{3.5, -3.5, -3.5, 3.5});
    const value zero = k(i64({4}, {0, 0, 0, 0}));
    const auto undefined = k.run_all<aten::floor_divide>({a, zero}, {meta});
    REQUIRE(undefined.has_error());
    CHECK(undefined.error().message == "tested (aten.floor_divide.default): an integer is divided by 0");
}

TEST_CASE("float division and powers") {
    kernel_test k;
    const value a = k(f32({3}, {5.5, -5.5, 1}));
    const value b = k(f32({3}, {2, 2, 0}));
    const tensor_meta meta{real, {3}, {}};
    check_close(k.numbers<aten::div_tensor_mode>({a, b, "floor"}, meta), {2, -3, infinity});
    check_close(k.numbers<aten::remainder_tensor>({a, b}, meta), {1.5, 0.5, not_a_number});
    check_close(k.numbers<aten::pow_tensor_tensor>({a, b}, meta), {30.25, 30.25, 1});
    const value whole_numbers = k(i64({2}, {3, -2}));
    CHECK(k.numbers<aten::pow_tensor_scalar>({whole_numbers, 3}, {dtype::int64, {2}, {}}) == reals{27, -8});
}

TEST_CASE("integers wrap around") {
    kernel_test k;
    const value a = k(whole(dtype::int8, {2}, {127, -128}));
    CHECK(k.numbers<aten::add_scalar>({a, 1}, {dtype::int8, {2}, {}}) == reals{-128, -127});
    CHECK(k.numbers<aten::mul_tensor>({a, a}, {dtype::int8, {2}, {}}) == reals{1, 0});
}

TEST_CASE("limits") {
    kernel_test k;
    const value x = k(f32({3}, {-1, 0.5, 3}));
    const tensor_meta meta{real, {3}, {}};
    CHECK(k.numbers<aten::clamp>({x, scalar(0), {}}, meta) == reals{0, 0.5, 3});
    CHECK(k.numbers<aten::clamp>({x, scalar(2), scalar(1)}, meta) == reals{1, 1, 1});
    CHECK(k.numbers<aten::clamp_tensor>({x, {}, k(f32({}, {1}))}, meta) == reals{-1, 0.5, 1});
    CHECK(k.numbers<aten::clamp_min>({x, 0}, meta) == reals{0, 0.5, 3});
}

TEST_CASE("comparisons compute in the promoted dtype, NaN equals nothing") {
    kernel_test k;
    const value x = k(f32({3}, {1, 2.5, not_a_number}));
    const value y = k(i64({3}, {1, 2, 0}));
    const tensor_meta meta{dtype::boolean, {3}, {}};
    CHECK(k.numbers<aten::eq_tensor>({x, y}, meta) == reals{1, 0, 0});
    CHECK(k.numbers<aten::ne_tensor>({x, y}, meta) == reals{0, 1, 1});
    CHECK(k.numbers<aten::gt_scalar>({x, 2}, meta) == reals{0, 1, 0});
    CHECK(k.numbers<aten::lt_scalar>({y, 1.5}, meta) == reals{1, 0, 1});
    CHECK(k.numbers<aten::logical_and>({x, y}, meta) == reals{1, 1, 0});
    CHECK(k.numbers<aten::logical_xor>({x, y}, meta) == reals{0, 0, 1});
}

TEST_CASE("bits and shifts") {
    kernel_test k;
    const value a = k(whole(dtype::int8, {2}, {12, -3}));
    const value b = k(whole(dtype::int8, {2}, {10, 1}));
    const tensor_meta meta{dtype::int8, {2}, {}};
    CHECK(k.numbers<aten::bitwise_and_tensor>({a, b}, meta) == reals{8, 1});
    CHECK(k.numbers<aten::bitwise_or_tensor>({a, b}, meta) == reals{14, -3});
    CHECK(k.numbers<aten::bitwise_xor_scalar>({a, 1}, meta) == reals{13, -4});
    CHECK(k.numbers<aten::bitwise_not>({a}, meta) == reals{-13, 2});
    CHECK(k.numbers<aten::bitwise_left_shift_tensor>({a, b}, meta) == reals{0, -6});
    CHECK(k.numbers<aten::bitwise_right_shift_tensor>({a, b}, meta) == reals{0, -2});
    CHECK(k.numbers<aten::bitwise_not>({k(flags({2}, {1, 0}))}, {dtype::boolean, {2}, {}}) == reals{0, 1});
}

TEST_CASE("selection by condition") {
    kernel_test k;
    const value condition = k(flags({2, 1}, {1, 0}));
    const value yes = k(f32({2}, {1, 2}));
    CHECK(
        k.numbers<aten::where_scalarother>({condition, yes, -1}, {real, {2, 2}, {}}) == reals{1, 2, -1, -1});
    const value mask = k(flags({2}, {0, 1}));
    CHECK(k.numbers<aten::masked_fill_scalar>({yes, mask, -double{infinity}}, {real, {2}, {}}) ==
        reals{1, -double{infinity}});
}
