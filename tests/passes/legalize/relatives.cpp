// SPDX-License-Identifier: MIT
// Tests ops that a pass lowers like others, which the tests of that pass run.
#include <catch2/catch.hpp>

#include <headrace/passes/legalize/legalize_any_all.hpp>
#include <headrace/passes/legalize/legalize_bitwise.hpp>
#include <headrace/passes/legalize/legalize_creation.hpp>
#include <headrace/passes/legalize/legalize_expand.hpp>
#include <headrace/passes/legalize/legalize_index.hpp>
#include <headrace/passes/legalize/legalize_index_put.hpp>
#include <headrace/passes/legalize/legalize_logical.hpp>
#include <headrace/passes/legalize/legalize_pad.hpp>
#include <headrace/passes/legalize/legalize_unary.hpp>

#include "../../support/pass_test.hpp"

using namespace headrace;

namespace {

constexpr dtype fp32 = dtype::float32;
constexpr dtype i32 = dtype::int32;

template <class Op>
std::pmr::string unary(dtype type) {
    return compare_runs<legalize_unary>(
        [=](program& p) {
            p.output(p.make<Op>({p.input(type, {3, 8})}));
        },
        {}, type == fp32 ? 1e-5 : 2e-2);
}
template <class Op>
std::pmr::string pad(std::initializer_list<std::int64_t> shape, const int_list& padding) {
    return compare_runs<legalize_pad>(
        [&](program& p) {
            p.output(p.make<Op>({p.input(fp32, shape), padding}));
        },
        {}, 0);
}

}  // namespace

TEST_CASE("functions of one number") {
    for (const dtype type : {fp32, dtype::float16}) {
        INFO(name_of(type));
        CHECK(unary<aten::ceil>(type) == "");
        CHECK(unary<aten::cos>(type) == "");
        CHECK(unary<aten::erf>(type) == "");
        CHECK(unary<aten::log>(type) == "");
        CHECK(unary<aten::reciprocal>(type) == "");
        CHECK(unary<aten::rsqrt>(type) == "");
        CHECK(unary<aten::sigmoid>(type) == "");
        CHECK(unary<aten::sin>(type) == "");
    }
}

TEST_CASE("logic, of booleans and numbers") {
    for (const dtype type : {dtype::boolean, fp32, i32}) {
        CHECK(compare_runs<legalize_logical>([=](program& p) {
                  const value x = p.input(type, {2, 8});
                  const value y = p.input(type, {8});
                  p.output(p.make<aten::logical_and>({x, y}));
                  p.output(p.make<aten::logical_or>({x, y}));
                  p.output(p.make<aten::logical_not>({x}));
              }) == "");
    }
    CHECK(compare_runs<legalize_bitwise>([](program& p) {
              p.g.set_target(*parse_target("TOSA-1.0+FP+INT"));
              p.output(p.make<aten::bitwise_or_tensor>({p.input(i32, {2, 8}), p.input(i32, {8})}));
          }) == "");
    for (const std::int64_t dim : {0, 1, -1}) {
        for (const bool keepdim : {false, true}) {
            CHECK(compare_runs<legalize_any_all>([=](program& p) {
                      p.output(p.make<aten::any_dim>({p.input(dtype::boolean, {2, 3}), dim, keepdim}));
                  }) == "");
        }
    }
}

TEST_CASE("broadcasts and created tensors") {
    CHECK(compare_runs<legalize_expand>([](program& p) {
              const value x = p.input(fp32, {3, 1});
              p.output(p.make<aten::broadcast_to>({x, {2, 3, 4}}));
              p.output(p.make<aten::expand_as>({x, p.input(fp32, {3, 5})}));
          }) == "");
    CHECK(compare_runs<legalize_creation>([](program& p) {
              p.output(p.make<aten::arange>({.end = 7}));
              p.output(p.make<aten::arange>({.end = 3.5}));
              p.output(p.make<aten::eye>({.n = 3}));
          }) == "");
}

TEST_CASE("padding by what is there, of every rank") {
    CHECK(pad<aten::reflection_pad1d>({2, 3, 5}, {2, 4}) == "");
    CHECK(pad<aten::reflection_pad1d>({3, 5}, {0, 1}) == "");
    CHECK(pad<aten::reflection_pad3d>({1, 2, 3, 4, 5}, {1, 4, 2, 3, 0, 2}) == "");
    CHECK(pad<aten::replication_pad2d>({2, 3, 4, 5}, {3, 1, 0, 6}) == "");
    CHECK(pad<aten::replication_pad2d>({3, 4, 5}, {0, 1, 2, 0}) == "");
    CHECK(pad<aten::replication_pad3d>({1, 2, 3, 4, 5}, {1, 2, 3, 4, 5, 6}) == "");
}

TEST_CASE("indexing that checks nothing") {
    CHECK(compare_runs<legalize_index>([](program& p) {
              const value x = p.input(fp32, {4, 3});
              const std::optional<value> rows[] = {p.constant<std::int32_t>(i32, {3}, {3, 0, -2})};
              p.output(p.make<aten::_unsafe_index_tensor>(
                  {.self = x, .indices = list<std::optional<value>>(rows, 1)}));
          }) == "");
    for (const bool accumulate : {false, true}) {
        CHECK(compare_runs<legalize_index_put>([=](program& p) {
                  const value x = p.input(fp32, {4, 3});
                  const std::optional<value> rows[] = {p.constant<std::int32_t>(i32, {2}, {3, 1})};
                  const value v = p.input(fp32, {2, 3});
                  p.output(p.make<aten::_unsafe_index_put>({.self = x,
                                                            .indices = list<std::optional<value>>(rows, 1),
                                                            .values = v,
                                                            .accumulate = accumulate}));
              }) == "");
    }
}
