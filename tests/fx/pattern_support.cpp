// SPDX-License-Identifier: MIT
// Tests support by patterns.

#include <catch2/catch.hpp>

#include <headrace/fx/pattern_support.hpp>

#include "../support/pass_test.hpp"

using namespace headrace;

namespace {

// x, y -> add -> relu
void add_relu(program& p) {
    const value x = p.input(dtype::float32, {2});
    const value y = p.input(dtype::float32, {2});
    p.output(p.make<aten::relu>({.self = p.make<aten::add_tensor>({.self = x, .other = y})}));
    p.finish();
}

}  // namespace

TEST_CASE("the nodes of matches are supported, others of the same op are not", "[pattern_support]") {
    program pattern;
    add_relu(pattern);
    program p;
    const value x = p.input(dtype::float32, {2});
    const value y = p.input(dtype::float32, {2});
    const value sum = p.make<aten::add_tensor>({.self = x, .other = y});
    const value bent = p.make<aten::relu>({.self = sum});
    const value alone = p.make<aten::add_tensor>({.self = bent, .other = x});
    const value other = p.make<aten::neg>({.self = alone});
    p.output(other);
    p.finish();
    const graph* const patterns[] = {&pattern.g};
    const auto support = create_pattern_support(p.g, patterns);
    REQUIRE(support.has_value());
    CHECK(support.value().is_node_supported(*sum.producer));
    CHECK(support.value().is_node_supported(*bent.producer));
    CHECK_FALSE(support.value().is_node_supported(*alone.producer));

    const auto partitions = generate_pattern_op_partitions(p.g, patterns);
    REQUIRE(partitions.has_value());
    CHECK(partitions.value() == std::vector<node_group>{{sum.producer, bent.producer}});

    // The union of both.
    const auto more = generate_pattern_op_partitions(p.g, patterns, create_op_support<aten::add_tensor>());
    REQUIRE(more.has_value());
    CHECK(more.value() == std::vector<node_group>{{sum.producer, bent.producer, alone.producer}});
    const auto none = generate_pattern_op_partitions(p.g, {}, create_op_support<aten::neg>());
    REQUIRE(none.has_value());
    CHECK(none.value() == std::vector<node_group>{{other.producer}});
}

TEST_CASE("a pattern that can stand for nothing is an error", "[pattern_support]") {
    program pattern;
    program p;
    add_relu(p);
    const graph* const patterns[] = {&pattern.g};
    CHECK_FALSE(create_pattern_support(p.g, patterns).has_value());
    CHECK_FALSE(generate_pattern_op_partitions(p.g, patterns).has_value());
}
