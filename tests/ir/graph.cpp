// SPDX-License-Identifier: MIT
// Tests the run-time graph: nodes, edges, the census, annotations, regions and the arena's ownership.

#include <catch2/catch.hpp>

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory_resource>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <headrace/base/pmr_vector.hpp>
#include <headrace/ir/graph.hpp>

#include "../support/toy.hpp"

using namespace headrace;

namespace {

struct note {
    static constexpr bool inherited = false;
    int number;
};

}  // namespace

TEST_CASE("nodes are created in order, or before another, and erased", "[graph]") {
    graph g;
    node& x = g.create<builtin::placeholder>({});
    node& a = g.create<toy::relu>({.self = x.result()});
    node& b = g.create<toy::neg>({.self = x.result()}, &a);
    CHECK(x.next == &b);
    CHECK(b.next == &a);
    CHECK(g.size() == 3);
    CHECK(use_count(x.result()) == 2);
    g.erase(b);
    CHECK(g.size() == 2);
    CHECK(x.next == &a);
    CHECK(has_one_use(x.result()));
    CHECK(g.census().count(info_of<toy::neg>) == 0);
    CHECK(match<toy::relu>(a.result())->self == x.result());
    CHECK(match<toy::neg>(a.result()) == nullptr);
}

TEST_CASE("uses are replaced, result by result", "[graph]") {
    graph g;
    node& x = g.create<builtin::placeholder>({});
    node& m = g.create<toy::min_max>({.self = x.result()});
    node& s = g.create<toy::add>({.self = m.result(0), .other = m.result(1)});
    node& t = g.create<toy::add>({.self = m.result(1), .other = m.result(1)});
    g.replace_all_uses(m.result(1), x.result(), &t);
    CHECK(args_of<toy::add>(s).self == m.result(0));
    CHECK(args_of<toy::add>(s).other == x.result());
    CHECK(use_count(m.result(1)) == 2);
    CHECK(is_used(m.result(1)));
    CHECK_FALSE(is_used(s.result()));
    g.replace_all_uses(m.result(1), x.result());
    CHECK(use_count(m.result(1)) == 0);
    CHECK_FALSE(is_used(m.result(1)));
    CHECK(is_used(m.result(0)));
    CHECK(use_count(x.result()) == 4);
}

TEST_CASE("nodes are put in another order at once", "[graph]") {
    graph g;
    node& a = g.create<builtin::placeholder>({});
    node& b = g.create<builtin::placeholder>({});
    node& c = g.create<builtin::placeholder>({});
    g.reorder(std::vector<node*>{&c, &a, &b});
    CHECK(g.size() == 3);
    CHECK(g.first() == &c);
    CHECK(g.last() == &b);
    std::vector<const node*> seen;
    for (const node& n : g.nodes()) seen.push_back(&n);
    CHECK(seen == std::vector<const node*>{&c, &a, &b});
    CHECK(c.previous == nullptr);
    CHECK(b.previous == &a);
}

TEST_CASE("a walk goes on whatever is erased and made on the way", "[graph]") {
    graph g;
    for (int i = 0; i != 100; ++i) g.create<builtin::placeholder>({});
    std::size_t seen = 0, erased_ahead = 0;
    for (auto at = g.nodes().begin(); at != g.nodes().end(); ++seen) {
        node& n = *at++;
        node* const ahead = n.next == nullptr ? nullptr : n.next->next;
        if (seen % 3 == 0 && ahead != nullptr) {
            g.erase(*ahead);
            ++erased_ahead;
        }
        if (seen % 3 == 1) g.create<builtin::placeholder>({}, &n);
        if (seen % 3 == 2) g.erase(n);
    }
    CHECK(erased_ahead > 20);
    CHECK(seen + erased_ahead == 100);
}

namespace {

/// Counts allocations that are not freed; each must be freed with its size and alignment.
class counted_memory final : public std::pmr::memory_resource {
public:
    [[nodiscard]] std::size_t pieces() const { return taken_.size(); }

private:
    void* do_allocate(std::size_t bytes, std::size_t alignment) override {
        void* const at = std::pmr::new_delete_resource()->allocate(bytes, alignment);
        taken_[at] = {bytes, alignment};
        return at;
    }
    void do_deallocate(void* at, std::size_t bytes, std::size_t alignment) override {
        REQUIRE(taken_.at(at) == std::pair(bytes, alignment));
        taken_.erase(at);
        std::pmr::new_delete_resource()->deallocate(at, bytes, alignment);
    }
    [[nodiscard]] bool do_is_equal(const memory_resource& other) const noexcept override {
        return this == &other;
    }
    std::map<void*, std::pair<std::size_t, std::size_t>> taken_;
};

}  // namespace

