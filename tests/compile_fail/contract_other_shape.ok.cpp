// SPDX-License-Identifier: MIT
// Defines a model whose input has a different shape than the firmware accepts.
// EXPECT: model_is_not_accepted<
// EXPECT: differs<headrace::contract_part::inputs, 0, headrace::tensor_part::shape>

#include "../support/small_contract.hpp"

using namespace headrace;

struct accepted {
    static constexpr std::array<contract_tensor, 1> inputs{{
        {"x", dtype::int8, {1, 8, 8, 4}},
    }};
    static constexpr std::array<contract_tensor, 1> outputs{{{"y", dtype::int8, {1, 6, 6, 2}}}};
};
static_assert(conforms<small_contract, accepted>);
