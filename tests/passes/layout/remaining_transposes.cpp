// SPDX-License-Identifier: MIT
// Tests that a remaining transpose is explained by the nodes at its two ends.
#include <catch2/catch.hpp>

#include <headrace/base/pmr_vector.hpp>
#include <headrace/passes/layout/remaining_transposes.hpp>

#include "../../support/pass_test.hpp"

using namespace headrace;

namespace {

constexpr dtype fp32 = dtype::float32;

value transposed(program& p, value v, std::initializer_list<std::int64_t> perms) {
    return p.make<tosa::transpose>({.input1 = v, .perms = perms});
}

}  // namespace

TEST_CASE("each transpose, with its bytes and what wants another layout") {
    program p;
    const value x = p.input(fp32, {1, 3, 4, 5});
    p.g.set_name(x, "x");
    const value last = p.make<tosa::exp>({.input1 = transposed(p, x, {0, 2, 3, 1})});
    const value pooled =
        p.make<tosa::max_pool2d>({.input = last, .kernel = {2, 2}, .stride = {1, 1}, .pad = {0, 0, 0, 0}});
    p.g.set_name(pooled, "pool");
    p.output(transposed(p, pooled, {0, 3, 1, 2}));
    const value a = p.input(fp32, {2, 3, 4});
    const value zero = p.constant<float>(fp32, {1}, {0});
    p.output(p.make<tosa::matmul>(
        {.a = a, .b = transposed(p, a, {0, 2, 1}), .a_zp = zero, .b_zp = zero, .output_type = fp32}));
    p.finish();
    REQUIRE(p.fault.empty());

    const pmr_vector<remaining_transpose> left = remaining_transposes(p.g);
    REQUIRE(left.size() == 3);
    CHECK(left[0].shape == pmr_vector<std::int64_t>{1, 3, 4, 5});
    CHECK(left[0].perms == pmr_vector<std::int64_t>{0, 2, 3, 1});
    CHECK(left[0].bytes == 240);
    CHECK(
        left[0].reason == "input x comes as it was exported, and tosa.MAX_POOL2D pool has its channels last");
    CHECK(left[1].reason ==
        "tosa.MAX_POOL2D pool has its channels last, and the output is wanted as it was exported");
    CHECK(left[2].reason.find("tosa.MATMUL") != std::pmr::string::npos);
}

TEST_CASE("no transpose, nothing to explain") {
    program p;
    p.output(p.make<tosa::exp>({.input1 = p.input(fp32, {2, 3})}));
    p.finish();
    CHECK(remaining_transposes(p.g).empty());
}
