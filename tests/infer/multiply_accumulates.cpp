// SPDX-License-Identifier: MIT
// Tests multiply_accumulates on recurrent networks, and on the kernels for Cortex-M, whose weights are laid
// out in several ways.
#include <catch2/catch.hpp>

#include <cstdint>
#include <initializer_list>

#include <headrace/dialect/aten.hpp>
#include <headrace/dialect/cortex_m.hpp>
#include <headrace/infer/multiply_accumulates.hpp>
#include <headrace/ir/graph.hpp>

using namespace headrace;

namespace {

struct macs_test {
    graph g;

    value tensor(int_list shape, dtype type = dtype::int8) {
        const value v = g.create<builtin::placeholder>({}).result();
        g.set_meta(v, {type, shape, {}});
        return v;
    }
    template <class Op>
    std::uint64_t count(const args<Op>& a, int_list shape) {
        node& n = g.create<Op>(a);
        g.set_meta(n.result(), {dtype::int8, shape, {}});
        return multiply_accumulates(n);
    }
    template <class Op>
    std::uint64_t convolution(int_list input, int_list weight, int_list shape) {
        args<Op> a{};
        a.input = tensor(input);
        a.weight = tensor(weight);
        a.requantize_multipliers = a.requantize_shifts = tensor({8}, dtype::int32);
        a.scratch = tensor({0}, dtype::uint8);
        if constexpr (requires { a.output_scratch; }) a.output_scratch = a.scratch;
        return count<Op>(a, shape);
    }
};

}  // namespace

TEST_CASE("multiplications of kernels for Cortex-M are counted") {
    using namespace cortex_m;
    macs_test t;
    CHECK(t.convolution<quantized_conv2d_nhwc>({1, 5, 5, 4}, {8, 3, 3, 4}, {1, 3, 3, 8}) == 9 * 8 * 36);
    CHECK(t.convolution<quantized_conv2d_nhwc>({1, 5, 5, 4}, {8, 3, 3, 2}, {1, 3, 3, 8}) == 9 * 8 * 18);
    CHECK(t.convolution<quantized_conv2d>({1, 4, 5, 5}, {8, 3, 3, 4}, {1, 8, 3, 3}) == 9 * 8 * 36);
    CHECK(t.convolution<quantized_depthwise_conv2d_nhwc>({1, 5, 5, 4}, {1, 3, 3, 8}, {1, 3, 3, 8}) ==
        9 * 8 * 9);
    CHECK(t.convolution<quantized_transpose_conv2d_nhwc>({1, 5, 5, 4}, {8, 2, 2, 4}, {1, 10, 10, 8}) ==
        25 * 4 * 32);
    args<quantized_linear> linear{};
    linear.input = t.tensor({2, 3, 7});
    linear.weights = t.tensor({5, 7});
    CHECK(t.count<quantized_linear>(linear, {2, 3, 5}) == 6 * 5 * 7);
    args<quantized_batch_matmul> product{};
    product.lhs = t.tensor({2, 3, 7});
    product.rhs_transposed = t.tensor({2, 5, 7});
    product.scratch = t.tensor({0}, dtype::uint8);
    CHECK(t.count<quantized_batch_matmul>(product, {2, 3, 5}) == 2 * 15 * 7);
    CHECK(t.count<cortex_m::minimum>({product.lhs, product.lhs}, {2, 3, 7}) == 0);
}

TEST_CASE("each step of a recurrent network multiplies all weights") {
    macs_test t;
    const value input = t.tensor({3, 5}), state = t.tensor({3, 4}), bias = t.tensor({12});
    const args<aten::gru_cell> cell{.input = input,
        .hx = state,
        .w_ih = t.tensor({12, 5}),
        .w_hh = t.tensor({12, 4}),
        .b_ih = bias,
        .b_hh = bias};
    CHECK(t.count<aten::gru_cell>(cell, {3, 4}) == 3 * 12 * (5 + 4));

    const value sequence = t.tensor({7, 2, 5}), states = t.tensor({1, 2, 4});
    const std::initializer_list<value> both{states, states};
    const std::initializer_list<value> weights{t.tensor({16, 5}), t.tensor({16, 4}), t.tensor({16})};
    node& lstm = t.g.create<aten::lstm_input>(
        {sequence, list<value>(both), list<value>(weights), true, 1, 0, false, false, false});
    t.g.set_meta(lstm.result(), {dtype::float32, {7, 2, 4}, {}});
    CHECK(multiply_accumulates(lstm) == 7 * 2 * 16 * (5 + 4));
}
