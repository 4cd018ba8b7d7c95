// SPDX-License-Identifier: MIT
// Tests the lowerings of broadcasts and created tensors.
#include <catch2/catch.hpp>

#include <headrace/passes/legalize/shape.hpp>

#include "../../support/pass_test.hpp"

using namespace headrace;

namespace {

constexpr dtype fp32 = dtype::float32;

}  // namespace

TEST_CASE("broadcasts and created tensors") {
    CHECK_THAT(
        [](program& p) {
            const value x = p.input(fp32, {3, 1});
            p.output(p.make<aten::broadcast_to>({x, {2, 3, 4}}));
            p.output(p.make<aten::expand_as>({x, p.input(fp32, {3, 5})}));
        },
        computes_the_same<legalize_expand>());
    CHECK_THAT(
        [](program& p) {
            p.output(p.make<aten::arange>({.end = 7}));
            p.output(p.make<aten::arange>({.end = 3.5}));
            p.output(p.make<aten::eye>({.n = 3}));
        },
        computes_the_same<legalize_creation>());
}
