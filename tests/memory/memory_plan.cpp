// SPDX-License-Identifier: MIT
// Tests memory plans: nothing overlaps, the peak is near its bound, and faulty plans are detected.
#include <catch2/catch.hpp>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include <headrace/base/pmr_vector.hpp>
#include <headrace/dialect/aten.hpp>
#include <headrace/memory/memory_plan.hpp>

using namespace headrace;

namespace {

value floats(graph& g, node& n, std::int64_t count) {
    g.set_meta(n.result(), {dtype::float32, {count}, {}});
    return n.result();
}
value input(graph& g, std::int64_t count) { return floats(g, g.create<builtin::placeholder>({}), count); }
value named_relu(graph& g, value v, std::string_view name, std::int64_t count = 100) {
    const value made = floats(g, g.create<aten::relu>({v}), count);
    g.set_name(made, name);
    return made;
}

// x -> a -> b -> c: each except the last is live for two steps.
struct chain {
    graph g;
    value x = input(g, 100);
    value a = named_relu(g, x, "a");
    value b = named_relu(g, a, "b");
    value c = named_relu(g, b, "c");
    chain() { g.create<builtin::output>({{&c, 1}}); }
};

// Adds nodes that use some of the earlier nodes, with sizes over three orders of magnitude.
void fill_random(graph& g, std::mt19937& random, int count) {
    pmr_vector<value> values;
    const auto size = [&] { return std::int64_t{1} << (random() % 12); };
    for (int i = 0; i != 3; ++i) values.push_back(input(g, size() + static_cast<std::int64_t>(random() % 7)));
    for (int i = 0; i != count; ++i) {
        const std::size_t window = std::min<std::size_t>(values.size(), random() % 8 == 0 ? 40 : 4);
        const auto pick = [&] { return values[values.size() - 1 - random() % window]; };
        values.push_back(floats(g, g.create<aten::add_tensor>({.self = pick(), .other = pick()}), size()));
    }
    const pmr_vector<value> outputs{values.back(), values[values.size() / 2]};
    g.create<builtin::output>({outputs});
}

// Returns the largest sum of live tensors of any step.
std::uint64_t bound_of(const memory_plan& plan) {
    std::uint64_t bound = 0;
    for (std::uint32_t step = 0; step != plan.lifetimes.step_count(); ++step) {
        std::uint64_t live = 0;
        for (const planned_tensor& t : plan.tensors) live += t.first <= step && step <= t.last ? t.bytes : 0;
        bound = std::max(bound, live);
    }
    return bound;
}

}  // namespace

TEST_CASE("two tensors take turns along a chain") {
    for (const auto algorithm : {planning_algorithm::greedy, planning_algorithm::best_fit}) {
        chain given;
        const auto plan = make_memory_plan(given.g, {.algorithm = algorithm});
        REQUIRE(plan.has_value());
        CHECK(plan.value().memories.size() == 1);
        CHECK(plan.value().memories[0].lower_bound == 800);
        CHECK(plan.value().memories[0].bytes == 800);
        CHECK(plan.value().memories[0].fullest_step == 1);
        CHECK(plan.value().find(given.x)->offset == plan.value().find(given.b)->offset);
        CHECK(plan.value().find(given.a)->offset == plan.value().find(given.c)->offset);
        CHECK(verify_plan(given.g, plan.value()).has_value());
    }
}

TEST_CASE("offsets are aligned") {
    graph g;
    const value x = input(g, 3);
    const value y = input(g, 5);
    const value z = floats(g, g.create<aten::add_tensor>({.self = x, .other = y}), 5);
    g.create<builtin::output>({{&z, 1}});
    for (const std::uint64_t alignment : {1U, 4U, 16U, 64U, 256U}) {
        const auto plan = make_memory_plan(g, {.alignment = alignment});
        REQUIRE(plan.has_value());
        CHECK(verify_plan(g, plan.value()).has_value());
        for (const planned_tensor& t : plan.value().tensors) CHECK(t.offset % alignment == 0);
        if (alignment == 4) CHECK(plan.value().memories[0].bytes == 52);
    }
    CHECK(make_memory_plan(g, {.alignment = 0}).error().message ==
        "the alignment of tensors must be a power of two, not 0");
    CHECK(make_memory_plan(g, {.alignment = 24}).has_error());
}

TEST_CASE("the caller may bring inputs and outputs") {
    chain given;
    const auto plan = make_memory_plan(given.g, {.place_inputs = false, .place_outputs = false});
    REQUIRE(plan.has_value());
    CHECK(plan.value().find(given.x) == nullptr);
    CHECK(plan.value().find(given.c) == nullptr);
    CHECK(plan.value().memories[0].lower_bound == 800);  // a and b
    CHECK(verify_plan(given.g, plan.value()).has_value());
}