TEST_CASE("a graph takes memory in few pieces, however large it is, and gives all back") {
    counted_memory memory;
    {
        graph g(&memory);
        for (int i = 0; i != 50000; ++i)
            g.create<toy::relu>({.self = g.create<builtin::placeholder>({}).result()});
        CHECK(memory.pieces() < 60);
        CHECK(g.allocate_data(std::size_t{9} << 20U).size() == std::size_t{9} << 20U);
    }
    CHECK(memory.pieces() == 0);
}

TEST_CASE("nodes lie side by side, whatever is allocated between them") {
    graph g;
    const node* before = &g.create<builtin::placeholder>({});
    int beside = 0;
    for (int i = 0; i != 1000; ++i) {
        CHECK(reinterpret_cast<std::uintptr_t>(g.allocate_data(24).data()) % 16 == 0);
        static_cast<void>(g.own(std::string_view("abc")));
        const node& n = g.create<builtin::placeholder>({});
        beside += &n == before + 1;
        before = &n;
    }
    CHECK(beside > 950);
}

TEST_CASE("a graph is reordered as its caller says", "[graph]") {
    graph g;
    std::vector<node*> nodes;
    for (int i = 0; i != 100; ++i) nodes.push_back(&g.create<builtin::placeholder>({}));
    std::reverse(nodes.begin(), nodes.end());
    g.reorder(nodes);
    std::vector<node*> order;
    for (node& n : g.nodes()) order.push_back(&n);
    CHECK(order == nodes);
    CHECK(g.size() == nodes.size());
    CHECK(g.first() == nodes.front());
    CHECK(g.last() == nodes.back());
}

TEST_CASE("nodes know which lies before which, unless too many were put in one place") {
    graph g;
    std::vector<node*> places;
    for (int i = 0; i != 20; ++i) places.push_back(&g.create<builtin::placeholder>({}));
    std::minstd_rand random(1);
    const auto any_place = [&] { return places[random() % places.size()]; };
    for (int i = 0; i != 400; ++i) {
        places.push_back(&g.create<builtin::placeholder>({}, any_place()));
        g.move_before(*any_place(), i % 7 == 0 ? nullptr : any_place());
    }
    const auto count_known = [&] {
        std::size_t known = 0;
        for (const node* n = g.first(); n->next != nullptr; n = n->next) {
            CHECK_FALSE(graph::is_before(*n->next, *n));
            known += graph::is_before(*n, *n->next);
        }
        return known;
    };
    CHECK(count_known() > 400);

    for (int i = 0; i != 1000; ++i) g.create<builtin::placeholder>({}, g.first());
    CHECK(count_known() < 500);  // unknown, but not wrong
    std::vector<node*> order;
    for (node& n : g.nodes()) order.push_back(&n);
    g.reorder(order);
    CHECK(count_known() == g.size() - 1);
}

TEST_CASE("the nodes of an op are gone through while some are erased and created", "[graph]") {
    graph g;
    const value x = g.create<builtin::placeholder>({}).result();
    std::vector<node*> made;
    for (int i = 0; i != 100; ++i) made.push_back(&g.create<toy::relu>({x}));
    std::size_t seen = 0;
    for (node& n : g.nodes_of(info_of<toy::relu>)) {
        CHECK(&n == made[seen]);
        if (seen % 2 == 0 && seen + 2 < 100) g.erase(*made[seen + 1]);
        if (seen % 2 == 0 && seen < 50) made.push_back(&g.create<toy::relu>({x}));
        g.erase(n);
        seen += seen % 2 == 0 && seen + 2 < 100 ? 2 : 1;
    }
    CHECK(seen == made.size());
    CHECK(g.nodes_of(info_of<toy::relu>).empty());
    CHECK(g.census().count(info_of<toy::relu>) == 0);

    std::vector<node*> kept;
    for (int i = 0; i != 90; ++i) kept.push_back(&g.create<toy::relu>({x}));
    for (int i = 0; i != 60; ++i) g.erase(*kept[static_cast<std::size_t>(i)]);
    kept.erase(kept.begin(), kept.begin() + 60);
    kept.push_back(&g.create<toy::relu>({x}));
    std::vector<node*> listed;
    for (node& n : g.nodes_of(info_of<toy::relu>)) listed.push_back(&n);
    CHECK(listed == kept);
    for (node* n : kept) g.erase(*n);
    CHECK(g.nodes_of(info_of<toy::relu>).empty());
}

TEST_CASE("results, arguments and operands lie in one block") {
    graph g;
    const value x = g.create<builtin::placeholder>({}).result();
    const node& n = g.create<toy::add>({.self = x, .other = x});
    const auto at = [](const void* p) { return reinterpret_cast<std::uintptr_t>(p); };
    CHECK(at(n.arguments) == at(n.results) + sizeof(result_slot));
    CHECK(at(n.operands) == at(n.arguments) + sizeof(args<toy::add>));
    CHECK(n.operands[1].slot == &args_of<toy::add>(n).other);
}

