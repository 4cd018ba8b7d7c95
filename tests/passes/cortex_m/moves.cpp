// SPDX-License-Identifier: MIT
// Tests that operators that move or compare integers become kernels that compute the same.
#include <catch2/catch.hpp>

#include <headrace/passes/cortex_m/moves.hpp>

#include "../../support/kernel_runs.hpp"

using namespace headrace;
using kernel_test::dice;
using kernel_test::number;
using kernel_test::shape_of;
using testing::program;

namespace {

constexpr dtype int8 = dtype::int8, boolean = dtype::boolean;

std::size_t any_rank(dice& d, std::int64_t lowest = 1, std::int64_t highest = 6) {
    return static_cast<std::size_t>(d.from(lowest, highest));
}
std::int64_t any_axis(dice& d, const int_list& shape) {
    return d.from(0, static_cast<std::int64_t>(shape.size()) - 1);
}
dtype any_type(dice& d) { return d.once_in(3) ? (d.once_in(2) ? dtype::int32 : boolean) : int8; }

// TRANSPOSE of up to six axes, some of them 1.
value transposed(program& p, dice& d) {
    shape_builder shape(d.shape(any_rank(d), 4));
    for (std::int64_t& size : shape) {
        if (d.once_in(3)) size = 1;
    }
    return p.make<tosa::transpose>(
        {.input1 = p.input(any_type(d), int_list(shape)), .perms = d.order(shape.size())});
}
value reshaped(program& p, dice& d) {
    const int_list shape = d.shape(any_rank(d, 0), 4);
    return p.make<tosa::reshape>({p.input(any_type(d), shape), shape_of(p, {element_count(shape), 1})});
}
value joined_along_axis(program& p, dice& d) {
    const int_list shape = d.shape(any_rank(d), 4);
    const std::int64_t axis = any_axis(d, shape);
    const dtype type = any_type(d);
    std::vector<value> parts;
    for (std::int64_t i = d.from(1, 3); i != 0; --i) {
        shape_builder part(shape);
        part[static_cast<std::size_t>(axis)] = d.from(1, 3);
        parts.push_back(p.input(type, int_list(part)));
    }
    return p.make<tosa::concat>({.input1 = list<value>(parts), .axis = axis});
}
value sliced(program& p, dice& d) {
    const int_list shape = d.shape(any_rank(d), 5);
    shape_builder start, size;
    for (const std::int64_t whole : shape) {
        start.push_back(d.once_in(2) ? 0 : d.from(0, whole - 1));
        size.push_back(start.back() == 0 && d.once_in(2) ? whole : d.from(1, whole - start.back()));
    }
    return p.make<tosa::slice>(
        {p.input(any_type(d), shape), shape_of(p, int_list(start)), shape_of(p, int_list(size))});
}
value padded(program& p, dice& d) {
    const dtype type = any_type(d);
    const value v = p.input(type, d.shape(any_rank(d), 4));
    std::vector<std::int64_t> padding;
    for (std::size_t i = 0; i != 2 * meta_of(v)->rank(); ++i)
        padding.push_back(d.once_in(2) ? 0 : d.from(1, 3));
    const std::int64_t n = type == boolean ? d.from(0, 1) : d.from(-128, 127);
    return p.make<tosa::pad>({v, shape_of(p, int_list(padding)), number(p, type, n)});
}
value tiled(program& p, dice& d) {
    const value v = p.input(any_type(d), d.shape(any_rank(d), 3));
    shape_builder multiples;
    for (std::size_t i = 0; i != meta_of(v)->rank(); ++i)
        multiples.push_back(d.once_in(3) ? 1 : d.from(1, 3));
    return p.make<tosa::tile>({v, shape_of(p, int_list(multiples))});
}
value reversed(program& p, dice& d) {
    const int_list shape = d.shape(any_rank(d), 4);
    return p.make<tosa::reverse>({.input1 = p.input(any_type(d), shape), .axis = any_axis(d, shape)});
}
value gathered(program& p, dice& d) {
    const std::int64_t rows = d.from(1, 6), taken = d.from(1, 7);
    return p.make<tosa::gather>({p.input(int8, {1, rows, d.from(1, 4)}),
        kernel_test::random_integers(p, d, dtype::int32, {1, taken}, 0, rows - 1)});
}
value located(program& p, dice& d) {
    const int_list shape = d.shape(any_rank(d), 5);
    return p.make<tosa::argmax>({.input = p.input(int8, shape), .axis = any_axis(d, shape)});
}
value smallest(program& p, dice& d) {
    const int_list shape = d.shape(any_rank(d), 5);
    return p.make<tosa::reduce_min>({.input = p.input(int8, shape), .axis = any_axis(d, shape)});
}

// Two or three shapes that broadcast together.
std::vector<int_list> broadcast_shapes(dice& d, std::size_t count) {
    const int_list whole = d.shape(any_rank(d, 0), 4);
    std::vector<int_list> shapes;
    for (std::size_t i = 0; i != count; ++i) {
        shape_builder shape(whole);
        for (std::int64_t& size : shape) {
            if (d.once_in(3)) size = 1;
        }
        shapes.emplace_back(shape);
    }
    return shapes;
}
template <class Op>
value of_two(program& p, dice& d, dtype type) {
    const auto shapes = broadcast_shapes(d, 2);
    return p.make<Op>({p.input(type, shapes[0]), p.input(type, shapes[1])});
}
value extremum(program& p, dice& d) {
    return d.once_in(2) ? of_two<tosa::maximum>(p, d, int8) : of_two<tosa::minimum>(p, d, int8);
}
value compared(program& p, dice& d) {
    const dtype type = d.once_in(2) ? int8 : dtype::int32;
    if (d.once_in(3)) return of_two<tosa::equal>(p, d, type);
    return d.once_in(2) ? of_two<tosa::greater>(p, d, type) : of_two<tosa::greater_equal>(p, d, type);
}
value combined(program& p, dice& d) {
    switch (d.from(0, 3)) {
        case 0:
            return of_two<tosa::logical_and>(p, d, boolean);
        case 1:
            return of_two<tosa::logical_or>(p, d, boolean);
        case 2:
            return of_two<tosa::logical_xor>(p, d, boolean);
        default:
            return p.make<tosa::logical_not>({p.input(boolean, d.shape(any_rank(d, 0), 4))});
    }
}
value selected(program& p, dice& d) {
    const auto shapes = broadcast_shapes(d, 3);
    const dtype type = d.once_in(3) ? boolean : int8;
    return p.make<tosa::select>(
        {p.input(boolean, shapes[0]), p.input(type, shapes[1]), p.input(type, shapes[2])});
}

using move = value (*)(program&, dice&);
constexpr move moves[] = {transposed, reshaped, joined_along_axis, sliced, padded, tiled, reversed, gathered,
    located, smallest, extremum, compared, combined, selected};

template <class Build>
auto program_of(const Build& build) {
    return [=](program& p) { p.output(build(p)); };
}

}  // namespace

