// SPDX-License-Identifier: MIT
// Tests that consecutive CLAMPs become one.
#include <catch2/catch.hpp>

#include <headrace/passes/fold/redundancies.hpp>

#include "../../support/pass_test.hpp"

using namespace headrace;

namespace {

static_assert(effects_of<fuse_clamps>::sound && effects_of<fuse_clamps>::removed_set.empty());

struct range {
    double least, most;
};
auto chain(dtype type, range first, range second) {
    return [=](program& p) {
        const auto bound = [&](double x) {
            return is_floating(type) ? scalar(x) : scalar(static_cast<std::int64_t>(x));
        };
        value v = p.input(type, {200});
        for (const range& r : {first, second})
            v = p.make<tosa::clamp>({.input = v, .min_val = bound(r.least), .max_val = bound(r.most)});
        p.output(v);
    };
}
template <class Build>
std::size_t clamps_after(const Build& build) {
    program p;
    build(p);
    p.finish();
    pass_context context;
    CHECK(run_pass<fuse_clamps>(p.g, context) == "");
    return count_of<tosa::clamp>(p.g);
}

}  // namespace

TEST_CASE("CLAMPs whose ranges meet are one") {
    for (const dtype type : {dtype::float32, dtype::int8}) {
        for (const auto& build :
            {chain(type, {-3, 5}, {-1, 9}), chain(type, {-1, 2}, {-4, 4}), chain(type, {0, 6}, {0, 6})}) {
            CHECK_THAT(build, computes_the_same<fuse_clamps>());
            CHECK(clamps_after(build) == 1);
        }
    }
}

TEST_CASE("CLAMPs whose ranges do not meet stay") {
    const auto apart = chain(dtype::float32, {-3, -1}, {1, 2});
    CHECK_THAT(apart, is_left_alone_by<fuse_clamps>());
    CHECK(clamps_after(apart) == 2);
}
