// SPDX-License-Identifier: MIT
// Tests a pipeline as seen by its ops: which passes meet which ops, and what becomes of an op.

#include <catch2/catch.hpp>

#include <headrace/show/pipeline_view.hpp>

using namespace headrace;

namespace {

using names = op_name_list;

// a.x.default becomes a.y, which is removed unless its pass declines; a.z is left alone.
pipeline_description sample() {
    pipeline_description d;
    d.passes.push_back({.name = "expand_x",
        .summary = "x becomes y",
        .targets = {"a.x.default"},
        .removes = {"a.x.default"},
        .produces = {"a.y.Tensor"},
        .can_fire = true,
        .before = {"a.x.default", "a.z.default"}});
    d.passes.push_back({.name = "try_y",
        .summary = "y is negated",
        .targets = {"a.y.Tensor", "a.y.Scalar"},
        .removes = {},
        .produces = {"t.NEG"},
        .can_fire = true,
        .before = {"a.y.Tensor", "a.z.default"}});
    d.source = {"a.x.default", "a.z.default"};
    d.result = {"a.y.Tensor", "a.z.default", "t.NEG"};
    return d;
}

}  // namespace

TEST_CASE("a pass meets its targets that can be in the graph", "[pipeline_view]") {
    const pipeline_description d = sample();
    CHECK(ops_of(d) == names{"a.x.default", "a.z.default", "a.y.Tensor", "t.NEG"});
    CHECK(met_by(d.passes[1]) == names{"a.y.Tensor"});
    CHECK(meetings_of(d, "a.x.default") == std::vector<meeting>{{0, true}});
    CHECK(meetings_of(d, "a.y.Tensor") == std::vector<meeting>{{1, false}});
    CHECK(meetings_of(d, "a.z.default").empty());
    const auto groups = groups_of(d);
    REQUIRE(groups.size() == 3);
    CHECK(groups[0].ops == names{"a.x.default"});
    CHECK(groups[1].ops == names{"a.y.Tensor"});
    CHECK(groups[2].met_by.empty());  // ops that no pass meets come last
    CHECK(groups[2].ops == names{"a.z.default", "t.NEG"});
}

TEST_CASE("an op is followed through the passes", "[pipeline_view]") {
    op_name_list left;
    const auto steps = flow_of(sample(), "a.x.default", left);
    REQUIRE(steps.size() == 2);
    CHECK(steps[0].gone == names{"a.x.default"});
    CHECK(steps[0].made == names{"a.y.Tensor"});
    CHECK(steps[1].met == names{"a.y.Tensor"});
    CHECK(steps[1].gone.empty());
    CHECK(left == names{"a.y.Tensor", "t.NEG"});
}

TEST_CASE("ops and passes are found by what people call them", "[pipeline_view]") {
    const pipeline_description d = sample();
    op_name_list candidates;
    CHECK(find_op(d, "a.x.default", candidates) == "a.x.default");
    CHECK(find_op(d, "a.x", candidates) == "a.x.default");
    CHECK(find_op(d, "x", candidates) == "a.x.default");
    CHECK(find_op(d, "y", candidates) == "a.y.Tensor");
    CHECK(find_op(d, "a.", candidates) == std::nullopt);
    CHECK(candidates == names{"a.x.default", "a.z.default", "a.y.Tensor"});
    CHECK(has_pass(d, "try_y", candidates));
    CHECK_FALSE(has_pass(d, "expand", candidates));
    CHECK(candidates == names{"expand_x"});
}
