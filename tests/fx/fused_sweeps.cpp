// SPDX-License-Identifier: MIT
// Tests that passes that do not interact share a sweep, with the same resulting graph.
#include <catch2/catch.hpp>

#include <vector>

#include <headrace/fx/fused_sweeps.hpp>
#include <headrace/infer/aten.hpp>
#include <headrace/ir/listing.hpp>
#include <headrace/rewrite/arithmetic.hpp>

#include "../support/program.hpp"

using namespace headrace;
using headrace::testing::program;

namespace {

struct lower_silu : pass {
    static auto rewrites() {
        return rules(on<aten::silu> = [](auto x) { return x * sigmoid(x); });
    }
};
struct lower_square : pass {
    static auto rewrites() {
        return rules(on<aten::square> = [](auto x) { return x * x; });
    }
};
// Targets the ops that lower_silu makes.
struct lower_sigmoid : pass {
    static auto rewrites() {
        return rules(on<aten::sigmoid> = [](auto x) { return call<aten::reciprocal>(1.0 + exp(-x)); });
    }
};
// Looks at the producer of its operand: two negations cancel.
struct drop_double_neg : pass {
    using targets = ops<aten::neg>;
    std::optional<value> operator()(const args<aten::neg>& a, emit<ops<>>&) const {
        const auto* inner = match<aten::neg>(a.self);
        return inner == nullptr ? std::nullopt : std::optional(inner->self);
    }
};
struct lower_abs : pass {
    static constexpr bool looks_at_its_node_alone = true;
    using targets = ops<aten::abs>;
    using produces = ops<aten::relu, aten::neg, aten::add_tensor>;
    value operator()(const args<aten::abs>& a, emit<produces>& e) const {
        const value positive = e.make<aten::relu>({.self = a.self});
        const value negative = e.make<aten::relu>({.self = e.make<aten::neg>({.self = a.self})});
        return e.make<aten::add_tensor>({.self = positive, .other = negative});
    }
};

static_assert(shares_sweeps<lower_silu> && shares_sweeps<lower_sigmoid> && shares_sweeps<lower_abs>);
static_assert(!shares_sweeps<drop_double_neg>);

using all = pipeline<from<aten::dialect>, to<aten::dialect>, lower_silu, lower_square, drop_double_neg,
    lower_sigmoid, lower_abs>;
using fused = fused_sweeps<all>;
static_assert(!fused::interact(0, 1) && fused::interact(0, 3) && !fused::interact(1, 3));

void build(program& p, bool negations) {
    const value x = p.input(dtype::float32, {4});
    value y = p.make<aten::square>({.self = p.make<aten::silu>({.self = x})});
    if (negations) y = p.make<aten::neg>({.self = p.make<aten::neg>({.self = y})});
    y = p.make<aten::sigmoid>({.self = p.make<aten::abs>({.self = y})});
    p.output(y);
    p.finish();
}

}  // namespace

TEST_CASE("passes that do not interact share a sweep; the graph is the same", "[fused_sweeps]") {
    for (const bool negations : {false, true}) {
        INFO(negations);
        program one, several;
        build(one, negations);
        build(several, negations);
        REQUIRE(one.fault.empty());
        pass_context context;
        const auto apart = all::run(several.g, context, {.driver = driver_kind::retracing});
        const auto together = fused::run(one.g, context);
        REQUIRE(apart);
        REQUIRE(together);
        CHECK(listing(one.g) == listing(several.g));
        // silu and square; the negations, if any; sigmoid and abs.
        CHECK(together.value().sweeps == (negations ? 3 : 2));
        for (std::size_t i = 0; i != all::size; ++i)
            CHECK(together.value().passes[i].status == apart.value()[i].status);
    }
}

TEST_CASE("a graph without targets is not swept", "[fused_sweeps]") {
    program p;
    p.output(p.make<aten::relu>({.self = p.input(dtype::float32, {4})}));
    p.finish();
    pass_context context;
    const auto done = fused::run(p.g, context);
    REQUIRE(done);
    CHECK(done.value().sweeps == 0);
    CHECK(done.value().passes[0].status == pass_status::no_target);
    const auto forced = fused::run(p.g, context, {.skip = false});
    REQUIRE(forced);
    CHECK(forced.value().sweeps == 3);
}
