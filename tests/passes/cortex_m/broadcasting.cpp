// SPDX-License-Identifier: MIT
// Tests the shapes in which kernels of two operands get them.
#include <catch2/catch.hpp>

#include <headrace/passes/cortex_m/arithmetic.hpp>
#include <headrace/passes/cortex_m/moves.hpp>

#include "../../support/kernel_runs.hpp"

using namespace headrace;
using testing::program;

namespace {

// How many operands are repeated in memory, and the shape of the kernel's result.
struct broadcast_form {
    std::size_t expanded;
    int_list shape;
    friend bool operator==(const broadcast_form&, const broadcast_form&) = default;
};
template <class Op>
broadcast_form form_in(const graph& g) {
    const node& kernel = *g.nodes_of(info_of<Op>).begin();
    return {count_of<aten::expand>(g), kernel.results[0].meta->shape};
}
broadcast_form of_sum(const int_list& left, const int_list& right, bool has_constant = false) {
    program p;
    return form_in<cortex_m::quantized_add>(lowered<select_arithmetic>(p, [&](program& q) {
        kernel_test::dice d(1);
        const value y = has_constant ? kernel_test::random_integers(q, d, dtype::int8, right)
                                     : q.input(dtype::int8, right);
        const value sum = q.make<tosa::add>(
            {kernel_test::widened(q, q.input(dtype::int8, left), 1), kernel_test::widened(q, y, 2)});
        q.output(kernel_test::narrowed(q, sum, {{0.5}}));
    }));
}
broadcast_form of_maximum(const int_list& left, const int_list& right) {
    program p;
    return form_in<cortex_m::maximum>(lowered<select_moves>(p, [&](program& q) {
        q.output(q.make<tosa::maximum>({q.input(dtype::int8, left), q.input(dtype::int8, right)}));
    }));
}

}  // namespace

TEST_CASE("operands of one shape are read as they are") {
    CHECK(of_sum({2, 3, 4}, {2, 3, 4}) == broadcast_form{0, {2, 3, 4}});
}

TEST_CASE("a number for each channel is the kernel's own broadcast") {
    CHECK(of_sum({2, 3, 4}, {1, 1, 4}) == broadcast_form{0, {6, 4, 1, 1}});
    CHECK(of_sum({1, 4}, {5, 4}) == broadcast_form{0, {5, 4, 1, 1}});
    CHECK(of_sum({1, 2, 2, 3, 4, 5}, {1, 1, 1, 1, 1, 5}) == broadcast_form{0, {48, 5, 1, 1}});
}

TEST_CASE("other operands are repeated") {
    CHECK(of_sum({2, 3, 4}, {2, 1, 4}) == broadcast_form{1, {2, 3, 4}});
    CHECK(of_sum({2, 1, 4}, {1, 3, 4}) == broadcast_form{2, {2, 3, 4}});
    CHECK(of_sum({2, 3, 1}, {1, 1, 1}) == broadcast_form{1, {2, 3, 1}});
    CHECK(of_sum({2, 3, 4}, {2, 3, 1}) == broadcast_form{1, {2, 3, 4}});
}

TEST_CASE("constants are repeated when the program is written") {
    CHECK(of_sum({2, 3, 4}, {2, 1, 4}, true) == broadcast_form{0, {2, 3, 4}});
    CHECK(of_sum({2, 1, 4}, {1, 3, 4}, true) == broadcast_form{1, {2, 3, 4}});
}

TEST_CASE("kernels that broadcast wrongly in some shapes get equal vectors") {
    CHECK(of_maximum({2, 3, 4}, {2, 3, 4}) == broadcast_form{0, {24}});
    CHECK(of_maximum({2, 3, 4}, {1, 1, 4}) == broadcast_form{1, {24}});
    CHECK(of_maximum({2, 3, 1, 1}, {2, 1, 5, 1}) == broadcast_form{2, {30}});
}