TEST_CASE("what arguments refer to is copied into the arena", "[graph]") {
    graph g;
    node& x = g.create<builtin::placeholder>({});
    node* n = nullptr;
    node* c = nullptr;
    {
        pmr_vector<std::int64_t> axes{0, 1, 2, 3, 4, 5, 6, 7};
        std::vector<double> factors{0.5, 0.25};
        std::pmr::string mode = "a text that is longer than the small string optimisation";
        pmr_vector<value> tensors(9, x.result());
        std::vector<std::optional<value>> indices{std::nullopt, x.result()};
        args<toy::attributes> a{
            .self = x.result(), .axes = axes, .factors = factors, .mode = mode, .maybe_axes = int_list(axes)};
        a.indices = indices;
        n = &g.create<toy::attributes>(a);
        c = &g.create<toy::cat>({.tensors = tensors});
        std::fill(axes.begin(), axes.end(), -1);
        std::fill(factors.begin(), factors.end(), -1);
        std::fill(mode.begin(), mode.end(), '?');
    }
    const auto& a = args_of<toy::attributes>(*n);
    CHECK(a.axes.is_view());
    CHECK(a.axes[7] == 7);
    CHECK((*a.maybe_axes)[6] == 6);
    CHECK(a.factors[1] == 0.25);
    CHECK(a.mode.starts_with("a text"));
    CHECK(n->operand_count == 2);  // self, and the one given index
    CHECK(c->operand_count == 9);
    node& y = g.create<builtin::placeholder>({});
    g.replace_all_uses(x.result(), y.result());
    CHECK(args_of<toy::cat>(*c).tensors[8] == y.result());
    CHECK(*args_of<toy::attributes>(*n).indices[1] == y.result());
}

TEST_CASE("the census counts nested regions as present, but not as nodes", "[graph]") {
    graph g;
    graph& body = g.create_region();
    graph& inner = body.create_region();
    node& x = inner.create<builtin::placeholder>({});
    node& r = inner.create<toy::relu>({.self = x.result()});
    const auto bit = [](const graph& of) {
        const auto present = of.census().present(info_of_dialect<toy::dialect>);
        return !present.empty() && (present[0] >> index_of<toy::relu> & 1) != 0;
    };
    CHECK(bit(g));
    CHECK(bit(body));
    CHECK(g.census().count(info_of<toy::relu>) == 0);
    CHECK(inner.census().count(info_of<toy::relu>) == 1);
    inner.erase(r);
    CHECK_FALSE(bit(g));
    CHECK(inner.parent() == &body);
    target_spec spec;
    spec.add(target_feature::profile_int);
    g.set_target(spec);
    CHECK(inner.target() == spec);
}

TEST_CASE("annotations are found by type, replaced, and inherited if they say so", "[graph]") {
    graph g;
    node& x = g.create<builtin::placeholder>({});
    node& y = g.create<toy::relu>({.self = x.result()});
    g.annotate(x, note{1});
    g.annotate(x, note{2});
    g.annotate(x, provenance{"n", "o"});
    CHECK(x.find_annotation<note>()->number == 2);
    g.inherit_annotations(y, x);
    CHECK(y.find_annotation<note>() == nullptr);
    CHECK(origin_name(y) == "n");
}

TEST_CASE("what nodes inherit is not changed by what one of them gets afterwards", "[graph]") {
    graph g;
    node& x = g.create<builtin::placeholder>({});
    node& y = g.create<toy::relu>({.self = x.result()});
    g.annotate(x, provenance{"n", "o"});
    g.inherit_annotations(y, x);
    g.annotate(y, provenance{"m", "p"});
    g.annotate(y, note{1});
    CHECK(origin_name(x) == "n");
    CHECK(x.find_annotation<note>() == nullptr);
    CHECK(origin_name(y) == "m");
    CHECK(y.find_annotation<note>()->number == 1);

    node& z = g.create<toy::relu>({.self = y.result()});
    g.inherit_annotations(z, y);  // if there are several of a type, the first
    CHECK(origin_name(z) == "m");
    CHECK(z.find_annotation<note>() == nullptr);
}

TEST_CASE("metadata keeps long shapes, and can be cleared", "[graph]") {
    graph g;
    node& x = g.create<builtin::placeholder>({});
    {
        const pmr_vector<std::int64_t> shape{1, 2, 3, 4, 5, 6, 7};
        g.set_meta(x.result(), {dtype::int8, int_list(shape)});
    }
    CHECK(meta_of(x.result())->elements() == 5040);
    g.clear_meta(x.result());
    CHECK(meta_of(x.result()) == nullptr);
}
