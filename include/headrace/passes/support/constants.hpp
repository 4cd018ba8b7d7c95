// SPDX-License-Identifier: MIT
// Defines headrace::constant_integers and headrace::constant_reals, which read the elements of constants.
#ifndef HEADRACE_PASSES_SUPPORT_CONSTANTS_HPP
#define HEADRACE_PASSES_SUPPORT_CONSTANTS_HPP

#include <cstring>
#include <optional>

#include <headrace/base/pmr_vector.hpp>
#include <headrace/ir/graph.hpp>
#include <headrace/ir/strided_walk.hpp>

namespace headrace {

/// Calls `read(const std::byte*)` for each element of a constant in row-major order, for any strides.
template <class Read>
void for_each_element(const tensor_data& data, const tensor_meta& meta, Read&& read) {
    const std::int64_t count = meta.elements();
    for (std::int64_t i = 0; i != count; ++i) read(element_at(data, meta, i));
}

/// Returns integers or booleans in row-major order; nothing for other dtypes, or packed ones.
[[nodiscard]] inline std::optional<pmr_vector<std::int64_t>> integers_of(
    const tensor_data& data, const tensor_meta& meta) {
    if (!is_integral(meta.dtype) && !is_boolean(meta.dtype)) return std::nullopt;
    const std::size_t width = traits_of(meta.dtype).bits / 8U;
    if (width == 0) return std::nullopt;  // packed
    const bool is_signed = dtype::int4 <= meta.dtype && meta.dtype <= dtype::int64;
    const int unused = 64 - 8 * static_cast<int>(width);
    pmr_vector<std::int64_t> numbers;
    numbers.reserve(static_cast<std::size_t>(meta.elements()));
    for_each_element(data, meta, [&](const std::byte* at) {
        std::uint64_t bits = 0;
        std::memcpy(&bits, at, width);
        numbers.push_back(is_signed ? static_cast<std::int64_t>(bits << unused) >> unused
                                    : static_cast<std::int64_t>(bits));
    });
    return numbers;
}

/// Returns the elements of an integer or boolean constant; nothing if the value is computed. Values computed
/// from constants have been folded before this is called.
[[nodiscard]] inline std::optional<pmr_vector<std::int64_t>> constant_integers(value v) {
    const auto* constant = match<builtin::constant>(v);
    if (constant == nullptr || meta_of(v) == nullptr) return std::nullopt;
    return integers_of(constant->data, *meta_of(v));
}

/// Returns the only element of such a constant; nothing if it has several.
[[nodiscard]] inline std::optional<std::int64_t> constant_integer(value v) {
    const auto numbers = constant_integers(v);
    return numbers && numbers->size() == 1 ? std::optional((*numbers)[0]) : std::nullopt;
}

/// Returns the numbers of float32, float64 or an integer dtype in row-major order; nothing for other dtypes.
[[nodiscard]] inline std::optional<pmr_vector<double>> reals_of(
    const tensor_data& data, const tensor_meta& meta) {
    if (const auto integers = integers_of(data, meta))
        return pmr_vector<double>(integers->begin(), integers->end());
    pmr_vector<double> numbers;
    const auto read_all = [&]<class Number>(Number number) {
        numbers.reserve(static_cast<std::size_t>(meta.elements()));
        for_each_element(data, meta, [&](const std::byte* at) {
            std::memcpy(&number, at, sizeof number);
            numbers.push_back(static_cast<double>(number));
        });
        return numbers;
    };
    if (meta.dtype == dtype::float64) return read_all(double{});
    if (meta.dtype == dtype::float32) return read_all(float{});
    return std::nullopt;
}

/// Returns the elements of a float32, float64 or integer constant; nothing if the value is computed.
[[nodiscard]] inline std::optional<pmr_vector<double>> constant_reals(value v) {
    const auto* constant = match<builtin::constant>(v);
    if (constant == nullptr || meta_of(v) == nullptr) return std::nullopt;
    return reals_of(constant->data, *meta_of(v));
}

}  // namespace headrace

#endif
