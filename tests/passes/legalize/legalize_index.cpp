// SPDX-License-Identifier: MIT
// Tests the lowerings of unchecked indexing.
#include <catch2/catch.hpp>

#include <headrace/passes/legalize/tensor_indices.hpp>

#include "../../support/pass_test.hpp"

using namespace headrace;

namespace {

constexpr dtype fp32 = dtype::float32;
constexpr dtype i32 = dtype::int32;

}  // namespace

TEST_CASE("indexing that checks nothing") {
    CHECK_THAT(
        [](program& p) {
            const value x = p.input(fp32, {4, 3});
            const std::optional<value> rows[] = {p.constant<std::int32_t>(i32, {3}, {3, 0, -2})};
            p.output(p.make<aten::_unsafe_index_tensor>(
                {.self = x, .indices = list<std::optional<value>>(rows, 1)}));
        },
        computes_the_same<legalize_index>());
    CHECK_THAT(
        [](program& p) {
            const value rows = p.input(i32, {2, 2});
            const std::optional<value> indices[] = {rows};
            p.output(p.make<aten::index_put>({.self = p.input(fp32, {3, 5}),
                .indices = list<std::optional<value>>(indices, 1),
                .values = p.input(fp32, {2, 2, 5})}));
        },
        is_refused_by<legalize_index_put>("it writes 4 elements of 3"));
    for (const bool accumulate : {false, true}) {
        CHECK_THAT(
            [=](program& p) {
                const value x = p.input(fp32, {4, 3});
                const std::optional<value> rows[] = {p.constant<std::int32_t>(i32, {2}, {3, 1})};
                const value v = p.input(fp32, {2, 3});
                p.output(p.make<aten::_unsafe_index_put>({.self = x,
                    .indices = list<std::optional<value>>(rows, 1),
                    .values = v,
                    .accumulate = accumulate}));
            },
            computes_the_same<legalize_index_put>());
    }
}
