// SPDX-License-Identifier: MIT
// Tests that transposes sink past the operators of integers, and past those along an axis.
#include <catch2/catch.hpp>

#include <headrace/passes/layout/fuse_transposes.hpp>
#include <headrace/passes/layout/sink_transposes.hpp>

#include "../../support/quantized_test.hpp"

using namespace headrace;

namespace {

constexpr dtype i8 = dtype::int8;
constexpr dtype fp32 = dtype::float32;

value transposed(program& p, value v, std::initializer_list<std::int64_t> perms) {
    return p.make<tosa::transpose>({.input1 = v, .perms = perms});
}
value image(program& p, dtype type) { return transposed(p, p.input(type, {2, 5, 6, 3}), {0, 3, 1, 2}); }

/// Empty if the program computes the same, and so many transposes are left of it.
template <class Build>
std::string compare(const Build& build, std::size_t left) {
    const std::size_t count = count_after<tosa::transpose, sink_transposes, fuse_transposes>(build);
    if (count != left) return std::to_string(count) + " transposes are left";
    return compare_runs<sink_transposes, fuse_transposes>(build);
}
/// `op(program&, value)` between a transpose to channels first and one back.
template <class Op>
auto between(dtype type, const Op& op) {
    return [=](program& p) { p.output(transposed(p, op(p, image(p, type)), {0, 2, 3, 1})); };
}
/// By a factor of 1/2, or of one for each of 6 indices of the last axis.
value rescaled(program& p, value v, bool per_channel) {
    const std::vector<std::int64_t> multipliers{1 << 30, 1 << 29, 3 << 28, 1 << 30, 1 << 29, 3 << 28};
    const std::int64_t count = per_channel ? 6 : 1;
    const std::vector<std::int64_t> used(multipliers.begin(), multipliers.begin() + count);
    return p.make<tosa::rescale>(
        {.input = v,
         .multiplier = integer_constant(p, dtype::int32, {count}, used),
         .shift = integer_constant(p, i8, {count}, std::vector<std::int64_t>(used.size(), 31)),
         .input_zp = integer_constant(p, i8, {1}, {3}),
         .output_zp = integer_constant(p, i8, {1}, {-5}),
         .scale32 = true,
         .per_channel = per_channel});
}

}  // namespace

TEST_CASE("past a RESCALE of the whole tensor, not past one of its last axis") {
    CHECK(compare(between(i8, [](program& p, value v) { return rescaled(p, v, false); }), 0) == "");
    CHECK(compare(between(i8, [](program& p, value v) { return rescaled(p, v, true); }), 2) == "");
}

TEST_CASE("past a TABLE") {
    const auto squares = [](program& p, value v) {
        std::vector<std::int64_t> codes;
        for (int c = -128; c != 128; ++c) codes.push_back(c * c / 130);
        return p.make<tosa::table>({.input1 = v, .table = integer_constant(p, i8, {256}, codes)});
    };
    CHECK(compare(between(i8, squares), 0) == "");
}

TEST_CASE("past CONCAT, along any axis") {
    for (const std::int64_t axis : {0, 1, 2, 3}) {
        CAPTURE(axis);
        for (const dtype type : {i8, fp32}) {
            const auto join = [=](program& p) {
                const value v =
                    p.make<tosa::concat>({.input1 = {image(p, type), image(p, type)}, .axis = axis});
                p.output(transposed(p, v, {0, 2, 3, 1}));
            };
            CHECK(compare(join, 0) == "");
        }
    }
    const auto apart = [](program& p) {
        const value other = transposed(p, p.input(i8, {2, 5, 3, 6}), {0, 2, 1, 3});
        p.output(
            transposed(p, p.make<tosa::concat>({.input1 = {image(p, i8), other}, .axis = 0}), {0, 2, 3, 1}));
    };
    CHECK(compare(apart, 3) == "");
    const auto plain = [](program& p) {
        const value other = p.input(i8, {2, 3, 5, 6});
        p.output(
            transposed(p, p.make<tosa::concat>({.input1 = {image(p, i8), other}, .axis = 1}), {0, 2, 3, 1}));
    };
    CHECK(compare(plain, 2) == "");
    const auto twice = [](program& p) {
        const value v = image(p, i8);
        p.output(transposed(p, p.make<tosa::concat>({.input1 = {v, v}, .axis = 2}), {0, 2, 3, 1}));
    };
    CHECK(compare(twice, 0) == "");
}

TEMPLATE_TEST_CASE("past reductions and REVERSE, along any axis", "", tosa::reduce_sum, tosa::reduce_max,
                   tosa::reduce_min, tosa::reduce_product) {
    for (const std::int64_t axis : {0, 1, 2, 3}) {
        CAPTURE(axis);
        CHECK(compare(between(fp32,
                              [=](program& p, value v) {
                                  v = p.make<tosa::reverse>({.input1 = v, .axis = axis});
                                  return p.make<TestType>({.input = v, .axis = axis});
                              }),
                      0) == "");
    }
}

TEMPLATE_TEST_CASE("past reductions of booleans", "", tosa::reduce_any, tosa::reduce_all) {
    for (const std::int64_t axis : {1, 3}) {
        CHECK(compare(
                  between(dtype::boolean,
                          [=](program& p, value v) { return p.make<TestType>({.input = v, .axis = axis}); }),
                  0) == "");
    }
}

TEST_CASE("past all of them in a row") {
    const auto chain = [](program& p) {
        const value table = integer_constant(p, i8, {256}, std::vector<std::int64_t>(256, 7));
        value v = rescaled(p, image(p, i8), false);
        v = p.make<tosa::concat>({.input1 = {v, rescaled(p, image(p, i8), false)}, .axis = 1});
        v = p.make<tosa::reverse>({.input1 = p.make<tosa::table>({.input1 = v, .table = table}), .axis = 2});
        v = p.make<tosa::reduce_max>({.input = v, .axis = 3});
        p.output(transposed(p, v, {0, 2, 3, 1}));
    };
    CHECK(compare(chain, 0) == "");
}

TEST_CASE("a transpose that somebody else reads stays where it is") {
    const auto build = [](program& p) {
        const value v = image(p, i8);
        p.output(v);
        p.output(transposed(p, rescaled(p, v, false), {0, 2, 3, 1}));
        p.output(transposed(p, p.make<tosa::reverse>({.input1 = v, .axis = 1}), {0, 2, 3, 1}));
    };
    CHECK(compare(build, 3) == "");
}
