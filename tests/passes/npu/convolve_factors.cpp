// SPDX-License-Identifier: MIT
// Tests that factors and offsets of channels become depthwise convolutions.
#include <catch2/catch.hpp>

#include <headrace/passes/npu/channel_factors.hpp>

#include "../../support/npu_test.hpp"

using namespace headrace;

namespace {

static_assert(effects_of<convolve_factors>::sound);

/// (x - zero) * factor + offset for each channel, rescaled to INT8.
struct normalization {
    int_list image{1, 5, 4, 6};
    std::vector<std::int64_t> factors{}, offsets{};
    std::int64_t input_zero = 3, output_zero = -4, shift = 47, multiplier = 1342177280;
    bool are_bytes = false;  // the factors are INT8 and widened
    bool is_read_twice = false;
    dtype type = dtype::int8;
};
value widened_factors(program& p, const normalization& n, const std::vector<std::int64_t>& numbers) {
    std::vector<std::int64_t> shape(n.image.size(), 1);
    shape.back() = static_cast<std::int64_t>(numbers.size());
    const value given =
        integer_constant(p, n.are_bytes ? dtype::int8 : dtype::int32, int_list(shape), numbers);
    return n.are_bytes ? rescaled_by(p, given, {.input_zero = -1}) : given;
}
npu_builder normalized(const normalization& n, const target_spec& target = u55_npu) {
    return for_target(target, [=](program& p) {
        value v = rescaled_by(p, p.input(n.type, n.image), {.input_zero = n.input_zero});
        const value zero = integer_constant(p, dtype::int8, {1}, {0});
        if (!n.factors.empty())
            v = p.make<tosa::mul>({.input1 = v, .input2 = widened_factors(p, n, n.factors), .shift = zero});
        if (!n.offsets.empty())
            v = p.make<tosa::add>({.input1 = widened_factors(p, n, n.offsets), .input2 = v});
        if (n.is_read_twice) p.output(v);
        return rescaled_by(p, v,
            {.multipliers = {n.multiplier},
                .shift = n.shift,
                .output_zero = n.output_zero,
                .to = dtype::int8});
    });
}
std::vector<std::int64_t> random_factors(random_numbers& any, std::int64_t count, std::int64_t most) {
    std::vector<std::int64_t> numbers;
    for (std::int64_t i = 0; i != count; ++i) numbers.push_back(any(-most, most));
    return numbers;
}

}  // namespace

TEST_CASE("factors and offsets of channels, as in a batch norm") {
    for (unsigned seed = 0; seed != 8; ++seed) {
        random_numbers any(seed);
        INFO(seed);
        const std::int64_t channels = any(2, 24);
        const npu_builder build = normalized({.image = {1, any(4, 9), any(4, 9), channels},
            .factors = random_factors(any, channels, 1 << 17),
            .offsets = random_factors(any, channels, 1 << 23),
            .input_zero = any(-128, 127),
            .output_zero = any(-128, 127)});
        CHECK_THAT(build, computes_the_same<convolve_factors>().within(1));
        CHECK(count_after<tosa::mul, convolve_factors>(build) == 0);
        CHECK(count_after<tosa::add, convolve_factors>(build) == 0);
        CHECK(count_after<tosa::depthwise_conv2d, convolve_factors>(build) == 1);
    }
}

TEST_CASE("factors alone, offsets alone, a factor of 0, and bytes") {
    const std::vector<std::int64_t> factors{5, -9, 0, 127, -128, 64};
    for (const normalization& n :
        {normalization{.factors = factors, .shift = 36}, normalization{.offsets = factors, .shift = 31},
            normalization{.factors = factors, .shift = 36, .are_bytes = true},
            normalization{.image = {20, 6}, .factors = factors, .shift = 36}}) {
        CHECK_THAT(normalized(n), computes_the_same<convolve_factors>().within(0));
    }
}

TEST_CASE("one factor, factors of rows, few pixels, other readers and other types stay") {
    const std::vector<std::int64_t> factors{5, -9, 1, 127, -128, 64};
    for (const npu_builder& build : {normalized({.factors = {5}, .shift = 36}),
             normalized({.image = {1, 3, 5, 6}, .factors = factors, .shift = 36}),
             normalized({.factors = factors, .shift = 36, .is_read_twice = true}), normalized({}),
             normalized({.factors = factors, .input_zero = 0, .shift = 36, .type = dtype::int16}),
             normalized({.factors = factors, .shift = 36, .are_bytes = true}, u85_npu)}) {
        CHECK_THAT(build, is_left_alone_by<convolve_factors>());
    }
}

TEST_CASE("factors are convolved for NPUs alone") {
    CHECK(runs_for<convolve_factors>(u55_npu));
    CHECK(runs_for<convolve_factors>(u85_npu));
    CHECK_FALSE(runs_for<convolve_factors>(integer_target));
}
