// SPDX-License-Identifier: MIT
// Defines a model with computed weights in a transposed convolution, which Ethos-U85 does not take.
// EXPECT: target_does_not_take_model<
// EXPECT: refused<headrace::tosa::transpose_conv2d, headrace::u85_limit::computed_weight

#include "../support/small_contract.hpp"

using namespace headrace;

struct model : small_contract {
    static constexpr std::array<op_attributes, 1> attributes{{
        {.stride = {1, 1}, .pad = {0, 0, 0, 0}, .declared = dtype::int32},
    }};
    static constexpr std::array<contract_node, 1> nodes{{
        {&info_of<tosa::transpose_conv2d>, "up", 0, 5, 1, 0x1c, 0},
    }};
};
static_assert(fits<ethos_u85, model>);
