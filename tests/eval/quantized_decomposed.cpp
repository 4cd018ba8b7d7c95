// SPDX-License-Identifier: MIT
// Tests the kernels of the quantized_decomposed dialect.
#include "kernel_test.hpp"

#include <headrace/dialect/quantized_decomposed.hpp>

using namespace headrace;
namespace quantized = headrace::quantized_decomposed;

TEST_CASE("quantization rounds half to even and saturates") {
    kernel_test k;
    const value x = k(f32({6}, {0.25, 0.75, -0.25, 1000, -1000, not_a_number}));
    CHECK(k.numbers<quantized::quantize_per_tensor>(
              {x, 0.5, 3, -128, 127, dtype::int8}, {dtype::int8, {6}, {}}) == reals{3, 5, 3, 127, -128, 0});
}

TEST_CASE("dequantization") {
    kernel_test k;
    const value x = k(whole(dtype::int8, {3}, {-128, 3, 127}));
    CHECK(k.numbers<quantized::dequantize_per_tensor>(
              {x, 0.5, 3, -128, 127, dtype::int8}, {dtype::float32, {3}, {}}) == reals{-65.5, 0, 62});
}

TEST_CASE("channels have scales of their own") {
    kernel_test k;
    const value x = k(whole(dtype::int8, {2, 2}, {1, 2, 3, 4}));
    const value scales = k(f32({2}, {1, 10}));
    const value zero_points = k(i64({2}, {0, 1}));
    const tensor_meta meta{dtype::float32, {2, 2}, {}};
    using dequantize = quantized::dequantize_per_channel;
    CHECK(k.numbers<dequantize>({x, scales, zero_points, 0, -128, 127, dtype::int8}, meta) ==
        reals{1, 2, 20, 30});
    CHECK(k.numbers<dequantize>({x, scales, {}, -1, -128, 127, dtype::int8}, meta) == reals{1, 20, 3, 40});
    const auto result = k.run_all<dequantize>({x, k(f32({1}, {1})), {}, 0, -128, 127, dtype::int8}, {meta});
    REQUIRE(result.has_error());
    CHECK(result.error().message.ends_with("fewer scales or zero points than there are groups"));
}

TEST_CASE("chosen parameters hold zero") {
    kernel_test k;
    const value x = k(f32({2}, {1, 255}));
    const auto chosen = k.run_all<quantized::choose_qparams_tensor>(
        {x, 0, 255, 1e-6, dtype::uint8}, {{dtype::float64, {1}, {}}, {dtype::int64, {1}, {}}});
    REQUIRE(chosen.has_value());
    CHECK(chosen.value()[0].real(0) == 1);
    CHECK(chosen.value()[1].integer(0) == 0);
}
