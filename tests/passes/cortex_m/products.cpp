// SPDX-License-Identifier: MIT
// Tests that products of matrices and their RESCALEs become kernels that compute the same.
#include <catch2/catch.hpp>

#include <cmath>

#include <headrace/passes/cortex_m/moves.hpp>
#include <headrace/passes/cortex_m/products.hpp>
#include <headrace/passes/fold/redundancies.hpp>

#include "../../support/kernel_runs.hpp"

using namespace headrace;
using kernel_test::dice;

namespace {

struct product_kind {
    bool is_transposed = false;  // the second matrix comes from a TRANSPOSE
    bool is_constant = false;
    rounding_mode rounding = rounding_mode::double_round;
};
kernel_test::random_program product(const product_kind& kind) {
    return [=](testing::program& p, dice& d) {
        const std::int64_t batch = d.from(1, 3), rows = d.from(1, 6), inner = d.from(1, 9),
                           columns = d.from(1, 6);
        const int_list shape{batch, inner, columns}, turned{batch, columns, inner};
        value b = kind.is_constant ? kernel_test::random_integers(p, d, dtype::int8, shape)
                                   : p.input(dtype::int8, kind.is_transposed ? turned : shape);
        if (kind.is_transposed) b = p.make<tosa::transpose>({.input1 = b, .perms = {0, 2, 1}});
        const value sum = p.make<tosa::matmul>({p.input(dtype::int8, {batch, rows, inner}), b,
            kernel_test::number(p, dtype::int8, d.from(-128, 127)),
            kernel_test::number(p, dtype::int8, d.from(-128, 127)), dtype::int32});
        const double factor = 0.01 / std::sqrt(static_cast<double>(inner));
        return kernel_test::narrowed(
            p, sum, {kernel_test::factors_around(d, factor, 1), d.from(-128, 127), kind.rounding});
    };
}
std::pmr::string becomes(const product_kind& kind, std::int64_t difference = 0) {
    return becomes_kernels<select_products, select_moves, remove_dead_code>(
        product(kind), {.difference = difference});
}

// `change` makes a product that no kernel computes.
template <class Change>
void changed_product(testing::program& p, const Change& change, std::vector<double> factors = {0.01}) {
    tosa::matmul::args a{p.input(dtype::int8, {1, 2, 3}), p.input(dtype::int8, {1, 3, 2}),
        kernel_test::number(p, dtype::int8, 0), kernel_test::number(p, dtype::int8, 0), dtype::int32};
    change(a);
    p.output(kernel_test::narrowed(p, p.make<tosa::matmul>(a), {std::move(factors)}));
}

// The first matrix is a softmax that was computed in another shape.
value product_of_shares(testing::program& p, dice& d) {
    const std::int64_t rows = d.from(1, 6), inner = d.from(1, 9);
    const value shares = p.make<cortex_m::softmax>({.input = p.input(dtype::int8, {rows, 1, inner}),
        .dim = 2,
        .input_zero_point = 0,
        .output_zero_point = -128,
        .input_multiplier = 1 << 30,
        .input_shift = 24,
        .diff_min = -127});
    const value viewed = p.make<tosa::reshape>({shares, kernel_test::shape_of(p, {1, rows, inner})});
    const std::int64_t zero = -128;
    const value same = p.make<tosa::rescale>({.input = viewed,
        .multiplier = kernel_test::number(p, dtype::int32, 1 << 30),
        .shift = kernel_test::number(p, dtype::int8, 30),
        .input_zp = kernel_test::number(p, dtype::int8, zero),
        .output_zp = kernel_test::number(p, dtype::int8, zero)});
    const value sum = p.make<tosa::matmul>(
        {same, p.input(dtype::int8, {1, inner, d.from(1, 5)}), kernel_test::number(p, dtype::int8, zero),
            kernel_test::number(p, dtype::int8, d.from(-128, 127)), dtype::int32});
    return kernel_test::narrowed(
        p, sum, {kernel_test::factors_around(d, 0.004, 1), d.from(-128, 127), rounding_mode::double_round});
}

}  // namespace

TEST_CASE("a product of a softmax reads it without its RESCALE") {
    CHECK(becomes_kernels<select_products, select_moves, remove_dead_code>(product_of_shares) == "");
}

TEST_CASE("products of matrices") {
    CHECK(becomes({}) == "");
    CHECK(becomes({.is_constant = true}) == "");
    CHECK(becomes({.rounding = rounding_mode::single_round}, 1) == "");
}

TEST_CASE("a second matrix that was transposed is read as it was") {
    CHECK(becomes({.is_transposed = true}) == "");
    program p;
    const graph& g = lowered<select_products, select_moves, remove_dead_code>(p, [](testing::program& q) {
        dice d(0);
        q.output(product({.is_transposed = true})(q, d));
    });
    CHECK(count_of<cortex_m::transpose>(g) == 0);
}

TEST_CASE("products that no kernel computes stay") {
    const auto by_channel = [](testing::program& p) { changed_product(p, [](auto&) {}, {0.01, 0.02}); };
    CHECK_THAT(by_channel, is_left_alone_by<select_products>());
    const auto computed_zero = [](testing::program& p) {
        changed_product(p, [&](auto& a) { a.a_zp = p.input(dtype::int8, {1}); });
    };
    CHECK_THAT(computed_zero, is_left_alone_by<select_products>());
    const auto wide = [](testing::program& p) {
        const value zero = kernel_test::number(p, dtype::int16, 0);
        p.output(p.make<tosa::matmul>(
            {p.input(dtype::int16, {1, 2, 3}), p.input(dtype::int16, {1, 3, 2}), zero, zero, dtype::int48}));
    };
    CHECK_THAT(wide, is_left_alone_by<select_products>());
    const auto stays_wide = [](testing::program& p) {
        const value zero = kernel_test::number(p, dtype::int8, 0);
        p.output(p.make<tosa::matmul>(
            {p.input(dtype::int8, {1, 2, 3}), p.input(dtype::int8, {1, 3, 2}), zero, zero, dtype::int32}));
    };
    CHECK_THAT(stays_wide, is_left_alone_by<select_products>());
}
