// SPDX-License-Identifier: MIT
// Tests pipelines: the compile-time fold, and what a run does with it.

#include <catch2/catch.hpp>

#include <headrace/fx/export_pass.hpp>
#include <headrace/fx/pass_manager.hpp>
#include <headrace/ir/edits.hpp>
#include <headrace/pass/algebra.hpp>

#include "../support/toy.hpp"

using namespace headrace;

namespace {

struct lower_relu6 : pass {
    using targets = ops<toy::relu6>;
    using produces = ops<toy::relu>;
    value operator()(const args<toy::relu6>& a, emit<produces>& e) const {
        return e.make<toy::relu>({.self = a.self});
    }
};
struct lower_relu : pass {
    using targets = ops<toy::relu>;
    using produces = ops<toy::clamp>;
    value operator()(const args<toy::relu>& a, emit<produces>& e) const {
        return e.make<toy::clamp>({.self = a.self});
    }
};
struct maybe_lower_neg : pass {
    using targets = ops<toy::neg>;
    using produces = ops<toy::clamp>;
    std::optional<value> operator()(const args<toy::neg>&, emit<produces>&) const { return std::nullopt; }
};
struct shy : pass {
    using targets = ops<toy::relu>;
    using produces = ops<toy::clamp>;
    bool should_run(const graph& g) const { return g.size() > 3; }
    value operator()(const args<toy::relu>& a, emit<produces>& e) const {
        return e.make<toy::clamp>({.self = a.self});
    }
};
// Runs on any graph of more than one node, with or without targets.
struct own_test : pass {
    using targets = ops<toy::relu>;
    using produces = ops<toy::clamp>;
    bool should_run(const graph& g, bool has_targets) const { return g.size() > 3 || !has_targets; }
    std::optional<value> operator()(const args<toy::relu>& a, emit<produces>& e) const {
        return e.make<toy::clamp>({.self = a.self});
    }
};
struct shy_base : pass_base<shy_base> {
    using targets = ops<toy::relu>;
    using produces = ops<toy::clamp>;
    bool should_run(const graph& g) const { return g.size() > 3; }
    result<std::size_t> call(graph& g, pass_context&) const {
        std::size_t replaced = 0;
        while (!g.nodes_of(info_of<toy::relu>).empty()) {
            node& n = *g.nodes_of(info_of<toy::relu>).begin();
            const args<toy::clamp> arguments{.self = args_of<toy::relu>(n).self};
            replace_node(n, info_of<toy::clamp>, &arguments);
            ++replaced;
        }
        return replaced;
    }
};
struct shy_interpreter : export_pass<shy_interpreter> {
    using targets = ops<toy::relu>;
    using produces = ops<toy::clamp>;
    bool should_run(const graph& g) const { return g.size() > 3; }
    value call_operator(const args<toy::relu>& a, const node_metadata& meta) {
        return super().call_operator<toy::clamp>({.self = a.self}, meta);
    }
};
struct count_nodes : pass {
    using removes = ops<>;
    result<std::size_t> operator()(graph& g, pass_context&) const { return g.size(); }
};
struct drop_calls : pass {
    using targets = ops<toy::sum>;
    using removes = ops<toy::call>;
    result<std::size_t> operator()(graph&, pass_context&) const { return std::size_t{0}; }
};
// Claims to remove an op but leaves it.
struct keep_sum : pass {
    using removes = ops<toy::sum>;
    result<std::size_t> operator()(graph&, pass_context&) const { return std::size_t{0}; }
};
// Refuses all but the first of several.
struct refuse_relu : pass {
    using targets = ops<toy::relu>;
    using produces = ops<toy::clamp>;
    value operator()(const args<toy::relu>& a, emit<produces>& e) const {
        if (!is<builtin::placeholder>(*a.self.producer)) return e.unsupported("it does not read an input");
        return e.make<toy::clamp>({.self = a.self});
    }
};
struct leak_neg : pass {
    using produces = ops<toy::neg>;
    result<std::size_t> operator()(graph&, pass_context&) const { return std::size_t{0}; }
};

// The compile-time fold.
using both = pipeline<from<toy::relu6, toy::relu>, to<toy::clamp>, lower_relu6, lower_relu>;
static_assert(both::ops_before(0).contains<toy::relu6>());
static_assert(!both::ops_before(1).contains<toy::relu6>());
static_assert(both::ops_after() ==
    (ops_in<toy::clamp> | ops_in<builtin::placeholder, builtin::constant, builtin::output>)
        .over(std::remove_cvref_t<decltype(both::ops_after())>::dialect_list{}));
static_assert(both::dead_pass_count == 0);
static_assert(both::supported.contains<toy::relu6>() && both::supported.contains<toy::relu>());

// A pass whose targets only an earlier pass emits can fire; one whose targets nothing emits is dead.
static_assert(pipeline<from<toy::relu6>, to<toy::clamp>, lower_relu6, lower_relu>::can_fire(1));
static_assert(!pipeline<from<toy::relu>, to<toy::clamp>, lower_relu6, lower_relu>::can_fire(0));

// Supported ops: the order matters, and a handler that may decline supports nothing.
using wrong_order = pipeline<from<toy::relu6, toy::relu>, to<toy::clamp, toy::relu>, lower_relu, lower_relu6>;
static_assert(wrong_order::supported.contains<toy::relu6>());
using declining = pipeline<from<toy::neg, toy::relu>, to<toy::clamp, toy::neg>, maybe_lower_neg, lower_relu>;
static_assert(declining::supported.contains<toy::neg>() && declining::supported.contains<toy::relu>());

// Calls fold_effects directly, where the pipeline's own check would not compile.
template <class From, class To, class... Ps>
constexpr auto folded() {
    using set = std::remove_cvref_t<decltype(every_op<builtin::dialect, toy::dialect>)>;
    using list = typename set::dialect_list;
    return detail::fold_effects<set, sizeof...(Ps)>(
        {detail::effects_over<set, Ps>()...}, set_of<From>.over(list{}), set_of<To>.over(list{}));
}
static_assert(!folded<ops<toy::neg>, ops<toy::clamp>, maybe_lower_neg>().supported.contains<toy::neg>());
static_assert(!folded<ops<toy::relu6>, ops<toy::clamp>, lower_relu6>().supported.contains<toy::relu6>());
// A pass that may decline to run removes nothing for certain.
static_assert(!folded<ops<toy::relu>, ops<toy::clamp>, shy>().supported.contains<toy::relu>());
static_assert(folded<ops<toy::relu>, ops<toy::clamp>, shy>().ops[1].contains<toy::relu>());
// A pass that always runs and may emit an illegal op leaves nothing supported, whatever the source op.
static_assert(folded<ops<toy::relu>, ops<toy::clamp>, lower_relu, leak_neg>().supported.empty());
static_assert(folded<ops<toy::relu>, ops<toy::clamp, toy::neg>, lower_relu, leak_neg>()
                  .supported.contains<toy::relu>());
// A pass over the whole graph must also run for the ops that it promises to remove.
static_assert(targets_of<drop_calls>::size == 2);

using restricted = restrict_to<both, toy::relu>;
static_assert(restricted::dead_pass_count == 1 && !restricted::can_fire(0));

value build(graph& g, std::initializer_list<const op_info*> unary) {
    node& x = g.create<builtin::placeholder>({});
    g.set_meta(x.result(), {dtype::float32, {2}});
    value v = x.result();
    std::size_t count = 0;
    for (const op_info* op : unary) {
        node& n = g.create(*op, &v, 1);  // the arguments of these ops are one value
        g.set_meta(n.result(), {dtype::float32, {2}});
        v = n.result();
        g.set_name(v, text_of({"n", count++}));
    }
    g.create<builtin::output>({.values = {v}});
    return v;
}

}  // namespace

