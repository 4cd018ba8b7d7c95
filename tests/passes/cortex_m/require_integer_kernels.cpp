// SPDX-License-Identifier: MIT
// Tests that operators without an integer kernel are refused, and the pipeline to these kernels as a whole.
#include <catch2/catch.hpp>

#include <headrace/passes/cortex_m_lowering.hpp>

#include "../../support/kernel_runs.hpp"

using namespace headrace;
using kernel_test::dice;
using testing::program;

namespace {

template <class Build>
auto program_of(const Build& build) {
    return [=](program& p) { p.output(build(p)); };
}

// A small network: convolution, clamp, pooling, residual sum, mean, and a layer over all of it.
value network(program& p, dice& d) {
    const auto zero = [&] { return kernel_test::number(p, dtype::int8, 0); };
    const auto layer = [&](value v, std::int64_t out, std::int64_t size) {
        const std::int64_t in = meta_of(v)->shape[3], pad = size / 2;
        const value sum = p.make<tosa::conv2d>({.input = v,
            .weight = kernel_test::random_integers(p, d, dtype::int8, {out, size, size, in}),
            .bias = kernel_test::random_integers(p, d, dtype::int32, {out}, -999, 999),
            .input_zp = kernel_test::number(p, dtype::int8, d.from(-128, 127)),
            .weight_zp = zero(),
            .pad = {pad, pad, pad, pad},
            .stride = {1, 1},
            .dilation = {1, 1},
            .acc_type = dtype::int32});
        return kernel_test::narrowed(p, sum,
            {kernel_test::factors_around(d, 0.003, out), d.from(-20, 20), rounding_mode::double_round});
    };
    const value x = p.input(dtype::int8, {1, 6, 6, d.from(1, 5)});
    const value first =
        p.make<tosa::clamp>({layer(x, 4, 3), scalar(std::int64_t{-20}), scalar(std::int64_t{90})});
    const value second = layer(first, 4, 1);
    const value sum = p.make<tosa::mul>({kernel_test::widened(p, first, -20),
        kernel_test::widened(p, second, d.from(-20, 20)), kernel_test::number(p, dtype::int8, 0)});
    const value both = kernel_test::narrowed(p, sum, {{0.01}, 3, rounding_mode::double_round});
    const value pooled =
        p.make<tosa::max_pool2d>({.input = both, .kernel = {2, 2}, .stride = {2, 2}, .pad = {0, 0, 0, 0}});
    value mean = kernel_test::widened(p, pooled, 3);
    for (const std::int64_t axis : {1, 2}) mean = p.make<tosa::reduce_sum>({.input = mean, .axis = axis});
    const value narrow = kernel_test::narrowed(p, mean, {{0.11}, 0, rounding_mode::double_round});
    const value joined[] = {
        narrow, p.make<tosa::table>({narrow, kernel_test::random_integers(p, d, dtype::int8, {256})})};
    return p.make<tosa::reshape>(
        {layer(p.make<tosa::concat>({list<value>(joined), 3}), 3, 1), kernel_test::shape_of(p, {1, 3})});
}

template <class... Passes>
std::pmr::string lowers(pass_list<Passes...>) {
    (testing::record_declarations_of<Passes>(), ...);
    return kernel_test::run_on_cores(network, testing::runners_of<may_rewrite<Passes>...>, {.programs = 20});
}

}  // namespace

TEST_CASE("operators of TOSA that are left are refused") {
    const auto wide = program_of([](program& p) {
        return p.make<tosa::add>({p.input(dtype::int32, {3}), p.input(dtype::int32, {3})});
    });
    CHECK_THAT(
        wide, is_refused_by<require_integer_kernels>("no integer kernel for Cortex-M computes tosa.ADD"));
    const auto real =
        program_of([](program& p) { return p.make<tosa::exp>({p.input(dtype::float32, {3})}); });
    CHECK_THAT(
        real, is_refused_by<require_integer_kernels>("no integer kernel for Cortex-M computes tosa.EXP"));
}

TEST_CASE("kernels, and shapes that dead code reads, are not refused") {
    const auto moved = program_of([](program& p) {
        static_cast<void>(kernel_test::shape_of(p, {2, 3}));
        return p.make<aten::flip>({p.input(dtype::int8, {3}), int_list{0}});
    });
    CHECK_THAT(moved, is_left_alone_by<require_integer_kernels>());
}

TEST_CASE("a network consists of kernels after the whole pipeline") {
    CHECK(lowers(cortex_m_lowering::passes{}) == "");
}
