// SPDX-License-Identifier: MIT
// Defines headrace::tosa::rows_of and is_legal, the element types that each TOSA operator takes and the
// features that a target needs for them, and the limits of level 8K.
#ifndef HEADRACE_TARGET_TOSA_LEGALITY_HPP
#define HEADRACE_TARGET_TOSA_LEGALITY_HPP

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>

#include <headrace/base/target_spec.hpp>
#include <headrace/dialect/tosa.hpp>

namespace headrace::tosa {

/// Limits of level 8K (TOSA 1.0, section 1.5).
namespace level_8k {
inline constexpr std::int64_t max_rank = 6;
inline constexpr std::int64_t max_kernel = 8192;
inline constexpr std::int64_t max_stride = 8192;
inline constexpr std::int64_t max_scale = 256;
inline constexpr std::int64_t max_log2_size = 31;     ///< tensors are smaller than 2^31 bytes
inline constexpr std::int64_t max_nesting = 256;      ///< depth of control-flow regions
inline constexpr std::int64_t max_tensor_list = 64;   ///< operands of CONCAT, CUSTOM, COND_IF, WHILE_LOOP
inline constexpr std::int64_t max_shape_length = 16;  ///< elements of a shape operand
}  // namespace level_8k

/// One combination of element types that TOSA 1.0 allows for an op (the tables of chapter 2): the types of
/// the tensor operands in order, without shape operands and with lists counted once; then the accumulator's,
/// if the op has one; then the results'. A target must have one of the profiles and all of the extensions.
/// The rows do not require target_feature fp16: in TOSA 1.0, FP16 belongs to PRO-FP.
struct legality_row {
    static constexpr std::size_t max_types = 7;

    std::uint16_t profiles;
    std::uint16_t extensions;
    std::array<dtype, max_types> types;  ///< unknown after the last one

