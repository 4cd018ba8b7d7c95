// SPDX-License-Identifier: MIT
// Tests ATen's reductions, softmax, normalizations and attention.
#include "kernel_test.hpp"

#include <headrace/dialect/aten.hpp>

using namespace headrace;

namespace {
constexpr dtype real = dtype::float32;
const tensor grid = f32({2, 3}, {1, 2, 3, 4, 5, 6});
}  // namespace

TEST_CASE("sums, products and means") {
    kernel_test k;
    const value x = k(grid);
    CHECK(k.numbers<aten::sum>({x}, {real, {}, {}}) == reals{21});
    CHECK(k.numbers<aten::sum_dim_intlist>({x, int_list{-1}}, {real, {2}, {}}) == reals{6, 15});
    CHECK(k.numbers<aten::sum_dim_intlist>({x, int_list{0}, true}, {real, {1, 3}, {}}) == reals{5, 7, 9});
    CHECK(k.numbers<aten::sum_dim_intlist>({x, {}}, {real, {}, {}}) == reals{21});
    CHECK(k.numbers<aten::prod_dim_int>({x, 1}, {real, {2}, {}}) == reals{6, 120});
    CHECK(k.numbers<aten::mean_dim>({x, int_list{0, 1}}, {real, {}, {}}) == reals{3.5});
    CHECK(k.numbers<aten::sum>({k(flags({3}, {1, 0, 1}))}, {dtype::int64, {}, {}}) == reals{2});
}

TEST_CASE("reductions of nothing and of rank 0") {
    kernel_test k;
    const value nothing = k(f32({2, 0}, {}));
    CHECK(k.numbers<aten::sum_dim_intlist>({nothing, int_list{1}}, {real, {2}, {}}) == reals{0, 0});
    CHECK(k.numbers<aten::prod>({nothing}, {real, {}, {}}) == reals{1});
    check_close(k.numbers<aten::mean>({nothing}, {real, {}, {}}), {not_a_number});
    const value number = k(f32({}, {7}));
    CHECK(k.numbers<aten::sum_dim_intlist>({number, int_list{-1}}, {real, {}, {}}) == reals{7});
    CHECK(k.numbers<aten::argmax>({number, {}}, {dtype::int64, {}, {}}) == reals{0});
}

TEST_CASE("extremes and their positions, of which NaN is the largest and the smallest") {
    kernel_test k;
    const value x = k(f32({2, 3}, {3, 1, 3, not_a_number, 9, 0}));
    check_close(k.numbers<aten::amax>({x, int_list{1}}, {real, {2}, {}}), {3, not_a_number});
    check_close(k.numbers<aten::amin>({x, int_list{0}}, {real, {3}, {}}), {not_a_number, 1, 0});
    CHECK(k.numbers<aten::argmax>({x, 1}, {dtype::int64, {2}, {}}) == reals{0, 0});
    CHECK(k.numbers<aten::argmin>({x, {}}, {dtype::int64, {}, {}}) == reals{3});
    const auto both = k.run_all<aten::max_dim>({x, -1}, {{real, {2}, {}}, {dtype::int64, {2}, {}}}).value();
    check_close(both[0].to<double>(), {3, not_a_number});
    CHECK(both[1].to<double>() == reals{0, 0});
}

TEST_CASE("the k largest and smallest, in order") {
    kernel_test k;
    const value x = k(f32({2, 3}, {3, 1, 4, 1, 5, 9}));
    const tensor_meta positions{dtype::int64, {2, 2}, {}};
    const auto largest = k.run_all<aten::topk>({x, 2}, {{real, {2, 2}, {}}, positions}).value();
    CHECK(largest[0].to<double>() == reals{4, 3, 9, 5});
    CHECK(largest[1].to<double>() == reals{2, 0, 2, 1});
    const value y = k(f32({3}, {3, not_a_number, 4}));
    const auto smallest =
        k.run_all<aten::topk>({y, 2, 0, false}, {{real, {2}, {}}, {dtype::int64, {2}, {}}}).value();
    CHECK(smallest[0].to<double>() == reals{3, 4});
    CHECK(smallest[1].to<double>() == reals{0, 2});
}

TEST_CASE("sorting keeps the order of equal numbers, and NaN is the largest") {
    kernel_test k;
    const value x = k(f32({2, 3}, {3, 1, 3, 1, not_a_number, 1}));
    const tensor_meta elements{real, {2, 3}, {}};
    const tensor_meta positions{dtype::int64, {2, 3}, {}};
    const auto up = k.run_all<aten::sort>({x}, {elements, positions}).value();
    check_close(up[0].to<double>(), {1, 3, 3, 1, 1, not_a_number});
    CHECK(up[1].to<double>() == reals{1, 0, 2, 0, 2, 1});
    const auto down = k.run_all<aten::sort_stable>({x, true, -1, true}, {elements, positions}).value();
    check_close(down[0].to<double>(), {3, 3, 1, not_a_number, 1, 1});
    CHECK(down[1].to<double>() == reals{0, 2, 1, 1, 0, 2});
    CHECK(k.numbers<aten::argsort>({x, 0}, positions) == reals{1, 0, 1, 0, 1, 0});
    CHECK(k.numbers<aten::argsort_stable>({x, true, 1, true}, positions) == reals{0, 2, 1, 1, 0, 2});
    check_close(k.numbers<aten::msort>({x}, elements), {1, 1, 1, 3, not_a_number, 3});
}

