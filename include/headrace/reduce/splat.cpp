// SPDX-License-Identifier: MIT
// Defines the functions of headrace/reduce/splat.hpp.

#include <headrace/reduce/splat.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include <headrace/dialect/builtin.hpp>

namespace headrace::reducing {

namespace {

// One element of each dtype, little-endian.
struct one_of_type {
    dtype type;
    std::array<std::uint8_t, 8> bytes;
};
constexpr std::array<one_of_type, 10> ones{{
    {dtype::float32, {0, 0, 0x80, 0x3F}},
    {dtype::float16, {0, 0x3C}},
    {dtype::bfloat16, {0x80, 0x3F}},
    {dtype::float64, {0, 0, 0, 0, 0, 0, 0xF0, 0x3F}},
    {dtype::int8, {1}},
    {dtype::int16, {1}},
    {dtype::int32, {1}},
    {dtype::int64, {1}},
    {dtype::uint8, {1}},
    {dtype::boolean, {1}},
}};
alignas(16) constexpr std::array<std::uint8_t, 16> zero{};

const std::byte* as_bytes(const std::uint8_t* at) { return reinterpret_cast<const std::byte*>(at); }

}  // namespace

std::optional<tensor_data> splat(const tensor_meta& meta, bool of_ones) {
    const auto known = std::ranges::find(ones, meta.dtype, &one_of_type::type);
    if (known == ones.end()) return std::nullopt;
    static constexpr std::array<std::int64_t, int_list::inline_capacity> strides{};
    if (meta.rank() > strides.size()) return std::nullopt;
    return tensor_data{.bytes = as_bytes(of_ones ? known->bytes.data() : zero.data()),
        .strides = int_list(list<std::int64_t>(strides.data(), meta.rank()))};
}

bool is_splat(const node& constant) {
    const int_list& strides = args_of<builtin::constant>(constant).data.strides;
    const tensor_meta& meta = *constant.results[0].meta;
    if (meta.elements() == 1) return true;
    return !strides.empty() && std::ranges::all_of(strides, [](std::int64_t s) { return s == 0; });
}

}  // namespace headrace::reducing