TEST_CASE("passes without targets in the graph are skipped", "[pipeline]") {
    graph g;
    build(g, {&info_of<toy::relu>});
    pass_context c;
    constexpr pipeline_steps all = both::steps();
    CHECK_FALSE(all.has_targets(all.steps[0], g));
    CHECK(all.has_targets(all.steps[1], g));
    const auto s = both::run(g, c);
    REQUIRE(s);
    REQUIRE(s.value().size() == 2);
    CHECK(s.value()[0].status == pass_status::no_target);
    CHECK(s.value()[0].name == "lower_relu6");
    CHECK(s.value()[1].status == pass_status::ran);
    CHECK(s.value()[1].nodes.rewritten == 1);
    CHECK(s.value()[1].nanoseconds == 0);
}

TEST_CASE("a pass that an earlier one gave work to runs", "[pipeline]") {
    for (const driver_kind driver : {driver_kind::in_place, driver_kind::retracing}) {
        graph g;
        build(g, {&info_of<toy::relu6>, &info_of<toy::relu>});
        pass_context c;
        const auto s = both::run(g, c, {.driver = driver});
        REQUIRE(s);
        CHECK(s.value()[0].nodes.rewritten == 1);
        CHECK(s.value()[1].nodes.rewritten == 2);
        CHECK(s.value()[1].nodes.copied == (driver == driver_kind::retracing ? 2U : 0U));
        CHECK(g.census().count(info_of<toy::clamp>) == 2);
        std::size_t illegal = 0;
        both::for_each_illegal(g, [&](node&) { ++illegal; });
        CHECK(illegal == 0);
    }
}

