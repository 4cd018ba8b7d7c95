// SPDX-License-Identifier: MIT
// Tests the preferences of targets.
#include <catch2/catch.hpp>

#include <headrace/target/preferences.hpp>

using namespace headrace;

TEST_CASE("a target that names no NPU gets nothing that is good for one alone") {
    for (const char* text : {"TOSA-1.0+INT", "TOSA-1.0+FP", "TOSA-1.0+INT+FP+int16+int4+bf16+cf"}) {
        const target_preferences& plain = preferences_of(*parse_target(text));
        CHECK_FALSE(plain.whole_clamps);
        CHECK(plain.planes_by_convolution == 0);
        CHECK_FALSE(plain.rows_are_width);
        CHECK(plain.stride == target_preferences::any);
        CHECK_FALSE(plain.interleaves_rows);
        CHECK(plain.pooled_maximum == 0);
        CHECK(plain.convolved_sum == 0);
        CHECK_FALSE(plain.sums_at_unit_scale);
        CHECK_FALSE(plain.rescales_first);
        CHECK_FALSE(plain.reads_last_column);
        CHECK(plain.paired_channels == 0);
        CHECK(plain.factor_bits == target_preferences::any);
        CHECK(plain.products_per_move == 0);
        CHECK(plain.on_chip_bytes == 0);
    }
}

TEST_CASE("what computes a widened operand together with its reader has one for each reader") {
    for (const char* text : {"TOSA-1.0+INT+u55", "TOSA-1.0+INT+u85", "TOSA-1.0+INT+core"})
        CHECK(preferences_of(*parse_target(text)).widens_per_reader);
    CHECK_FALSE(preferences_of(*parse_target("TOSA-1.0+INT")).widens_per_reader);
}

TEST_CASE("NPUs are described whatever else the target allows") {
    CHECK(&preferences_of(*parse_target("TOSA-1.0+INT+u55")) ==
        &preferences_of(*parse_target("TOSA-1.0+INT+int16+u55")));
    CHECK(preferences_of(*parse_target("TOSA-1.0+INT+u85")).planes_by_convolution != 0);
    CHECK(preferences_of(*parse_target("TOSA-1.0+INT+u55")).planes_by_convolution == 0);
}
