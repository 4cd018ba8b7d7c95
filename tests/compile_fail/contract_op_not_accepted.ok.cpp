// SPDX-License-Identifier: MIT
// Defines a model with an operator that a firmware does not accept.
// EXPECT: model_is_not_accepted<
// EXPECT: not_accepted<headrace::tosa::rescale>

#include "../support/small_contract.hpp"

using namespace headrace;

struct accepted : small_contract {
    using lowered_ops = ops<tosa::conv2d, tosa::rescale>;
};
static_assert(conforms<small_contract, accepted>);
