// SPDX-License-Identifier: MIT
// Tests that orders with the least memory are found, compared with all orders of small graphs.
#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

#include <catch2/catch.hpp>

#include <headrace/dialect/cortex_m.hpp>
#include <headrace/dialect/memory.hpp>
#include <headrace/infer/cortex_m.hpp>
#include <headrace/infer/memory.hpp>
#include <headrace/memory/memory_order.hpp>
#include <headrace/memory/memory_plan.hpp>
#include <headrace/passes/finish/finish.hpp>

#include "../support/pass_test.hpp"

using namespace headrace;

namespace {

/// A graph of lists that are cut, joined and changed, with the given number of nodes in addition to its
/// shapes.
class random_lists {
public:
    random_lists(program& p, unsigned seed) : p_(p), random_(seed) {}

    void make(std::size_t count) {
        values_ = {p_.input(dtype::int8, {any(1, 9)}), p_.input(dtype::int8, {any(1, 9)})};
        while (count-- != 0) values_.push_back(next());
        p_.output(values_.back());
        if (any(0, 2) == 0) p_.output(some());
        p_.finish();
    }

private:
    std::int64_t any(std::int64_t lowest, std::int64_t highest) {
        return std::uniform_int_distribution<std::int64_t>(lowest, highest)(random_);
    }
    value some() { return values_[static_cast<std::size_t>(any(0, std::ssize(values_) - 1))]; }
    value shape(std::int64_t n) { return p_.make<tosa::const_shape>({.values = {n}}); }
    value next() {
        const value v = some();
        const std::int64_t size = meta_of(v)->shape[0];
        const std::int64_t kind = any(0, 5);
        if (kind < 2)
            return p_.make<tosa::slice>({.input1 = v, .start = shape(0), .size = shape(any(1, size))});
        if (kind < 4) return p_.make<tosa::concat>({.input1 = {v, some()}, .axis = 0});
        if (kind == 4) return p_.make<tosa::abs>({.input1 = v});
        return p_.make<tosa::reshape>({.input1 = v, .shape = shape(size)});
    }

    program& p_;
    std::mt19937 random_;
    std::vector<value> values_;
};

std::uint64_t peak_of(const graph& g) {
    const auto plan = make_memory_plan(g);
    REQUIRE(plan);
    return plan.value().memories[0].lower_bound;
}

/// Returns the smallest peak of all orders; the graph is left in one of them.
std::uint64_t least_peak(graph& g) {
    std::vector<node*> nodes;
    for (node& n : g.nodes()) {
        const bool is_executed = is_of_dialect<tosa::dialect>(n) && !is<tosa::const_shape>(n);
        if (is_executed) nodes.push_back(&n);
    }
    std::sort(nodes.begin(), nodes.end(), [](const node* a, const node* b) { return a->id < b->id; });
    std::uint64_t least = UINT64_MAX;
    do {
        const auto is_before = [&](const node* a, const node* b) {
            const auto last = std::find(nodes.begin(), nodes.end(), b);
            return std::find(nodes.begin(), last, a) != last;
        };
        const bool is_order = std::all_of(nodes.begin(), nodes.end(), [&](const node* n) {
            return std::all_of(n->operands, n->operands + n->operand_count, [&](const edge& e) {
                return std::find(nodes.begin(), nodes.end(), e.source) == nodes.end() ||
                    is_before(e.source, n);
            });
        });
        if (!is_order) continue;
        for (node* n : nodes) g.move_before(*n, g.output());
        least = std::min(least, peak_of(g));
    } while (std::next_permutation(
        nodes.begin(), nodes.end(), [](const node* a, const node* b) { return a->id < b->id; }));
    return least;
}

void sort(graph& g) {
    pass_context context;
    REQUIRE(sort_topologically{}(g, context));
}

/// Lists of one size are joined and cut again in the given number of branches; each begins with a long list.
void branches(program& p, std::size_t count, std::size_t length) {
    const value x = p.input(dtype::int8, {4});
    std::vector<value> ends;
    for (std::size_t i = 0; i != count; ++i) {
        value v = p.make<tosa::concat>({.input1 = {x, x, x, x}, .axis = 0});
        for (std::size_t k = 0; k != length; ++k) v = p.make<tosa::abs>({.input1 = v});
        ends.push_back(p.make<tosa::reduce_max>({.input = v, .axis = 0}));
    }
    while (ends.size() > 1) {
        std::vector<value> joined;
        for (std::size_t i = 0; i < ends.size(); i += 64) {
            const auto first = ends.begin() + static_cast<std::ptrdiff_t>(i);
            const auto last = first + std::min<std::ptrdiff_t>(64, ends.end() - first);
            const std::vector<value> group(first, last);
            const value all = p.make<tosa::concat>({.input1 = list<value>(std::span(group)), .axis = 0});
            joined.push_back(p.make<tosa::reduce_max>({.input = all, .axis = 0}));
        }
        ends = joined;
    }
    p.output(ends[0]);
    p.finish();
}

}  // namespace

