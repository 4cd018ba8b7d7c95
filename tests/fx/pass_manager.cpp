// SPDX-License-Identifier: MIT
// Tests pass managers: pipelines assembled at run time, their checks and their order; and pass_base.

#include <catch2/catch.hpp>

#include <headrace/base/pmr_vector.hpp>
#include <headrace/dialect/aten.hpp>
#include <headrace/fx/pass_manager.hpp>

#include "../support/same_graph.hpp"
#include "../support/toy.hpp"

using namespace headrace;

namespace {

using names = pmr_vector<std::pmr::string>;

value add_meta(graph& g, node& n) {
    g.set_meta(n.result(), {dtype::float32, {2, 3}, {}});
    return n.result();
}
// Builds add(x, y) and more, each with the same two operands.
void fill(graph& g, std::size_t additions = 1) {
    const value x = add_meta(g, g.create<builtin::placeholder>({}));
    value y = add_meta(g, g.create<builtin::placeholder>({}));
    for (std::size_t i = 0; i != additions; ++i) y = add_meta(g, g.create<aten::add_tensor>({x, y}));
    g.create<builtin::output>({.values = {&y, 1}});
}

/// The document's level-3 pass: its target and its replacement are data.
struct replace_op : pass_base<replace_op> {
    using maker = node& (*)(graph&, value, value, node* before);
    replace_op(const op_info& from_op, maker make_op) : from(&from_op), make(make_op) {}

    result<std::size_t> call(graph& g, pass_context&) const {
        pmr_vector<node*> found;
        for (node& n : g.nodes_of(*from)) found.push_back(&n);
        for (node* n : found) {
            node& made = make(g, n->operand(0), n->operand(1), n);
            g.set_meta(made.result(), *meta_of(n->result()));
            g.replace_all_uses(n->result(), made.result());
            g.erase(*n);
        }
        return found.size();
    }
    result<void> require(const graph& g) const {
        if (g.census().count(*from) == 0) return invalid("no " + std::pmr::string(from->name) + " ops");
        return {};
    }
    result<void> ensure(const graph& g) const {
        if (g.census().count(*from) != 0) return invalid("some are left");
        return {};
    }

    const op_info* from;
    maker make;
};
template <class From, class To>
const replace_op replaces(info_of<From>, [](graph& g, value a, value b, node* before) -> node& {
    return g.create<To>({a, b}, before);
});
template <class From, class To>
any_pass replace(const char* name) {
    return any_pass(name, replaces<From, To>);
}
const op_info& add = info_of<aten::add_tensor>;
const op_info& mul = info_of<aten::mul_tensor>;
const op_info& div_op = info_of<aten::div_tensor>;

result<void> only_div(const graph& g) {
    if (g.census().count(mul) != 0) return invalid("target should be div");
    return {};
}

// Passes for tests of the order: each records that it ran.
struct clean {};  // a property
struct first : pass {
    result<std::size_t> operator()(graph&, pass_context&) const { return 0; }
};
struct cleaner : first {
    using ensures = pass_list<clean>;
};
struct other_cleaner : cleaner {};
struct needs_clean : first {
    using requires_before = pass_list<clean>;
};
struct wants_first : first {
    using requires_after = pass_list<first>;
};
struct before_itself_b;
struct before_itself_a : first {
    using requires_before = pass_list<before_itself_b>;
};
struct before_itself_b : first {
    using requires_before = pass_list<before_itself_a>;
};

names order_of(pass_manager& manager) {
    REQUIRE(manager.solve_constraints());
    names order;
    for (const any_pass& p : manager.passes()) order.emplace_back(p.name());
    return order;
}

struct relu_to_neg : pass {
    using targets = ops<toy::relu>;
    using produces = ops<toy::neg>;
    value operator()(const args<toy::relu>& a, emit<produces>& e) const { return e.make<toy::neg>(a.self); }
};
struct neg_to_clamp : pass {
    using targets = ops<toy::neg>;
    using produces = ops<toy::clamp>;
    value operator()(const args<toy::neg>& a, emit<produces>& e) const {
        return e.make<toy::clamp>({.self = a.self});
    }
    result<void> ensure(const graph& g) const {
        return g.census().count(info_of<toy::relu>) == 0 ? result<void>()
                                                         : result<void>(invalid("a relu is left"));
    }
};
struct declines : relu_to_neg {
    bool should_run(const graph&) const { return false; }
};
void fill_relu(graph& g) {
    const value x = add_meta(g, g.create<builtin::placeholder>({}));
    const value y = add_meta(g, g.create<toy::relu>({x}));
    g.create<builtin::output>({.values = {&y, 1}});
}

}  // namespace

