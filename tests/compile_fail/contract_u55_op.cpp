// SPDX-License-Identifier: MIT
// Defines a model with an operator that Ethos-U55 does not have.
// EXPECT: target_does_not_take_model<
// EXPECT: refused<headrace::tosa::intdiv, headrace::u55_limit::op, headrace::at_node<0,
// EXPECT: fixed_string<4>{"sum"}>, headrace::refused_nodes<1>>

#include "../support/small_contract.hpp"

using namespace headrace;

struct model : small_contract {
    static constexpr std::array<tensor_meta, 1> tensors{{{dtype::int32, {1, 4}}}};
    static constexpr std::array<std::uint32_t, 3> uses{0, 0, 0};
    static constexpr std::array<op_attributes, 1> attributes{};
    static constexpr std::array<contract_node, 1> nodes{{
        {&info_of<tosa::intdiv>, "sum", 0, 2, 1, 0, 0},
    }};
};
static_assert(fits<ethos_u55, model>);