TEST_CASE("no order of a small graph needs less") {
    for (unsigned seed = 0; seed != 40; ++seed) {
        program p;
        random_lists(p, seed).make(6);
        INFO(seed);
        const std::uint64_t least = least_peak(p.g);
        sort(p.g);
        CHECK(peak_of(p.g) == least);
        const auto* need = p.g.output()->find_annotation<memory_need>();
        REQUIRE(need != nullptr);
        CHECK(need->peak == least);
        CHECK(need->lower_bound == least);
    }
}

TEST_CASE("larger graphs never need more than depth first, nor less than their bound") {
    for (unsigned seed = 0; seed != 40; ++seed) {
        program p;
        random_lists(p, seed).make(30 + 10 * seed);
        memory_order before(p.g);
        INFO(seed);
        REQUIRE(before.is_free());
        CHECK(before.need().peak == peak_of(p.g));
        const std::uint64_t bound = before.need().lower_bound;
        before.improve();
        CHECK(before.need().lower_bound >= bound);
        CHECK(before.need().peak >= before.need().lower_bound);
        CHECK(before.need().peak <= peak_of(p.g));
        sort(p.g);
        const auto* need = p.g.output()->find_annotation<memory_need>();
        REQUIRE(need != nullptr);
        CHECK(need->peak == peak_of(p.g));
    }
}

TEST_CASE("an order that is as good stays") {
    program p;
    const value x = p.input(dtype::int8, {8});
    const value a = p.make<tosa::abs>({.input1 = x});
    const value b = p.make<tosa::negate>({.input1 = x,
        .input1_zp = p.constant<std::int8_t>(dtype::int8, {1}, {0}),
        .output_zp = p.constant<std::int8_t>(dtype::int8, {1}, {0})});
    p.output(p.make<tosa::concat>({.input1 = {a, b}, .axis = 0}));
    p.finish();
    memory_order order(p.g);
    CHECK_FALSE(order.improve());
    CHECK(order.need().peak == 32);
    CHECK(order.need().lower_bound == 32);
}

TEST_CASE("segments that are too large for a search are ordered, too") {
    program p;
    branches(p, 400, 48);
    REQUIRE(p.g.size() > 20000);
    memory_order order(p.g);
    order.improve();
    sort(p.g);
    CHECK(peak_of(p.g) <= order.need().peak);
}

TEST_CASE("blocks that repeat more often than can be searched are all in the best order") {
    program p;
    value v = p.input(dtype::int8, {4});
    const value start = p.make<tosa::const_shape>({.values = {0}});
    const value size = p.make<tosa::const_shape>({.values = {4}});
    for (int block = 0; block != 6000; ++block) {
        // In depth-first order, `held` precedes the node that needs more memory.
        const value held = p.make<tosa::concat>({.input1 = {v, v}, .axis = 0});
        const value wide = p.make<tosa::concat>({.input1 = {v, v, v, v}, .axis = 0});
        const value most = p.make<tosa::reduce_max>({.input = wide, .axis = 0});
        const value both = p.make<tosa::concat>({.input1 = {held, most}, .axis = 0});
        v = p.make<tosa::slice>({.input1 = both, .start = start, .size = size});
    }
    p.output(v);
    p.finish();
    CHECK(peak_of(p.g) == 4 + 8 + 16);
    sort(p.g);
    CHECK(peak_of(p.g) == 4 + 16 + 1);
}

TEST_CASE("a kernel's buffer counts while the kernel runs") {
    program p;
    const value x = p.input(dtype::int8, {1, 1, 4});
    const auto product = [&](value v, std::int64_t bytes) {
        const value buffer = p.make<memory::alloc>({.size = {bytes}, .dtype = dtype::uint8});
        return p.make<cortex_m::quantized_batch_matmul>({.lhs = v,
            .lhs_zero_point = 0,
            .rhs_transposed = v,
            .rhs_zero_point = 0,
            .output_zero_point = 0,
            .output_multiplier = 1 << 30,
            .output_shift = 0,
            .scratch = buffer});
    };
    const value wide = p.make<cortex_m::pad>(
        {.input = x, .pre_pad = {0, 0, 0, 0}, .post_pad = {0, 0, 0, 96}, .pad_value = 0});
    const value large = product(x, 1000);
    const value small = product(wide, 10);
    p.output(p.make<cortex_m::minimum>({large, small}));
    p.finish();
    REQUIRE(p.fault.empty());
    CHECK(peak_of(p.g) == 4 + 100 + 1000 + 1);
    sort(p.g);
    CHECK(peak_of(p.g) == 4 + 1000 + 1);  // the wide tensor is made after the large buffer is free
    const memory_order order(p.g);
    CHECK(order.is_free());
    CHECK(order.need().peak == 4 + 1000 + 1);
}

TEST_CASE("what may not change places stays, and nothing is said of it") {
    program p;
    const value x = p.input(dtype::int8, {4});
    p.output(p.make<tosa::identity>({.input1 = x}));
    p.finish();
    memory_order order(p.g);
    CHECK_FALSE(order.is_free());
    CHECK_FALSE(order.improve());
}
