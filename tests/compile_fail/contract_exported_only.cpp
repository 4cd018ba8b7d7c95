// SPDX-License-Identifier: MIT
// Defines a model without facts about its lowered form.
// EXPECT: contract_has_no_lowered_part<model>

#include "../support/small_contract.hpp"

using namespace headrace;

struct model {
    using exported_ops = ops<>;
    static constexpr std::array<contract_tensor, 1> inputs{{{"x", dtype::float32, {1, 8}}}};
    static constexpr std::array<contract_tensor, 1> outputs{{{"y", dtype::float32, {1, 8}}}};
};
static_assert(fits<ethos_u85, model>);
