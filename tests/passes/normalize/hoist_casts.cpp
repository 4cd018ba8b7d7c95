// SPDX-License-Identifier: MIT
// Tests hoist_casts: a cast from integers to floats moves before the ops that move elements.
#include <catch2/catch.hpp>

#include <headrace/passes/normalize/casts_and_copies.hpp>

#include "../../support/pass_test.hpp"

using namespace headrace;

namespace {

static_assert(effects_of<hoist_casts>::sound);
static_assert(effects_of<hoist_casts>::removed_set.empty());  // a cast of other values stays

/// The cast of the result of `move(program&, value)` for an input [2, 1, 6].
template <class Move>
auto cast_of(const Move& move, dtype from, dtype to) {
    return [=](program& p) {
        p.output(p.make<aten::_to_copy>({.self = move(p, p.input(from, {2, 1, 6})), .dtype = to}));
    };
}
template <class Build>
bool cast_comes_first(const Build& build) {
    program p;
    build(p);
    p.finish();
    pass_context context;
    CHECK(run_pass<hoist_casts>(p.g, context) == "");
    for (const node& n : p.g.nodes_of(info_of<aten::_to_copy>)) {
        if (!is<builtin::placeholder>(*n.operand(0).producer)) return false;
    }
    return count_of<aten::_to_copy>(p.g) == 1;
}
template <class Move>
void check_moved(const Move& move) {
    for (const dtype from : {dtype::int32, dtype::int64, dtype::int8}) {
        for (const dtype to : {dtype::float32, dtype::float16}) {
            CHECK_THAT(cast_of(move, from, to), computes_the_same<hoist_casts>().within(0));
        }
    }
    CHECK(cast_comes_first(cast_of(move, dtype::int32, dtype::float32)));
}

}  // namespace

TEST_CASE("a cast moves in front of every movement") {
    check_moved([](program& p, value x) { return p.make<aten::view>({x, {3, 4}}); });
    check_moved([](program& p, value x) { return p.make<aten::reshape>({x, {12}}); });
    check_moved([](program& p, value x) { return p.make<aten::unsqueeze>({x, 0}); });
    check_moved([](program& p, value x) { return p.make<aten::squeeze>({x}); });
    check_moved([](program& p, value x) { return p.make<aten::squeeze_dim>({x, 1}); });
    check_moved([](program& p, value x) { return p.make<aten::squeeze_dims>({x, {0, 1}}); });
    check_moved([](program& p, value x) { return p.make<aten::flatten_using_ints>({.self = x}); });
    check_moved([](program& p, value x) { return p.make<aten::permute>({x, {2, 0, 1}}); });
    check_moved([](program& p, value x) { return p.make<aten::transpose_int>({x, 0, 2}); });
    check_moved([](program& p, value x) { return p.make<aten::t>({p.make<aten::view>({x, {3, 4}})}); });
    check_moved([](program& p, value x) { return p.make<aten::expand>({.self = x, .size = {2, 5, 6}}); });
    check_moved([](program& p, value x) { return p.make<aten::repeat>({x, {2, 1, 3}}); });
    check_moved([](program& p, value x) {
        return p.make<aten::slice_tensor>({.self = x, .dim = 2, .start = 1, .end = 6, .step = 2});
    });
    check_moved([](program& p, value x) { return p.make<aten::select_int>({x, 2, -1}); });
    check_moved([](program& p, value x) { return p.make<aten::flip>({x, {0, 2}}); });
}

TEST_CASE("a cast moves in front of a chain of movements") {
    check_moved([](program& p, value x) {
        const value turned = p.make<aten::permute>({p.make<aten::squeeze_dim>({x, 1}), {1, 0}});
        const value part = p.make<aten::slice_tensor>({.self = turned, .dim = 0, .start = 2});
        return p.make<aten::view>({p.make<aten::flip>({part, {1}}), {2, 2, 2}});
    });
}

TEST_CASE("casts that stay where they are") {
    const auto turned = [](program& p, value x) { return p.make<aten::permute>({x, {2, 0, 1}}); };
    CHECK_FALSE(cast_comes_first(cast_of(turned, dtype::float32, dtype::int32)));
    CHECK_FALSE(cast_comes_first(cast_of(turned, dtype::float32, dtype::float16)));
    CHECK_FALSE(cast_comes_first(cast_of(turned, dtype::int32, dtype::int8)));
    const auto shared = [](program& p, value x) {
        const value y = p.make<aten::permute>({x, {2, 0, 1}});
        p.output(y);
        return y;
    };
    const auto build = cast_of(shared, dtype::int32, dtype::float32);
    CHECK_THAT(build, is_left_alone_by<hoist_casts>());
    CHECK_FALSE(cast_comes_first(build));
}
