// SPDX-License-Identifier: MIT
// Tests that graphs at the limits of their types are certified, and that those one step beyond are not, with an
// input that overflows: 200 seeded faults.
#include "proven.hpp"

#include <algorithm>
#include <functional>

using namespace headrace;
using testing::integer_graph;

namespace {

constexpr dtype byte_type = dtype::int8;
constexpr dtype word = dtype::int32;
constexpr std::int64_t most = INT32_MAX;

/// Makes a graph that is within its limits, or exceeds them by `beyond`, 0 or 1.
using fault = std::function<void(integer_graph&, std::mt19937&, std::int64_t beyond)>;

std::int64_t pick(std::mt19937& random, std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(random);
}

void full_accumulator(integer_graph& p, std::mt19937& random, std::int64_t beyond) {
    const std::int64_t channels = pick(random, 1, 9);
    const std::int64_t zp = pick(random, -128, 127);
    std::vector<std::int64_t> weights(static_cast<std::size_t>(channels));
    std::int64_t sum = 0;
    for (std::int64_t& w : weights) {
        w = pick(random, 0, 1) == 0 ? pick(random, -128, 127) : (pick(random, 0, 1) == 0 ? -128 : 127);
        sum += std::max(w * (127 - zp), w * (-128 - zp));
    }
    const value x = p.input(byte_type, {1, 2, 2, channels});
    const value filter = p.numbers(byte_type, {1, 1, 1, channels}, weights);
    const value bias = p.number(word, most - sum + beyond);
    p.end(p.make<tosa::conv2d>({x, filter, bias, p.number(byte_type, zp), p.number(byte_type, 0),
        {0, 0, 0, 0}, {1, 1}, {1, 1}, false, word}));
}
void narrow_accumulator(integer_graph& p, std::mt19937& random, std::int64_t beyond) {
    // int16 times int8: 2^15 * 127 * channels.
    const std::int64_t channels = 516 - pick(random, 0, 200) * (1 - beyond) + pick(random, 1, 50) * beyond;
    const value x = p.input(dtype::int16, {1, 1, 1, channels});
    const value filter = p.numbers(byte_type, {1, 1, 1, channels},
        std::vector<std::int64_t>(static_cast<std::size_t>(channels), beyond == 0 ? 126 : 127));
    const value bias = p.number(word, 0);
    node& n = p.g.create<tosa::conv2d>({x, filter, bias, p.number(dtype::int16, 0), p.number(byte_type, 0),
        {0, 0, 0, 0}, {1, 1}, {1, 1}, false, word});
    p.g.set_meta(n.result(), {word, {1, 1, 1, 1}, {}});
    p.end(n.result());
}
void scale_shift(integer_graph& p, std::mt19937& random, std::int64_t beyond) {
    const std::int64_t bits = pick(random, 3, 30);
    const value x = p.clamped(p.input(word, {3}), -(std::int64_t{1} << bits), (std::int64_t{1} << bits) - 1);
    p.end(p.rescaled(x, byte_type, pick(random, 1 << 20, most), bits + 1 - beyond));
}
void product_shift(integer_graph& p, std::mt19937& random, std::int64_t beyond) {
    const std::int64_t shift = pick(random, 2, 20);
    const std::int64_t factor = pick(random, 1 << 10, 1 << 24);
    const std::int64_t limit = std::min(most, ((most << shift) - 1) / factor);
    const value x = p.clamped(p.input(word, {3}), 0, limit);
    const value y =
        p.number(word, std::min(most, factor * (limit == most ? (most << shift) / most / factor : 1)));
    p.end(p.make<tosa::mul>({x, y, p.number(byte_type, std::max<std::int64_t>(0, shift - 2 * beyond))}));
}
void full_sum(integer_graph& p, std::mt19937& random, std::int64_t beyond) {
    const std::int64_t first = pick(random, 1, most - 1);
    const value x = p.clamped(p.input(word, {3}), -5, first);
    const value y = p.clamped(p.input(word, {3}), -5, most - first + beyond);
    p.end(p.make<tosa::add>({x, y}));
}
void full_reduction(integer_graph& p, std::mt19937& random, std::int64_t beyond) {
    const std::int64_t count = pick(random, 2, 50);
    const value x = p.clamped(p.input(word, {1, count}), -most / count, most / count + beyond);
    p.end(p.make<tosa::reduce_sum>({x, 1}));
}
void full_cast(integer_graph& p, std::mt19937& random, std::int64_t beyond) {
    const value x = p.clamped(p.input(word, {3}), -pick(random, 0, 128), 127 + beyond);
    p.end(p.make<tosa::cast>({x, byte_type}));
}
void steep_table(integer_graph& p, std::mt19937& random, std::int64_t beyond) {
    std::vector<std::int64_t> table(513, 0);
    const auto at = static_cast<std::size_t>(pick(random, 1, 511));
    table[at] = 20000;
    table[at + 1] = 20000 - 32768 - beyond;
    for (std::size_t i = at + 2; i < 513; ++i) table[i] = table[at + 1];
    table[at - 1] = 10000;
    p.end(p.make<tosa::table>({p.input(dtype::int16, {4}), p.numbers(dtype::int16, {513}, table)}));
}
void far_shift(integer_graph& p, std::mt19937& random, std::int64_t beyond) {
    const value by = p.clamped(p.input(word, {3}), pick(random, 0, 20), 31 + beyond);
    p.end(p.make<tosa::arithmetic_right_shift>({p.input(word, {3}), by, true}));
}
void zero_divisor(integer_graph& p, std::mt19937& random, std::int64_t beyond) {
    const value x = p.input(word, {3});
    const value y = p.clamped(p.input(word, {3}), 1 - beyond, pick(random, 1, 1000));
    p.end(p.make<tosa::intdiv>({x, y}));
}

std::string seeded(const fault& f, unsigned seed) {
    std::string wrong;
    for (const std::int64_t beyond : {0, 1}) {
        std::mt19937 random(seed);
        integer_graph p;
        f(p, random, beyond);
        const auto made = prove::certify(p.g);
        if (!made) return std::string(made.error().message);
        const prove::certificate& c = made.value();
        if (c.no_overflow() != (beyond == 0))
            return (beyond == 0 ? "false alarm: " : "missed: ") + prove::certificate_text(c);
        if (beyond == 1 && !c.unproven.front().refuted)
            wrong = "no input found: " + prove::certificate_text(c);
    }
    return wrong;
}

}  // namespace

TEST_CASE("prove: 200 seeded faults are found, with inputs, and their sound twins are certified") {
    const fault faults[] = {full_accumulator, narrow_accumulator, scale_shift, product_shift, full_sum,
        full_reduction, full_cast, steep_table, far_shift, zero_divisor};
    unsigned seed = 0;
    for (const fault& f : faults) {
        for (int i = 0; i != 20; ++i) {
            INFO("fault " << &f - faults << ", seed " << seed);
            const std::string wrong = seeded(f, seed++);
            CHECK(wrong == "");
        }
    }
    CHECK(seed == 200);
}

TEST_CASE("prove: shifts and multipliers that TOSA excludes are refused") {
    for (const auto& [multiplier, shift] :
        {std::pair{1 << 30, 63}, std::pair{1 << 30, 1}, std::pair{-1, 30}}) {
        integer_graph p;
        p.end(p.rescaled(p.clamped(p.input(word, {3}), 0, 0), byte_type, multiplier, shift));
        CHECK(!prove::certify(p.g).value().no_overflow());
    }
}