    [[nodiscard]] constexpr bool allowed_on(const target_spec& target) const {
        return (target.features & profiles) != 0 && (target.features & extensions) == extensions;
    }
    [[nodiscard]] constexpr bool has_types(std::span<const dtype> signature) const {
        std::size_t count = 0;
        while (count != max_types && types[count] != dtype::unknown) ++count;
        if (count != signature.size()) return false;
        for (std::size_t i = 0; i != count; ++i) {
            if (types[i] != signature[i]) return false;
        }
        return true;
    }
};

namespace detail {

constexpr std::uint16_t bits(target_feature f) { return static_cast<std::uint16_t>(f); }

inline constexpr auto as_int = bits(target_feature::profile_int);
inline constexpr auto as_fp = bits(target_feature::profile_fp);
inline constexpr auto as_any = static_cast<std::uint16_t>(as_int | as_fp);
inline constexpr auto ext_int4 = bits(target_feature::int4);
inline constexpr auto ext_int16 = bits(target_feature::int16);
inline constexpr auto ext_bf16 = bits(target_feature::bf16);
inline constexpr auto ext_e4m3 = bits(target_feature::fp8e4m3);
inline constexpr auto ext_e5m2 = bits(target_feature::fp8e5m2);
inline constexpr auto ext_fft = bits(target_feature::fft);
inline constexpr auto ext_var = bits(target_feature::variable);

inline constexpr auto bl = dtype::boolean;
inline constexpr auto i4 = dtype::int4;
inline constexpr auto i8 = dtype::int8;
inline constexpr auto i16 = dtype::int16;
inline constexpr auto i32 = dtype::int32;
inline constexpr auto i48 = dtype::int48;
inline constexpr auto e4 = dtype::float8_e4m3;
inline constexpr auto e5 = dtype::float8_e5m2;
inline constexpr auto bf = dtype::bfloat16;
inline constexpr auto hf = dtype::float16;
inline constexpr auto fl = dtype::float32;

// A type and the features that it needs, for ops whose operands and results all have one type.
struct plain_type {
    std::uint16_t profiles;
    std::uint16_t extensions;
    dtype type;
};
inline constexpr plain_type floats[] = {{as_fp, 0, fl}, {as_fp, 0, hf}, {as_fp, ext_bf16, bf}};
inline constexpr plain_type floats_i32[] = {
    {as_fp, 0, fl}, {as_fp, 0, hf}, {as_fp, ext_bf16, bf}, {as_any, 0, i32}};
inline constexpr plain_type floats_int_i32[] = {
    {as_fp, 0, fl}, {as_fp, 0, hf}, {as_fp, ext_bf16, bf}, {as_int, 0, i32}};
inline constexpr plain_type floats_integers[] = {{as_fp, 0, fl}, {as_fp, 0, hf}, {as_fp, ext_bf16, bf},
    {as_int, 0, i8}, {as_int, 0, i16}, {as_int, 0, i32}};
inline constexpr plain_type floats_integers_bool[] = {{as_fp, 0, fl}, {as_fp, 0, hf}, {as_fp, ext_bf16, bf},
    {as_int, 0, i8}, {as_int, 0, i16}, {as_int, 0, i32}, {as_any, 0, bl}};
inline constexpr plain_type narrow[] = {
    {as_fp, 0, fl}, {as_fp, 0, hf}, {as_fp, ext_bf16, bf}, {as_int, 0, i8}, {as_int, ext_int16, i16}};
inline constexpr plain_type narrow_fp8[] = {{as_fp, 0, fl}, {as_fp, 0, hf}, {as_fp, ext_bf16, bf},
    {as_int, 0, i8}, {as_int, ext_int16, i16}, {as_fp, ext_e4m3, e4}, {as_fp, ext_e5m2, e5}};
inline constexpr plain_type layout[] = {{as_fp, 0, fl}, {as_fp, 0, hf}, {as_fp, ext_bf16, bf},
    {as_int, 0, i8}, {as_int, 0, i16}, {as_int, 0, i32}, {as_fp, ext_e4m3, e4}, {as_fp, ext_e5m2, e5},
    {as_any, 0, bl}};
inline constexpr plain_type gathered[] = {{as_fp, 0, fl}, {as_fp, 0, hf}, {as_fp, ext_bf16, bf},
    {as_int, 0, i8}, {as_int, 0, i16}, {as_int, 0, i32}, {as_fp, ext_e4m3, e4}, {as_fp, ext_e5m2, e5}};
inline constexpr plain_type layout_concat[] = {{as_fp, 0, fl}, {as_fp, 0, hf}, {as_fp, ext_bf16, bf},
    {as_int, 0, i8}, {as_int, ext_int16, i16}, {as_int, 0, i32}, {as_fp, ext_e4m3, e4}, {as_fp, ext_e5m2, e5},
    {as_any, 0, bl}};
inline constexpr plain_type data_types[] = {{as_fp, 0, fl}, {as_fp, 0, hf}, {as_fp, ext_bf16, bf},
    {as_any, 0, i8}, {as_any, 0, i16}, {as_any, 0, i32}, {as_any, 0, bl}, {as_int, ext_int4, i4},
    {as_int, ext_int16, i48}, {as_fp, ext_e4m3, e4}, {as_fp, ext_e5m2, e5}};
inline constexpr plain_type integers[] = {{as_int, 0, i8}, {as_int, 0, i16}, {as_int, 0, i32}};
inline constexpr plain_type shifted[] = {{as_any, 0, i8}, {as_any, 0, i16}, {as_any, 0, i32}};
inline constexpr plain_type booleans[] = {{as_any, 0, bl}};
inline constexpr plain_type any_i32[] = {{as_any, 0, i32}};
inline constexpr plain_type int_i32[] = {{as_int, 0, i32}};
inline constexpr plain_type variables[] = {{as_fp, ext_var, fl}, {as_fp, ext_var, hf}, {as_int, ext_var, i8}};
inline constexpr plain_type fft_types[] = {{as_fp, ext_fft, fl}};

// Returns rows for ops with `Count` equal types.
template <std::size_t Count, std::size_t N>
constexpr std::array<legality_row, N> all_same(const plain_type (&types)[N]) {
    std::array<legality_row, N> rows{};
    for (std::size_t i = 0; i != N; ++i) {
        rows[i] = {types[i].profiles, types[i].extensions, {}};
        for (std::size_t k = 0; k != Count; ++k) rows[i].types[k] = types[i].type;
    }
    return rows;
}
// Returns rows with `Count` equal types, except for `type` at position `at`.
template <std::size_t Count, std::size_t N>
constexpr std::array<legality_row, N> same_but(const plain_type (&types)[N], std::size_t at, dtype type) {
    std::array<legality_row, N> rows = all_same<Count>(types);
    for (legality_row& row : rows) row.types[at] = type;
    return rows;
}

template <std::size_t Count, const auto& Types>
inline constexpr auto same_rows = all_same<Count>(Types);
template <std::size_t Count, const auto& Types, std::size_t At, dtype Type>
inline constexpr auto mixed_rows = same_but<Count>(Types, At, Type);

inline constexpr legality_row pool_rows[] = {{as_int, 0, {i8, i8, i8, i32, i8}},
    {as_int, ext_int16, {i16, i16, i16, i32, i16}}, {as_fp, 0, {hf, hf, hf, hf, hf}},
    {as_fp, 0, {hf, hf, hf, fl, hf}}, {as_fp, 0, {fl, fl, fl, fl, fl}},
    {as_fp, ext_bf16, {bf, bf, bf, fl, bf}}, {as_fp, ext_e4m3, {e4, e4, e4, hf, e4}},
    {as_fp, ext_e5m2, {e5, e5, e5, hf, e5}}};
inline constexpr legality_row conv_rows[] = {{as_int, 0, {i8, i8, i32, i8, i8, i32, i32}},
    {as_int, ext_int4, {i8, i4, i32, i8, i4, i32, i32}},
    {as_int, ext_int16, {i16, i8, i48, i16, i8, i48, i48}}, {as_fp, 0, {hf, hf, hf, hf, hf, hf, hf}},
    {as_fp, 0, {hf, hf, hf, hf, hf, fl, hf}}, {as_fp, 0, {fl, fl, fl, fl, fl, fl, fl}},
    {as_fp, ext_bf16, {bf, bf, bf, bf, bf, fl, bf}}, {as_fp, ext_e4m3, {e4, e4, hf, e4, e4, hf, hf}},
    {as_fp, ext_e5m2, {e5, e5, hf, e5, e5, hf, hf}}};
inline constexpr legality_row matmul_rows[] = {{as_int, 0, {i8, i8, i8, i8, i32}},
    {as_int, ext_int16, {i16, i16, i16, i16, i48}}, {as_fp, 0, {hf, hf, hf, hf, hf}},
    {as_fp, 0, {hf, hf, hf, hf, fl}}, {as_fp, 0, {fl, fl, fl, fl, fl}},
    {as_fp, ext_bf16, {bf, bf, bf, bf, fl}}, {as_fp, ext_e4m3, {e4, e4, e4, e4, hf}},
    {as_fp, ext_e5m2, {e5, e5, e5, e5, hf}}};
inline constexpr legality_row mul_rows[] = {{as_int, 0, {i8, i8, i8, i32}}, {as_int, 0, {i16, i16, i8, i32}},
    {as_any, 0, {i32, i32, i8, i32}}, {as_fp, 0, {hf, hf, i8, hf}}, {as_fp, 0, {fl, fl, i8, fl}},
    {as_fp, ext_bf16, {bf, bf, i8, bf}}};
inline constexpr legality_row table_rows[] = {
    {as_int, 0, {i8, i8, i8}}, {as_int, ext_int16, {i16, i16, i32}}};
inline constexpr legality_row resize_rows[] = {{as_int, 0, {i8, i8}}, {as_int, ext_int16, {i16, i16}},
    {as_fp, 0, {hf, hf}}, {as_fp, 0, {fl, fl}}, {as_int, 0, {i8, i32}}, {as_int, ext_int16, {i16, i48}},
    {as_fp, ext_bf16, {bf, bf}}};
inline constexpr legality_row cast_rows[] = {{as_int, 0, {bl, i8}}, {as_int, 0, {bl, i16}},
    {as_int, 0, {bl, i32}}, {as_int, 0, {i8, bl}}, {as_int, 0, {i8, i16}}, {as_int, 0, {i8, i32}},
    {as_int, 0, {i16, bl}}, {as_int, 0, {i16, i8}}, {as_int, 0, {i16, i32}}, {as_int, 0, {i32, bl}},
    {as_int, 0, {i32, i8}}, {as_int, 0, {i32, i16}}, {as_fp, 0, {i8, hf}}, {as_fp, 0, {i8, fl}},
    {as_fp, 0, {i16, hf}}, {as_fp, 0, {i16, fl}}, {as_fp, 0, {i32, hf}}, {as_fp, 0, {i32, fl}},
    {as_fp, 0, {hf, i8}}, {as_fp, 0, {hf, i16}}, {as_fp, 0, {hf, i32}}, {as_fp, 0, {hf, fl}},
    {as_fp, 0, {fl, i8}}, {as_fp, 0, {fl, i16}}, {as_fp, 0, {fl, i32}}, {as_fp, 0, {fl, hf}},
    {as_fp, ext_bf16, {i8, bf}}, {as_fp, ext_bf16, {i16, bf}}, {as_fp, ext_bf16, {i32, bf}},
    {as_fp, ext_bf16, {bf, i8}}, {as_fp, ext_bf16, {bf, i16}}, {as_fp, ext_bf16, {bf, i32}},
    {as_fp, ext_bf16, {bf, fl}}, {as_fp, ext_bf16, {fl, bf}}, {as_fp, ext_e4m3, {e4, hf}},
    {as_fp, ext_e4m3, {e4, fl}}, {as_fp, ext_e4m3, {hf, e4}}, {as_fp, ext_e4m3, {fl, e4}},
    {as_fp, ext_e5m2, {e5, hf}}, {as_fp, ext_e5m2, {e5, fl}}, {as_fp, ext_e5m2, {hf, e5}},
    {as_fp, ext_e5m2, {fl, e5}}, {as_fp, ext_e4m3 | ext_bf16, {e4, bf}},
    {as_fp, ext_e4m3 | ext_bf16, {bf, e4}}, {as_fp, ext_e5m2 | ext_bf16, {e5, bf}},
    {as_fp, ext_e5m2 | ext_bf16, {bf, e5}}};

// Multipliers are INT32, or INT16 if scale32 is false; both are rows here.
inline constexpr auto rescale_rows = [] {
    constexpr dtype ends[] = {i8, i16, i32};
    std::array<legality_row, 24> rows{};
    std::size_t next = 0;
    for (const dtype multiplier : {i32, i16}) {
        for (const dtype from : {i8, i16, i32, i48}) {
            const std::uint16_t extension = from == i48 ? ext_int16 : std::uint16_t{0};
            for (const dtype to : ends) {
                rows[next++] = {as_int, extension, {from, multiplier, i8, from, to, to}};
            }
        }
    }
    return rows;
}();

using row_span = std::span<const legality_row>;

inline constexpr auto row_table = [] {
    std::array<row_span, dialect::size> spans{};
    const auto set = [&]<class... Ops>(ops<Ops...>, row_span rows) { ((spans[index_of<Ops>] = rows), ...); };
    // Explicit although empty: in a constant, g++ 12 does not read elements that were never assigned.
    set(ops<custom, cond_if, while_loop, const_shape>{}, row_span());
    set(ops<argmax>{}, mixed_rows<2, narrow_fp8, 1, i32>);
    set(ops<avg_pool2d>{}, pool_rows);
    set(ops<conv2d, conv3d, depthwise_conv2d, transpose_conv2d>{}, conv_rows);
    set(ops<matmul>{}, matmul_rows);
    set(ops<max_pool2d>{}, same_rows<2, narrow_fp8>);
    set(ops<fft2d>{}, same_rows<4, fft_types>);
    set(ops<rfft2d>{}, same_rows<3, fft_types>);
    set(ops<clamp>{}, same_rows<2, narrow>);
    set(ops<erf, sigmoid, tanh, ceil, cos, exp, floor, log, reciprocal, rsqrt, sin, reduce_product>{},
        same_rows<2, floats>);
    set(ops<add, sub>{}, same_rows<3, floats_i32>);
    set(ops<maximum, minimum>{}, same_rows<3, floats_int_i32>);
    set(ops<pow>{}, same_rows<3, floats>);
    set(ops<mul>{}, mul_rows);
    set(ops<arithmetic_right_shift, bitwise_and, bitwise_or, bitwise_xor>{}, same_rows<3, integers>);
    set(ops<logical_left_shift, logical_right_shift>{}, same_rows<3, shifted>);
    set(ops<intdiv>{}, same_rows<3, any_i32>);
    set(ops<logical_and, logical_or, logical_xor>{}, same_rows<3, booleans>);
    set(ops<logical_not, reduce_all, reduce_any>{}, same_rows<2, booleans>);
    set(ops<table>{}, table_rows);
    set(ops<abs, reduce_sum>{}, same_rows<2, floats_int_i32>);
    set(ops<bitwise_not>{}, same_rows<2, integers>);
    set(ops<clz>{}, same_rows<2, int_i32>);
    set(ops<negate>{}, same_rows<4, floats_integers>);
    set(ops<select>{}, mixed_rows<4, floats_integers_bool, 0, bl>);
    set(ops<equal, greater, greater_equal>{}, mixed_rows<3, floats_int_i32, 2, bl>);
    set(ops<reduce_max, reduce_min>{}, same_rows<2, floats_integers>);
    set(ops<concat>{}, same_rows<2, layout_concat>);
    set(ops<pad>{}, same_rows<3, layout>);
    set(ops<reshape, reverse, slice, tile, transpose>{}, same_rows<2, layout>);
    set(ops<gather>{}, mixed_rows<3, gathered, 1, i32>);
    set(ops<scatter>{}, mixed_rows<4, gathered, 1, i32>);
    set(ops<resize>{}, resize_rows);
    set(ops<cast>{}, cast_rows);
    set(ops<rescale>{}, rescale_rows);
    set(ops<const_>{}, same_rows<1, data_types>);
    set(ops<identity>{}, same_rows<2, data_types>);
    set(ops<variable, variable_write, variable_read>{}, same_rows<1, variables>);
    return spans;
}();

}  // namespace detail

/// Returns an op's type combinations; empty for any types: CUSTOM, COND_IF, WHILE_LOOP and CONST_SHAPE.
[[nodiscard]] constexpr std::span<const legality_row> rows_of(const op_info& op) {
    return detail::row_table[op.index];
}

/// Returns the row for an op with operands and results of these types, or null if TOSA 1.0 has none.
[[nodiscard]] constexpr const legality_row* find_row(const op_info& op, std::span<const dtype> signature) {
    for (const legality_row& row : rows_of(op)) {
        if (row.has_types(signature)) return &row;
    }
    return nullptr;
}

/// True if the target takes this op with these types, which are in the order of legality_row.
template <op_tag Op>
[[nodiscard]] constexpr bool is_legal(const target_spec& target, std::initializer_list<dtype> signature) {
    if (__is_same(Op, cond_if) || __is_same(Op, while_loop)) return target.has(target_feature::control_flow);
    if (rows_of(info_of<Op>).empty()) return true;
    const legality_row* row =
        find_row(info_of<Op>, std::span<const dtype>(std::data(signature), signature.size()));
    return row != nullptr && row->allowed_on(target);
}

}  // namespace headrace::tosa

#endif
