// SPDX-License-Identifier: MIT
// Tests the lowerings of matrix products, and of ops that reshape.
#include <catch2/catch.hpp>

#include <headrace/passes/legalize/convolution.hpp>
#include <headrace/passes/legalize/shape.hpp>

#include "../../support/pass_test.hpp"

using namespace headrace;

namespace {

using shape_list = int_list;  // an initializer_list would dangle in the closures
constexpr dtype types[] = {dtype::float32, dtype::float16, dtype::bfloat16};

template <class Pass>
constexpr bool removes_its_targets = effects_of<Pass>::removed_set == effects_of<Pass>::target_set;
static_assert(removes_its_targets<legalize_matmul> && removes_its_targets<legalize_views>);

constexpr double tolerance_of(dtype type) {
    return type == dtype::float32 ? 1e-5 : type == dtype::float16 ? 1e-2 : 5e-2;
}

std::pmr::string bmm(shape_list a, shape_list b, dtype type) {
    return compare_runs<legalize_matmul>(
        [=](program& p) {
            const value x = p.input(type, a);
            p.output(p.make<aten::bmm>({x, p.input(type, b)}));
        },
        {}, tolerance_of(type));
}
std::pmr::string linear(shape_list input, shape_list weight, bool bias, dtype type) {
    return compare_runs<legalize_matmul>(
        [=](program& p) {
            args<aten::linear> a{};
            a.input = p.input(type, input);
            a.weight = p.input(type, weight);
            if (bias) a.bias = p.input(type, {std::data(weight)[0]});
            p.output(p.make<aten::linear>(a));
        },
        {}, tolerance_of(type));
}

/// `set(args&)` sets arguments other than the tensor.
template <class Op, class Set>
std::pmr::string view(shape_list shape, const Set& set) {
    return compare_runs<legalize_views>([=](program& p) {
        args<Op> a{};
        set(a);
        a.self = p.input(dtype::float32, shape);
        p.output(p.make<Op>(a));
    });
}
std::pmr::string view_as(shape_list shape, shape_list other) {
    return compare_runs<legalize_views>([=](program& p) {
        const value x = p.input(dtype::float32, shape);
        const value y = p.input(dtype::float32, other);
        p.output(p.make<aten::view_as>({x, y}));
        p.output(p.make<aten::reshape_as>({x, y}));
    });
}

}  // namespace

TEST_CASE("products of integer matrices are sums of products", "[legalize_matmul]") {
    CHECK(bmm({2, 3, 4}, {2, 4, 5}, dtype::int32) == "");
    CHECK(bmm({1, 1, 1}, {1, 1, 1}, dtype::int32) == "");
    for (const dtype narrow : {dtype::int8, dtype::int16}) {  // both wrap around
        CHECK(bmm({2, 3, 40}, {2, 40, 5}, narrow) == "");
        CHECK(bmm({1, 1, 1}, {1, 1, 1}, narrow) == "");
    }
}

TEST_CASE("batches of matrices") {
    for (const dtype type : types) {
        INFO(name_of(type));
        CHECK(bmm({2, 3, 4}, {2, 4, 5}, type) == "");
        CHECK(bmm({1, 1, 64}, {1, 64, 3}, type) == "");
        CHECK(bmm({3, 5, 1}, {3, 1, 5}, type) == "");
    }
    CHECK_THAT(
        [](program& p) {
            const value x = p.input(dtype::uint8, {2, 3, 3});
            p.output(p.make<aten::bmm>({x, x}));
        },
        is_refused_by<legalize_matmul>("matrices of uint8"));
    CHECK_THAT(
        [](program& p) {
            const value x = p.input(dtype::int32, {2, 300, 300});
            p.output(p.make<aten::bmm>({x, x}));
        },
        is_refused_by<legalize_matmul>("more than 2^24"));
}

TEST_CASE("linear layers of every rank") {
    for (const dtype type : types) {
        for (const bool bias : {false, true}) {
            CAPTURE(name_of(type), bias);
            CHECK(linear({6}, {4, 6}, bias, type) == "");
            CHECK(linear({3, 6}, {4, 6}, bias, type) == "");
            CHECK(linear({2, 3, 6}, {4, 6}, bias, type) == "");
            CHECK(linear({2, 1, 3, 6}, {4, 6}, bias, type) == "");
            CHECK(linear({2, 1, 3, 2, 6}, {1, 6}, bias, type) == "");
            CHECK(linear({3, 1}, {4, 1}, bias, type) == "");
        }
    }
    CHECK_THAT(
        [](program& p) {
            const value x = p.input(dtype::float32, {2, 3});
            p.output(p.make<aten::linear>({.input = x, .weight = p.input(dtype::float32, {3})}));
        },
        is_refused_by<legalize_matmul>("weight matrix"));
}

TEST_CASE("views") {
    const auto sized = [](shape_list shape) { return [=](auto& a) { a.size = int_list(shape); }; };
    CHECK(view<aten::view>({2, 6}, sized({3, 4})) == "");
    CHECK(view<aten::view>({2, 6}, sized({-1, 2, 2})) == "");
    CHECK(view<aten::view>({1, 1}, sized({})) == "");
    CHECK(view<aten::_unsafe_view>({2, 6}, sized({12})) == "");
    CHECK(view<aten::reshape>({}, [](auto& a) { a.shape = {1, 1, 1}; }) == "");
    CHECK(view<aten::reshape>({2, 3, 4}, [](auto& a) { a.shape = {4, -1}; }) == "");
    CHECK(view_as({2, 6}, {4, 3}) == "");
    CHECK(view<aten::flatten_using_ints>({2, 3, 4, 5}, [](auto& a) {
        a.start_dim = 1;
        a.end_dim = -2;
    }) == "");
    CHECK(view<aten::unflatten_int>({2, 12}, [](auto& a) {
        a.dim = -1;
        a.sizes = {3, -1};
    }) == "");
}

TEST_CASE("axes of size 1 come and go") {
    const auto at = [](auto... dims) { return [=](auto& a) { a.dim = {dims...}; }; };
    CHECK(view<aten::squeeze>({1, 2, 1, 3}, [](auto&) {}) == "");
    CHECK(view<aten::squeeze_dim>({1, 2, 1, 3}, at(2)) == "");
    CHECK(view<aten::squeeze_dim>({1, 2, 1, 3}, at(-1)) == "");
    CHECK(view<aten::squeeze_dims>({1, 2, 1, 3}, at(0, -2)) == "");
    CHECK(view<aten::unsqueeze>({2, 3}, at(0)) == "");
    CHECK(view<aten::unsqueeze>({2, 3}, at(-1)) == "");
    CHECK(view<aten::unsqueeze>({}, at(0)) == "");
}
