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
        if constexpr (E == element::float32)
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

/// True if `headrace run` may have given `expected` where the kernels gave `got`: integers are equal, floats
/// near.
template <class T>
constexpr bool is_near(T got, T expected) {
    if constexpr (static_cast<T>(0.5F) == T{0}) {
        return got == expected;
    } else {
        const T off = got < expected ? expected - got : got - expected;
        const T size = expected < 0 ? -expected : expected;
        const bool both_are_nan = got != got && expected != expected;
        return both_are_nan || got == expected || off <= T(1e-3F) * (size + T(1e-3F));
    }
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
