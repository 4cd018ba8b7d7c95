// SPDX-License-Identifier: MIT
// Tests that a TRANSPOSE of many axes becomes one of few axes.
#include <catch2/catch.hpp>

#include <headrace/passes/layout/moving_ops.hpp>

#include "../../support/pass_test.hpp"

using namespace headrace;

namespace {

static_assert(effects_of<merge_transposed_axes>::sound);

using shape_list = int_list;  // an initializer_list would dangle in the closures

auto transpose(shape_list shape, shape_list perms) {
    return [=](program& p) {
        p.output(p.make<tosa::transpose>({.input1 = p.input(dtype::float32, shape), .perms = perms}));
    };
}
template <class Build>
std::size_t rank_after(const Build& build) {
    program p;
    build(p);
    p.finish();
    pass_context context;
    CHECK(run_pass<merge_transposed_axes>(p.g, context) == "");
    for (const node& n : p.g.nodes_of(info_of<tosa::transpose>)) return n.results[0].meta->rank();
    return 0;
}

}  // namespace

TEST_CASE("axes of size 1 go, and neighbours become one") {
    const auto heads = transpose({1, 17, 3, 4, 16}, {2, 0, 3, 1, 4});
    CHECK_THAT(heads, computes_the_same<merge_transposed_axes>());
    CHECK(rank_after(heads) == 3);
    const auto blocks = transpose({2, 3, 4, 5, 6, 2}, {0, 1, 4, 5, 2, 3});
    CHECK_THAT(blocks, computes_the_same<merge_transposed_axes>());
    CHECK(rank_after(blocks) == 3);
}

TEST_CASE("four axes, and axes that all move apart, stay") {
    CHECK(rank_after(transpose({1, 3, 4, 5}, {0, 2, 3, 1})) == 4);
    CHECK(rank_after(transpose({2, 3, 4, 5, 6}, {4, 3, 2, 1, 0})) == 5);
}
