// SPDX-License-Identifier: MIT
// Tests the lowerings of reductions: sums, products, extrema and their positions, any and all, cumsum.
#include <limits>

#include <catch2/catch.hpp>

#include <headrace/passes/legalize/reduction.hpp>

#include "../../support/pass_test.hpp"

using namespace headrace;

namespace {

constexpr dtype fp32 = dtype::float32;

template <class Pass>
constexpr bool removes_its_targets = effects_of<Pass>::removed_set == effects_of<Pass>::target_set;
static_assert(removes_its_targets<legalize_sums> && removes_its_targets<legalize_products>);
static_assert(removes_its_targets<legalize_limits> && removes_its_targets<legalize_argmax>);
static_assert(removes_its_targets<legalize_any_all> && removes_its_targets<legalize_cumsum>);

template <class Pass, class Op>
std::pmr::string compare(std::initializer_list<std::int64_t> shape, args<Op> a, dtype type = fp32,
    std::vector<double> numbers = {}) {
    std::vector<tensor> inputs;
    if (!numbers.empty()) inputs.push_back(tensor::of(type, extents(shape), numbers));
    return compare_runs<Pass>(
        [&](program& p) {
            args<Op> b = a;
            b.self = p.input(type, shape);
            node& n = p.make_node<Op>(b);
            for (std::uint32_t i = 0; i != n.result_count; ++i) p.output(n.result(i));
        },
        inputs);
}

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

}  // namespace

TEST_CASE("sums") {
    CHECK(compare<legalize_sums, aten::sum>({2, 3, 4}, {}) == "");
    CHECK(compare<legalize_sums, aten::sum>({}, {}) == "");
    CHECK(compare<legalize_sums, aten::sum>({5}, {}, dtype::boolean) == "");
    for (const bool keepdim : {false, true}) {
        CHECK(compare<legalize_sums, aten::sum_dim_intlist>(
                  {2, 3, 4}, {.self = {}, .dim = int_list{0, -1}, .keepdim = keepdim}) == "");
        CHECK(compare<legalize_sums, aten::sum_dim_intlist>(
                  {2, 1, 4}, {.self = {}, .dim = int_list{1}, .keepdim = keepdim}) == "");
        CHECK(compare<legalize_sums, aten::sum_dim_intlist>(
                  {2, 3}, {.self = {}, .dim = std::nullopt, .keepdim = keepdim}) == "");
        CHECK(compare<legalize_sums, aten::sum_dim_intlist>(
                  {2, 3}, {.self = {}, .dim = int_list{}, .keepdim = keepdim}, dtype::int32) == "");
    }
    CHECK(compare<legalize_sums, aten::sum_dim_intlist>(
              {4, 6}, {.self = {}, .dim = int_list{1}, .dtype = fp32}, dtype::int32) == "");
    CHECK(compare<legalize_sums, aten::sum>({3}, {}, fp32, {infinity, 1, -infinity}) == "");
    CHECK(compare<legalize_sums, aten::sum>({5}, {.self = {}, .dtype = fp32}, dtype::boolean) == "");
}

TEST_CASE("products of floats and of integers") {
    CHECK(compare<legalize_products, aten::prod>({3}, {.self = {}, .dtype = fp32}, dtype::boolean) == "");
    CHECK(compare<legalize_products, aten::prod>({2, 3}, {}) == "");
    for (const std::int64_t size : {1, 2, 3, 4, 5, 7, 8}) {
        CAPTURE(size);
        CHECK(compare<legalize_products, aten::prod_dim_int>(
                  {2, size, 2}, {.self = {}, .dim = 1}, dtype::int32) == "");
        CHECK(compare<legalize_products, aten::prod_dim_int>(
                  {2, size}, {.self = {}, .dim = -1, .keepdim = true}) == "");
    }
}

