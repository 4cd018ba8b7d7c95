// SPDX-License-Identifier: MIT
// Tests the lowerings of logical ops: bitwise, and reduced to one boolean.
#include <catch2/catch.hpp>

#include <headrace/passes/legalize/elementwise.hpp>
#include <headrace/passes/legalize/reduction.hpp>

#include "../../support/pass_test.hpp"

using namespace headrace;

namespace {

constexpr dtype fp32 = dtype::float32;
constexpr dtype i32 = dtype::int32;

}  // namespace

TEST_CASE("logic, of booleans and numbers") {
    for (const dtype type : {dtype::boolean, fp32, i32}) {
        CHECK_THAT(
            [=](program& p) {
                const value x = p.input(type, {2, 8});
                const value y = p.input(type, {8});
                p.output(p.make<aten::logical_and>({x, y}));
                p.output(p.make<aten::logical_or>({x, y}));
                p.output(p.make<aten::logical_not>({x}));
            },
            computes_the_same<legalize_logical>());
    }
    CHECK_THAT(
        [](program& p) {
            p.g.set_target(*parse_target("TOSA-1.0+FP+INT"));
            p.output(p.make<aten::bitwise_or_tensor>({p.input(i32, {2, 8}), p.input(i32, {8})}));
        },
        computes_the_same<legalize_bitwise>());
    for (const std::int64_t dim : {0, 1, -1}) {
        for (const bool keepdim : {false, true}) {
            CHECK_THAT(
                [=](program& p) {
                    p.output(p.make<aten::any_dim>({p.input(dtype::boolean, {2, 3}), dim, keepdim}));
                },
                computes_the_same<legalize_any_all>());
        }
    }
}