TEST_CASE("a graph that the proof does not cover is refused before anything runs", "[pipeline]") {
    graph g;
    build(g, {&info_of<toy::relu>, &info_of<toy::neg>, &info_of<toy::relu>, &info_of<toy::sum>});
    pass_context c;
    const auto done = both::run(g, c);
    REQUIRE_FALSE(done);
    CHECK(done.error().kind == error_kind::unsupported);
    CHECK(done.error().message.starts_with("the pipeline refuses the graph: "));
    for (const std::string_view op : {"toy.neg.default", "toy.sum.default"})
        CHECK(done.error().message.find(op) != std::string_view::npos);
    CHECK(done.error().message.find("toy.relu.default") == std::string_view::npos);
    CHECK(c.diagnostics().size() == 2);
    CHECK(g.census().count(info_of<toy::relu>) == 2);
    // Callers can judge for themselves.
    pass_context own;
    CHECK(both::run_unchecked(g, own));
    CHECK(own.diagnostics().empty());
    CHECK(g.census().count(info_of<toy::relu>) == 0);
    // A second run with the same context is refused, like the first.
    CHECK_FALSE(both::run(g, c));
}

TEST_CASE("what a pass refuses is an error, all of it at once", "[pipeline]") {
    using p = pipeline<from<toy::relu>, to<toy::clamp>, refuse_relu>;
    for (const driver_kind driver : {driver_kind::in_place, driver_kind::retracing}) {
        graph g;
        build(g, {&info_of<toy::relu>, &info_of<toy::relu>, &info_of<toy::relu>});
        pass_context c;
        const auto done = p::run(g, c, {.driver = driver});
        REQUIRE_FALSE(done);
        CHECK(done.error().message.starts_with("the pipeline refuses the graph: "));
        CHECK(done.error().message.find("it does not read an input") != std::string_view::npos);
        CHECK(done.error().message.find("no pass") == std::string_view::npos);  // one reason per node
        CHECK(c.diagnostics().size() == 2);
    }
    graph one;
    build(one, {&info_of<toy::relu>});
    pass_context used;  // with refusals of another run, which do not belong to this one
    used.report(*one.first(), "of another run");
    CHECK(p::run(one, used));
}

TEST_CASE("an op that a pass only says it removes is an error", "[pipeline]") {
    using p = pipeline<from<toy::sum, toy::neg>, to<toy::neg>, keep_sum>;
    graph g;
    build(g, {&info_of<toy::neg>, &info_of<toy::sum>});
    pass_context c;
    const auto done = p::run(g, c);
    REQUIRE_FALSE(done);
    CHECK(done.error().message.starts_with("the pipeline refuses the graph: "));
    CHECK(done.error().message.find("n1 (toy.sum.default): no pass") != std::string_view::npos);
}

