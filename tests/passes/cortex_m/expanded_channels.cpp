// SPDX-License-Identifier: MIT
// Tests that a convolution repeats its one channel where that is cheap.
#include <catch2/catch.hpp>

#include <headrace/dialect/memory.hpp>
#include <headrace/infer/memory.hpp>
#include <headrace/passes/cortex_m/expanded_channels.hpp>

#include "../../support/npu_test.hpp"

using namespace headrace;

namespace {

static_assert(effects_of<convolve_expanded>::sound);

constexpr target_spec scalar_core = *parse_target("TOSA-1.0+INT+core");
constexpr target_spec helium = *parse_target("TOSA-1.0+INT+core+mve");

struct mean {
    std::int64_t products = 16, channels = 1;
    bool has_bias = false, is_read_elsewhere = false;
    int_list shown{2, 3, 1}, expanded{2, 3, 5};
    target_spec core = scalar_core;
};
npu_builder expanded(const mean& m) {
    return for_target(m.core, [m](program& p) {
        const auto numbers = [&](std::int64_t n) {
            return integer_constant(p, dtype::int32, {m.channels},
                std::vector<std::int64_t>(static_cast<std::size_t>(m.channels), n));
        };
        const value one =
            p.make<cortex_m::quantized_conv2d_nhwc>({.input = p.input(dtype::int8, {1, 6, 1, m.products}),
                .weight = constant_codes(p, weight_codes(1), {m.channels, 1, 1, m.products}),
                .bias = m.has_bias ? std::optional(numbers(99)) : std::nullopt,
                .stride = {1, 1},
                .padding = {0, 0},
                .dilation = {1, 1},
                .input_offset = 4,
                .output_offset = -3,
                .requantize_multipliers = numbers(1'234'567'890),
                .requantize_shifts = numbers(-5),
                .activation_min = -90,
                .activation_max = 100,
                .scratch = p.make<memory::alloc>({.size = {0}, .dtype = dtype::uint8})});
        if (m.is_read_elsewhere) p.output(one);
        const value shown = p.make<aten::view>({.self = one, .size = m.shown});
        return p.make<aten::expand>({.self = shown, .size = m.expanded});
    });
}

}  // namespace

TEST_CASE("an expanded channel is as many channels") {
    for (const mean& m : {mean{}, mean{.products = 3, .has_bias = true}, mean{.products = 32, .core = helium},
             mean{.shown = {1, 6, 1}, .expanded = {1, 6, 40}}}) {
        CHECK_THAT(expanded(m), computes_the_same<convolve_expanded>().within(0));
        CHECK(count_after<aten::expand, convolve_expanded>(expanded(m)) == 0);
    }
}

TEST_CASE("sums of many products, other axes and sums with other readers stay") {
    for (const mean& m : {mean{.products = 17}, mean{.products = 33, .core = helium},
             mean{.shown = {2, 1, 3}, .expanded = {2, 5, 3}}, mean{.shown = {6, 1}, .expanded = {6, 1}},
             mean{.channels = 2, .shown = {12, 1}, .expanded = {12, 5}}, mean{.is_read_elsewhere = true}}) {
        CHECK_THAT(expanded(m), is_left_alone_by<convolve_expanded>());
    }
}
