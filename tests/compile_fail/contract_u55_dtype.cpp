// SPDX-License-Identifier: MIT
// Defines a model with a dtype that Ethos-U55 does not compute with.
// EXPECT: target_does_not_take_model<
// EXPECT: refused<headrace::tosa::add, headrace::u55_limit::floats

#include "../support/small_contract.hpp"

using namespace headrace;

struct model : small_contract {
    static constexpr std::array<tensor_meta, 1> tensors{{{dtype::float32, {1, 4}}}};
    static constexpr std::array<std::uint32_t, 3> uses{0, 0, 0};
    static constexpr std::array<op_attributes, 1> attributes{};
    static constexpr std::array<contract_node, 1> nodes{{
        {&info_of<tosa::add>, "sum", 0, 2, 1, 0, 0},
    }};
};
static_assert(fits<ethos_u55, model>);