TEST_CASE("moves, comparisons and truth values of integers") {
    for (const move& build : moves) {
        CAPTURE(&build - moves);
        CHECK(becomes_kernels<select_moves>(build) == "");
    }
}

TEST_CASE("axes of a TRANSPOSE that stay together are one for the kernel") {
    const auto kernels = [](const int_list& shape, const int_list& perms, dtype type = dtype::int8) {
        program p;
        const graph& g = lowered<select_moves>(p, program_of([=](program& q) {
            return q.make<tosa::transpose>({.input1 = q.input(type, shape), .perms = perms});
        }));
        return std::pair(count_of<cortex_m::transpose>(g), count_of<aten::permute>(g));
    };
    using counts = std::pair<std::size_t, std::size_t>;
    CHECK(kernels({2, 3, 4, 5, 6}, {3, 4, 0, 1, 2}) == counts(1, 0));
    CHECK(kernels({2, 3, 1, 5, 1}, {2, 0, 4, 1, 3}) == counts(0, 0));
    CHECK(kernels({2, 3, 4, 5}, {0, 1, 2, 3}) == counts(0, 0));
    CHECK(kernels({2, 3, 4, 5, 6}, {4, 3, 2, 1, 0}) == counts(0, 1));
    CHECK(kernels({2, 3}, {1, 0}, dtype::int32) == counts(0, 1));
}

TEST_CASE("what no kernel moves stays") {
    const auto of_batches = program_of([](program& p) {
        return p.make<tosa::gather>({p.input(int8, {2, 3, 4}), p.input(dtype::int32, {2, 5})});
    });
    CHECK_THAT(of_batches, is_left_alone_by<select_moves>());
    const auto wide = program_of([](program& p) {
        return p.make<tosa::maximum>({p.input(dtype::int32, {3}), p.input(dtype::int32, {3})});
    });
    CHECK_THAT(wide, is_left_alone_by<select_moves>());
    const auto padded_with_input = program_of([](program& p) {
        return p.make<tosa::pad>({p.input(int8, {3}), shape_of(p, {1, 2}), p.input(int8, {1})});
    });
    CHECK_THAT(padded_with_input, is_left_alone_by<select_moves>());
    const auto wide_selection = program_of([](program& p) {
        return p.make<tosa::select>(
            {p.input(boolean, {3}), p.input(dtype::int32, {3}), p.input(dtype::int32, {3})});
    });
    CHECK_THAT(wide_selection, is_left_alone_by<select_moves>());
}
