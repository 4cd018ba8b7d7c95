// SPDX-License-Identifier: MIT
// Tests that elements are moved as int8, before they are widened and after they are narrowed.
#include <catch2/catch.hpp>

#include <headrace/passes/cortex_m/narrow_moves.hpp>

#include "../../support/kernel_runs.hpp"

using namespace headrace;
using kernel_test::dice;
using kernel_test::shape_of;
using testing::program;

namespace {

value moved(program& p, dice& d, value v) {
    const shape_builder shape(meta_of(v)->shape);
    const std::size_t rank = shape.size();
    shape_builder other;
    switch (d.from(0, 4)) {
        case 0: {
            shape_builder flat{element_count(sizes(shape))};
            return p.make<tosa::reshape>({v, shape_of(p, int_list(flat))});
        }
        case 1:
            return p.make<tosa::transpose>({.input1 = v, .perms = d.order(rank)});
        case 2: {
            shape_builder start;
            for (const std::int64_t size : shape) {
                start.push_back(d.from(0, size - 1));
                other.push_back(d.from(1, size - start.back()));
            }
            return p.make<tosa::slice>({v, shape_of(p, int_list(start)), shape_of(p, int_list(other))});
        }
        case 3:
            for (std::size_t i = 0; i != rank; ++i) other.push_back(d.from(1, 2));
            return p.make<tosa::tile>({v, shape_of(p, int_list(other))});
        default:
            return p.make<tosa::reverse>(
                {.input1 = v, .axis = d.from(0, static_cast<std::int64_t>(rank) - 1)});
    }
}
value moved_often(program& p, dice& d, value v) {
    for (std::int64_t i = d.from(1, 3); i != 0; --i) v = moved(p, d, v);
    return v;
}
value after_widening(program& p, dice& d) {
    const value v = p.input(dtype::int8, d.shape(static_cast<std::size_t>(d.from(1, 5)), 4));
    const value wide = kernel_test::widened(p, v, d.from(-128, 127), d.once_in(2) ? 1 : 1234.5);
    return p.make<tosa::abs>({.input1 = moved_often(p, d, wide)});
}
value before_narrowing(program& p, dice& d) {
    const value v = p.input(dtype::int32, d.shape(static_cast<std::size_t>(d.from(1, 5)), 4));
    const value wide = p.make<tosa::abs>({.input1 = v});
    return kernel_test::narrowed(p, moved_often(p, d, wide), {{1e-5}, d.from(-128, 127)});
}

// The larger or the smaller of two tensors, each with a scale of its own.
value extremum(program& p, dice& d) {
    const int_list shape = d.shape(static_cast<std::size_t>(d.from(1, 5)), 4);
    const auto wide = [&] {
        const double factor = kernel_test::factors_around(d, 1 << 18, 1)[0];
        return kernel_test::widened(p, p.input(dtype::int8, shape), d.from(-128, 127), factor);
    };
    const value x = wide(), y = wide();
    const value v = d.once_in(2) ? p.make<tosa::maximum>({x, y}) : p.make<tosa::minimum>({x, y});
    return kernel_test::narrowed(
        p, v, {kernel_test::factors_around(d, 1.0 / (1 << 18), 1), d.from(-128, 127)});
}
std::pmr::string wide_extremum(const graph& g) {
    for (const node& n : g.nodes()) {
        const bool compares = is<tosa::maximum>(n) || is<tosa::minimum>(n);
        if (compares && n.first_use != nullptr && n.results[0].meta->dtype != dtype::int8)
            return "wide numbers are compared";
    }
    return {};
}

// No move has a tensor wider than int8.
std::pmr::string wide_move(const graph& g) {
    for (const node& n : g.nodes()) {
        const bool moves = is<tosa::reshape>(n) || is<tosa::transpose>(n) || is<tosa::slice>(n) ||
            is<tosa::tile>(n) || is<tosa::reverse>(n);
        if (moves && n.results[0].meta->dtype != dtype::int8 && n.first_use != nullptr)
            return std::pmr::string(n.op->name) + " moves what is wide";
    }
    return {};
}
std::pmr::string becomes(const kernel_test::random_program& build) {
    return becomes_kernels<narrow_moves>(build, {.leaves_tosa = true, .check = wide_move});
}

}  // namespace

TEST_CASE("elements are moved before they are widened") { CHECK(becomes(after_widening) == ""); }
TEST_CASE("elements are moved after they are narrowed") { CHECK(becomes(before_narrowing) == ""); }

TEST_CASE("tensors are compared after they are narrowed") {
    CHECK(becomes_kernels<narrow_moves>(extremum, {.leaves_tosa = true, .check = wide_extremum}) == "");
}

TEST_CASE("the larger of two functions of one tensor stays") {
    const auto leaky = [](program& p) {
        const value x = p.input(dtype::int8, {3});
        const value both =
            p.make<tosa::maximum>({kernel_test::widened(p, x, 3, 100), kernel_test::widened(p, x, 3, 1000)});
        p.output(kernel_test::narrowed(p, both, {{0.001}}));
    };
    CHECK_THAT(leaky, is_left_alone_by<narrow_moves>());
}

TEST_CASE("moves that others read, too, and factors of channels stay") {
    const auto shared = [](program& p) {
        dice d(1);
        const value v = moved(p, d, p.input(dtype::int32, {2, 3}));
        p.output(v);
        p.output(kernel_test::narrowed(p, v, {{0.5}}));
    };
    CHECK_THAT(shared, is_left_alone_by<narrow_moves>());
    const auto by_channel = [](program& p) {
        const value v = p.make<tosa::transpose>({p.input(dtype::int32, {3, 2}), int_list{1, 0}});
        p.output(kernel_test::narrowed(p, v, {{0.5, 0.4, 0.3}}));
    };
    CHECK_THAT(by_channel, is_left_alone_by<narrow_moves>());
    const auto wide = [](program& p) {
        p.output(p.make<tosa::transpose>({p.input(dtype::int32, {3, 2}), int_list{1, 0}}));
    };
    CHECK_THAT(wide, is_left_alone_by<narrow_moves>());
    const auto to_int16 = [](program& p) {
        const value v = p.make<tosa::transpose>({p.input(dtype::int32, {3, 2}), int_list{1, 0}});
        p.output(p.make<tosa::rescale>({.input = v,
            .multiplier = kernel_test::number(p, dtype::int32, 1 << 30),
            .shift = kernel_test::number(p, dtype::int8, 30),
            .input_zp = kernel_test::number(p, dtype::int32, 0),
            .output_zp = kernel_test::number(p, dtype::int16, 0)}));
    };
    CHECK_THAT(to_int16, is_left_alone_by<narrow_moves>());
    const auto of_int16 = [](program& p) {
        const value v = p.make<tosa::rescale>({.input = p.input(dtype::int16, {3, 2}),
            .multiplier = kernel_test::number(p, dtype::int32, 1 << 30),
            .shift = kernel_test::number(p, dtype::int8, 30),
            .input_zp = kernel_test::number(p, dtype::int16, 0),
            .output_zp = kernel_test::number(p, dtype::int32, 0)});
        p.output(p.make<tosa::transpose>({v, int_list{1, 0}}));
    };
    CHECK_THAT(of_int16, is_left_alone_by<narrow_moves>());
}