TEST_CASE("plans of random graphs do not overlap and stay near the bound") {
    for (unsigned seed = 0; seed != 60; ++seed) {
        for (const auto algorithm : {planning_algorithm::greedy, planning_algorithm::best_fit}) {
            INFO("seed " << seed << ", " << name_of(algorithm));
            std::mt19937 random(seed);
            graph g;
            fill_random(g, random, 20 + static_cast<int>(seed) * 3);
            const auto plan = make_memory_plan(g, {.algorithm = algorithm});
            REQUIRE(plan.has_value());
            const result<void> sound = verify_plan(g, plan.value());
            CHECK((sound ? "" : sound.error().message) == "");
            const planned_memory& m = plan.value().memories[0];
            CHECK(m.lower_bound == bound_of(plan.value()));
            CHECK(m.bytes >= m.lower_bound);
            CHECK(static_cast<double>(m.bytes) <= 1.1 * static_cast<double>(m.lower_bound) + 16 * 16);
        }
    }
}

TEST_CASE("a plan is the same each time") {
    std::mt19937 random(7);
    graph g;
    fill_random(g, random, 100);
    const auto first = make_memory_plan(g).value();
    const auto second = make_memory_plan(g).value();
    for (std::size_t i = 0; i != first.tensors.size(); ++i)
        CHECK(first.tensors[i].offset == second.tensors[i].offset);
}

TEST_CASE("an overlap is found, with the names of both tensors") {
    chain given;
    memory_plan plan = make_memory_plan(given.g).value();
    plan.tensors[*plan.lifetimes.tensor_of(given.b)].offset =
        plan.find(given.a)->offset + 16;  // a is read while b is written
    plan.memories[0].bytes = 2000;
    CHECK(verify_plan(given.g, plan).error().message ==
        "two tensors that live at the same time overlap: 'a' of aten.relu.default at bytes 400 to 800, steps "
        "1 to 2, and 'b' of aten.relu.default at bytes 416 to 816, steps 2 to 3");
}

TEST_CASE("other faults of plans are found") {
    chain given;
    const memory_plan sound = make_memory_plan(given.g).value();
    const auto fault_of = [&](auto&& spoil) {
        memory_plan plan = sound;
        spoil(plan);
        const result<void> verified = verify_plan(given.g, plan);
        return verified ? std::pmr::string() : verified.error().message;
    };
    CHECK(fault_of([](memory_plan&) {}).empty());
    CHECK(fault_of([](memory_plan& p) { p.tensors[0].offset = 8; }).find("does not align") !=
        std::pmr::string::npos);
    CHECK(fault_of([](memory_plan& p) { p.memories[0].bytes = 500; }).find("does not hold") !=
        std::pmr::string::npos);
    CHECK(fault_of([](memory_plan& p) { p.tensors[1].bytes = 4; }).find("another size") !=
        std::pmr::string::npos);
    CHECK(fault_of([](memory_plan& p) { p.tensors[1].last = 1; }).find("has changed") !=
        std::pmr::string::npos);
    CHECK(fault_of([](memory_plan& p) { p.tensors.pop_back(); }) == "the graph has 4 tensors, the plan 3");
    given.g.create<aten::relu>({given.a}, given.g.output());
    CHECK(verify_plan(given.g, sound).has_error());
}

TEST_CASE("a tensor without a type cannot be planned") {
    graph g;
    const value x = input(g, 4);
    node& n = g.create<aten::relu>({x});
    g.set_name(n.result(), "y");
    const value y = n.result();
    g.create<builtin::output>({{&y, 1}});
    CHECK(make_memory_plan(g).error().message ==
        "y (aten.relu.default): a tensor of unknown type has no size; infer its metadata first");
    g.set_meta(y, {dtype::float32, {std::int64_t{1} << 50}, {}});
    CHECK(make_memory_plan(g).error().message.find("too large") != std::pmr::string::npos);
}

TEST_CASE("graphs without tensors need no memory") {
    graph g;
    g.create<builtin::output>({});
    const auto plan = make_memory_plan(g);
    REQUIRE(plan.has_value());
    CHECK(plan.value().memories[0].bytes == 0);
    CHECK(verify_plan(g, plan.value()).has_value());
}

TEST_CASE("types narrower than a byte are packed") {
    graph g;
    const value x = g.create<builtin::placeholder>({}).result();
    g.set_meta(x, {dtype::int4, {5}, {}});
    g.create<builtin::output>({{&x, 1}});
    CHECK(make_memory_plan(g).value().memories[0].bytes == 3);
}
