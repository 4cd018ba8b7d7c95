// SPDX-License-Identifier: MIT
// Defines small_contract, the contract of an integer convolution followed by a RESCALE.
#ifndef HEADRACE_TESTS_SUPPORT_SMALL_CONTRACT_HPP
#define HEADRACE_TESTS_SUPPORT_SMALL_CONTRACT_HPP

#include <headrace/contract/contract.hpp>

struct small_contract {
    using exported_ops = headrace::ops<>;
    static constexpr std::array<headrace::contract_tensor, 1> inputs{{
        {"x", headrace::dtype::int8, {1, 8, 8, 4}, 0.5, 3, -128, 127},
    }};
    static constexpr std::array<headrace::contract_tensor, 1> outputs{{
        {"y", headrace::dtype::int8, {1, 6, 6, 2}, 0.25, -1, -128, 127},
    }};

    static constexpr auto target = *headrace::parse_target("TOSA-1.0+INT");
    static constexpr std::uint64_t peak_memory = 1000;
    static constexpr std::uint64_t constant_bytes = 100;
    static constexpr std::uint64_t flatbuffer_bytes = 2000;
    using lowered_ops = headrace::ops<headrace::tosa::conv2d, headrace::tosa::rescale>;

    static constexpr std::array<headrace::tensor_meta, 8> tensors{{
        {headrace::dtype::int8, {1, 8, 8, 4}},
        {headrace::dtype::int8, {2, 3, 3, 4}},
        {headrace::dtype::int32, {2}},
        {headrace::dtype::int8, {1}},
        {headrace::dtype::int32, {1, 6, 6, 2}},
        {headrace::dtype::int32, {1}},
        {headrace::dtype::int8, {2}},
        {headrace::dtype::int8, {1, 6, 6, 2}},
    }};
    static constexpr std::array<headrace::op_attributes, 2> attributes{{
        {.stride = {1, 1}, .pad = {0, 0, 0, 0}, .dilation = {1, 1}, .declared = headrace::dtype::int32},
        {.from_convolution = true},
    }};
    static constexpr std::array<std::uint32_t, 12> uses{0, 1, 2, 3, 3, 4, 4, 2, 6, 5, 3, 7};
    static constexpr std::array<headrace::contract_node, 2> nodes{{
        {&headrace::info_of<headrace::tosa::conv2d>, "conv", 0, 5, 1, 0x1e, 0},
        {&headrace::info_of<headrace::tosa::rescale>, "quantize", 6, 5, 1, 0x1e, 1},
    }};
};

#endif
