// SPDX-License-Identifier: MIT
// Defines the intervals of the elements of constants and of computed numbers stored in a dtype, for
// infer/ranges/value_ranges_definition.hpp.
#ifndef HEADRACE_INFER_RANGES_HELD_INTERVAL_HPP
#define HEADRACE_INFER_RANGES_HELD_INTERVAL_HPP

#include <cmath>
#include <cstdint>
#include <cstring>

#include <headrace/infer/ranges/interval.hpp>
#include <headrace/ir/strided_walk.hpp>
#include <headrace/ir/tensor_meta.hpp>
#include <headrace/op/op.hpp>

namespace headrace::detail {

// Returns the interval of a constant's elements, read as T. NaN is skipped.
template <class T>
interval interval_of_elements(const tensor_data& data, const tensor_meta& meta) {
    interval all{interval::unlimited, -interval::unlimited};
    const auto read = [&](std::int64_t at) {
        T x;
        std::memcpy(&x, data.bytes + at * static_cast<std::int64_t>(sizeof(T)), sizeof(T));
        all.low = std::min(all.low, static_cast<bound>(x));
        all.high = std::max(all.high, static_cast<bound>(x));
    };
    if (data.strides.empty()) {
        const std::int64_t count = meta.elements();
        for (std::int64_t i = 0; i != count; ++i) read(i);
    } else {
        for_each_position(meta.shape, data.strides, read);
    }
    return all.low <= all.high ? all : number(0);
}

// Constants of narrow dtypes get their dtype's whole range, and large floating-point constants get no bounds,
// so that weights need not be read.
[[nodiscard]] inline interval interval_of_constant(const tensor_data& data, const tensor_meta& meta) {
    constexpr std::int64_t most_floats = 1 << 16;
    if (data.bytes == nullptr) return interval_of(meta.dtype);
    switch (meta.dtype) {
        case dtype::int64:
            return interval_of_elements<std::int64_t>(data, meta);
        case dtype::int32:
            return interval_of_elements<std::int32_t>(data, meta);
        case dtype::boolean:
            return meta.elements() == 1 ? interval_of_elements<std::uint8_t>(data, meta) : interval{0, 1};
        case dtype::float32:
            if (meta.elements() <= most_floats) return interval_of_elements<float>(data, meta);
            return {};
        case dtype::float64:
            if (meta.elements() <= most_floats) return interval_of_elements<double>(data, meta);
            return {};
        default:
            return interval_of(meta.dtype);
    }
}

/// Returns the interval after its numbers have been rounded a few times to a floating-point type.
[[nodiscard]] inline interval widened(const interval& a, dtype t) {
    struct format {
        bound step, largest;
    };
    const format f = t == dtype::float64 ? format{0x1p-50L, 0x1.fffffffffffffp+1023L}
        : t == dtype::float32            ? format{0x1p-21L, 0x1.fffffep+127L}
        : t == dtype::float16            ? format{0x1p-9L, 65504}
        : t == dtype::bfloat16           ? format{0x1p-6L, 0x1.fep+127L}
                                         : format{1, 100};
    const auto away = [&](bound x, bound sign) {
        if (wide::isinf(x)) return x;
        const bound moved = x + sign * (wide::abs(x) * f.step + f.step * 0x1p-100L);
        return moved * sign > f.largest ? sign * interval::unlimited : moved;
    };
    return {away(a.low, -1), away(a.high, 1)};
}

/// Returns the interval of computed numbers stored in a dtype.
[[nodiscard]] inline interval held_in(dtype t, const interval& computed) {
    if (is_floating(t)) return widened(computed, t);
    const interval all = interval_of(t);
    return all.contains(computed) ? computed : all;
}

// Booleans are 0 or 1; casts to integers round toward zero.
[[nodiscard]] inline interval in_category(dtype t, const interval& computed) {
    if (is_boolean(t)) return {0, 1};
    return is_integral(t) ? truncated(computed) : computed;
}

}  // namespace headrace::detail

#endif
