// SPDX-License-Identifier: MIT
// Tests that only lossless RESCALEs are fused.
#include <catch2/catch.hpp>

#include <headrace/passes/quantize/rescaling.hpp>

#include "../../support/quantized_test.hpp"

using namespace headrace;

namespace {

static_assert(effects_of<fuse_rescales>::sound && effects_of<fuse_rescales>::removed_set.empty());

struct factor {
    std::int64_t multiplier, shift;
};

value rescale(program& p, value v, factor f, std::int64_t input_zero, std::int64_t output_zero, dtype to) {
    const dtype from = meta_of(v)->dtype;
    return p.make<tosa::rescale>({.input = v,
        .multiplier = integer_constant(p, dtype::int32, {1}, {f.multiplier}),
        .shift = integer_constant(p, dtype::int8, {1}, {f.shift}),
        .input_zp = integer_constant(p, from, {1}, {input_zero}),
        .output_zp = integer_constant(p, to, {1}, {output_zero})});
}
/// Rescales 8 bits to 32 by the first factor, and back by the second.
auto there_and_back(factor first, factor second) {
    return [=](program& p) {
        const value wide = rescale(p, p.input(dtype::int8, {300}), first, 5, 0, dtype::int32);
        p.output(rescale(p, wide, second, 0, -9, dtype::int8));
    };
}
constexpr factor one{1 << 30, 30};
constexpr factor eight{1 << 30, 27};
constexpr factor half{1 << 30, 31};
constexpr factor third{1431655765, 32};

}  // namespace

TEST_CASE("a widening by a power of two and what follows are one RESCALE") {
    for (const factor& widening : {one, eight}) {
        CHECK_THAT(there_and_back(widening, third), computes_the_same<fuse_rescales>());
        CHECK(count_after<tosa::rescale, fuse_rescales>(there_and_back(widening, third)) == 1);
    }
}

TEST_CASE("RESCALEs that round twice stay") {
    for (const factor& lossy : {half, third}) {
        CHECK_THAT(there_and_back(lossy, third), is_left_alone_by<fuse_rescales>());
        CHECK(count_after<tosa::rescale, fuse_rescales>(there_and_back(lossy, third)) == 2);
    }
    const auto through_int8 = [](program& p) {
        const value narrow = rescale(p, p.input(dtype::int32, {300}), third, 0, 4, dtype::int8);
        p.output(rescale(p, narrow, eight, 4, 0, dtype::int32));
    };
    CHECK(count_after<tosa::rescale, fuse_rescales>(through_int8) == 2);
}

TEST_CASE("a RESCALE that changes nothing is none") {
    const auto by_one = [](std::int64_t from, std::int64_t to) {
        return
            [=](program& p) { p.output(rescale(p, p.input(dtype::int8, {9}), one, from, to, dtype::int8)); };
    };
    CHECK_THAT(by_one(3, 3), computes_the_same<fuse_rescales>());
    CHECK(count_after<tosa::rescale, fuse_rescales>(by_one(3, 3)) == 0);
    CHECK(count_after<tosa::rescale, fuse_rescales>(by_one(3, 4)) == 1);
}