TEST_CASE("a pass is data and a function; it is called with its checks") {
    graph g;
    fill(g, 2);
    pass_context context;
    const auto& add_to_div = replaces<aten::add_tensor, aten::div_tensor>;
    REQUIRE(add_to_div(g, context).value() == 2);
    CHECK(g.census().count(div_op) == 2);
    const auto again = add_to_div(g, context);
    REQUIRE_FALSE(again);
    CHECK(again.error().message == "replace_op: no aten.add.Tensor ops");
    // A pass whose product is its target breaks its promise.
    const auto broken = replaces<aten::div_tensor, aten::div_tensor>(g, context);
    REQUIRE_FALSE(broken);
    CHECK(broken.error().message == "replace_op: some are left");
}

TEST_CASE("a manager runs passes one after the other, and checks after each") {
    const auto passes = [] {
        return pmr_vector<any_pass>{replace<aten::add_tensor, aten::div_tensor>("add_to_div"),
            replace<aten::div_tensor, aten::mul_tensor>("div_to_mul")};
    };
    pass_context context;
    SECTION("as they are") {
        graph g;
        fill(g);
        pass_manager manager(passes(), {.run_checks_after_each_pass = true});
        const auto done = manager(g, context);
        REQUIRE(done);
        REQUIRE(done.value().size() == 2);
        CHECK(done.value()[0].name == "add_to_div");
        CHECK(done.value()[1].nodes.rewritten == 1);
        CHECK(g.census().count(mul) == 1);
    }
    SECTION("a check that fails names the pass, whether it is run after each or at the end") {
        for (const bool each : {false, true}) {
            graph g;
            fill(g);
            pass_manager manager(passes(), {.run_checks_after_each_pass = each});
            manager.add_checks(&only_div);
            const auto done = manager(g, context);
            REQUIRE_FALSE(done);
            CHECK(done.error().message == "check after div_to_mul: target should be div");
        }
    }
    SECTION("checks in between see what is in between") {
        graph g;
        fill(g);
        int calls = 0;
        pass_manager manager(passes(), {.run_checks_after_each_pass = true});
        manager.add_checks(&only_div);
        manager.set_checks([&](const graph& now) {
            CHECK(now.census().count(calls++ == 0 ? div_op : mul) == 1);
            return result<void>();
        });
        REQUIRE(manager(g, context));
        CHECK(calls == 2);
    }
    SECTION("failures that are suppressed are kept") {
        graph g;
        fill(g);
        pass_manager manager(passes(), {.run_checks_after_each_pass = true, .suppress_check_failures = true});
        manager.add_checks([](const graph&) { return result<void>(invalid("never right")); });
        REQUIRE(manager(g, context));
        REQUIRE(manager.suppressed_failures().size() == 2);
        CHECK(manager.suppressed_failures()[0].message == "check after add_to_div: never right");
    }
    SECTION("a pass that fails is named, and the one before it") {
        graph g;
        fill(g);
        pass_manager manager({replace<aten::add_tensor, aten::mul_tensor>("add_to_mul"),
            replace<aten::div_tensor, aten::mul_tensor>("div_to_mul")});
        const auto done = manager(g, context);
        REQUIRE_FALSE(done);
        CHECK(
            done.error().message == "pass div_to_mul, after add_to_mul: replace_op: no aten.div.Tensor ops");
    }
    SECTION("steps repeat the list") {
        graph g;
        fill(g);
        pass_manager manager({replace<aten::add_tensor, aten::mul_tensor>("add_to_mul"),
                                 replace<aten::mul_tensor, aten::add_tensor>("mul_to_add")},
            {.steps = 3});
        REQUIRE(manager(g, context).value().size() == 6);
        CHECK(g.census().count(add) == 1);
    }
    SECTION("a function with a name is a pass") {
        graph g;
        pass_manager manager(
            {any_pass("count", [](graph& now, pass_context&) { return result<std::size_t>(now.size()); })});
        fill(g);
        CHECK(manager(g, context).value()[0].nodes.rewritten == g.size());
    }
}

TEST_CASE("passes of static pipelines run in a manager as there, in both drivers") {
    using pipeline_type = pipeline<from<toy::relu>, to<toy::clamp>, relu_to_neg,
        neg_to_clamp>;  // compiling is the proof
    for (const driver_kind driver : {driver_kind::in_place, driver_kind::retracing}) {
        graph a, b;
        fill_relu(a);
        fill_relu(b);
        pass_context context;
        REQUIRE(pipeline_type::run(a, context, {.driver = driver}));
        pass_manager manager({relu_to_neg{}, neg_to_clamp{}}, {.run = {.driver = driver}});
        REQUIRE(manager(b, context));
        CHECK(difference(a, b) == "");
    }
    // `ensure` is checked in every driver, and in static pipelines.
    graph g;
    fill_relu(g);
    pass_context context;
    const auto done = apply_pass(neg_to_clamp{}, g, context);
    REQUIRE_FALSE(done);
    CHECK(done.error().message == "neg_to_clamp: a relu is left");
}