TEST_CASE("what no result needs is not refused", "[pipeline]") {
    graph g;
    const value x = build(g, {&info_of<toy::relu>});
    node& dead = g.create<toy::neg>({.self = x});
    g.set_meta(dead.result(), {dtype::float32, {2}});
    node& reader = g.create<toy::sum>({.self = dead.result()});
    g.set_meta(reader.result(), {dtype::float32, {1}});
    pass_context c;
    CHECK(both::run(g, c));
    CHECK(g.census().count(info_of<toy::neg>) == 0);
}

TEST_CASE("pruned passes are recorded as such", "[pipeline]") {
    graph g;
    build(g, {&info_of<toy::relu>});
    pass_context c;
    const auto s = restricted::run(g, c);
    REQUIRE(s);
    CHECK(s.value()[0].status == pass_status::pruned);
    CHECK(name_of(s.value()[0].status) == "can never fire for this source");
}

TEST_CASE("should_run may decline, but is not asked without targets", "[pipeline]") {
    using p = pipeline<from<toy::relu, toy::neg>, to<toy::clamp, toy::relu, toy::neg>, shy>;
    pass_context c;
    graph none, few, many;
    build(none, {&info_of<toy::neg>, &info_of<toy::neg>});
    build(few, {&info_of<toy::relu>});
    build(many, {&info_of<toy::relu>, &info_of<toy::relu>});
    CHECK(p::run(none, c).value()[0].status == pass_status::no_target);
    CHECK(p::run(few, c).value()[0].status == pass_status::declined);
    CHECK(p::run(many, c).value()[0].status == pass_status::ran);
    CHECK(p::run(few, c, {.skip = false}).value()[0].status == pass_status::ran);
}

TEST_CASE("should_run can replace the generated test", "[pipeline]") {
    using p = pipeline<from<toy::relu, toy::neg>, to<toy::clamp, toy::relu, toy::neg>, own_test>;
    pass_context c;
    graph none, few, many;
    build(none, {&info_of<toy::neg>, &info_of<toy::neg>});
    build(few, {&info_of<toy::relu>});
    build(many, {&info_of<toy::relu>, &info_of<toy::relu>});
    CHECK(p::run(none, c).value()[0].status == pass_status::ran);  // it has none of the targets
    CHECK(p::run(few, c).value()[0].status == pass_status::declined);
    CHECK(few.census().count(info_of<toy::relu>) == 1);
    CHECK(p::run(many, c).value()[0].status == pass_status::ran);
    const any_pass at_run_time{own_test{}};
    graph other;
    build(other, {&info_of<toy::neg>, &info_of<toy::neg>});
    CHECK(at_run_time.decide(other) == pass_status::ran);
    CHECK(at_run_time.decide(few) == pass_status::declined);
}

TEST_CASE("apply_pass and passes that are called as functions ask should_run", "[pipeline]") {
    const auto relus_after = [](auto&& run) {
        graph g;
        build(g, {&info_of<toy::relu>});
        run(g);
        return g.census().count(info_of<toy::relu>);
    };
    pass_context c, forced;
    forced.force_passes(true);
    for (const driver_kind driver : {driver_kind::in_place, driver_kind::retracing}) {
        CHECK(relus_after([&](graph& g) { REQUIRE(apply_pass(shy{}, g, c, driver)); }) == 1);
        CHECK(relus_after([&](graph& g) { REQUIRE(apply_pass(shy{}, g, forced, driver)); }) == 0);
    }
    CHECK(relus_after([&](graph& g) { CHECK(shy_interpreter()(g, c).value() == 0); }) == 1);
    CHECK(relus_after([&](graph& g) { CHECK(shy_interpreter()(g, forced).value() == 1); }) == 0);
    const shy_interpreter constant;
    CHECK(relus_after([&](graph& g) { CHECK(constant(g, c).value() == 0); }) == 1);
    CHECK(relus_after([&](graph& g) { CHECK(shy_base()(g, c).value() == 0); }) == 1);
    CHECK(relus_after([&](graph& g) { CHECK(shy_base()(g, forced).value() == 1); }) == 0);
    // The context forces pipelines and managers as well.
    using p = pipeline<from<toy::relu>, to<toy::clamp, toy::relu>, shy>;
    CHECK(relus_after([&](graph& g) { REQUIRE(p::run(g, c)); }) == 1);
    CHECK(relus_after([&](graph& g) { REQUIRE(p::run(g, forced)); }) == 0);
    CHECK(relus_after([&](graph& g) { REQUIRE(pass_manager({shy{}})(g, c)); }) == 1);
    CHECK(relus_after([&](graph& g) { REQUIRE(pass_manager({shy{}})(g, forced)); }) == 0);
    CHECK(relus_after([&](graph& g) { REQUIRE(pass_manager({shy_base{}})(g, c)); }) == 1);
    CHECK(relus_after([&](graph& g) { REQUIRE(pass_manager({shy_base{}})(g, forced)); }) == 0);
}

