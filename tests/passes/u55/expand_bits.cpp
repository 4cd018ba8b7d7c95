// SPDX-License-Identifier: MIT
// Tests that bitwise logic, shifts and casts to fewer bits become tables, sums and rounding shifts.
#include <catch2/catch.hpp>

#include <headrace/passes/u55/expand_bits.hpp>

#include "../../support/u55_test.hpp"

using namespace headrace;

namespace {

constexpr std::int64_t count = 300;
constexpr dtype types[] = {dtype::int8, dtype::int16, dtype::int32};

template <op_tag Op>
auto binary(dtype type) {
    return [=](program& p) { return p.make<Op>({p.input(type, {2, count}), p.input(type, {2, count})}); };
}
template <op_tag Op>
auto with_number(dtype type, std::int64_t number) {
    return [=](program& p) {
        return p.make<Op>({p.input(type, {2, count}), integer_constant(p, type, {1, 1}, {number})});
    };
}
std::vector<tensor> any_two(dtype type) {
    return {any_integers(type, {2, count}, 1), any_integers(type, {2, count}, 2)};
}
std::vector<tensor> any_one(dtype type) { return {any_integers(type, {2, count}, 3)}; }
/// Returns numbers, and shift counts: any that the dtype has.
std::vector<tensor> numbers_and_shifts(dtype type) {
    std::vector<std::int64_t> by;
    const auto bits = static_cast<std::int64_t>(traits_of(type).bits);
    for (std::int64_t i = 0; i != 2 * count; ++i) by.push_back(i % bits);
    return {any_integers(type, {2, count}, 4), integers(type, {2, count}, by)};
}

template <op_tag Op>
void check_logic() {
    for (const dtype type : types) {
        CAPTURE(Op::name, name_of(type));
        CHECK(expanded<expand_bits>(binary<Op>(type), any_two(type)) == "");
        for (const std::int64_t number : {0, -1, 1, 85, -128})
            CHECK(expanded<expand_bits>(with_number<Op>(type, number), any_one(type)) == "");
    }
}
template <op_tag Op>
void check_shifts(const auto& to_args) {
    for (const dtype type : types) {
        const auto shifted = [&](program& p) {
            const value x = p.input(type, {2, count});
            return p.make<Op>(to_args(x, p.input(type, {2, count})));
        };
        CAPTURE(Op::name, name_of(type));
        CHECK(expanded<expand_bits>(shifted, numbers_and_shifts(type)) == "");
        for (const std::int64_t by : {0, 1, 7, 15, 31}) {
            if (by >= static_cast<std::int64_t>(traits_of(type).bits)) continue;
            const auto by_number = [&](program& p) {
                const value x = p.input(type, {2, count});
                return p.make<Op>(to_args(x, integer_constant(p, type, {1, 1}, {by})));
            };
            CAPTURE(by);
            CHECK(expanded<expand_bits>(by_number, any_one(type)) == "");
        }
    }
}

}  // namespace

TEST_CASE("bitwise logic is a table of nibbles") {
    check_logic<tosa::bitwise_and>();
    check_logic<tosa::bitwise_or>();
    check_logic<tosa::bitwise_xor>();
    for (const dtype type : types) {
        const auto inverted = [&](program& p) {
            return p.make<tosa::bitwise_not>({p.input(type, {2, count})});
        };
        CHECK(expanded<expand_bits>(inverted, any_one(type)) == "");
    }
}

TEST_CASE("a byte and a number are one table") {
    CHECK(count_after<tosa::table, expand_bits>(
              for_u55_target(with_number<tosa::bitwise_and>(dtype::int8, 15))) == 1);
}

TEST_CASE("shifts to the right take back what rounding adds") {
    check_shifts<tosa::arithmetic_right_shift>([](value x, value by) {
        return args<tosa::arithmetic_right_shift>{x, by, false};
    });
    check_shifts<tosa::logical_right_shift>([](value x, value by) {
        return args<tosa::logical_right_shift>{x, by};
    });
}

TEST_CASE("a shift by zeros of a larger shape repeats the number") {
    const auto repeated = [](program& p) {
        const value x = p.input(dtype::int32, {1, 3});
        return p.make<tosa::arithmetic_right_shift>(
            {x, integer_constant(p, dtype::int32, {2, 3}, {0, 0, 0, 0, 0, 0}), false});
    };
    CHECK(expanded<expand_bits>(repeated) == "");
}

TEST_CASE("shifts of short integers are those of INT32") {
    for (const dtype type : {dtype::int8, dtype::int16}) {
        const auto rounded = [&](program& p) {
            const value x = p.input(type, {2, count});
            return p.make<tosa::arithmetic_right_shift>({x, p.input(type, {2, count}), true});
        };
        CHECK(expanded<expand_bits>(rounded, numbers_and_shifts(type)) == "");
        CHECK(expanded<expand_bits>(binary<tosa::logical_left_shift>(type), numbers_and_shifts(type)) == "");
    }
}

TEST_CASE("casts to fewer bits keep the low ones") {
    const std::pair<dtype, dtype> casts[] = {
        {dtype::int32, dtype::int8}, {dtype::int32, dtype::int16}, {dtype::int16, dtype::int8}};
    for (const auto& [from, to] : casts) {
        const auto narrowed = [from = from, to = to](program& p) {
            return p.make<tosa::cast>({.input = p.input(from, {2, count}), .output_type = to});
        };
        CHECK(expanded<expand_bits>(narrowed, any_one(from)) == "");
    }
}

TEST_CASE("a cast of numbers that have room is a RESCALE") {
    const auto small = [](program& p) {
        const value wide =
            p.make<tosa::cast>({.input = p.input(dtype::int8, {2, count}), .output_type = dtype::int32});
        return p.make<tosa::cast>({.input = p.make<tosa::add>({wide, wide}), .output_type = dtype::int16});
    };
    CHECK(expanded<expand_bits>(small) == "");
    CHECK(count_after<tosa::logical_left_shift, expand_bits>(for_u55_target(small)) == 0);
}

TEST_CASE("shifts that Ethos-U55 has stay") {
    CHECK(expanded<expand_bits>(binary<tosa::logical_left_shift>(dtype::int32)) == "Ethos-U55 has all of it");
}
