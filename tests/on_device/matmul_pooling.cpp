// SPDX-License-Identifier: MIT
#include "matmul_pooling_cases.hpp"

#include <array>
#include <limits>

#include <catch2/catch.hpp>

using namespace headrace::on_device;

TEST_CASE("matrix products and pooling of all layouts and types are what TOSA says") {
    cases::for_each_product_and_pool<portable>([](const char* name, auto differences) {
        INFO(name);
        for (std::uint32_t seed = 1; seed != 6; ++seed) CHECK(differences(seed) == 0);
    });
}

namespace {
constexpr matrix_product product{.a = dense(element::int8, 1, 2, 3),
    .b = dense(element::int8, 1, 3, 2),
    .output = dense(element::int32, 1, 2, 2),
    .a_zero = 1};
constexpr auto computed = [] {
    const std::int8_t a[] = {1, 2, 3, 4, 5, 6}, b[] = {1, 0, 0, 1, 1, 1};
    std::array<std::int32_t, 4> y{};
    kernel<matmul<product>, portable>::run(a, b, nullptr, y.data());
    return y;
}();
static_assert(computed == std::array<std::int32_t, 4>{2, 3, 8, 9});

constexpr pooling pool_of_floats{.input = dense(element::float32, 1, 1, 2, 1),
    .output = dense(element::float32, 1, 1, 1, 1),
    .kernel = {1, 2}};
constexpr pooling without_nan{.input = pool_of_floats.input,
    .output = pool_of_floats.output,
    .kernel = {1, 2},
    .nan = nan_mode::ignore};
}  // namespace

TEST_CASE("a maximum of floats propagates NaN or ignores it") {
    const float x[] = {std::numeric_limits<float>::quiet_NaN(), 3.F};
    float y = 0;
    kernel<max_pool2d<pool_of_floats>, portable>::run(x, &y);
    CHECK(y != y);
    kernel<max_pool2d<without_nan>, portable>::run(x, &y);
    CHECK(y == 3.F);
}
