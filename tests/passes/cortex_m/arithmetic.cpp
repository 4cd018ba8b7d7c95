// SPDX-License-Identifier: MIT
// Tests that sums, differences and products between RESCALEs become kernels that compute the same.
#include <catch2/catch.hpp>

#include <headrace/passes/cortex_m/arithmetic.hpp>

#include "../../support/kernel_runs.hpp"

using namespace headrace;
using kernel_test::dice;
using kernel_test::narrowed;
using kernel_test::widened;
using testing::program;

namespace {

enum class shapes : std::uint8_t { equal, rows, any };

// Makes two operands, the second of which may be a constant.
std::pair<value, value> operands(program& p, dice& d, shapes kind, std::size_t max_rank) {
    const auto rank = static_cast<std::size_t>(d.from(kind == shapes::rows ? 1 : 0, std::int64_t(max_rank)));
    shape_builder left(d.shape(rank, 5)), right(left);
    if (kind == shapes::rows) {
        left.back() = right.back() = d.from(2, 6);
        for (std::size_t i = 0; i + 1 < rank; ++i) right[i] = 1;
    }
    for (std::size_t i = 0; kind == shapes::any && i != rank; ++i) {
        if (d.once_in(3)) (d.once_in(2) ? left : right)[i] = 1;
    }
    if (d.once_in(2)) std::swap(left, right);
    const value x = p.input(dtype::int8, int_list(left));
    const bool is_constant = element_count(sizes(right)) > 1 && d.once_in(3);
    const value y = is_constant ? kernel_test::random_integers(p, d, dtype::int8, int_list(right))
                                : p.input(dtype::int8, int_list(right));
    return {x, y};
}

template <class Op>
value sum_of(program& p, dice& d, shapes kind) {
    const auto [x, y] = operands(p, d, kind, 6);
    const double shift = 1 << 20;
    const double left = kernel_test::factors_around(d, 1, 1)[0],
                 right = kernel_test::factors_around(d, 1, 1)[0];
    const value a = widened(p, x, d.from(-128, 127), left * shift / 2);
    const value b = widened(p, y, d.from(-128, 127), right * shift / 2);
    const double factor = kernel_test::factors_around(d, 0.8, 1)[0] / shift * 2;
    return narrowed(p, p.make<Op>({a, b}), {{factor}, d.from(-128, 127)});
}
value product_of(program& p, dice& d, shapes kind, rounding_mode rounding) {
    const auto [x, y] = operands(p, d, kind, 6);
    const value a = widened(p, x, d.from(-128, 127)), b = widened(p, y, d.from(-128, 127));
    const value product = p.make<tosa::mul>({a, b, kernel_test::number(p, dtype::int8, 0)});
    return narrowed(p, product, {kernel_test::factors_around(d, 0.01, 1), d.from(-128, 127), rounding});
}
std::pmr::string becomes(const kernel_test::random_program& build, std::int64_t difference) {
    return becomes_kernels<select_arithmetic>(build, {.difference = difference});
}

constexpr shapes all_shapes[] = {shapes::equal, shapes::rows, shapes::any};

// A sum of two inputs after a change of its parts.
struct sum_parts {
    value left, right;
};
template <class Change>
auto sum_with(const Change& change, const kernel_test::narrowing& to = {{0.5}}) {
    return [=](program& p) {
        sum_parts parts{
            widened(p, p.input(dtype::int8, {2, 3}), 0), widened(p, p.input(dtype::int8, {2, 3}), 0)};
        change(p, parts);
        p.output(narrowed(p, p.make<tosa::add>({parts.left, parts.right}), to));
    };
}

}  // namespace

TEST_CASE("sums and differences of operands of any shapes") {
    for (const shapes kind : all_shapes) {
        CHECK(becomes([=](program& p, dice& d) { return sum_of<tosa::add>(p, d, kind); }, 1) == "");
        CHECK(becomes([=](program& p, dice& d) { return sum_of<tosa::sub>(p, d, kind); }, 1) == "");
    }
}

TEST_CASE("products of operands of any shapes") {
    for (const shapes kind : all_shapes) {
        const auto product = [=](rounding_mode rounding) {
            return [=](program& p, dice& d) { return product_of(p, d, kind, rounding); };
        };
        CHECK(becomes(product(rounding_mode::double_round), 0) == "");
        CHECK(becomes(product(rounding_mode::single_round), 1) == "");
    }
}

TEST_CASE("a CAST widens without a zero point") {
    const auto cast = [](program& p, dice& d) {
        const auto [x, y] = operands(p, d, shapes::any, 4);
        const value a = p.make<tosa::cast>({.input = x, .output_type = dtype::int32});
        const value b = p.make<tosa::cast>({.input = y, .output_type = dtype::int32});
        return narrowed(
            p, p.make<tosa::add>({a, b}), {kernel_test::factors_around(d, 0.5, 1), d.from(-20, 20)});
    };
    CHECK(becomes(cast, 1) == "");
}

TEST_CASE("an operand with a number for each channel is not repeated in memory") {
    program p;
    const graph& g = lowered<select_arithmetic>(p, [](program& q) {
        q.output(narrowed(q,
            q.make<tosa::add>({widened(q, q.input(dtype::int8, {2, 3, 4}), 1),
                widened(q, q.input(dtype::int8, {1, 1, 4}), 2)}),
            {{0.5}}));
    });
    CHECK(count_of<aten::expand>(g) == 0);
    CHECK(count_of<cortex_m::quantized_add>(g) == 1);
}

TEST_CASE("sums that no kernel computes stay") {
    const auto function = sum_with([](program&, sum_parts& parts) { parts.right = parts.left; });
    CHECK_THAT(function, is_left_alone_by<select_arithmetic>());
    const auto number = sum_with([](program& p, sum_parts& parts) {
        parts.right = widened(p, kernel_test::integers(p, dtype::int8, {1, 1}, {5}), 0);
    });
    CHECK_THAT(number, is_left_alone_by<select_arithmetic>());
    const auto wide = sum_with([](program& p, sum_parts& parts) {
        parts.right = p.input(dtype::int32, {2, 3});
    });
    CHECK_THAT(wide, is_left_alone_by<select_arithmetic>());
    const auto by_channel = sum_with([](program&, sum_parts&) {}, {{0.5, 0.4, 0.3}});
    CHECK_THAT(by_channel, is_left_alone_by<select_arithmetic>());
    const auto large = sum_with([](program&, sum_parts&) {}, {{1e7}});  // beyond the kernel's 32 bits
    CHECK_THAT(large, is_left_alone_by<select_arithmetic>());
    const auto rounded = sum_with([](program& p, sum_parts& parts) {
        parts.left = widened(p, p.input(dtype::int8, {2, 3}), 0, 0.01);  // to -1, 0 and 1
    });
    CHECK_THAT(rounded, is_left_alone_by<select_arithmetic>());
    const auto of_int16 = sum_with([](program& p, sum_parts& parts) {
        parts.right = p.make<tosa::cast>({p.input(dtype::int16, {2, 3}), dtype::int32});
    });
    CHECK_THAT(of_int16, is_left_alone_by<select_arithmetic>());
    const auto shifted = [](program& p) {
        const value x = widened(p, p.input(dtype::int8, {4}), 0),
                    y = widened(p, p.input(dtype::int8, {4}), 0);
        p.output(narrowed(p, p.make<tosa::mul>({x, y, kernel_test::number(p, dtype::int8, 3)}), {{0.5}}));
    };
    CHECK_THAT(shifted, is_left_alone_by<select_arithmetic>());
}
