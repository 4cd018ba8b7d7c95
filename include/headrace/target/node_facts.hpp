// SPDX-License-Identifier: MIT
// Defines headrace::facts_of, the facts about a node that the rules of targets need.
#ifndef HEADRACE_TARGET_NODE_FACTS_HPP
#define HEADRACE_TARGET_NODE_FACTS_HPP

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <span>

#include <headrace/dialect/builtin.hpp>
#include <headrace/ir/graph.hpp>
#include <headrace/target/op_facts.hpp>
#include <headrace/target/u55_rules.hpp>

namespace headrace {

namespace detail {

/// Returns the data of a constant, or null for a value that is computed.
[[nodiscard]] inline const tensor_data* constant_data(value v) {
    if (const auto* a = match<builtin::constant>(v)) return &a->data;
    if (const auto* a = match<tosa::const_>(v)) return &a->data;
    return nullptr;
}

}  // namespace detail

namespace u55 {

/// Returns the elements of a constant of whole bytes, row-major; empty if it is computed or has strides.
[[nodiscard]] inline std::span<const std::byte> constant_bytes(value v) {
    const tensor_data* const data = headrace::detail::constant_data(v);
    const tensor_meta* meta = meta_of(v);
    if (data == nullptr || meta == nullptr || !data->strides.empty()) return {};
    return {data->bytes, bytes_in_memory(*meta)};
}

}  // namespace u55

namespace detail {

/// Returns the largest sum of absolute weights of an output channel, or 0 if it cannot be too large.
template <class Args>
[[nodiscard]] std::int64_t weight_sum_of(const Args& a) {
    const std::int64_t channels = meta_of(a.bias)->shape[0];
    const std::int64_t terms = element_count(meta_of(a.weight)->shape) / std::max<std::int64_t>(channels, 1);
    if (terms * 255 <= u55::max_weight_sum || meta_of(a.weight)->dtype != dtype::int8) return 0;
    const auto bytes = u55::constant_bytes(a.weight);
    const auto zero = u55::constant_bytes(a.weight_zp);
    if (zero.empty()) return 0;
    const auto number = [](std::byte b) -> std::int64_t {
        return static_cast<std::int8_t>(std::to_integer<std::uint8_t>(b));
    };
    std::int64_t largest = 0;
    std::int64_t sum = 0;
    for (std::size_t i = 0; i != bytes.size(); ++i) {
        if (i % static_cast<std::size_t>(terms) == 0) sum = 0;
        sum += std::abs(number(bytes[i]) - number(zero[0]));
        largest = std::max(largest, sum);
    }
    return largest;
}

[[nodiscard]] inline bool bias_fits_40_bits(value bias) {
    if (meta_of(bias)->dtype != dtype::int48) return true;
    const auto bytes = u55::constant_bytes(bias);
    for (std::size_t i = 0; i + 6 <= bytes.size(); i += 6) {
        std::uint64_t bits = 0;
        std::memcpy(&bits, &bytes[i], 6);
        const auto b = static_cast<std::int64_t>(bits << 16U) >> 16U;
        if (b >= u55::max_bias || b < -u55::max_bias) return false;
    }
    return true;
}

// Adds facts that need the elements of weights and biases, or neighbouring nodes.
inline void add_slow_facts(const node& n, op_facts& f) {
    if (!is_convolution(*n.op)) return;
    op_attributes& a = f.attributes;
    const auto add = [&]<op_tag Op>() {
        const auto* arguments = args_if<Op>(n);
        if (arguments == nullptr) return;
        a.weight_sum = weight_sum_of(*arguments);
        a.bias_fits = bias_fits_40_bits(arguments->bias);
        if (meta_of(arguments->input)->dtype != dtype::int16) return;
        for (const edge& use : n.uses()) a.only_rescaled = a.only_rescaled && is<tosa::rescale>(*use.target);
    };
    add.template operator()<tosa::conv2d>();
    add.template operator()<tosa::conv3d>();
    add.template operator()<tosa::depthwise_conv2d>();
    add.template operator()<tosa::transpose_conv2d>();
}

/// Returns the single element of a constant as a signed integer; 0 if the value is computed.
[[nodiscard]] inline std::int64_t single_element(value v) {
    const tensor_data* const data = constant_data(v);
    const tensor_meta* meta = meta_of(v);
    if (data == nullptr || data->bytes == nullptr || meta == nullptr || meta->elements() != 1) return 0;
    const std::size_t size = std::min<std::size_t>(bytes_in_memory(*meta), 8);
    std::uint64_t bits = 0;
    std::memcpy(&bits, data->bytes, size);
    const unsigned unused = 64 - 8 * static_cast<unsigned>(size);
    return size == 0 ? 0 : static_cast<std::int64_t>(bits << unused) >> unused;
}

inline void add_zero_point(const node& n, const field_info& f, op_attributes& a) {
    if (!f.name.ends_with("_zp")) return;
    const std::int64_t zero = single_element(member_at<value>(n.arguments, f));
    if (f.name == "output_zp") {
        a.output_zero = zero;
    } else if (f.name == "weight_zp" || f.name == "b_zp") {
        a.second_zero = zero;
    } else {
        a.input_zero = zero;
    }
}

inline void add_attribute(const node& n, const field_info& f, op_attributes& a) {
    if (f.kind == field_kind::tensor) return add_zero_point(n, f, a);
    if (f.kind == field_kind::integers) {
        const auto& values = member_at<int_list>(n.arguments, f);
        if (f.name == "kernel") a.kernel = values;
        if (f.name == "stride") a.stride = values;
        if (f.name == "pad" || f.name == "out_pad") a.pad = values;
        if (f.name == "dilation") a.dilation = values;
    } else if (f.kind == field_kind::integer && f.name == "axis") {
        a.axis = member_at<std::int64_t>(n.arguments, f);
    } else if (f.kind == field_kind::boolean) {
        if (f.name == "round") a.round = member_at<bool>(n.arguments, f);
        if (f.name == "input_unsigned") a.input_unsigned = member_at<bool>(n.arguments, f);
        if (f.name == "output_unsigned") a.output_unsigned = member_at<bool>(n.arguments, f);
    } else if (f.kind == field_kind::element_type && (f.name == "acc_type" || f.name == "type")) {
        a.declared = member_at<dtype>(n.arguments, f);
    } else if (f.kind == field_kind::resize) {
        a.mode = member_at<resize_mode>(n.arguments, f);
    }
}

/// Returns the facts of a node that need neither the elements of its weights nor the users of its results.
[[nodiscard]] inline op_facts quick_facts_of(const node& n) {
    op_facts f;
    f.op = n.op;
    f.operand_count = std::min<std::size_t>(n.operand_count, op_facts::max_tensors);
    f.result_count = std::min<std::size_t>(n.result_count, op_facts::max_tensors);
    for (std::size_t i = 0; i != f.operand_count; ++i) {
        f.tensors[i] = meta_of(n.operand(i));
        if (constant_data(n.operand(i)) != nullptr && i < 64) f.constants |= std::uint64_t{1} << i;
    }
    for (std::size_t i = 0; i != f.result_count; ++i) {
        f.tensors[f.operand_count + i] = &*n.results[i].meta;
    }
    for (const field_info& field : *n.op) {
        if (field.kind == field_kind::tensors)
            f.list_length = member_at<list<value>>(n.arguments, field).size();
        add_attribute(n, field, f.attributes);
    }
    if (const auto* a = args_if<tosa::resize>(n)) {
        if (const auto* scale = match<tosa::const_shape>(a->scale)) f.attributes.scale = scale->values;
        if (const auto* offset = match<tosa::const_shape>(a->offset)) f.attributes.offset = offset->values;
    }
    f.attributes.from_convolution = is<tosa::rescale>(n) && is_convolution(*n.operand(0).producer->op);
    return f;
}

}  // namespace detail

/// Returns the facts of a node of the tosa dialect whose metadata is complete. They refer to its metadata.
[[nodiscard]] inline op_facts facts_of(const node& n) {
    op_facts f = detail::quick_facts_of(n);
    detail::add_slow_facts(n, f);
    return f;
}

}  // namespace headrace

#endif
