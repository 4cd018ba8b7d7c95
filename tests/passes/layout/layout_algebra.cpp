// SPDX-License-Identifier: MIT
// Tests the algebra of layouts, mostly at compile time, and against permutations of indices.
#include <catch2/catch.hpp>

#include <numeric>
#include <random>

#include <headrace/passes/layout/layout_algebra.hpp>

using namespace headrace;

namespace {

constexpr layout nhwc = layout_of(shape_builder{2, 3, 4, 5}, shape_builder{0, 2, 3, 1});
static_assert(nhwc.factors == shape_builder{2, 3, 20} && nhwc.order == shape_builder{0, 2, 1});
static_assert(then(nhwc, inverse(nhwc)) == layout{});
static_assert(layout_of(shape_builder{1, 4, 1, 3}, shape_builder{2, 1, 0, 3}).row_major());

static_assert(common_refinement(shape_builder{6, 4}, shape_builder{2, 12}) == shape_builder{2, 3, 4});
static_assert(common_refinement(shape_builder{1, 6}, shape_builder{6, 1, 1}) == shape_builder{6});
static_assert(!common_refinement(shape_builder{2, 3}, shape_builder{3, 2}));
static_assert(!common_refinement(shape_builder{2, 3}, shape_builder{5}));
static_assert(!then(layout_of(shape_builder{2, 3}, shape_builder{1, 0}),
    layout_of(shape_builder{2, 3}, shape_builder{1, 0})));  // splits (3, 2) into (2, 3)

// An image has per-channel gates, and sums over its rows.
constexpr auto by_axes = along_axes(nhwc, shape_builder{2, 3, 4, 5});
static_assert(by_axes && by_axes->axis == shape_builder{0, 1, 2, 3} && by_axes->axis_at(3) == 1);
static_assert(resized(*by_axes, shape_builder{2, 3, 4, 5}, shape_builder{2, 3, 1, 1}) == layout{});
static_assert(resized(*by_axes, shape_builder{2, 3, 4, 5}, shape_builder{2, 3, 1, 5}) ==
    layout_of(shape_builder{2, 3, 5}, shape_builder{0, 2, 1}));
static_assert(!resized(*by_axes, shape_builder{2, 3, 4, 1}, shape_builder{2, 3, 4, 5}));

// Returns the index of the element that is stored at each position.
std::vector<std::int64_t> order_of(const layout& l, std::int64_t count) {
    std::vector<std::int64_t> order(static_cast<std::size_t>(count));
    std::iota(order.begin(), order.end(), 0);
    if (l.row_major()) return order;
    for (std::int64_t place = 0; place != count; ++place) {
        shape_builder digits = shape_builder::filled(l.factors.size(), 0);
        std::int64_t left = place;
        for (std::size_t i = l.order.size(); i-- != 0;) {
            const auto factor = static_cast<std::size_t>(l.order[i]);
            digits[factor] = left % l.factors[factor];
            left /= l.factors[factor];
        }
        std::int64_t index = 0;
        for (std::size_t i = 0; i != digits.size(); ++i) index = index * l.factors[i] + digits[i];
        order[static_cast<std::size_t>(place)] = index;
    }
    return order;
}

}  // namespace

TEST_CASE("one layout after another permutes as both do") {
    std::mt19937 random(3);
    const auto random_layout = [&] {
        shape_builder factors;
        shape_builder order;
        for (std::int64_t left = 48; left != 1;) {
            const std::int64_t factor = left % 3 == 0 && random() % 3 == 0 ? 3 : left % 2 == 0 ? 2 : 3;
            order.push_back(static_cast<std::int64_t>(factors.size()));
            factors.push_back(factor);
            left /= factor;
        }
        std::shuffle(order.begin(), order.end(), random);
        return canonical(factors, order);
    };
    std::size_t composed = 0;
    for (int run = 0; run != 2000; ++run) {
        const layout first = random_layout();
        const layout second = random_layout();
        CHECK(then(first, inverse(first)) == layout{});
        const auto both = then(first, second);
        if (!both) continue;
        ++composed;
        const auto a = order_of(first, 48);
        const auto b = order_of(second, 48);
        std::vector<std::int64_t> expected;
        for (const std::int64_t at : b) expected.push_back(a[static_cast<std::size_t>(at)]);
        CHECK(order_of(*both, 48) == expected);
    }
    CHECK(composed > 200);
}
