// SPDX-License-Identifier: MIT
// Tests the decomposition of NumPy-like rearrangements into permutations, flips, joins and expansions.
#include <catch2/catch.hpp>

#include <headrace/passes/decompose/rearrangements.hpp>

#include "../../support/pass_test.hpp"

using namespace headrace;

namespace {

constexpr dtype fp32 = dtype::float32;
using shape_list = int_list;

static_assert(
    effects_of<decompose_rearrangements>::removed_set == effects_of<decompose_rearrangements>::target_set);

template <class Op>
std::pmr::string compare(shape_list shape, args<Op> a, dtype type = fp32) {
    return compare_runs<decompose_rearrangements>(
        [=](program& p) {
            args<Op> b = a;
            b.self = p.input(type, shape);
            p.output(p.make<Op>(b));
        },
        {}, 0);
}
template <class Op>
std::pmr::string joined_of(shape_list first, shape_list second) {
    return compare_runs<decompose_rearrangements>(
        [=](program& p) {
            const value parts[] = {p.input(fp32, first), p.input(fp32, second)};
            p.output(p.make<Op>({.tensors = list<value>(parts, 2)}));
        },
        {}, 0);
}

}  // namespace

TEST_CASE("transpositions and turns") {
    for (const shape_list& shape : {shape_list{2, 3}, shape_list{2, 3, 4}, shape_list{2, 1, 3, 2, 4}}) {
        CHECK(compare<aten::m_t>(shape, {}) == "");
        CHECK(compare<aten::numpy_t>(shape, {}) == "");
        CHECK(compare<aten::ravel>(shape, {}) == "");
        CHECK(compare<aten::fliplr>(shape, {}) == "");
        CHECK(compare<aten::flipud>(shape, {}) == "");
        for (std::int64_t k = -1; k != 6; ++k) {
            CAPTURE(k);
            CHECK(compare<aten::rot90>(shape, {.self = {}, .k = k}) == "");
            CHECK(compare<aten::rot90>(shape, {.self = {}, .k = k, .dims = {-1, 0}}) == "");
        }
    }
    CHECK(compare<aten::numpy_t>({}, {}) == "");
    CHECK(compare<aten::ravel>({}, {}) == "");
}

TEST_CASE("diagonals") {
    for (const std::int64_t offset : {0, 1, -1, 2}) {
        CAPTURE(offset);
        CHECK(compare<aten::diagonal>({3, 4}, {.self = {}, .offset = offset}) == "");
        CHECK(compare<aten::diagonal>({4, 2, 3}, {.self = {}, .offset = offset, .dim1 = 2, .dim2 = 0}) == "");
    }
    CHECK(compare<aten::diagonal>({5, 5}, {.self = {}, .offset = -4, .dim1 = -1, .dim2 = 0}) == "");
}

TEST_CASE("joins along an axis that tensors are first given") {
    CHECK(joined_of<aten::hstack>({}, {}) == "");
    CHECK(joined_of<aten::hstack>({2}, {3}) == "");
    CHECK(joined_of<aten::hstack>({2, 1, 3}, {2, 4, 3}) == "");
    CHECK(joined_of<aten::vstack>({3}, {2, 3}) == "");
    CHECK(joined_of<aten::vstack>({1, 2, 3}, {2, 2, 3}) == "");
    CHECK(joined_of<aten::dstack>({3}, {3}) == "");
    CHECK(joined_of<aten::dstack>({2, 3}, {2, 3, 4}) == "");
    CHECK(joined_of<aten::column_stack>({3}, {3, 2}) == "");
    CHECK(joined_of<aten::column_stack>({}, {1, 2}) == "");
}

TEST_CASE("tensors broadcast against each other") {
    CHECK_THAT(([](program& p) {
        const value parts[] = {p.input(fp32, {3, 1}), p.input(fp32, {2}), p.input(fp32, {})};
        node& n = p.make_node<aten::broadcast_tensors>({.tensors = list<value>(parts, 3)});
        for (std::uint32_t i = 0; i != 3; ++i) p.output(n.result(i));
    }),
        computes_the_same<decompose_rearrangements>().within(0));
}

TEST_CASE("differences of neighbours") {
    for (const dtype type : {fp32, dtype::int32, dtype::boolean}) {
        CHECK(compare<aten::diff>({3, 5}, {}, type) == "");
        CHECK(compare<aten::diff>({3, 5}, {.self = {}, .n = 2, .dim = 0}, type) == "");
    }
    CHECK_THAT(
        [](program& p) {
            p.output(p.make<aten::diff>({.self = p.input(fp32, {3, 5}),
                .n = 1,
                .dim = 0,
                .prepend = p.input(fp32, {1, 5}),
                .append = p.input(fp32, {2, 5})}));
        },
        computes_the_same<decompose_rearrangements>());
}
