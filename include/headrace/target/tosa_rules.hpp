// SPDX-License-Identifier: MIT
// Defines headrace::type_fault_of, zero_fault_of, sign_fault_of and level_fault_of, the rules of TOSA 1.0 in
// a form that can be checked at compile time. Rules about shapes and attributes are in the inference of the
// dialect.
#ifndef HEADRACE_TARGET_TOSA_RULES_HPP
#define HEADRACE_TARGET_TOSA_RULES_HPP

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include <headrace/base/target_spec.hpp>
#include <headrace/target/op_facts.hpp>
#include <headrace/target/tosa_legality.hpp>

namespace headrace {

/// The types of an operator in the order of legality_row.
class tosa_signature {
public:
    explicit constexpr tosa_signature(const op_facts& f) {
        std::size_t operand = 0;
        for (const field_info& field : *f.op) {
            if (field.kind == field_kind::tensor) {
                add(f.operand(operand++).dtype);
            } else if (field.kind == field_kind::tensors) {
                if (operand < f.operand_count) add(f.operand(operand).dtype);
                operand = f.operand_count;
            }
        }
        if (f.attributes.declared != dtype::unknown) add(f.attributes.declared);
        for (std::size_t i = 0; i != f.result_count; ++i) add(f.result(i).dtype);
    }

    [[nodiscard]] constexpr std::span<const dtype> types() const { return {types_.data(), size_}; }

private:
    constexpr void add(dtype type) {
        if (type != dtype::shape && size_ != types_.size()) types_[size_++] = type;
    }

    std::array<dtype, tosa::legality_row::max_types> types_{};
    std::size_t size_ = 0;
};

/// The reason why a TOSA target does not take an operator with these types.
enum class type_limit : std::uint8_t {
    none,
    types,             ///< TOSA 1.0 has no such operator for these types
    profile,           ///< the target lacks the profile or an extension that the types need
    control_flow,      ///< the target lacks the extension cf
    computed_operand,  ///< a zero point, a shift, a table or the like is not a constant
};

struct type_fault {
    type_limit limit = type_limit::none;
    const tosa::legality_row* row = nullptr;  ///< for type_limit::profile: the features that are needed
    std::string_view operand{};               ///< for type_limit::computed_operand: its name
};

namespace detail {

// Returns an operand that must be a constant if the target lacks EXT-DYNAMIC, as all targets here do.
constexpr std::string_view computed_operand(const op_facts& f) {
    std::size_t operand = 0;
    for (const field_info& field : *f.op) {
        if (field.kind != field_kind::tensor) continue;
        const bool demanded = field.name.ends_with("_zp") || field.name == "shift" || field.name == "table" ||
            field.name == "pad_const" || field.name == "multiplier";
        if (demanded && !f.is_constant(operand)) return field.name;
        ++operand;
    }
    return {};
}

}  // namespace detail

[[nodiscard]] constexpr type_fault type_fault_of(const op_facts& f, const target_spec& target) {
    if (f.is<tosa::cond_if, tosa::while_loop>() && !target.has(target_feature::control_flow))
        return {type_limit::control_flow};
    if (!tosa::rows_of(*f.op).empty()) {
        const tosa_signature signature(f);
        const tosa::legality_row* row = tosa::find_row(*f.op, signature.types());
        if (row == nullptr) return {type_limit::types};
        if (!row->allowed_on(target)) return {type_limit::profile, row};
    }
    const std::string_view computed = detail::computed_operand(f);
    return computed.empty() ? type_fault{} : type_fault{type_limit::computed_operand, nullptr, computed};
}

/// A zero point that an operator does not take. Values of 8 bits have one; unsigned ones of 16 bits have 0 or
/// 32768; all others have 0 (the ERROR_IFs of TOSA 1.0, 2.2, 2.5.11 and 2.12.2).
struct zero_fault {
    std::string_view operand{};  ///< empty: no fault
    std::int64_t zero = 0;
    dtype type = dtype::unknown;  ///< of the values with this zero point

    explicit constexpr operator bool() const { return !operand.empty(); }
};

namespace detail {

constexpr zero_fault zero_fault_of(
    std::string_view operand, std::int64_t zero, dtype type, bool is_unsigned = false) {
    constexpr std::int64_t middle = 32768;  // has the same bits as -32768
    const bool is_middle = is_unsigned && type == dtype::int16 && (zero == middle || zero == -middle);
    return zero == 0 || type == dtype::int8 || is_middle ? zero_fault{} : zero_fault{operand, zero, type};
}
constexpr zero_fault first_of(const zero_fault& a, const zero_fault& b) { return a ? a : b; }

}  // namespace detail

[[nodiscard]] constexpr zero_fault zero_fault_of(const op_facts& f) {
    using detail::first_of;
    const op_attributes& a = f.attributes;
    const auto of_operand = [&](std::string_view name, std::int64_t zero, std::size_t i) {
        return detail::zero_fault_of(name, zero, f.operand(i).dtype, i == 0 && a.input_unsigned);
    };
    if (is_convolution(*f.op))
        return first_of(of_operand("input_zp", a.input_zero, 0), of_operand("weight_zp", a.second_zero, 1));
    if (f.is<tosa::matmul>())
        return first_of(of_operand("a_zp", a.input_zero, 0), of_operand("b_zp", a.second_zero, 1));
    std::string_view input;
    for (const field_info& field : *f.op) {
        if (field.name == "output_zp")
            return first_of(of_operand(input, a.input_zero, 0),
                detail::zero_fault_of("output_zp", a.output_zero, f.result(0).dtype, a.output_unsigned));
        if (field.name.ends_with("_zp")) input = field.name;
    }
    return {};
}

/// Returns the type that a RESCALE with an unsigned side cannot have on its other side: INT32 and INT48 are
/// signed, and RESCALE does not convert between unsigned values and INT32 (TOSA 1.0, 2.12.2). Returns
/// `unknown` if there is no fault.
[[nodiscard]] constexpr dtype sign_fault_of(const op_facts& f) {
    if (!f.is<tosa::rescale>() || (!f.attributes.input_unsigned && !f.attributes.output_unsigned))
        return dtype::unknown;
    for (const dtype type : {f.operand(0).dtype, f.result(0).dtype}) {
        if (type == dtype::int32 || type == dtype::int48) return type;
    }
    return dtype::unknown;
}

/// The limit of level 8K (TOSA 1.0, section 1.5) that an operator exceeds.
enum class level_limit : std::uint8_t {
    none,
    shape_length,
    rank,
    empty_tensor,
    tensor_size,
    operands,
    kernel,
    stride,
    pad,
    out_pad,
    dilated_kernel,
    fft_size,
    scale,
};

struct level_fault {
    level_limit limit = level_limit::none;
    std::int64_t size = 0;
    std::int64_t max = 0;
    const tensor_meta* tensor = nullptr;  ///< for level_limit::empty_tensor

