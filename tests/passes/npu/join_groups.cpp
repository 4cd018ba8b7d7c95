// SPDX-License-Identifier: MIT
// Tests that grouped convolutions become one of all channels if that is faster.
#include <catch2/catch.hpp>

#include <headrace/passes/npu/convolution_groups.hpp>

#include "../../support/npu_test.hpp"

using namespace headrace;

namespace {

static_assert(effects_of<join_groups>::sound);

struct grouping {
    std::int64_t groups = 3, read = 2, written = 3;  ///< channels of each group
    int_list window{1, 1}, stride{1, 1}, padding{0, 0}, dilation{1, 1};
    std::int64_t side = 7, zero_point = 0;
    bool per_channel = true, has_bias = true;
    bool is_float = false, is_transposed = false;
};
npu_builder grouped(const grouping& s) {
    return for_target(u55_npu, [=](program& p) {
        const coding image{0.1, 3};
        const value x = real_input(p, image, {2, s.groups * s.read, s.side, s.side});
        const std::int64_t results = s.groups * s.written;
        const int_list shape{results, s.read, s.window[0], s.window[1]};
        value weight = constant_codes(p, weight_codes(1), shape);
        if (s.is_float) {
            weight = float_constant(
                p, shape, std::vector<double>(static_cast<std::size_t>(element_count(shape)), 0.5));
        } else if (s.per_channel) {
            const auto count = static_cast<std::size_t>(results);
            weight = real_per_channel(
                p, weight, scales_around(0.01, count), 0, std::vector<std::int64_t>(count, s.zero_point));
        } else {
            weight = p.make<quantized_decomposed::dequantize_per_tensor>(
                {weight, 0.02, s.zero_point, -127, 127, dtype::int8, std::nullopt});
        }
        std::optional<value> bias;
        if (s.has_bias)
            bias = float_constant(p, {results}, scales_around(0.3, static_cast<std::size_t>(results)));
        return p.make<aten::convolution>(
            {x, weight, bias, s.stride, s.padding, s.dilation, s.is_transposed, int_list{0, 0}, s.groups});
    });
}

}  // namespace

TEST_CASE("groups of any size, window and parameters") {
    for (unsigned seed = 0; seed != 8; ++seed) {
        random_numbers any(seed);
        const npu_builder build = grouped({.groups = any(2, 4),
            .read = any(2, 5),
            .written = any(1, 5),
            .window = {any(1, 2), any(1, 3)},
            .stride = {any(1, 2), any(1, 2)},
            .padding = {any(0, 1), any(0, 1)},
            .dilation = {1, any(1, 2)},
            .zero_point = any(-5, 5),
            .per_channel = seed % 2 == 0,
            .has_bias = any(0, 1) == 1});
        INFO(seed);
        CHECK_THAT(build, computes_the_same<join_groups>());
    }
}

TEST_CASE("one group, one channel in each, weights of floats, and products that take longer stay") {
    for (const npu_builder& build : {grouped({.groups = 1}), grouped({.read = 1}),
             grouped({.is_float = true}), grouped({.read = 3, .written = 3, .is_transposed = true}),
             grouped({.groups = 8, .read = 8, .written = 8, .window = {3, 3}, .padding = {1, 1}})}) {
        CHECK_THAT(build, is_left_alone_by<join_groups>());
    }
}

TEST_CASE("it is for targets that say what moving costs") {
    CHECK(runs_for<join_groups>(u55_npu));
    CHECK(runs_for<join_groups>(u85_npu));
    CHECK_FALSE(runs_for<join_groups>(integer_target));
}
