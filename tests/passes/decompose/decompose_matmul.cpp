// SPDX-License-Identifier: MIT
// Tests the decompositions into matrix products: matmul and related ops, einsum, attention.
#include <limits>

#include <catch2/catch.hpp>

#include <headrace/passes/decompose/matmul.hpp>

#include "../../support/pass_test.hpp"

using namespace headrace;

namespace {

constexpr dtype fp32 = dtype::float32;
using shape_list = int_list;  // an initializer_list would dangle in the closures

template <class Pass>
constexpr bool removes_its_targets = effects_of<Pass>::removed_set == effects_of<Pass>::target_set;
static_assert(removes_its_targets<decompose_einsum>);
static_assert(effects_of<decompose_matmul>::removed_set ==
    effects_of<decompose_matmul>::target_set - set_of<ops<aten::linear>>);  // with a weight matrix
static_assert(removes_its_targets<decompose_attention>);

template <class Op>
std::pmr::string multiply(shape_list a, shape_list b, dtype type = fp32) {
    return compare_runs<decompose_matmul>(
        [=](program& p) {
            const value x = p.input(type, a);
            p.output(p.make<Op>({x, p.input(type, b)}));
        },
        {}, type == fp32 ? 1e-5 : 2e-2);
}

/// beta * self + alpha * (a x b).
template <class Op>
auto sum(shape_list self, shape_list a, shape_list b, scalar beta, scalar alpha, dtype type = fp32) {
    return [=](program& p) {
        const value s = p.input(type, self);
        const value x = p.input(type, a);
        p.output(p.make<Op>({s, x, p.input(type, b), beta, alpha}));
    };
}

std::pmr::string einsum(std::string_view equation, std::initializer_list<shape_list> shapes) {
    return compare_runs<decompose_einsum>([=](program& p) {
        value_list tensors;
        for (const shape_list shape : shapes) tensors.push_back(p.input(fp32, shape));
        p.output(p.make<aten::einsum>({.equation = equation, .tensors = tensors}));
    });
}

using attention = args<aten::scaled_dot_product_attention>;
/// `set(attention&, program&)` sets arguments other than queries, keys and values.
template <class Set>
auto attend(shape_list query, shape_list key, shape_list values, const Set& set, dtype type = fp32) {
    return [=](program& p) {
        attention a{};
        a.query = p.input(type, query);
        a.key = p.input(type, key);
        a.value = p.input(type, values);
        set(a, p);
        p.output(p.make<aten::scaled_dot_product_attention>(a));
    };
}
constexpr auto as_is = [](attention&, program&) {};

}  // namespace

TEST_CASE("products of every mixture of ranks") {
    for (const shape_list a : {shape_list{4}, shape_list{3, 4}, shape_list{2, 3, 4}, shape_list{1, 3, 4},
             shape_list{5, 2, 3, 4}, shape_list{5, 1, 3, 4}, shape_list{1, 4}}) {
        for (const shape_list b : {shape_list{4}, shape_list{4, 6}, shape_list{2, 4, 6}, shape_list{1, 4, 6},
                 shape_list{5, 1, 4, 6}, shape_list{5, 2, 4, 1}, shape_list{4, 1}}) {
            CAPTURE(shape_text(sizes(std::data(a), a.size())), shape_text(sizes(std::data(b), b.size())));
            CHECK(multiply<aten::matmul>(a, b) == "");
        }
    }
    CHECK(multiply<aten::matmul>({2, 1, 2, 3, 4}, {3, 1, 4, 2}) == "");
    for (const dtype type : {fp32, dtype::float16, dtype::bfloat16}) {
        CHECK(multiply<aten::matmul>({2, 3, 4}, {4, 5}, type) == "");
        CHECK(multiply<aten::mm>({3, 4}, {4, 5}, type) == "");
        CHECK(multiply<aten::mv>({3, 4}, {4}, type) == "");
        CHECK(multiply<aten::dot>({7}, {7}, type) == "");
        CHECK(multiply<aten::outer>({3}, {5}, type) == "");
    }
    CHECK(multiply<aten::mm>({3, 4}, {4, 5}, dtype::int32) == "");
    CHECK(multiply<aten::mm>({1, 1}, {1, 1}) == "");
    CHECK(multiply<aten::matmul>({3, 0}, {0, 5}) == "");
}

