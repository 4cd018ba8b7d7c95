// SPDX-License-Identifier: MIT
// Tests that sums of operands with equal scales are computed without fractions, bit for bit.
#include <catch2/catch.hpp>

#include <headrace/passes/npu/quantized_arithmetic.hpp>

#include "../../support/npu_test.hpp"

using namespace headrace;

namespace {

static_assert(effects_of<add_at_unit_scale>::sound);

struct summing {
    int_list left{2, 3, 4}, right{2, 3, 1};
    rescaling_of first{.shift = 20}, second{.shift = 20};
    rescaling_of result{.multipliers = {1518500249}, .shift = 44, .output_zero = 7, .to = dtype::int8};
};
template <op_tag Op>
npu_builder summed(const summing& s) {
    return for_target(u55_npu, [=](program& p) {
        const value x = rescaled_by(p, p.input(dtype::int8, s.left), s.first);
        const value y = rescaled_by(p, p.input(dtype::int8, s.right), s.second);
        return rescaled_by(p, p.make<Op>({.input1 = x, .input2 = y}), s.result);
    });
}
/// True if no RESCALE by 2^k with k other than 0 precedes the sum.
template <op_tag Op>
bool has_unit_scales(const npu_builder& build) {
    program p;
    const graph& g = lowered<add_at_unit_scale>(p, build);
    for (const node& n : g.nodes_of(info_of<Op>)) {
        for (std::size_t i = 0; i != 2; ++i) {
            const auto* a = match<tosa::rescale>(n.operand(i));
            if (a == nullptr || widening_shift(*a) != 0) return false;
        }
    }
    return true;
}
template <op_tag Op>
void check_any() {
    for (unsigned seed = 0; seed != 6; ++seed) {
        random_numbers any(seed);
        const std::int64_t power = any(1, 19);
        const std::int64_t channels = any(1, 6);
        summing s{.left = {any(1, 3), any(1, 9), channels}, .right = {1, 1, channels}};
        s.first = {.shift = 30 - power, .input_zero = any(-128, 127)};
        s.second = {.multipliers = {1 << 28}, .shift = 28 - power, .input_zero = any(-128, 127)};
        s.result.multipliers.clear();
        const std::int64_t factors = seed % 2 == 0 ? 1 : channels;
        for (std::int64_t i = 0; i != factors; ++i) s.result.multipliers.push_back(any(1 << 30, 2147483647));
        s.result.shift = power + any(11, 40);
        s.result.output_zero = any(-128, 127);
        const npu_builder build = summed<Op>(s);
        INFO(seed);
        CHECK_THAT(build, computes_the_same<add_at_unit_scale>().within(0));
        CHECK(has_unit_scales<Op>(build));
    }
}

}  // namespace

TEST_CASE("sums, differences and extrema of any scale") {
    check_any<tosa::add>();
    check_any<tosa::sub>();
    check_any<tosa::maximum>();
    check_any<tosa::minimum>();
}

TEST_CASE("different scales, scales of one and shifts that leave no room stay") {
    REQUIRE_FALSE(count_after<tosa::rescale, add_at_unit_scale>(summed<tosa::sub>({})) == 0);
    CHECK(has_unit_scales<tosa::sub>(summed<tosa::sub>({})));
    const auto stays = [](const summing& s) {
        CHECK_THAT(summed<tosa::sub>(s), is_left_alone_by<add_at_unit_scale>());
    };
    stays({.second = {.shift = 21}});
    stays({.first = {}, .second = {}});
    stays({.second = {.multipliers = {1518500249}, .shift = 20}});
    stays({.result = {.shift = 11}});
}

TEST_CASE("a sum with another reader stays") {
    const npu_builder build = for_target(u55_npu, [](program& p) {
        const value x = rescaled_by(p, p.input(dtype::int8, {4}), {.shift = 20});
        const value y = rescaled_by(p, p.input(dtype::int8, {4}), {.shift = 20});
        const value sum = p.make<tosa::add>({.input1 = x, .input2 = y});
        p.output(sum);
        return rescaled_by(p, sum, {.shift = 44, .to = dtype::int8});
    });
    CHECK_THAT(build, is_left_alone_by<add_at_unit_scale>());
}

TEST_CASE("sums without fractions are for targets that prefer them") {
    CHECK(runs_for<add_at_unit_scale>(u55_npu));
    CHECK_FALSE(runs_for<add_at_unit_scale>(integer_target));
}
