// SPDX-License-Identifier: MIT
// Tests what memory a graph needs: lifetimes, constants, states and accesses.
#include <catch2/catch.hpp>

#include <algorithm>
#include <string>

#include <headrace/banks/graph_items.hpp>
#include <headrace/ir/state.hpp>

#include "../support/pass_test.hpp"

using namespace headrace;

namespace {

const bank_item& item_named(const banked_models& models, std::string_view name) {
    const auto found = std::ranges::find(models.items, name, &bank_item::name);
    REQUIRE(found != models.items.end());
    return *found;
}

}  // namespace

TEST_CASE("a matrix product reads its factors once for each multiply-accumulate") {
    program p;
    const value x = p.input(dtype::float32, {3, 4});
    p.g.set_name(x, "x");
    const value w = p.constant<float>(
        dtype::float32, {4, 5}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 2});
    p.g.set_name(w, "w");
    const value y = p.make<aten::mm>({x, w});
    p.g.set_name(y, "y");
    const value z = p.make<aten::relu>({y});
    p.g.set_name(z, "z");
    p.output(z);
    p.finish();
    banked_models models;
    const auto values = add_graph_items(models, "m", p.g);
    REQUIRE(values.has_value());
    CHECK(models.names == std::vector<std::string>{"m"});
    CHECK(values.value().size() == models.items.size());
    CHECK(item_named(models, "x").accessed == 4 * 60);
    CHECK(item_named(models, "w").accessed == 4 * 60);
    CHECK(item_named(models, "w").use == memory_use::constants);
    CHECK(item_named(models, "w").bytes == 80);
    CHECK(item_named(models, "y").accessed == 60 + 60);
    CHECK(item_named(models, "y").use == memory_use::arena);
    CHECK(item_named(models, "y").first == 1);
    CHECK(item_named(models, "y").last == 2);
    CHECK(item_named(models, "z").accessed == 60);
}

TEST_CASE("states live from one inference to the next, and a second model has its own number") {
    program p;
    const value x = p.input(dtype::float32, {4});
    const value s = p.input(dtype::float32, {4});
    p.g.set_name(s, "s");
    p.g.annotate(*s.producer, input_state{"s"});
    p.output(p.make<aten::add_tensor>({.self = x, .other = s}));
    p.finish();
    banked_models models;
    REQUIRE(add_graph_items(models, "a", p.g).has_value());
    REQUIRE(add_graph_items(models, "b", p.g).has_value());
    CHECK(item_named(models, "s").use == memory_use::state);
    CHECK(models.items.size() == 6);
    CHECK(models.items.back().model == 1);
    CHECK(first_steps(models) == std::vector<std::uint32_t>{0, 3, 6});
    models.run_at_once = true;
    CHECK(first_steps(models) == std::vector<std::uint32_t>{0, 0, 3});
}