TEST_CASE("sums with a product") {
    const scalar factors[] = {1, 0, 2, 0.5, -1.5};
    for (const scalar beta : factors) {
        for (const scalar alpha : factors) {
            for (const shape_list self : {shape_list{3, 5}, shape_list{5}, shape_list{3, 1}, shape_list{1}}) {
                CAPTURE(beta.to_double(), alpha.to_double());
                CHECK_THAT(sum<aten::addmm>(self, {3, 4}, {4, 5}, beta, alpha),
                    computes_the_same<decompose_matmul>());
                CHECK_THAT(sum<aten::baddbmm>(self, {2, 3, 4}, {2, 4, 5}, beta, alpha),
                    computes_the_same<decompose_matmul>());
            }
        }
    }
    CHECK_THAT(sum<aten::addmm>({3, 5}, {3, 4}, {4, 5}, 0.5, 2, dtype::float16),
        computes_the_same<decompose_matmul>().within(2e-2));
    CHECK_THAT(
        sum<aten::addmm>({3, 5}, {3, 4}, {4, 5}, 3, 2, dtype::int32), computes_the_same<decompose_matmul>());
}

TEST_CASE("linear layers of integers are products") {
    const auto layer = [](shape_list x, dtype type, bool has_bias) {
        return [=](program& p) {
            args<aten::linear> a{.input = p.input(type, x), .weight = p.input(type, {3, 5})};
            if (has_bias) a.bias = p.input(type, {3});
            p.output(p.make<aten::linear>(a));
        };
    };
    for (const dtype type : {dtype::int8, dtype::int16, dtype::int32, dtype::int64}) {
        for (const bool has_bias : {false, true}) {
            CAPTURE(name_of(type), has_bias);
            CHECK_THAT(layer({4, 5}, type, has_bias), computes_the_same<decompose_matmul>());
            CHECK_THAT(layer({2, 4, 5}, type, has_bias), computes_the_same<decompose_matmul>());
            CHECK_THAT(layer({5}, type, has_bias), computes_the_same<decompose_matmul>());
        }
    }
    program p;
    layer({4, 5}, dtype::int32, true)(p);
    p.finish();
    pass_context context;
    CHECK(run_pass<decompose_matmul>(p.g, context) == "");
    CHECK(count_of<aten::linear>(p.g) == 0);
}

TEST_CASE("a beta of 0 ignores what is not a number") {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    const auto with_nan = [&](auto build, std::vector<extents> shapes) {
        std::mt19937 random(4);
        std::vector<tensor> inputs{tensor::of(fp32, {2}, std::vector<double>{nan, nan})};
        for (const extents& shape : shapes) {
            inputs.push_back(random_tensor(random, {fp32, int_list(sizes(shape)), {}}));
        }
        return compare_runs<decompose_matmul>(build, inputs);
    };
    CHECK(with_nan(sum<aten::addmm>({2}, {3, 4}, {4, 2}, 0, 1), {{3, 4}, {4, 2}}) == "");
    CHECK(with_nan(sum<aten::baddbmm>({2}, {2, 3, 4}, {2, 4, 2}, 0.0, 3), {{2, 3, 4}, {2, 4, 2}}) == "");
    CHECK(with_nan(sum<aten::addmm>({2}, {3, 4}, {4, 2}, 1, 1), {{3, 4}, {4, 2}}) == "");
}

TEST_CASE("einsum") {
    CHECK(einsum("ij,jk->ik", {{2, 3}, {3, 4}}) == "");
    CHECK(einsum("ij,jk", {{2, 3}, {3, 4}}) == "");
    CHECK(einsum("ij,kj->ki", {{2, 3}, {4, 3}}) == "");
    CHECK(einsum("bij,bjk->bik", {{5, 2, 3}, {5, 3, 4}}) == "");
    CHECK(einsum("bhqd,bhkd->bhqk", {{2, 3, 4, 5}, {2, 3, 6, 5}}) == "");
    CHECK(einsum("bhqk,bkhd->bqhd", {{2, 3, 4, 6}, {2, 6, 3, 5}}) == "");
    CHECK(einsum("i,i->", {{4}, {4}}) == "");
    CHECK(einsum("i,j->ij", {{4}, {3}}) == "");
    CHECK(einsum("i,j->ji", {{4}, {3}}) == "");
    CHECK(einsum("ij,ij->ij", {{4, 3}, {4, 3}}) == "");
    CHECK(einsum("ij,ij->", {{4, 3}, {4, 3}}) == "");
    CHECK(einsum("bij,bj->bi", {{2, 4, 3}, {2, 3}}) == "");
    CHECK(einsum("ijk,lm->j", {{2, 3, 4}, {5, 6}}) == "");
}

TEST_CASE("einsum of one operand and of three") {
    CHECK(einsum("ij->ji", {{2, 3}}) == "");
    CHECK(einsum("ijk->j", {{2, 3, 4}}) == "");
    CHECK(einsum("ijk->", {{2, 3, 4}}) == "");
    CHECK(einsum("ijk->kij", {{2, 3, 4}}) == "");
    CHECK(einsum("ij,jk,kl->il", {{2, 3}, {3, 4}, {4, 5}}) == "");
    CHECK(einsum("bn,anm,bm->ba", {{2, 3}, {4, 3, 5}, {2, 5}}) == "");
    CHECK(einsum("i,i,i->i", {{4}, {4}, {4}}) == "");
}

