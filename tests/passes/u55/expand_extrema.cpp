// SPDX-License-Identifier: MIT
// Tests that extrema of INT32, and their positions, are built from comparisons and extrema of fewer bits.
#include <catch2/catch.hpp>

#include <headrace/passes/u55/expand_indices.hpp>
#include <headrace/passes/u55/number_booleans.hpp>

#include "../../support/u55_test.hpp"

using namespace headrace;

namespace {

template <op_tag Op>
auto reduced(dtype type, int_list shape, std::int64_t axis) {
    return [=](program& p) { return p.make<Op>({p.input(type, shape), axis}); };
}
/// Runs all passes that a position needs.
std::pmr::string found(const result_builder& build, const std::vector<tensor>& inputs = {}) {
    return expanded<expand_extrema, number_booleans>(build, inputs);
}

}  // namespace

TEST_CASE("INT32 is compared in halves") {
    for (std::int64_t size = 1; size != 12; ++size) {
        for (const std::int64_t axis : {0, 1, 2}) {
            shape_builder shape{3, 4, 5};
            shape[static_cast<std::size_t>(axis)] = size;
            const int_list of(shape);
            CAPTURE(size, axis);
            const std::vector<tensor> any{any_integers(dtype::int32, of, 1)};
            CHECK(expanded<expand_extrema>(reduced<tosa::reduce_max>(dtype::int32, of, axis), any) == "");
            CHECK(expanded<expand_extrema>(reduced<tosa::reduce_min>(dtype::int32, of, axis), any) == "");
        }
    }
}

TEST_CASE("what fits in fewer bits is reduced there") {
    for (const dtype type : {dtype::int8, dtype::int16}) {
        const auto widened = [&](program& p) {
            const value v =
                p.make<tosa::cast>({.input = p.input(type, {3, 40}), .output_type = dtype::int32});
            return p.make<tosa::reduce_max>({v, 1});
        };
        CHECK(expanded<expand_extrema>(widened) == "");
        CHECK(count_after<tosa::reduce_max, expand_extrema>(for_u55_target(widened)) == 1);
        const auto clamped = [&](program& p) {
            const auto [lowest, highest] = range_of(type);
            const auto splat = [&](std::int64_t n) { return integer_constant(p, dtype::int32, {1, 1}, {n}); };
            const value least = p.make<tosa::maximum>({p.input(dtype::int32, {3, 40}), splat(lowest)});
            return p.make<tosa::reduce_min>({p.make<tosa::minimum>({least, splat(highest)}), 0});
        };
        CHECK(expanded<expand_extrema>(clamped, {any_integers(dtype::int32, {3, 40}, 2)}) == "");
        CHECK(count_after<tosa::reduce_min, expand_extrema>(for_u55_target(clamped)) == 1);
    }
}

TEST_CASE("positions along any axis") {
    const int_list shape{2, 3, 5, 7};
    for (const std::int64_t axis : {0, 1, 2})
        CHECK(found(reduced<tosa::argmax>(dtype::int8, shape, axis)) == "");
    CHECK(found(reduced<tosa::argmax>(dtype::int8, shape, 3)) == "");
    CHECK(found(reduced<tosa::argmax>(dtype::int16, {3, 6}, 1)) == "");
    CHECK(found(reduced<tosa::argmax>(dtype::int16, {9}, 0)) == "");
}

TEST_CASE("positions of more than 127 elements") {
    CHECK(found(reduced<tosa::argmax>(dtype::int8, {2, 200}, 1)) == "");
    CHECK(found(reduced<tosa::argmax>(dtype::int16, {300, 2}, 0)) == "");
}

TEST_CASE("the first of the largest counts") {
    std::vector<std::int64_t> numbers(400, -128);
    numbers[20] = numbers[150] = numbers[310] = 90;
    const std::vector<tensor> inputs{integers(dtype::int8, {2, 200}, numbers)};
    CHECK(found(reduced<tosa::argmax>(dtype::int8, {2, 200}, 1), inputs) == "");
    const std::vector<tensor> equal{integers(dtype::int8, {2, 200}, std::vector<std::int64_t>(400, 5))};
    CHECK(found(reduced<tosa::argmax>(dtype::int8, {2, 200}, 1), equal) == "");
}

TEST_CASE("what Ethos-U55 has stays") {
    for (const auto& build : {reduced<tosa::argmax>(dtype::int8, {4, 127}, 1)})
        CHECK(count_after<tosa::argmax, expand_extrema>(for_u55_target(build)) == 1);
    CHECK(count_after<tosa::reduce_max, expand_extrema>(
              for_u55_target(reduced<tosa::reduce_max>(dtype::int16, {4, 7}, 1))) == 1);
}
