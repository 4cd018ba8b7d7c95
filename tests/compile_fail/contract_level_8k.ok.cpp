// SPDX-License-Identifier: MIT
// Defines a model that exceeds one of level 8K's limits.
// EXPECT: target_does_not_take_model<
// EXPECT: refused<headrace::tosa::conv2d, headrace::level_limit::stride
// EXPECT: above<8193, 8192>

#include "../support/small_contract.hpp"

using namespace headrace;

struct model : small_contract {
    static constexpr auto attributes = [] {
        auto changed = small_contract::attributes;
        changed[0].stride = {1, 8192};
        return changed;
    }();
};
static_assert(fits<tosa_target<"TOSA-1.0+INT">, model>);
