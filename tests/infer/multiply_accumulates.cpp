// SPDX-License-Identifier: MIT
// Tests multiply_accumulates on the kernels for Cortex-M, whose weights are laid out in several ways.
#include <catch2/catch.hpp>

#include <cstdint>
#include <initializer_list>

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
    CHECK(t.count<minimum>({product.lhs, product.lhs}, {2, 3, 7}) == 0);
}
