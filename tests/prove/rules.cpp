// SPDX-License-Identifier: MIT
// Tests the bounds of each op against its execution with random inputs and inputs at the ends of their ranges.
#include "proven.hpp"

using namespace headrace;
using testing::check_executions;
using testing::integer_graph;

namespace {

constexpr dtype i8 = dtype::int8;
constexpr dtype i32 = dtype::int32;

template <class Make>
void check_unary(dtype type, std::int64_t low, std::int64_t high, Make make) {
    integer_graph p;
    const value x = p.limited_input(type, {2, 3}, low, high);
    p.end(make(p, x));
    check_executions(p.g);
}
template <class Make>
void check_binary(std::int64_t low, std::int64_t high, Make make) {
    integer_graph p;
    const value x = p.limited_input(i32, {2, 3}, low, high);
    const value y = p.limited_input(i32, {1, 3}, low / 2, high);
    p.end(make(p, x, y));
    check_executions(p.g);
}
std::vector<std::int64_t> random_numbers(std::size_t count, int low, int high, unsigned seed) {
    std::mt19937 random(seed);
    std::uniform_int_distribution<int> any(low, high);
    std::vector<std::int64_t> all(count);
    for (std::int64_t& x : all) x = any(random);
    return all;
}
interval bounds_of(const graph& g) {
    const prove::findings found = prove::analyze(g);
    return found.spreads.at(g.outputs()[0].producer)[0].all();
}

}  // namespace

TEST_CASE("prove: elementwise ops of two operands are within their bounds") {
    check_binary(-50, 70, [](auto& p, value x, value y) { return p.template make<tosa::add>({x, y}); });
    check_binary(-50, 70, [](auto& p, value x, value y) { return p.template make<tosa::sub>({x, y}); });
    check_binary(-50, 70, [](auto& p, value x, value y) {
        return p.template make<tosa::mul>({x, y, p.number(i8, 3)});
    });
    check_binary(-50, 70, [](auto& p, value x, value y) { return p.template make<tosa::maximum>({x, y}); });
    check_binary(-50, 70, [](auto& p, value x, value y) { return p.template make<tosa::minimum>({x, y}); });
    check_binary(2, 70, [](auto& p, value x, value y) { return p.template make<tosa::intdiv>({x, y}); });
    check_binary(-50, 70, [](auto& p, value x, value y) {
        return p.template make<tosa::bitwise_and>({x, y});
    });
    check_binary(-50, 70, [](auto& p, value x, value y) {
        return p.template make<tosa::bitwise_or>({x, y});
    });
    check_binary(-50, 70, [](auto& p, value x, value y) {
        return p.template make<tosa::bitwise_xor>({x, y});
    });
    check_binary(-50, 70, [](auto& p, value x, value y) { return p.template make<tosa::greater>({x, y}); });
    check_binary(-50, 70, [](auto& p, value x, value y) {
        return p.template make<tosa::greater_equal>({x, y});
    });
    check_binary(-3, 3, [](auto& p, value x, value y) { return p.template make<tosa::equal>({x, y}); });
}

TEST_CASE("prove: elementwise ops of one operand are within their bounds") {
    for (const auto& [low, high] : {std::pair{-100, 90}, std::pair{-100, -20}, std::pair{5, 90}}) {
        const auto check = [low = low, high = high](auto make) { check_unary(i32, low, high, make); };
        check([](auto& p, value x) { return p.template make<tosa::abs>({x}); });
        check([](auto& p, value x) {
            return p.template make<tosa::negate>({x, p.number(i32, 0), p.number(i32, 0)});
        });
        check([](auto& p, value x) { return p.template make<tosa::clz>({x}); });
        check([](auto& p, value x) { return p.template make<tosa::bitwise_not>({x}); });
        check([](auto& p, value x) { return p.clamped(x, -30, 40); });
        check([](auto& p, value x) {
            return p.template make<tosa::arithmetic_right_shift>({x, p.number(i32, 2, 2), true});
        });
        check([](auto& p, value x) {
            return p.template make<tosa::arithmetic_right_shift>({x, p.number(i32, 3, 2), false});
        });
        check([](auto& p, value x) {
            return p.template make<tosa::logical_right_shift>({x, p.number(i32, 1, 2)});
        });
        check([](auto& p, value x) {
            return p.template make<tosa::logical_left_shift>({x, p.number(i32, 26, 2)});
        });
        check([](auto& p, value x) { return p.template make<tosa::reduce_sum>({x, 1}); });
        check([](auto& p, value x) { return p.template make<tosa::reduce_max>({x, 0}); });
        check([](auto& p, value x) { return p.template make<tosa::reduce_min>({x, 1}); });
        check([](auto& p, value x) { return p.rescaled(x, dtype::int8, 1 << 30, 29); });
        check([](auto& p, value x) { return p.rescaled(x, dtype::int8, (1 << 30) + 12345, 33); });
    }
}

TEST_CASE("prove: tables are read where the index may be") {
    check_unary(i8, -20, 100, [](auto& p, value x) {
        return p.template make<tosa::table>({x, p.numbers(i8, {256}, random_numbers(256, -128, 127, 1))});
    });
    check_unary(dtype::int16, -300, 7000, [](auto& p, value x) {
        return p.template make<tosa::table>(
            {x, p.numbers(dtype::int16, {513}, random_numbers(513, -9000, 9000, 2))});
    });
}

