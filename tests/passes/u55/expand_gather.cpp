// SPDX-License-Identifier: MIT
// Tests that rows are gathered and scattered without GATHER and SCATTER.
#include <catch2/catch.hpp>

#include <headrace/passes/u55/expand_bits.hpp>
#include <headrace/passes/u55/expand_indices.hpp>
#include <headrace/passes/u55/number_booleans.hpp>

#include "../../support/u55_test.hpp"

using namespace headrace;

namespace {

constexpr std::int64_t rows = 7;

auto gathered(dtype type, std::int64_t batches, std::vector<std::int64_t> indices) {
    return [=](program& p) {
        const auto count = static_cast<std::int64_t>(indices.size()) / batches;
        const value at = integer_constant(p, dtype::int32, {batches, count}, indices);
        return p.make<tosa::gather>({p.input(type, {batches, rows, 3}), at});
    };
}
auto gathered_at(dtype type, std::int64_t batches) {
    return [=](program& p) {
        return p.make<tosa::gather>({p.input(type, {batches, rows, 3}), p.input(dtype::int32, {batches, 4})});
    };
}
auto scattered_at(dtype type, std::int64_t batches) {
    return [=](program& p) {
        return p.make<tosa::scatter>({p.input(type, {batches, rows, 3}), p.input(dtype::int32, {batches, 2}),
            p.input(type, {batches, 2, 3})});
    };
}
std::pmr::string with_all(const result_builder& build, const std::vector<tensor>& inputs = {}) {
    return expanded<expand_gather, number_booleans, expand_bits>(build, inputs);
}

}  // namespace

TEST_CASE("rows that are known are slices") {
    for (const dtype type : {dtype::int8, dtype::int16, dtype::int32}) {
        const std::vector<std::int64_t> orders[] = {
            {4, 0, 2}, {0, 1, 2, 3, 4, 5, 6}, {6, 6, 6}, {3}, {5, 6, 0, 1}};
        for (const auto& indices : orders) CHECK(expanded<expand_gather>(gathered(type, 1, indices)) == "");
        CHECK(expanded<expand_gather>(gathered(type, 2, {4, 0, 2, 4, 0, 2})) == "");
    }
    CHECK(
        count_after<tosa::slice, expand_gather>(for_u55_target(gathered(dtype::int8, 1, {5, 6, 0, 1}))) == 2);
}

TEST_CASE("rows that differ between images, or are computed, are products") {
    for (const dtype type : {dtype::int8, dtype::int16, dtype::int32}) {
        CAPTURE(name_of(type));
        CHECK(with_all(gathered(type, 2, {4, 0, 2, 1, 1, 6})) == "");
        CHECK(with_all(gathered_at(type, 1),
                  {any_integers(type, {1, rows, 3}, 1), integers(dtype::int32, {1, 4}, {6, 0, 3, 3})}) == "");
        CHECK(with_all(gathered_at(type, 2),
                  {any_integers(type, {2, rows, 3}, 2),
                      integers(dtype::int32, {2, 4}, {6, 0, 3, 3, 1, 2, 5, 0})}) == "");
    }
}

TEST_CASE("a constant table is the weight of a convolution") {
    const auto looked_up = [](program& p) {
        return p.make<tosa::gather>(
            {constant_codes(p, int8_codes(1), {1, rows, 5}), p.input(dtype::int32, {1, 4})});
    };
    CHECK(with_all(looked_up, {integers(dtype::int32, {1, 4}, {6, 0, 3, 3})}) == "");
    CHECK(count_after<tosa::conv2d, expand_gather>(for_u55_target(looked_up)) == 1);
    CHECK(count_after<tosa::matmul, expand_gather>(for_u55_target(looked_up)) == 0);
}

TEST_CASE("rows are scattered") {
    for (const dtype type : {dtype::int8, dtype::int16, dtype::int32}) {
        CAPTURE(name_of(type));
        CHECK(with_all(scattered_at(type, 1),
                  {any_integers(type, {1, rows, 3}, 1), integers(dtype::int32, {1, 2}, {5, 0}),
                      any_integers(type, {1, 2, 3}, 2)}) == "");
        CHECK(with_all(scattered_at(type, 2),
                  {any_integers(type, {2, rows, 3}, 1), integers(dtype::int32, {2, 2}, {5, 0, 2, 3}),
                      any_integers(type, {2, 2, 3}, 2)}) == "");
        const std::vector<std::int64_t> orders[] = {{5, 0}, {2, 3}, {6, 5}};
        for (const auto& indices : orders) {
            const auto known = [&](program& p) {
                return p.make<tosa::scatter>({p.input(type, {1, rows, 3}),
                    integer_constant(p, dtype::int32, {1, 2}, indices), p.input(type, {1, 2, 3})});
            };
            CHECK(expanded<expand_gather>(known) == "");
        }
    }
}

TEST_CASE("what cannot be is refused") {
    CHECK(refusal<expand_gather>(for_u55_target(gathered(dtype::int8, 1, {rows}))) ==
        "an index is out of range");
    const auto large = [](program& p) {
        return p.make<tosa::gather>({p.input(dtype::int8, {1, 50000, 64}), p.input(dtype::int32, {1, 40})});
    };
    CHECK_THAT(for_u55_target(large), is_refused_by<expand_gather>("more than 2^26"));
    const auto scrambled = [](program& p) {
        std::vector<std::int64_t> indices;
        for (std::int64_t i = 0; i != 2000; ++i) indices.push_back(i * 7 % 2000);
        return p.make<tosa::gather>(
            {p.input(dtype::int8, {1, 2000, 1}), integer_constant(p, dtype::int32, {1, 2000}, indices)});
    };
    CHECK_THAT(for_u55_target(scrambled), is_refused_by<expand_gather>("1024 slices"));
}
