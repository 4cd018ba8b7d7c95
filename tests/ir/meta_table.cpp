// SPDX-License-Identifier: MIT
// Tests the metadata of a graph's values: equal metadata is stored once, in the graph's memory.
#include <catch2/catch.hpp>

#include <cstdint>
#include <set>
#include <vector>

#include <headrace/ir/arena.hpp>
#include <headrace/ir/graph.hpp>
#include <headrace/ir/meta_table.hpp>

using namespace headrace;

TEST_CASE("what differs in dtype, shape or dim order is kept apart, and nothing twice") {
    arena memory(std::pmr::get_default_resource());
    meta_table metas(&memory);
    const std::vector<std::int64_t> order{1, 0};
    const auto asked = [&](int i) {
        return metas.find_or_add({i % 2 == 0 ? dtype::float32 : dtype::int8, {i / 4, 3},
            i % 4 < 2 ? list<std::int64_t>() : list<std::int64_t>(order)});
    };
    std::vector<const tensor_meta*> first;
    for (int i = 0; i != 400; ++i) first.push_back(asked(i));
    CHECK(std::set(first.begin(), first.end()).size() == 400);
    for (int i = 0; i != 400; ++i) {
        CHECK(asked(i) == first[static_cast<std::size_t>(i)]);
        CHECK(first[static_cast<std::size_t>(i)]->shape[0] == i / 4);
    }
}

TEST_CASE("it owns shapes that are too long for their object, and dim orders") {
    arena memory(std::pmr::get_default_resource());
    meta_table metas(&memory);
    std::vector<std::int64_t> shape{1, 2, 3, 4, 5, 6, 7, 8};
    std::vector<std::int64_t> order{7, 6, 5, 4, 3, 2, 1, 0};
    const tensor_meta* kept = metas.find_or_add({dtype::float32, int_list(shape), list<std::int64_t>(order)});
    shape.assign(8, 0);
    order.assign(8, 0);
    CHECK(kept->shape == int_list{1, 2, 3, 4, 5, 6, 7, 8});
    CHECK(kept->dim_order[0] == 7);
}

TEST_CASE("values of a graph and of its regions share metadata") {
    graph g;
    graph& region = g.create_region();
    const value a = g.create<builtin::placeholder>({}).result();
    const value b = region.create<builtin::placeholder>({}).result();
    g.set_meta(a, {dtype::int32, {2, 3}, {}});
    region.set_meta(b, {dtype::int32, {2, 3}, {}});
    CHECK(meta_of(a) == meta_of(b));
    g.set_meta(a, {dtype::int32, {3, 2}, {}});
    CHECK(meta_of(b)->shape == int_list{2, 3});
    g.clear_meta(a);
    CHECK(meta_of(a) == nullptr);
}