    explicit constexpr operator bool() const { return limit != level_limit::none; }
};

/// Returns the name of the size that exceeds a limit, for messages.
[[nodiscard]] constexpr std::string_view name_of(level_limit limit) {
    return detail::enumerator_name(limit,
        {"nothing", "shape length", "rank", "empty tensor", "tensor size", "number of operands", "kernel",
            "stride", "pad", "out_pad", "dilated kernel", "size", "scale"});
}

namespace detail {

constexpr level_fault fault_if_above(level_limit limit, std::int64_t size, std::int64_t max) {
    return size <= max ? level_fault{} : level_fault{limit, size, max};
}

constexpr level_fault level_fault_of(const tensor_meta& meta) {
    if (meta.dtype == dtype::shape)
        return fault_if_above(level_limit::shape_length, meta.elements(), tosa::level_8k::max_shape_length);
    if (const auto rank = static_cast<std::int64_t>(meta.rank()); rank > tosa::level_8k::max_rank)
        return {level_limit::rank, rank, tosa::level_8k::max_rank};
    for (const std::int64_t size : meta.shape) {
        if (size < 1) return {level_limit::empty_tensor, size, 1, &meta};
    }
    const auto elements = static_cast<std::uint64_t>(element_count(meta.shape));
    const std::uint64_t limit = (std::uint64_t{1} << tosa::level_8k::max_log2_size) - 1;
    const std::uint64_t bytes = elements > limit ? elements : storage_bytes(meta.dtype, elements);
    return fault_if_above(
        level_limit::tensor_size, static_cast<std::int64_t>(bytes), static_cast<std::int64_t>(limit));
}

constexpr level_fault first_above(level_limit limit, sizes items, std::int64_t max) {
    for (const std::int64_t item : items) {
        if (const level_fault fault = fault_if_above(limit, item, max)) return fault;
    }
    return {};
}

// Checks a convolution's kernel, in elements of the input.
constexpr level_fault level_fault_of_kernel(const op_facts& f) {
    if (!is_convolution(*f.op)) return {};
    const std::size_t first = f.is<tosa::depthwise_conv2d>() ? 0 : 1;
    for (std::size_t i = 0; i != (f.is<tosa::conv3d>() ? 3 : 2); ++i) {
        const std::int64_t dilation = f.attributes.dilation.empty() ? 1 : f.attributes.dilation[i];
        const std::int64_t size = saturating_mul(f.operand(1).shape[first + i], dilation);
        if (const level_fault fault =
                fault_if_above(level_limit::dilated_kernel, size, tosa::level_8k::max_kernel))
            return fault;
    }
    return {};
}

constexpr level_fault level_fault_of_scale(const op_facts& f) {
    const int_list& scale = f.attributes.scale;
    for (std::size_t i = 0; i + 1 < scale.size(); i += 2) {
        const std::int64_t ratio = scale[i] / std::max<std::int64_t>(scale[i + 1], 1);
        if (const level_fault fault = fault_if_above(level_limit::scale, ratio, tosa::level_8k::max_scale))
            return fault;
    }
    return {};
}

}  // namespace detail

/// Returns the first limit of level 8K that an operator exceeds.
[[nodiscard]] constexpr level_fault level_fault_of(const op_facts& f) {
    using namespace tosa::level_8k;
    for (std::size_t i = 0; i != f.operand_count + f.result_count; ++i) {
        if (const level_fault fault = detail::level_fault_of(*f.tensors[i])) return fault;
    }
    const auto length = static_cast<std::int64_t>(f.list_length);
    const op_attributes& a = f.attributes;
    const level_limit pad = f.is<tosa::transpose_conv2d>() ? level_limit::out_pad : level_limit::pad;
    const std::int64_t fft_size =
        f.is<tosa::fft2d, tosa::rfft2d>() ? std::max(f.operand(0).shape[1], f.operand(0).shape[2]) : 0;
    const level_fault faults[] = {detail::fault_if_above(level_limit::operands, length, max_tensor_list),
        detail::first_above(level_limit::kernel, a.kernel, max_kernel),
        detail::first_above(level_limit::stride, a.stride, max_stride),
        detail::first_above(pad, a.pad, max_kernel), detail::level_fault_of_kernel(f),
        detail::fault_if_above(level_limit::fft_size, fft_size, max_kernel), detail::level_fault_of_scale(f)};
    for (const level_fault& fault : faults) {
        if (fault) return fault;
    }
    return {};
}

}  // namespace headrace

#endif