TEST_CASE("largest and smallest elements") {
    CHECK(compare<legalize_limits, aten::amax>({2, 3, 4}, {.self = {}, .dim = {0, 2}}) == "");
    CHECK(compare<legalize_limits, aten::amin>({2, 3}, {.self = {}, .dim = {}, .keepdim = true}) == "");
    CHECK(compare<legalize_limits, aten::max>({2, 3}, {}, dtype::int32) == "");
    CHECK(compare<legalize_limits, aten::min>({}, {}) == "");
    CHECK(compare<legalize_limits, aten::aminmax>({2, 3}, {.self = {}, .dim = 1}) == "");
    CHECK(compare<legalize_limits, aten::amax>({4}, {.self = {}, .dim = {0}}, dtype::boolean) == "");
    CHECK(compare<legalize_limits, aten::amin>({4}, {.self = {}, .dim = {0}}, dtype::boolean) == "");
    CHECK(compare<legalize_limits, aten::amax>({3}, {.self = {}, .dim = {0}}, fp32, {1, not_a_number, 2}) ==
        "");
}

TEST_CASE("positions of extrema") {
    for (const dtype type : {fp32, dtype::int32, dtype::int8}) {
        for (const bool keepdim : {false, true}) {
            CAPTURE(name_of(type), keepdim);
            CHECK(compare<legalize_argmax, aten::argmax>(
                      {2, 3, 4}, {.self = {}, .dim = 1, .keepdim = keepdim}, type) == "");
            CHECK(compare<legalize_argmax, aten::argmin>(
                      {3, 4}, {.self = {}, .dim = std::nullopt, .keepdim = keepdim}, type) == "");
            CHECK(compare<legalize_argmax, aten::max_dim>(
                      {3, 4}, {.self = {}, .dim = -1, .keepdim = keepdim}, type) == "");
            CHECK(compare<legalize_argmax, aten::min_dim>(
                      {3, 4, 1}, {.self = {}, .dim = 0, .keepdim = keepdim}, type) == "");
        }
    }
    CHECK(compare<legalize_argmax, aten::argmax>({}, {}) == "");
    CHECK(compare<legalize_argmax, aten::max_dim>({}, {.self = {}, .dim = 0}) == "");
    CHECK(compare<legalize_argmax, aten::argmin>(
              {4}, {.self = {}, .dim = 0}, dtype::int32, {5, -2147483648., -2147483647., 9}) == "");
    CHECK(compare<legalize_argmax, aten::argmax>(
              {3}, {.self = {}, .dim = 0}, dtype::int32, {2147483646, 2147483647, 2147483647}) == "");
}

TEST_CASE("any and all") {
    for (const dtype type : {dtype::boolean, fp32, dtype::int32}) {
        CHECK(compare<legalize_any_all, aten::any>({2, 3}, {}, type) == "");
        CHECK(compare<legalize_any_all, aten::all_dim>(
                  {2, 3}, {.self = {}, .dim = -1, .keepdim = true}, type) == "");
        CHECK(compare<legalize_any_all, aten::any_dims>(
                  {2, 3, 2}, {.self = {}, .dim = int_list{0, 2}}, type) == "");
        CHECK(compare<legalize_any_all, aten::all_dims>({2, 3}, {.self = {}, .dim = int_list{}}, type) == "");
        CHECK(compare<legalize_any_all, aten::any_dims>({2, 3}, {}, type) == "");
    }
    CHECK(compare<legalize_any_all, aten::all>({2}, {}, fp32, {not_a_number, 1}) == "");
}

TEST_CASE("cumsum keeps infinities where they are") {
    for (const std::int64_t size : {1, 2, 3, 8, 13}) {
        CHECK(compare<legalize_cumsum, aten::cumsum>({2, size, 3}, {.self = {}, .dim = 1}) == "");
        CHECK(compare<legalize_cumsum, aten::cumsum>({size}, {.self = {}, .dim = -1}, dtype::int32) == "");
    }
    CHECK(compare<legalize_cumsum, aten::cumsum>({}, {.self = {}, .dim = 0}) == "");
    CHECK(compare<legalize_cumsum, aten::cumsum>(
              {5}, {.self = {}, .dim = 0, .dtype = fp32}, dtype::boolean) == "");
    CHECK(compare<legalize_cumsum, aten::cumsum>(
              {5}, {.self = {}, .dim = 0}, fp32, {1, infinity, 2, -infinity, 3}) == "");
}
