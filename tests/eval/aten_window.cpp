// SPDX-License-Identifier: MIT
// Tests ATen's matrix products, convolutions, poolings, resizing and recurrent networks.
#include "kernel_test.hpp"

#include <headrace/dialect/aten.hpp>

using namespace headrace;

namespace {
constexpr dtype real = dtype::float32;
const tensor grid = f32({2, 3}, {1, 2, 3, 4, 5, 6});
const tensor image = f32({1, 1, 3, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9});
}  // namespace

TEST_CASE("matrix products") {
    kernel_test k;
    const value a = k(grid);
    const value b = k(f32({3, 2}, {1, 0, 0, 1, 1, 1}));
    CHECK(k.numbers<aten::mm>({a, b}, {real, {2, 2}, {}}) == reals{4, 5, 10, 11});
    CHECK(k.numbers<aten::addmm>({k(f32({2}, {1, 2})), a, b, 2, 0.5}, {real, {2, 2}, {}}) ==
        reals{4, 6.5, 7, 9.5});
    CHECK(k.numbers<aten::linear>({a, a, k(f32({2}, {1, -1}))}, {real, {2, 2}, {}}) == reals{15, 31, 33, 76});
    const value vector = k(f32({3}, {1, 1, 1}));
    CHECK(k.numbers<aten::matmul>({a, vector}, {real, {2}, {}}) == reals{6, 15});
    CHECK(k.numbers<aten::matmul>({vector, b}, {real, {2}, {}}) == reals{2, 2});
    CHECK(k.numbers<aten::matmul>({vector, vector}, {real, {}, {}}) == reals{3});
    const value batch = k(f32({2, 1, 2, 1}, {1, 2, 3, 4}));
    const value rows = k(f32({2, 1, 1}, {1, 10}));
    CHECK(k.numbers<aten::matmul>({batch, rows}, {real, {2, 2, 2, 1}, {}}) ==
        reals{1, 2, 10, 20, 3, 4, 30, 40});
    const value large = k(i64({1, 1}, {3000000001}));
    CHECK(k.run<aten::mm>({large, large}, {dtype::int64, {1, 1}, {}}).integer(0) == 9000000006000000001);
}

TEST_CASE("einsum") {
    kernel_test k;
    const value a = k(grid);
    const std::vector<value> pair{a, a};
    CHECK(k.numbers<aten::einsum>({"ij,kj->ik", pair}, {real, {2, 2}, {}}) == reals{14, 32, 32, 77});
    CHECK(k.numbers<aten::einsum>({"...j,...j->...", pair}, {real, {2}, {}}) == reals{14, 77});
    const std::vector<value> square{k(f32({2, 2}, {1, 2, 3, 4}))};
    CHECK(k.numbers<aten::einsum>({"ii", square}, {real, {}, {}}) == reals{5});
    CHECK(k.numbers<aten::einsum>({"ba", square}, {real, {2, 2}, {}}) == reals{1, 3, 2, 4});
}

TEST_CASE("convolutions") {
    kernel_test k;
    const value x = k(image);
    const value ones = k(f32({1, 1, 2, 2}, {1, 1, 1, 1}));
    const value bias = k(f32({1}, {100}));
    CHECK(k.numbers<aten::conv2d>({x, ones, bias}, {real, {1, 1, 2, 2}, {}}) == reals{112, 116, 124, 128});
    CHECK(k.numbers<aten::conv2d>({x, ones, {}, {2, 2}, {1, 1}}, {real, {1, 1, 2, 2}, {}}) ==
        reals{1, 5, 11, 28});
    CHECK(k.numbers<aten::conv2d>({x, ones, {}, {1}, {0}, {2}}, {real, {1, 1, 1, 1}, {}}) == reals{20});
    CHECK(k.numbers<aten::conv2d_padding>({x, ones, {}, {1, 1}, "same"}, {real, {1, 1, 3, 3}, {}}) ==
        reals{12, 16, 9, 24, 28, 15, 15, 17, 9});
    const value channels = k(f32({1, 2, 2}, {1, 2, 10, 20}));
    const value filters = k(f32({2, 1, 1}, {3, 5}));
    CHECK(k.numbers<aten::conv1d>({channels, filters, {}, {1}, {0}, {1}, 2}, {real, {1, 2, 2}, {}}) ==
        reals{3, 6, 50, 100});
}

TEST_CASE("transposed convolutions") {
    kernel_test k;
    const value x = k(f32({1, 1, 2}, {1, 2}));
    const value w = k(f32({1, 1, 3}, {1, 10, 100}));
    CHECK(k.numbers<aten::conv_transpose1d>({x, w, {}, {2}}, {real, {1, 1, 5}, {}}) ==
        reals{1, 10, 102, 20, 200});
    CHECK(k.numbers<aten::conv_transpose1d>({x, w, {}, {2}, {1}, {1}}, {real, {1, 1, 4}, {}}) ==
        reals{10, 102, 20, 200});
    const value grouped = k(f32({1, 2, 1}, {1, 2}));
    const value pair = k(f32({2, 1, 2}, {1, 2, 3, 4}));
    CHECK(k.numbers<aten::conv_transpose1d>({grouped, pair, {}, {1}, {0}, {0}, 2}, {real, {1, 2, 2}, {}}) ==
        reals{1, 2, 6, 8});
}