TEST_CASE("a manager skips as static pipelines do, and says why") {
    graph g;
    fill_relu(g);
    pass_context context;
    pass_manager manager({declines{}, neg_to_clamp{}, relu_to_neg{}});
    const auto done = manager(g, context);
    REQUIRE(done);
    CHECK(done.value()[0].status == pass_status::declined);
    CHECK(done.value()[1].status == pass_status::no_target);
    CHECK(done.value()[2].status == pass_status::ran);
    // In a nested region it is found, too.
    graph outer;
    fill_relu(outer.create_region());
    CHECK(any_pass(relu_to_neg{}).has_targets(outer));
    pass_manager all({neg_to_clamp{}}, {.run = {.skip = false}});
    graph h;
    fill(h);
    CHECK(all(h, context).value()[0].status == pass_status::ran);
}

TEST_CASE("order constraints move passes as little as they must") {
    pass_manager kept({first{}, cleaner{}, needs_clean{}});
    CHECK(order_of(kept) == names{"first", "cleaner", "needs_clean"});
    pass_manager moved({needs_clean{}, first{}, wants_first{}, cleaner{}});
    CHECK(order_of(moved) == names{"wants_first", "first", "cleaner", "needs_clean"});
    // Any pass that ensures it will do.
    pass_manager several({cleaner{}, needs_clean{}, other_cleaner{}});
    CHECK(order_of(several) == names{"cleaner", "needs_clean", "other_cleaner"});
    pass_manager given({first{}, cleaner{}});
    given.add_constraint("cleaner", "first");
    CHECK(order_of(given) == names{"cleaner", "first"});
    given.add_pass(needs_clean{});
    CHECK(order_of(given) == names{"cleaner", "first", "needs_clean"});
}

TEST_CASE("order constraints that cannot be met are refused by name") {
    pass_manager lacking({first{}, needs_clean{}});
    CHECK(lacking.solve_constraints().error().message ==
        "pass needs_clean requires clean, which no pass in the list ensures");
    pass_manager two({first{}, before_itself_a{}, before_itself_b{}});
    CHECK(two.solve_constraints().error().message ==
        "the passes cannot be put in order: before_itself_a must run before before_itself_b, which must run "
        "before before_itself_a");
    pass_manager three({first{}, cleaner{}, needs_clean{}});
    three.add_constraint("needs_clean", "first");
    three.add_constraint("first", "cleaner");
    const auto refused = three.solve_constraints();
    REQUIRE_FALSE(refused);
    for (const char* name : {"first", "cleaner", "needs_clean"})
        CHECK(refused.error().message.find(name) != std::pmr::string::npos);
    pass_context context;
    graph g;
    CHECK_FALSE(three(g, context));
}

TEST_CASE("a registry finds passes by name, and what was meant by a wrong one") {
    pass_registry registry(pass_list<relu_to_neg, neg_to_clamp, relu_to_neg, first>{});
    CHECK(registry.passes().size() == 3);
    CHECK(registry.find("relu_to_neg") != nullptr);
    CHECK_FALSE(registry.add(relu_to_neg{}));
    CHECK(registry.add(replace<aten::add_tensor, aten::div_tensor>("add_to_div")));
    const auto chosen = registry.select("neg_to_clamp,relu_to_neg,neg_to_clamp");
    REQUIRE(chosen);
    REQUIRE(chosen.value().size() == 3);
    CHECK(chosen.value()[2].name() == "neg_to_clamp");
    const auto wrong = registry.select("first,relu_to_ngg");
    REQUIRE_FALSE(wrong);
    CHECK(wrong.error().message == "no pass is called 'relu_to_ngg'; did you mean relu_to_neg");
    CHECK(registry.closest("relu") == pmr_vector<std::string_view>{"relu_to_neg"});
    CHECK(registry.closest("something_else_entirely").empty());
}

TEST_CASE("a pass manager takes properties for granted") {
    pass_manager manager({needs_clean{}});
    CHECK_FALSE(manager.solve_constraints());
    manager.assume("another");
    CHECK_FALSE(manager.solve_constraints());
    manager.assume("another,clean");
    CHECK(order_of(manager) == names{"needs_clean"});
    // A pass that ensures it need not come first.
    pass_manager both({needs_clean{}, cleaner{}});
    CHECK(order_of(both) == names{"cleaner", "needs_clean"});
    both.assume("clean");
    CHECK(order_of(both) == names{"cleaner", "needs_clean"});
    pass_manager assumed({needs_clean{}, cleaner{}});
    assumed.assume("clean");
    CHECK(order_of(assumed) == names{"needs_clean", "cleaner"});
    // Nor one that must come afterwards be there.
    pass_manager after({wants_first{}});
    CHECK_FALSE(after.solve_constraints());
    after.assume("first");
    CHECK(order_of(after) == names{"wants_first"});
}
