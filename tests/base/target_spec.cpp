// SPDX-License-Identifier: MIT
// Tests of reading target specifications.

#include <catch2/catch.hpp>

#include <headrace/base/target_spec.hpp>

using namespace headrace;

static_assert(parse_target("TOSA-1.0+FP")->has(target_feature::profile_fp));
static_assert(!parse_target("TOSA-1.0+FP")->has(target_feature::profile_int));
static_assert(parse_target("TOSA-1.0+INT+FP+int16+u55")->has(target_feature::u55));
static_assert(parse_target("TOSA-1.0+INT+u85")->has(target_feature::u85));
static_assert(parse_target("TOSA-1.0+INT+FP") == parse_target("TOSA-1.0+FP+INT"));
static_assert(target_spec{}.with(target_feature::fft).has(target_feature::fft));

TEST_CASE("the part that is not understood is named", "[target]") {
    std::string_view rest;
    CHECK_FALSE(parse_target("TOSA-0.8+INT", &rest));
    CHECK(rest == "TOSA-0.8+INT");
    CHECK_FALSE(parse_target("TOSA-1.0+INT+int5", &rest));
    CHECK(rest == "int5");
    CHECK_FALSE(parse_target("TOSA-1.0+INT+INT", &rest));
    CHECK(rest == "INT");
    CHECK_FALSE(parse_target("TOSA-1.0+", &rest));
    CHECK_FALSE(parse_target("TOSA-1.0", &rest));
    CHECK_FALSE(parse_target("TOSA-1.0+int16", &rest));  // an extension without a profile
    CHECK_FALSE(parse_target("", &rest));
    CHECK_FALSE(parse_target("TOSA-1.0INT", &rest));
    CHECK_FALSE(parse_target("TOSA-1.0+INT+u55+u85", &rest));  // one program runs on one NPU
    CHECK(rest == "u85");
    CHECK_FALSE(parse_target("TOSA-1.0+INT+core+u85"));
    CHECK(parse_target("TOSA-1.0+INT+core")->has(target_feature::core));
}