TEST_CASE("any and all") {
    kernel_test k;
    const value x = k(f32({2, 2}, {0, 1, 0, 0}));
    CHECK(k.numbers<aten::any>({x}, {dtype::boolean, {}, {}}) == reals{1});
    CHECK(k.numbers<aten::any_dim>({x, 1}, {dtype::boolean, {2}, {}}) == reals{1, 0});
    CHECK(k.numbers<aten::all_dims>({x, int_list{0}}, {dtype::boolean, {2}, {}}) == reals{0, 0});
    CHECK(k.numbers<aten::any_dims>({x, int_list{}}, {dtype::boolean, {2, 2}, {}}) == reals{0, 1, 0, 0});
}

TEST_CASE("variance, norms and cumulative sums") {
    kernel_test k;
    const value x = k(grid);
    CHECK(k.numbers<aten::var_correction>({x, int_list{1}, scalar(1)}, {real, {2}, {}}) == reals{1, 1});
    check_close(k.numbers<aten::var_dim>({x, int_list{1}, false}, {real, {2}, {}}), {2.0 / 3, 2.0 / 3});
    check_close(k.numbers<aten::std_>({x}, {real, {}, {}}), {1.8708287});
    check_close(k.numbers<aten::linalg_vector_norm>({x}, {real, {}, {}}), {9.5393920});
    CHECK(k.numbers<aten::linalg_vector_norm>({x, 1, int_list{0}}, {real, {3}, {}}) == reals{5, 7, 9});
    CHECK(k.numbers<aten::cumsum>({x, 1}, {real, {2, 3}, {}}) == reals{1, 3, 6, 4, 9, 15});
    CHECK(k.numbers<aten::cumprod>({x, 1}, {real, {2, 3}, {}}) == reals{1, 2, 6, 4, 20, 120});
    check_close(k.numbers<aten::logsumexp>({x, int_list{1}}, {real, {2}, {}}), {3.4076060, 6.4076060});
}

TEST_CASE("softmax") {
    kernel_test k;
    const value x = k(f32({2, 2}, {0, 1000, -double{infinity}, -double{infinity}}));
    const tensor_meta meta{real, {2, 2}, {}};
    check_close(k.numbers<aten::softmax_int>({x, -1}, meta), {0, 1, not_a_number, not_a_number});
    check_close(k.numbers<aten::_safe_softmax>({x, -1}, meta), {0, 1, 0, 0});
    check_close(k.numbers<aten::log_softmax_int>({k(grid), 1}, {real, {2, 3}, {}}),
        {-2.4076060, -1.4076060, -0.4076060, -2.4076060, -1.4076060, -0.4076060});
}

TEST_CASE("normalizations") {
    kernel_test k;
    const value x = k(grid);
    const value weight = k(f32({3}, {1, 2, 1}));
    const value bias = k(f32({3}, {0, 10, 0}));
    check_close(k.numbers<aten::layer_norm>({x, {3}, weight, bias}, {real, {2, 3}, {}}),
        {-1.2247357, 10, 1.2247357, -1.2247357, 10, 1.2247357});
    check_close(k.numbers<aten::rms_norm>({x, {3}, {}, 0.0}, {real, {2, 3}, {}}),
        {0.4629100, 0.9258201, 1.3887301, 0.7895420, 0.9869275, 1.1843130});
    check_close(k.numbers<aten::_weight_norm>({x, k(f32({2, 1}, {2, 3})), 0}, {real, {2, 3}, {}}),
        {0.5345225, 1.0690450, 1.6035675, 1.3675269, 1.7094086, 2.0512903});
    const value mean = k(f32({3}, {1, 2, 3}));
    const value variance = k(f32({3}, {1, 4, 1}));
    check_close(k.numbers<aten::batch_norm>(
                    {x, weight, bias, mean, variance, false, 0.1, 0.0, true}, {real, {2, 3}, {}}),
        {0, 10, 0, 3, 13, 3});
    const value image = k(f32({1, 2, 2}, {0, 2, 10, 30}));
    check_close(k.numbers<aten::group_norm>({image, 2, {}, {}, 0.0}, {real, {1, 2, 2}, {}}), {-1, 1, -1, 1});
}

TEST_CASE("attention masks, and repeats heads of keys") {
    kernel_test k;
    const value query = k(f32({1, 2, 2, 1}, {0, 0, 0, 0}));
    const value key = k(f32({1, 1, 2, 1}, {1, 1}));
    const value values = k(f32({1, 1, 2, 1}, {2, 4}));
    const tensor_meta meta{real, {1, 2, 2, 1}, {}};
    using attention = aten::scaled_dot_product_attention;
    CHECK(k.numbers<attention>({query, key, values}, meta) == reals{3, 3, 3, 3});
    CHECK(k.numbers<attention>({query, key, values, {}, 0, true}, meta) == reals{2, 3, 2, 3});
    const value mask = k(flags({2, 2}, {0, 1, 0, 0}));
    CHECK(k.numbers<attention>({query, key, values, mask}, meta) == reals{4, 0, 4, 0});
}
