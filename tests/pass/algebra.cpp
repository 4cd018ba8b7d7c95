// SPDX-License-Identifier: MIT
// Tests the algebra of pipelines.

#include <catch2/catch.hpp>

#include <headrace/pass/algebra.hpp>

#include "../support/toy.hpp"

using namespace headrace;

namespace {

template <class From, class To>
struct lower : pass {
    using targets = ops<From>;
    using produces = ops<To>;
    value operator()(const args<From>& a, emit<produces>& e) const {
        return e.template make<To>({.self = a.self});
    }
};
using six = lower<toy::relu6, toy::relu>;
using relu = lower<toy::relu, toy::neg>;
using neg = lower<toy::neg, toy::identity>;
struct again : lower<toy::neg, toy::identity> {
    static constexpr bool repeatable = true;
};
struct also : lower<toy::neg, toy::identity> {
    static constexpr bool repeatable = true;
};

using first = pipeline<from<toy::relu6>, to<toy::relu>, six>;
using second = pipeline<from<toy::relu>, to<toy::identity>, relu, neg>;
using joined_pipeline = concatenate<first, second>;
static_assert(std::is_same_v<joined_pipeline, pipeline<from<toy::relu6>, to<toy::identity>, six, relu, neg>>);
static_assert(joined_pipeline::supported.contains<toy::relu6>());

static_assert(std::is_same_v<insert_before<second, relu, six>::passes, pass_list<six, relu, neg>>);
static_assert(std::is_same_v<insert_after<second, neg, again>::passes, pass_list<relu, neg, again>>);
static_assert(
    std::is_same_v<insert_after<second, relu, six, again>::passes, pass_list<relu, six, again, neg>>);
static_assert(std::is_same_v<replace_pass<second, neg, again>::passes, pass_list<relu, again>>);
static_assert(std::is_same_v<remove_pass<insert_before<second, relu, six>, six>, second>);

// Edits apply to every occurrence of a repeatable pass.
using twice = pipeline<from<toy::relu>, to<toy::identity, toy::neg>, again, relu, again>;
static_assert(
    std::is_same_v<replace_pass<twice, again, also, also>::passes, pass_list<also, also, relu, also, also>>);

static_assert(restrict_to<joined_pipeline, toy::neg>::dead_pass_count == 2);

// A named pipeline can be edited, too.
struct named : pipeline<from<toy::relu>, to<toy::identity>, relu, neg> {};
static_assert(std::is_same_v<insert_before<named, relu, six>, insert_before<second, relu, six>>);

}  // namespace

TEST_CASE("an edited pipeline runs", "[algebra]") {
    graph g;
    node& x = g.create<builtin::placeholder>({});
    g.set_meta(x.result(), {dtype::float32, {2}});
    node& r = g.create<toy::relu6>({.self = x.result()});
    g.set_meta(r.result(), {dtype::float32, {2}});
    const value out = r.result();
    g.create<builtin::output>({.values = {&out, 1}});
    pass_context c;
    REQUIRE(joined_pipeline::run(g, c));
    CHECK(is<toy::identity>(*g.outputs()[0].producer));
}
