// SPDX-License-Identifier: MIT
// Defines a model with a window that is too tall for Ethos-U55.
// EXPECT: target_does_not_take_model<
// EXPECT: refused<headrace::tosa::conv2d, headrace::u55_limit::kernel_window, headrace::at_node<0,
// EXPECT: fixed_string<5>{"conv"}>, headrace::refused_nodes<1>>

#include "../support/small_contract.hpp"

using namespace headrace;

struct model : small_contract {
    static constexpr auto tensors = [] {
        auto changed = small_contract::tensors;
        changed[1].shape = {2, 65, 3, 4};
        return changed;
    }();
};
static_assert(fits<ethos_u55, model>);
