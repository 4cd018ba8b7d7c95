// SPDX-License-Identifier: MIT
// Tests the names of time steps.
#include <catch2/catch.hpp>

#include <optional>

#include <headrace/ir/time_step.hpp>

using namespace headrace;

TEST_CASE("names tell the time step") {
    for (const char* name : {"gru_l0_t3of32", "gru_l0_t3of32_sigmoid", "gru_l0_t3of32.rescale_1"})
        CHECK(step_in_name(name) == named_step{"gru_l0", 3, 32});
    CHECK(step_in_name("a_t1_b_t2of2_c") == named_step{"a_t1_b", 2, 2});
}
TEST_CASE("other names tell none") {
    for (const char* name : {"", "_t", "_t1of2", "gru_t3", "gru_t3of", "gru_t0of4", "gru_t5of4",
             "gru_t3of32x", "gru_t-1of4", "gru_t99999999999of4", "gru_tof4", "input_t3 of 4"})
        CHECK(step_in_name(name) == std::nullopt);
}
