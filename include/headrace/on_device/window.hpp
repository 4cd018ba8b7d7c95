// SPDX-License-Identifier: MIT
// Defines what the kernels of CONV3D and TRANSPOSE_CONV2D share: their sums, and how these become elements.
#ifndef HEADRACE_ON_DEVICE_WINDOW_HPP
#define HEADRACE_ON_DEVICE_WINDOW_HPP

#include <cstdint>
#include <type_traits>

#include <headrace/on_device/core.hpp>
#include <headrace/on_device/number.hpp>
#include <headrace/on_device/scale.hpp>
#include <headrace/on_device/tensor.hpp>

namespace headrace::on_device::detail {

/// The types that go with elements of the input: int8 has sums of int32, int16 of int48.
template <element In>
struct window_sums {
    static constexpr bool is_float = is_floating(In), is_wide = In == element::int16;
    using weight = std::conditional_t<is_float, element_t<In>, std::int8_t>;
    using sum = std::conditional_t<is_float, float, std::conditional_t<is_wide, std::int64_t, std::int32_t>>;
    /// Biases of floats have the type of the elements, as they may be computed.
    template <scaling How>
    using per_channel = std::conditional_t<is_float, weight,
        std::conditional_t<How == scaling::none, sum, std::conditional_t<is_wide, wide_channel, channel>>>;

    /// Adds a pixel to a sum: n channels, and weights that follow each other.
    HEADRACE_SHARED static constexpr sum add_pixel(sum s, std::int32_t n, const element_t<In>* x,
        std::int32_t x_stride, std::int32_t zero, const weight* w, std::int32_t weight_zero) {
        for (std::int32_t i = 0; i < n; ++i) {
            if constexpr (is_float)
                s = multiply_add(s, x[i * x_stride], w[i]);
            else
                s = multiply_add(s, x[i * x_stride] - zero, w[i] - weight_zero);
        }
        return s;
    }
    /// The value that `Finish` takes: scaled and limited.
    template <scaling How, std::int32_t Lo, std::int32_t Hi>
    HEADRACE_INLINE static constexpr auto result(sum s, const per_channel<How>& q) {
        if constexpr (How != scaling::none) {
            if constexpr (is_wide)
                return number<Lo, Hi>{clamped(scaled(s, q), Lo, Hi)};
            else
                return number<Lo, Hi>{clamped(scaled<How>(s, q), Lo, Hi)};
        } else if constexpr (is_float) {
            return s;
        } else {
            return value_of < is_wide ? element::int48 : element::int32 > {s};
        }
    }
};

}  // namespace headrace::on_device::detail

#endif
