// SPDX-License-Identifier: MIT
// Tests printing, comparing and hashing arguments.

#include <catch2/catch.hpp>

#include <limits>

#include <headrace/ir/graph.hpp>
#include <headrace/op/reflect.hpp>

#include "../support/toy.hpp"

using namespace headrace;

static int_list list_of(const std::int64_t (&items)[8]) {
    return int_list(std::span<const std::int64_t>(items));
}

TEST_CASE("arguments print as a call", "[reflect]") {
    graph g;
    const value x = g.create<builtin::placeholder>({}).result();
    g.set_name(x, "x");
    const auto name = [](value v) { return "%" + std::string(v.producer->name()); };
    CHECK(print(toy::conv2d{}, {.input = x, .weight = x}, name) ==
        "toy.conv2d.default(input=%x, weight=%x, bias=none, stride=[1, 1], groups=1)");
    const double factors[] = {0.1, 2.0};
    const std::optional<value> indices[] = {std::nullopt, x};
    args<toy::attributes> a{
        .self = x, .axes = {0, -1}, .factors = list<double>(factors, 2), .mode = "mean", .maybe = 3};
    a.indices = list<std::optional<value>>(indices, 2);
    CHECK(print(toy::attributes{}, a, name) ==
        "toy.attributes.default(self=%x, axes=[0, -1], factors=[0.1, 2.0], mode=\"mean\", maybe_axes=none, "
        "type=float32, keep=true, ratio=0.5, maybe=3, indices=[none, %x])");
    CHECK(print(toy::clamp{}, {.self = x, .min = 2, .max = scalar(2.0)}, name) ==
        "toy.clamp.default(self=%x, min=2, max=2.0)");
}

TEST_CASE("equal arguments have equal hashes, and one change makes them differ", "[reflect]") {
    graph g;
    const value x = g.create<builtin::placeholder>({}).result();
    const value y = g.create<builtin::placeholder>({}).result();
    const op_info& op = info_of<toy::attributes>;
    const std::int64_t eight[] = {1, 2, 3, 4, 5, 6, 7, 8};
    const std::int64_t same_eight[] = {1, 2, 3, 4, 5, 6, 7, 8};
    const args<toy::attributes> a{.self = x, .axes = list_of(eight), .factors = {}, .mode = "mean"};
    args<toy::attributes> b = a;
    b.axes = list_of(same_eight);
    CHECK(equal_arguments(op, &a, &b));
    CHECK(hash_arguments(op, &a) == hash_arguments(op, &b));

    const auto differs = [&](auto change) {
        args<toy::attributes> c = a;
        change(c);
        return !equal_arguments(op, &a, &c) && hash_arguments(op, &a) != hash_arguments(op, &c);
    };
    CHECK(differs([&](auto& c) { c.self = y; }));
    CHECK(differs([](auto& c) { c.axes = {1, 2}; }));
    CHECK(differs([](auto& c) { c.mode = "sum"; }));
    CHECK(differs([](auto& c) { c.maybe = 0; }));
    CHECK(differs([](auto& c) { c.maybe_axes = int_list{}; }));
    CHECK(differs([](auto& c) { c.type = dtype::int8; }));
    CHECK(differs([](auto& c) { c.keep = false; }));

    // 2 and 2.0 promote differently; NaN equals NaN, as CSE needs.
    const args<toy::clamp> two{.self = x, .min = 2}, two_point_zero{.self = x, .min = 2.0};
    CHECK_FALSE(equal_arguments(info_of<toy::clamp>, &two, &two_point_zero));
    args<toy::attributes> nan = a, other_nan = a;
    nan.ratio = std::numeric_limits<double>::quiet_NaN();
    other_nan.ratio = -std::numeric_limits<double>::quiet_NaN();
    CHECK(equal_arguments(op, &nan, &other_nan));
    CHECK(hash_arguments(op, &nan) == hash_arguments(op, &other_nan));
    args<toy::attributes> zero = a, minus_zero = a;
    zero.ratio = 0.0;
    minus_zero.ratio = -0.0;
    CHECK_FALSE(equal_arguments(op, &zero, &minus_zero));  // 1 / -0 is not 1 / 0
}
