// SPDX-License-Identifier: MIT
// Tests that the second matrices of a product are transposed separately.
#include <catch2/catch.hpp>

#include <headrace/passes/npu/transposes.hpp>

#include "../../support/npu_test.hpp"

using namespace headrace;

namespace {

static_assert(effects_of<transpose_before_matmul>::sound);

struct keys {
    int_list made{4, 2, 3};  // rows, heads, elements
    int_list perms{1, 2, 0};
    int_list as{};  // the matrices, if they have another shape
    bool is_read_twice = false;
};
npu_builder product_with(const keys& k) {
    return for_target(u85_npu, [=](program& p) {
        value v = p.make<tosa::transpose>({.input1 = p.input(dtype::int8, k.made), .perms = k.perms});
        if (!k.as.empty())
            v = p.make<tosa::reshape>({.input1 = v, .shape = p.make<tosa::const_shape>({.values = k.as})});
        if (k.is_read_twice) p.output(v);
        const int_list shape = meta_of(v)->shape;
        return p.make<tosa::matmul>({.a = p.input(dtype::int8, {shape[0], 5, shape[1]}),
            .b = v,
            .a_zp = integer_constant(p, dtype::int8, {1}, {3}),
            .b_zp = integer_constant(p, dtype::int8, {1}, {-4}),
            .output_type = dtype::int32});
    });
}

}  // namespace

TEST_CASE("keys of any size, by heads or not") {
    for (unsigned seed = 0; seed != 6; ++seed) {
        random_numbers any(seed);
        const std::int64_t rows = any(2, 6), heads = any(1, 3), size = any(2, 5);
        INFO(seed);
        CHECK_THAT(product_with({.made = {rows, heads, size}}),
            computes_the_same<transpose_before_matmul>().within(0));
        CHECK_THAT(product_with({.made = {rows, heads * size}, .perms = {1, 0}, .as = {heads, size, rows}}),
            computes_the_same<transpose_before_matmul>().within(0));
    }
}

TEST_CASE("matrices that are only transposed, other permutations and users stay") {
    for (const npu_builder& build : {product_with({.perms = {0, 2, 1}}), product_with({.perms = {2, 0, 1}}),
             product_with({.is_read_twice = true}),
             product_with({.made = {4, 6}, .perms = {1, 0}, .as = {2, 6, 2}})}) {
        CHECK_THAT(build, is_left_alone_by<transpose_before_matmul>());
    }
}

TEST_CASE("it is for targets that read second matrices transposed") {
    CHECK(runs_for<transpose_before_matmul>(u85_npu));
    CHECK_FALSE(runs_for<transpose_before_matmul>(u55_npu));
    CHECK_FALSE(runs_for<transpose_before_matmul>(integer_target));
}
