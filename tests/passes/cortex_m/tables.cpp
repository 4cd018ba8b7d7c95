// SPDX-License-Identifier: MIT
// Tests that elementwise functions of one int8 tensor become tables.
#include <catch2/catch.hpp>

#include <headrace/passes/cortex_m/fold_rescaled_constants.hpp>
#include <headrace/passes/cortex_m/tables.hpp>
#include <headrace/passes/fold/redundancies.hpp>

#include "../../support/kernel_runs.hpp"

using namespace headrace;
using kernel_test::dice;
using kernel_test::narrowed;
using kernel_test::number;
using kernel_test::widened;
using testing::program;

namespace {

// A constant of one number, in one of the shapes in which it may be the other operand.
value uniform(program& p, dice& d, dtype type, const int_list& shape, std::int64_t n) {
    shape_builder sizes(shape);
    for (std::int64_t& size : sizes) {
        if (d.once_in(2)) size = 1;
    }
    const auto count = static_cast<std::size_t>(element_count(headrace::sizes(sizes)));
    return kernel_test::integers(p, type, int_list(sizes), std::vector<std::int64_t>(count, n));
}

// Applies up to four random operators of int32 to `v`.
value changed(program& p, dice& d, value v, value wide) {
    const int_list shape = meta_of(v)->shape;
    for (std::int64_t i = d.from(0, 4); i != 0; --i) {
        const value other = uniform(p, d, dtype::int32, shape, d.from(-300, 300));
        switch (d.from(0, 8)) {
            case 0:
                v = p.make<tosa::add>({v, other});
                break;
            case 1:
                v = p.make<tosa::sub>({other, v});
                break;
            case 2:
                v = p.make<tosa::mul>({v, other, number(p, dtype::int8, 0)});
                break;
            case 3:
                v = p.make<tosa::abs>({.input1 = v});
                break;
            case 4:
                v = p.make<tosa::maximum>({v, other});
                break;
            case 5:
                v = p.make<tosa::minimum>({v, wide});
                break;
            case 6:
                v = p.make<tosa::arithmetic_right_shift>({v, uniform(p, d, dtype::int32, shape, 2), false});
                break;
            case 7:
                v = p.make<tosa::select>({p.make<tosa::greater>({wide, other}), v, wide});
                break;
            default:
                v = p.make<tosa::add>({v, wide});
                break;
        }
    }
    return v;
}
value function(program& p, dice& d) {
    const value x = p.input(dtype::int8, d.shape(static_cast<std::size_t>(d.from(0, 5)), 4));
    const value wide = widened(p, x, d.from(-128, 127));
    return narrowed(
        p, changed(p, d, wide, wide), {kernel_test::factors_around(d, 0.2, 1), d.from(-128, 127)});
}
// A RESCALE with the same factor for each channel is one of the tensor.
value function_by_channel(program& p, dice& d) {
    const value x = p.input(dtype::int8, d.shape(2, 4));
    const std::vector<double> factors(static_cast<std::size_t>(meta_of(x)->shape[1]), 0.37);
    return narrowed(p, p.make<tosa::abs>({.input1 = widened(p, x, 3)}), {factors, 5});
}
value comparison(program& p, dice& d) {
    const value x = p.input(dtype::int8, d.shape(static_cast<std::size_t>(d.from(1, 4)), 4));
    const value wide = widened(p, x, d.from(-128, 127));
    const value other = uniform(p, d, dtype::int32, meta_of(x)->shape, d.from(-100, 100));
    const value v = changed(p, d, wide, wide);
    if (d.once_in(3)) return p.make<tosa::equal>({v, other});
    const value above = p.make<tosa::greater>({v, other});
    return d.once_in(2) ? above : p.make<tosa::logical_not>({above});
}
value of_int8(program& p, dice& d) {
    const int_list shape = d.shape(3, 4);
    const value x = p.input(dtype::int8, shape), other = uniform(p, d, dtype::int8, shape, d.from(-128, 127));
    switch (d.from(0, 4)) {
        case 0:
            return p.make<tosa::clamp>({x, scalar(std::int64_t{-7}), scalar(d.from(-7, 127))});
        case 1:
            return p.make<tosa::maximum>({x, other});
        case 2:
            return p.make<tosa::minimum>({other, x});
        case 3:
            return p.make<tosa::bitwise_and>({x, other});
        default:
            return p.make<tosa::table>({x, kernel_test::random_integers(p, d, dtype::int8, {256})});
    }
}
value rescaled(program& p, dice& d) {
    const value x = p.input(dtype::int8, {7, 9});
    const kernel_test::scale s = kernel_test::scale_of(kernel_test::factors_around(d, 1, 1)[0]);
    return p.make<tosa::rescale>({.input = x,
        .multiplier = number(p, dtype::int32, s.multiplier),
        .shift = number(p, dtype::int8, s.shift),
        .input_zp = number(p, dtype::int8, d.from(-128, 127)),
        .output_zp = number(p, dtype::int8, d.from(-128, 127))});
}

template <class Build>
auto program_of(const Build& build) {
    return [=](program& p) { p.output(build(p)); };
}
std::pmr::string becomes(const kernel_test::random_program& build) {
    return becomes_kernels<tabulate_integers, remove_dead_code, fold_rescaled_constants, remove_dead_code>(
        build);
}

}  // namespace

