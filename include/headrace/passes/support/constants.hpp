// SPDX-License-Identifier: MIT
// Defines headrace::constant_integers.
#ifndef HEADRACE_PASSES_SUPPORT_CONSTANTS_HPP
#define HEADRACE_PASSES_SUPPORT_CONSTANTS_HPP

#include <cstring>
#include <optional>
#include <vector>

#include <headrace/ir/graph.hpp>

namespace headrace {

/// The elements of an integral or boolean constant in row-major order, whatever its strides; nothing if the
/// value is computed. For decisions that shapes depend on: what is computed from constants is left to
/// folding.
[[nodiscard]] inline std::optional<std::vector<std::int64_t>> constant_integers(value v) {
    const auto* constant = match<builtin::constant>(v);
    if (constant == nullptr || meta_of(v) == nullptr) return std::nullopt;
    const tensor_meta& meta = *meta_of(v);
    if (!is_integral(meta.dtype) && !is_boolean(meta.dtype)) return std::nullopt;
    const std::size_t width = traits_of(meta.dtype).bits / 8U;
    if (width != 1 && width != 2 && width != 4 && width != 8) return std::nullopt;
    std::vector<std::int64_t> numbers(static_cast<std::size_t>(meta.elements()));
    for (std::size_t i = 0; i != numbers.size(); ++i) {
        std::int64_t left = static_cast<std::int64_t>(i);
        std::int64_t at = constant->data.strides.empty() ? left : 0;
        for (std::size_t d = meta.rank(); !constant->data.strides.empty() && d-- != 0;
             left /= meta.shape[d]) {
            at += left % meta.shape[d] * constant->data.strides[d];
        }
        std::uint64_t bits = 0;
        std::memcpy(&bits, constant->data.bytes + at * static_cast<std::int64_t>(width), width);
        const bool with_sign = is_integral(meta.dtype) && name_of(meta.dtype)[0] == 'i';
        const int unused = 64 - 8 * static_cast<int>(width);
        numbers[i] =
            with_sign ? static_cast<std::int64_t>(bits << unused) >> unused : static_cast<std::int64_t>(bits);
    }
    return numbers;
}

}  // namespace headrace

#endif
