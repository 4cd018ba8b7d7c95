// SPDX-License-Identifier: MIT
// Tests pipelines as data: what passes target, remove and produce, and what can be in the graph before each.

#include <catch2/catch.hpp>

#include <headrace/base/pmr_vector.hpp>
#include <headrace/pass/description.hpp>

#include "../support/toy.hpp"

using namespace headrace;

namespace {

using names = pmr_vector<std::string_view>;

struct lower_relu6 : pass {
    using targets = ops<toy::relu6, toy::neg>;
    using produces = ops<toy::relu, toy::clamp>;
    value operator()(const args<toy::relu6>& a, emit<produces>& e) const {
        return e.make<toy::clamp>({.self = e.make<toy::relu>({.self = a.self})});
    }
    std::optional<value> operator()(const args<toy::neg>&, emit<produces>&) const { return std::nullopt; }
};
struct lower_sum : pass {
    using targets = ops<toy::sum>;
    value operator()(const args<toy::sum>& a, emit<ops<>>&) const { return a.self; }
};
struct count_nodes : pass {
    result<std::size_t> operator()(graph& g, pass_context&) const { return g.size(); }
};

struct lowering : pipeline<from<toy::relu6, toy::neg>, to<toy::relu, toy::clamp, toy::neg>, lower_relu6,
                      lower_sum, count_nodes> {};

}  // namespace

TEST_CASE("a pipeline describes itself", "[description]") {
    const pipeline_description d = describe<lowering>();
    REQUIRE(d.passes.size() == 3);
    const pass_description& first = d.passes[0];
    CHECK(first.name == "lower_relu6");
    CHECK(first.targets == names{"toy.relu6.default", "toy.neg.default"});
    CHECK(first.removes == names{"toy.relu6.default"});  // a handler that may decline removes nothing
    CHECK(first.produces == names{"toy.relu.default", "toy.clamp.default"});
    CHECK(first.can_fire);
    CHECK_FALSE(first.whole_graph);
    // Placeholders, constants and outputs are always possible.
    CHECK(first.before.size() == 5);
    CHECK(d.source == first.before);
    CHECK(d.passes[1].before.size() == 6);
    CHECK_FALSE(d.passes[1].can_fire);
    CHECK(d.passes[2].whole_graph);
    CHECK(d.passes[2].can_fire);
    CHECK(d.passes[2].before == d.passes[1].before);
    CHECK(d.result == d.passes[2].before);
    CHECK(d.supported.size() == 5);
}