TEST_CASE("any function of one int8 tensor is a table") {
    CHECK(becomes(function) == "");
    CHECK(becomes(function_by_channel) == "");
    CHECK(becomes(of_int8) == "");
    CHECK(becomes(rescaled) == "");
}

TEST_CASE("comparisons are tables, too") { CHECK(becomes(comparison) == ""); }

TEST_CASE("what is not a function of one int8 tensor stays") {
    const auto sum = [](const value& x, const value& y) {
        return [=](program& p) { return narrowed(p, p.make<tosa::add>({x, y}), {{0.5}}); };
    };
    const auto two = program_of([&](program& p) {
        return sum(widened(p, p.input(dtype::int8, {3}), 0), widened(p, p.input(dtype::int8, {3}), 0))(p);
    });
    CHECK_THAT(two, is_left_alone_by<tabulate_integers>());
    const auto by_position = program_of([&](program& p) {
        return sum(widened(p, p.input(dtype::int8, {3}), 0),
            kernel_test::integers(p, dtype::int32, {3}, {1, 2, 3}))(p);
    });
    CHECK_THAT(by_position, is_left_alone_by<tabulate_integers>());
    const auto wide = program_of(
        [&](program& p) { return sum(p.input(dtype::int32, {3}), number(p, dtype::int32, 4))(p); });
    CHECK_THAT(wide, is_left_alone_by<tabulate_integers>());
    const auto repeated = program_of([&](program& p) {
        return sum(widened(p, p.input(dtype::int8, {1}), 0),
            kernel_test::integers(p, dtype::int32, {3}, {4, 4, 4}))(p);
    });
    CHECK_THAT(repeated, is_left_alone_by<tabulate_integers>());
    const auto of_int16 = program_of([](program& p) {
        return p.make<tosa::clamp>(
            {p.input(dtype::int16, {3}), scalar(std::int64_t{1}), scalar(std::int64_t{5})});
    });
    CHECK_THAT(of_int16, is_left_alone_by<tabulate_integers>());
    const auto stays_wide =
        program_of([](program& p) { return p.make<tosa::abs>({widened(p, p.input(dtype::int8, {3}), 0)}); });
    CHECK_THAT(stays_wide, is_left_alone_by<tabulate_integers>());
    const auto computed_zero = program_of([](program& p) {
        return p.make<tosa::rescale>({.input = p.input(dtype::int8, {3}),
            .multiplier = number(p, dtype::int32, 1 << 30),
            .shift = number(p, dtype::int8, 30),
            .input_zp = p.input(dtype::int8, {1}),
            .output_zp = number(p, dtype::int8, 0)});
    });
    CHECK_THAT(computed_zero, is_left_alone_by<tabulate_integers>());
}