TEST_CASE("pooling") {
    kernel_test k;
    const value x = k(image);
    CHECK(k.numbers<aten::max_pool2d>({x, {2, 2}, {1, 1}}, {real, {1, 1, 2, 2}, {}}) == reals{5, 6, 8, 9});
    CHECK(k.numbers<aten::max_pool2d>({x, {2}, {2}, {0}, {1}, true}, {real, {1, 1, 2, 2}, {}}) ==
        reals{5, 6, 8, 9});
    const auto both = k.run_all<aten::max_pool2d_with_indices>(
        {x, {3, 3}}, {{real, {1, 1, 1, 1}, {}}, {dtype::int64, {1, 1, 1, 1}, {}}});
    CHECK(both.value()[1].integer(0) == 8);
    CHECK(k.numbers<aten::avg_pool2d>({x, {2, 2}, {2, 2}, {1, 1}}, {real, {1, 1, 2, 2}, {}}) ==
        reals{0.25, 1.25, 2.75, 7});
    CHECK(k.numbers<aten::avg_pool2d>({x, {2, 2}, {2, 2}, {1, 1}, false, false}, {real, {1, 1, 2, 2}, {}}) ==
        reals{1, 2.5, 5.5, 7});
    CHECK(k.numbers<aten::avg_pool2d>({x, {3, 3}, {}, {0, 0}, false, true, 5}, {real, {1, 1, 1, 1}, {}}) ==
        reals{9});
    CHECK(k.numbers<aten::adaptive_avg_pool2d>({x, {2, 1}}, {real, {1, 1, 2, 1}, {}}) == reals{3.5, 6.5});
    const value with_nan = k(f32({1, 3}, {1, not_a_number, 3}));
    check_close(k.numbers<aten::max_pool1d>({with_nan, {3}}, {real, {1, 1}, {}}), {not_a_number});
}

TEST_CASE("resizing") {
    kernel_test k;
    const value x = k(f32({1, 1, 1, 2}, {0, 4}));
    const tensor_meta wide{real, {1, 1, 1, 4}, {}};
    CHECK(k.numbers<aten::upsample_nearest2d_vec>({x, int_list{1, 4}, {}}, wide) == reals{0, 0, 4, 4});
    CHECK(
        k.numbers<aten::upsample_bilinear2d_vec>({x, int_list{1, 4}, false, {}}, wide) == reals{0, 1, 3, 4});
    check_close(k.numbers<aten::upsample_bilinear2d>({x, {1, 4}, true}, wide), {0, 4.0 / 3, 8.0 / 3, 4});
    // A scale has no effect on an axis that keeps its size, nor on nearest if that doubles it.
    const tensor_meta same{real, {1, 1, 1, 2}, {}};
    CHECK(k.numbers<aten::upsample_bilinear2d>({x, {1, 2}, false, 1.4, 1.4}, same) == reals{0, 4});
    CHECK(k.numbers<aten::upsample_nearest2d>({x, {1, 2}, 1.4, 1.4}, same) == reals{0, 4});
    CHECK(k.numbers<aten::upsample_nearest2d>({x, {1, 4}, 2.4, 2.4}, wide) == reals{0, 0, 4, 4});
    const value flow = k(f32({1, 1, 2, 2}, {-1, 0, 1, 0}));
    CHECK_FALSE(
        k.run_all<aten::grid_sampler_2d>({x, flow, 3, 0, true}, {{real, {1, 1, 1, 2}, {}}}).has_value());
    const value points = k(f32({1, 1, 3, 2}, {-1, 0, 0, 0, 1, 0}));
    CHECK(k.numbers<aten::grid_sampler_2d>({x, points, 0, 0, true}, {real, {1, 1, 1, 3}, {}}) ==
        reals{0, 2, 4});
}

TEST_CASE("recurrent cells") {
    kernel_test k;
    const value x = k(f32({1, 1}, {1}));
    const value h = k(f32({1, 1}, {0.5}));
    const value w3 = k(f32({3, 1}, {1, 0, 2}));
    check_close(k.numbers<aten::gru_cell>({x, h, w3, w3}, {real, {1, 1}, {}}), {0.7464426});
    const value w1 = k(f32({1, 1}, {2}));
    check_close(k.numbers<aten::rnn_tanh_cell>({x, h, w1, w1}, {real, {1, 1}, {}}), {0.9950548});
    check_close(k.numbers<aten::rnn_relu_cell>({x, h, w1, w1}, {real, {1, 1}, {}}), {3});
}

TEST_CASE("a bidirectional network runs its second direction backwards") {
    kernel_test k;
    const value x = k(f32({2, 1, 1}, {1, 2}));
    const value h = k(f32({2, 1, 1}, {0, 0}));
    const value one = k(f32({1, 1}, {1}));
    const value ten = k(f32({1, 1}, {10}));
    const std::vector<value> weights{one, one, ten, one};
    const auto results = k.run_all<aten::rnn_relu_input>(
        {x, h, weights, false, 1, 0, false, true, false}, {{real, {2, 1, 2}, {}}, {real, {2, 1, 1}, {}}});
    REQUIRE(results.has_value());
    CHECK(results.value()[0].to<double>() == reals{1, 30, 3, 20});
    CHECK(results.value()[1].to<double>() == reals{3, 30});
}
