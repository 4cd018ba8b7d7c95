// SPDX-License-Identifier: MIT
// Defines headrace::unknown_op_reason, the message that refuses a node whose op is in no dialect, and
// messages for complex numbers and dynamic quantization.
#ifndef HEADRACE_IR_UNKNOWN_OP_HPP
#define HEADRACE_IR_UNKNOWN_OP_HPP

#include <algorithm>
#include <cstdint>
#include <memory_resource>
#include <string>
#include <string_view>

#include <headrace/base/dtype.hpp>
#include <headrace/base/text.hpp>
#include <headrace/dialect/builtin.hpp>
#include <headrace/ir/node.hpp>
#include <headrace/ir/tensor_meta.hpp>

namespace headrace {

inline constexpr std::string_view no_complex_numbers =
    "complex numbers, for which this op has no lowering; compute with their real and imaginary parts";

inline constexpr std::string_view no_dynamic_quantization =
    "dynamic quantization, which chooses scales while the program runs, has no lowering; quantize "
    "statically: with prepare_pt2e, calibration and convert_pt2e, or with headrace quantize";

/// True if the node chooses a scale while the program runs, or multiplies integers that have such scales.
[[nodiscard]] inline bool is_of_dynamic_quantization(const node& n) {
    const auto* const foreign = args_if<builtin::opaque>(n);
    const std::string_view op = foreign == nullptr ? n.op->name : std::string_view(foreign->target);
    return op.starts_with("quantized_decomposed.choose_qparams") || op.starts_with("aten._int_mm.");
}

/// True if the node has complex operands or results.
[[nodiscard]] inline bool is_of_complex_numbers(const node& n) {
    const auto is_of_complex = [](const tensor_meta* meta) {
        return meta != nullptr && is_complex(meta->dtype);
    };
    for (std::uint32_t i = 0; i != n.result_count; ++i) {
        if (is_of_complex(n.results[i].meta)) return true;
    }
    return std::ranges::any_of(
        n.operand_edges(), [&](const edge& e) { return is_of_complex(meta_of(*e.slot)); });
}

/// Returns a message that the node's op has no `lacking`, "lowering" or "kernel", and what may help.
[[nodiscard]] inline std::pmr::string unknown_op_reason(const node& n, std::string_view lacking) {
    if (is_of_complex_numbers(n)) return std::pmr::string(no_complex_numbers);
    if (is_of_dynamic_quantization(n)) return std::pmr::string(no_dynamic_quantization);
    return text_of({"unknown op; Headrace has no ", lacking,
        " for it: exported.run_decompositions() may make others of it"});
}

}  // namespace headrace

#endif