TEST_CASE("einsum with an ellipsis") {
    CHECK(einsum("...i->...", {{2, 3, 4}}) == "");
    CHECK(einsum("...ij,...jk->...ik", {{2, 3, 4}, {2, 4, 5}}) == "");
    CHECK(einsum("...ij,...jk", {{2, 3, 3, 4}, {3, 4, 5}}) == "");
    CHECK(einsum("b...,b...->...", {{2, 3, 4}, {2, 4}}) == "");
}

TEST_CASE("einsum with a diagonal or an axis that broadcasts") {
    CHECK(einsum("ii,ij->i", {{3, 3}, {3, 3}}) == "");
    CHECK(einsum("ij,ij->i", {{3, 3}, {3, 1}}) == "");
}

TEST_CASE("attention, of several ranks, scales and types") {
    CHECK_THAT(
        attend({2, 3, 4, 8}, {2, 3, 5, 8}, {2, 3, 5, 6}, as_is), computes_the_same<decompose_attention>());
    CHECK_THAT(attend({3, 4, 8}, {3, 5, 8}, {3, 5, 8}, as_is), computes_the_same<decompose_attention>());
    CHECK_THAT(attend({4, 8}, {5, 8}, {5, 8}, as_is), computes_the_same<decompose_attention>());
    for (const double scale : {1.0, 0.3, 2.0}) {
        CHECK_THAT(attend({2, 3, 4, 8}, {2, 3, 5, 8}, {2, 3, 5, 8},
                       [=](attention& a, program&) { a.scale = scale; }),
            computes_the_same<decompose_attention>());
    }
    for (const dtype type : {dtype::float16, dtype::bfloat16}) {
        CHECK_THAT(attend({2, 3, 4, 8}, {2, 3, 5, 8}, {2, 3, 5, 8}, as_is, type),
            computes_the_same<decompose_attention>().within(type == dtype::float16 ? 5e-3 : 4e-2));
    }
}

TEST_CASE("causal attention, with as many queries as keys, more and fewer") {
    const auto causal = [](attention& a, program&) { a.is_causal = true; };
    for (const std::int64_t queries : {3, 5, 7}) {
        CHECK_THAT(attend({2, 3, queries, 8}, {2, 3, 5, 8}, {2, 3, 5, 8}, causal),
            computes_the_same<decompose_attention>());
    }
}

TEST_CASE("masks that are added and masks that choose") {
    for (const shape_list mask :
        {shape_list{4, 5}, shape_list{2, 1, 4, 5}, shape_list{2, 3, 4, 5}, shape_list{1, 5}}) {
        for (const dtype type : {fp32, dtype::boolean}) {
            CHECK_THAT(attend({2, 3, 4, 8}, {2, 3, 5, 8}, {2, 3, 5, 8},
                           [=](attention& a, program& p) { a.attn_mask = p.input(type, mask); }),
                computes_the_same<decompose_attention>());
        }
    }
    // The second query may not attend to anything.
    CHECK_THAT(attend({1, 1, 2, 4}, {1, 1, 3, 4}, {1, 1, 3, 4},
                   [](attention& a, program& p) {
                       a.attn_mask = p.constant<std::uint8_t>(dtype::boolean, {2, 3}, {1, 0, 1, 0, 0, 0});
                   }),
        computes_the_same<decompose_attention>());
    CHECK_THAT(attend({1, 1, 2, 4}, {1, 1, 3, 4}, {1, 1, 3, 4},
                   [](attention& a, program& p) {
                       const float never = -std::numeric_limits<float>::infinity();
                       a.attn_mask = p.constant<float>(fp32, {2, 3}, {0, never, 1, never, never, never});
                   }),
        computes_the_same<decompose_attention>());
}

TEST_CASE("queries in groups, and dropout") {
    const auto grouped = [](attention& a, program&) { a.enable_gqa = true; };
    CHECK_THAT(
        attend({2, 6, 4, 8}, {2, 2, 5, 8}, {2, 2, 5, 8}, grouped), computes_the_same<decompose_attention>());
    CHECK_THAT(
        attend({2, 6, 4, 8}, {2, 1, 5, 8}, {2, 1, 5, 8}, grouped), computes_the_same<decompose_attention>());
    CHECK_THAT(
        attend({2, 6, 4, 8}, {2, 6, 5, 8}, {2, 6, 5, 8}, grouped), computes_the_same<decompose_attention>());
    CHECK_THAT(attend({4, 8}, {5, 8}, {5, 8}, [](attention& a, program&) { a.dropout_p = 0.5; }),
        is_refused_by<decompose_attention>("dropout"));
}
