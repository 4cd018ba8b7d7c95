// SPDX-License-Identifier: MIT
// Defines headrace::on_device::sample, the inputs and results by which a board checks a model.
#ifndef HEADRACE_ON_DEVICE_SAMPLE_HPP
#define HEADRACE_ON_DEVICE_SAMPLE_HPP

#include <cstddef>
#include <cstdint>
#include <tuple>

#include <headrace/on_device/tensor.hpp>

namespace headrace::on_device {

/// The numbers of a sample, one after the other, the same wherever they are made: all of int8, uint8 and
/// int16, 0 and 1 of wider integers, which may be positions, and floats from -2 to 2.
class sample_numbers {
public:
    template <element E>
    constexpr element_t<E> next() {
        state_ = state_ * 1664525U + 1013904223U;
        const std::uint32_t bits = state_ >> 12;
        if constexpr (is_floating(E))
            return static_cast<float>(static_cast<std::int32_t>(bits & 255U) - 128) / 64.F;
        else if constexpr (E == element::int8 || E == element::uint8 || E == element::int16)
            return static_cast<element_t<E>>(bits);
        else
            return static_cast<element_t<E>>(bits & 1U);
    }

private:
    std::uint32_t state_ = 1;
};

/// The distance between the elements of an output that a sample holds: at most 256 of them.
constexpr std::int32_t sample_step(std::int32_t elements) { return (elements + 255) / 256; }

/// By how much results may differ: by this part of their size and of `size`.
struct tolerance {
    float part = 0, size = 0;
};
constexpr tolerance tolerance_of(element e, float largest) {
    // Floats of 16 bits are rounded at each layer, to units that follow from the largest numbers.
    if (e == element::float16) return {1.F / 128, largest};
    if (e == element::bfloat16) return {1.F / 16, largest};
    return {1e-3F, 1e-3F};
}

/// True if `headrace run` may have given `expected` where the kernels gave `got`: integers are equal, floats
/// near.
constexpr bool is_near(float got, float expected, tolerance t) {
    const float off = got < expected ? expected - got : got - expected;
    const float size = expected < 0 ? -expected : expected;
    const bool both_are_nan = got != got && expected != expected;
    return both_are_nan || got == expected || off <= t.part * (size + t.size);
}
/// Compares elements of an output, of which the sample has one in `step`.
template <element E>
constexpr bool are_near(const element_t<E>* got, const auto& expected, std::size_t n, std::size_t step) {
    float largest = 0;
    for (std::size_t i = 0; (E == element::float16 || E == element::bfloat16) && i < n; i += step) {
        const auto number = static_cast<float>(expected[i / step]), size = number < 0 ? -number : number;
        if (size > largest && size - size == 0) largest = size;  // infinities allow no difference
    }
    for (std::size_t i = 0; i < n; i += step) {
        if constexpr (is_floating(E)) {
            if (!is_near(got[i], expected[i / step], tolerance_of(E, largest))) return false;
        } else {
            if (got[i] != expected[i / step]) return false;
        }
    }
    return true;
}

/// Arrays with elements of each output.
template <const auto&... Outputs>
struct sample {
    static constexpr std::size_t size = sizeof...(Outputs);
    template <std::size_t Index>
    static constexpr const auto& get() {
        return std::get<Index>(std::tie(Outputs...));
    }
};

}  // namespace headrace::on_device

#endif