TEST_CASE("prove: moves keep the channels apart") {
    integer_graph p;
    const value x = p.input(i8, {1, 2, 3, 4});
    const value w = p.numbers(i8, {4, 1, 1, 4}, random_numbers(16, -128, 127, 3));
    const value bias = p.numbers(i32, {4}, {0, 1000, -5000, 7});
    const value conv = p.make<tosa::conv2d>(
        {x, w, bias, p.number(i8, 3), p.number(i8, 0), {0, 0, 0, 0}, {1, 1}, {1, 1}, false, i32});
    const value moved = p.make<tosa::transpose>({conv, {0, 3, 1, 2}});
    const value flat = p.make<tosa::reshape>({moved, p.shape({1, 24})});
    const value part = p.make<tosa::slice>({flat, p.shape({0, 3}), p.shape({1, 17})});
    const value back = p.make<tosa::reverse>({part, 1});
    const value joined = p.make<tosa::concat>({list<value>({back, flat}), 1});
    const value padded = p.make<tosa::pad>({joined, p.shape({0, 0, 2, 1}), p.number(i32, 9)});
    const value tiled = p.make<tosa::tile>({padded, p.shape({1, 2})});
    const value deep = p.make<tosa::reshape>({tiled, p.shape({2, 11, 4})});
    p.end(p.make<tosa::reduce_sum>({deep, 1}));
    check_executions(p.g);
}

TEST_CASE("prove: sums of products are within their bounds, which are reached") {
    integer_graph p;
    const value x = p.input(i8, {1, 5, 4, 2});
    const value w = p.numbers(i8, {3, 2, 3, 2}, random_numbers(36, -128, 127, 4));
    const value bias = p.numbers(i32, {3}, {5, -70000, 123});
    p.end(p.make<tosa::conv2d>(
        {x, w, bias, p.number(i8, -7), p.number(i8, 0), {0, 0, 0, 0}, {1, 1}, {1, 1}, false, i32}));
    check_executions(p.g, 10);
    // An input that has the sign of each weight of feature 0.
    const auto weights = random_numbers(36, -128, 127, 4);
    std::vector<std::int64_t> wanted(40, 0);
    std::int64_t highest = 5;
    for (std::size_t ky = 0; ky != 2; ++ky)
        for (std::size_t kx = 0; kx != 3; ++kx)
            for (std::size_t c = 0; c != 2; ++c) {
                const std::int64_t weight = weights[(ky * 3 + kx) * 2 + c];
                wanted[(ky * 4 + kx) * 2 + c] = weight > 0 ? 127 : -128;
                highest += weight * (wanted[(ky * 4 + kx) * 2 + c] + 7);
            }
    const prove::findings found = prove::analyze(p.g);
    const prove::spread& s = found.spreads.at(p.g.outputs()[0].producer)[0];
    CHECK(s.parts.size() == 3);
    CHECK(s.at(0).high == static_cast<bound>(highest));
    const tensor input = tensor::of(i8, {1, 5, 4, 2}, wanted);
    CHECK(run_graph(p.g, std::span(&input, 1)).value()[0].integer(0) == highest);
}

TEST_CASE(
    "prove: padded, depthwise and transposed convolutions, MATMUL and poolings are within their bounds") {
    {
        integer_graph p;
        const value x = p.input(i8, {1, 4, 4, 2});
        const value w = p.numbers(i8, {3, 3, 2, 2}, random_numbers(36, -128, 127, 5));
        const value bias = p.numbers(i32, {4}, {1, 2, 3, 4});
        p.end(p.make<tosa::depthwise_conv2d>(
            {x, w, bias, p.number(i8, 20), p.number(i8, 0), {1, 1, 1, 1}, {1, 1}, {1, 1}, false, i32}));
        check_executions(p.g);
    }
    {
        integer_graph p;
        const value x = p.input(i8, {1, 3, 3, 2});
        const value w = p.numbers(i8, {2, 2, 2, 2}, random_numbers(16, -128, 127, 6));
        const value bias = p.numbers(i32, {2}, {1, -2});
        p.end(p.make<tosa::transpose_conv2d>(
            {x, w, bias, p.number(i8, -3), p.number(i8, 0), {0, 0, 0, 0}, {2, 2}, false, i32}));
        check_executions(p.g);
    }
    {
        integer_graph p;
        const value a = p.input(i8, {1, 3, 5});
        const value b = p.input(i8, {1, 5, 2});
        p.end(p.make<tosa::matmul>({a, b, p.number(i8, 4), p.number(i8, -9), i32}));
        check_executions(p.g);
        CHECK(bounds_of(p.g) == interval{-5 * 132 * 136, 5 * 123 * 136});
    }
    for (const std::int64_t pad : {0, 1}) {
        integer_graph p;
        const value x = p.limited_input(i8, {1, 4, 4, 2}, -100, 60);
        p.end(p.make<tosa::avg_pool2d>(
            {x, p.number(i8, 5), p.number(i8, -5), {3, 3}, {1, 1}, {pad, pad, pad, pad}, i32}));
        check_executions(p.g);
    }
}

TEST_CASE("prove: a difference from the maximum is not positive, a square not negative") {
    integer_graph p;
    const value x = p.limited_input(i32, {2, 3}, -1000, 1000);
    const value best = p.make<tosa::reduce_max>({x, 1});
    const value less = p.make<tosa::sub>({x, best});
    p.end(p.make<tosa::mul>({less, less, p.number(i8, 0)}));
    check_executions(p.g);
    CHECK(bounds_of(p.g) == interval{0, 4000000});
}

TEST_CASE("prove: an index is made positive case by case") {
    integer_graph p;
    const value x = p.input(i32, {4});
    const value sign = p.make<tosa::logical_right_shift>({x, p.number(i32, 31)});
    const value size = p.make<tosa::mul>({sign, p.number(i32, 10), p.number(i8, 0)});
    p.end(p.make<tosa::add>({x, size}));
    CHECK(prove::certify(p.g).value().no_overflow());
    check_executions(p.g);
}
