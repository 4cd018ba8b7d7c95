// SPDX-License-Identifier: MIT
// Tests the record of emissions: ops that a pass declares and never emits.

#include <catch2/catch.hpp>

//! [emissions]
#include <span>

#include <headrace/pass/emission_record.hpp>
#include <headrace/pass/pipeline.hpp>
//! [emissions]

#include "../support/toy.hpp"

//! [emissions]
using namespace headrace;

/// Returns the ops that a pass declares and emits for none of some graphs: `produces` need not list them.
template <pass_type Pass>
result<pmr_vector<std::string_view>> never_emitted(std::span<graph* const> graphs) {
    pass_context context;
    const emission_record emitted(context);  // of all passes that are given this context
    for (graph* g : graphs) {
        HEADRACE_TRY(apply_pass(Pass{}, *g, context));
    }
    return emitted.never<Pass>();
}
//! [emissions]

namespace {

// Its last product is never emitted.
struct lower_some : pass {
    using targets = ops<toy::relu, toy::relu6>;
    using produces = ops<toy::clamp, toy::neg, toy::identity>;
    value operator()(const args<toy::relu>& a, emit<produces>& e) const { return e.make<toy::neg>(a.self); }
    value operator()(const args<toy::relu6>& a, emit<produces>& e) const {
        return e.make<toy::clamp>({.self = a.self});
    }
};

void build(graph& g, const op_info& op) {
    const value x = g.create<builtin::placeholder>({}).result();
    g.set_meta(x, {dtype::float32, {2}});
    node& n = g.create(op, &x, 1);
    g.set_meta(n.result(), {dtype::float32, {2}});
    g.create<builtin::output>({.values = {n.result()}});
}

}  // namespace

TEST_CASE("a record of emissions tells what a pass declares and never emits", "[emission_record]") {
    using names = pmr_vector<std::string_view>;
    pass_context context;
    graph alone, with_relu, with_relu6, after;
    build(alone, info_of<toy::relu>);
    build(with_relu, info_of<toy::relu>);
    build(with_relu6, info_of<toy::relu6>);
    {
        const emission_record emitted(context);
        REQUIRE(apply_pass(lower_some{}, alone, context));
        CHECK(emitted.never<lower_some>() == names{"toy.clamp.default", "toy.identity.default"});
    }
    graph* const both[] = {&with_relu, &with_relu6};
    CHECK(never_emitted<lower_some>(both).value() == names{"toy.identity.default"});
    build(after, info_of<toy::relu>);
    CHECK(apply_pass(lower_some{}, after, context));  // the record is gone, and no longer called
}