TEST_CASE("should_run decides for interpreters, too", "[pipeline]") {
    using p = pipeline<from<toy::relu, toy::neg>, to<toy::clamp, toy::relu, toy::neg>, shy_interpreter>;
    pass_context c;
    graph small, large, other;
    build(small, {&info_of<toy::relu>});
    build(large, {&info_of<toy::relu>, &info_of<toy::neg>});
    build(other, {&info_of<toy::neg>, &info_of<toy::neg>});
    CHECK(p::run(small, c).value()[0].status == pass_status::declined);
    CHECK(p::run(large, c).value()[0].status == pass_status::ran);
    CHECK(large.census().count(info_of<toy::clamp>) == 1);
    CHECK(p::run(other, c).value()[0].status == pass_status::no_target);
}

TEST_CASE("passes over the whole graph always run", "[pipeline]") {
    using p = pipeline<from<toy::neg>, to<toy::neg>, count_nodes>;
    graph g;
    build(g, {&info_of<toy::neg>});
    pass_context c;
    CHECK(p::run(g, c).value()[0].nodes.rewritten == 3);
}

TEST_CASE("a clock and an observer see each pass that ran", "[pipeline]") {
    struct seen {
        std::pmr::string names;
        bool stop = false;
    } s;
    static std::uint64_t now = 0;
    const auto observe = [](void* observer, const pass_record& r, graph&) -> result<void> {
        auto& to = *static_cast<seen*>(observer);
        to.names += r.name;
        if (to.stop) return invalid("stopped");
        return {};
    };
    const run_options options{.clock = [] { return now += 5; }, .observer = &s, .after_pass = observe};
    graph g;
    build(g, {&info_of<toy::relu>});
    pass_context c;
    const auto first = both::run(g, c, options);
    REQUIRE(first);
    CHECK(first.value()[0].nanoseconds == 0);
    CHECK(first.value()[1].nanoseconds == 5);
    CHECK(s.names == "lower_relu");
    s.stop = true;
    graph h;
    build(h, {&info_of<toy::relu6>});
    const auto second = both::run(h, c, options);
    REQUIRE_FALSE(second);
    CHECK(second.error().message == "stopped");
}

TEST_CASE("targets in a nested region count", "[pipeline]") {
    graph g;
    graph& body = g.create_region();
    build(body, {&info_of<toy::relu>});
    node& x = g.create<builtin::placeholder>({});
    g.set_meta(x.result(), {dtype::float32, {2}});
    const value operand = x.result();
    node& n = g.create<toy::call>({.body = &body, .operands = {&operand, 1}}, 1);
    g.set_meta(n.result(), {dtype::float32, {2}});
    const value out = n.result();
    g.create<builtin::output>({.values = {&out, 1}});
    pass_context c;
    using p = pipeline<from<toy::relu, toy::call>, to<toy::clamp, toy::call>, lower_relu>;
    CHECK(p::run(g, c).value()[0].nodes.rewritten == 1);
    CHECK(body.census().count(info_of<toy::clamp>) == 1);
    CHECK_FALSE(p::steps().has_targets(p::steps().steps[0], g));
}
