// SPDX-License-Identifier: MIT
// Defines TOSA's functions of the bits of integers, headrace::on_device::bitwise_and and its kin, and those
// of booleans.
#ifndef HEADRACE_ON_DEVICE_BITS_HPP
#define HEADRACE_ON_DEVICE_BITS_HPP

#include <algorithm>
#include <bit>
#include <cstdint>

#include <headrace/on_device/core.hpp>
#include <headrace/on_device/number.hpp>

namespace headrace::on_device {

/// TOSA 1.0, 2.4.3 to 2.4.5 (BITWISE_AND, BITWISE_OR, BITWISE_XOR).
template <integer A, integer B>
HEADRACE_INLINE constexpr auto bitwise_and(A a, B b) {
    constexpr std::int64_t mask = std::max(detail::mask_over(A::bounds::lowest, A::bounds::highest),
        detail::mask_over(B::bounds::lowest, B::bounds::highest));
    constexpr bool is_signed = A::bounds::lowest < 0 && B::bounds::lowest < 0;
    constexpr std::int64_t most = A::bounds::lowest < 0 ? (B::bounds::lowest < 0 ? mask : B::bounds::highest)
        : B::bounds::lowest < 0                         ? A::bounds::highest
                                                        : std::min(A::bounds::highest, B::bounds::highest);
    using R = number<(is_signed ? -1 - mask : 0), most, detail::rep_of<A, B>>;
    using m = typename R::math;
    return R{m::bits_and(detail::as_in<R>(a), detail::as_in<R>(b))};
}
namespace detail {
template <integer A, integer B>
using bits_of_both = number<(A::bounds::lowest < 0 || B::bounds::lowest < 0 ? -1 -
                                        std::max(mask_over(A::bounds::lowest, A::bounds::highest),
                                            mask_over(B::bounds::lowest, B::bounds::highest))
                                                                            : 0),
    std::max(
        mask_over(A::bounds::lowest, A::bounds::highest), mask_over(B::bounds::lowest, B::bounds::highest)),
    rep_of<A, B>>;
}
template <integer A, integer B>
HEADRACE_INLINE constexpr auto bitwise_or(A a, B b) {
    using R = detail::bits_of_both<A, B>;
    using m = typename R::math;
    return R{m::bits_or(detail::as_in<R>(a), detail::as_in<R>(b))};
}
template <integer A, integer B>
HEADRACE_INLINE constexpr auto bitwise_xor(A a, B b) {
    using R = detail::bits_of_both<A, B>;
    using m = typename R::math;
    return R{m::bits_xor(detail::as_in<R>(a), detail::as_in<R>(b))};
}
/// TOSA 1.0, 2.5.2 (BITWISE_NOT). `E` is the type whose bits are inverted; only an unsigned one matters.
template <element E = element::int32, integer A>
HEADRACE_INLINE constexpr auto bitwise_not(A a) {
    using T = typename A::rep;
    using m = detail::machine<T>;
    if constexpr (lowest_of(E) == 0) {
        return bitwise_xor(a, constant<highest_of(E)>);
    } else {
        return number<-1 - A::bounds::highest, -1 - A::bounds::lowest, T>{m::bits_xor(a.value, m::of(-1))};
    }
}

/// TOSA 1.0, 2.4.7, 2.4.10, 2.4.11 and 2.5.9 (LOGICAL_AND, LOGICAL_OR, LOGICAL_XOR, LOGICAL_NOT).
template <integer A, integer B>
HEADRACE_INLINE constexpr auto logical_and(A a, B b) {
    return bitwise_and(a, b);
}
template <integer A, integer B>
HEADRACE_INLINE constexpr auto logical_or(A a, B b) {
    return bitwise_or(a, b);
}
template <integer A, integer B>
HEADRACE_INLINE constexpr auto logical_xor(A a, B b) {
    return bitwise_xor(a, b);
}
template <integer A>
HEADRACE_INLINE constexpr auto logical_not(A a) {
    return bitwise_xor(a, constant<1>);
}

namespace detail {
/// True if a distance is known to be one that TOSA allows.
template <integer B>
inline constexpr bool is_distance = B::bounds::lowest >= 0 && B::bounds::highest <= 31;

/// The distance of a shift, up to 32 for all that are larger: TOSA demands 0 to 31, and says nothing of
/// others; the evaluator takes six bits of them.
template <class T, integer B>
HEADRACE_INLINE constexpr T distance(B b) {
    using m = machine<T>;
    const T by = m::of(b.value);
    if constexpr (is_distance<B>)
        return by;
    else
        return m::min(m::bits_and(by, m::of(63)), m::of(32));
}
/// Returns `shift(distance)`, or 0 if the distance is 32.
template <integer B, class T, class Shift>
HEADRACE_INLINE constexpr T shifted(T by, Shift shift) {
    using m = machine<T>;
    if constexpr (is_distance<B>) {
        return shift(by);
    } else {
        const T mask = m::minus(m::right(by, m::of(5)), m::of(1));
        return m::bits_and(shift(m::bits_and(by, m::of(31))), mask);
    }
}
/// The low bits of a number as those of an element.
template <element E, class T>
HEADRACE_INLINE constexpr auto low_bits(T v) {
    using R = number<lowest_of(E), highest_of(E), T>;
    using m = typename R::math;
    if constexpr (bytes_of(E) >= 4)
        return R{v};
    else if constexpr (lowest_of(E) == 0)
        return R{m::bits_and(v, m::of(static_cast<std::int32_t>(highest_of(E))))};
    else
        return R{m::low_signed(v, 8 * bytes_of(E))};
}
}  // namespace detail

/// TOSA 1.0, 2.4.2 (ARITHMETIC_RIGHT_SHIFT). `Round` adds the last bit that is shifted out.
template <bool Round = false, integer A, integer B>
HEADRACE_INLINE constexpr auto arithmetic_right_shift(A a, B b) {
    using T = detail::rep_of<A, B>;
    using m = detail::machine<T>;
    using R = number<std::min<std::int64_t>(A::bounds::lowest, 0),
        std::max<std::int64_t>(A::bounds::highest, 0), T>;
    const T x = m::of(a.value), by = detail::distance<T>(b);
    if constexpr (Round) {
        // A shift by 0 has no last bit: the first shift then goes as far as the distance, and the bit is
        // masked.
        const T before = m::max(m::minus(by, m::of(1)), m::of(0));
        const T bit = m::bits_and(m::right(x, before), m::minus(by, before));
        return R{m::plus(m::right(x, m::min(by, m::of(31))), bit)};
    } else {
        return R{m::right(x, m::min(by, m::of(31)))};
    }
}
/// TOSA 1.0, 2.4.8 (LOGICAL_LEFT_SHIFT) of elements of type `E`: bits beyond it are lost.
template <element E = element::int32, integer A, integer B>
HEADRACE_INLINE constexpr auto logical_left_shift(A a, B b) {
    using T = detail::rep_of<A, B>;
    using m = detail::machine<T>;
    const auto left = [&](T by) { return m::left(m::of(a.value), by); };
    return detail::low_bits<E>(detail::shifted<B>(detail::distance<T>(b), left));
}
/// TOSA 1.0, 2.4.9 (LOGICAL_RIGHT_SHIFT) of elements of type `E`: zeros come into their highest bits.
template <element E = element::int32, integer A, integer B>
HEADRACE_INLINE constexpr auto logical_right_shift(A a, B b) {
    using T = detail::rep_of<A, B>;
    using m = detail::machine<T>;
    T x = m::of(a.value);
    if constexpr (bytes_of(E) < 4 && A::bounds::lowest < 0)
        x = m::bits_and(x, m::of((1 << (8 * bytes_of(E))) - 1));
    const auto right = [&](T by) { return m::logical_right(x, by); };
    return detail::low_bits<E>(detail::shifted<B>(detail::distance<T>(b), right));
}
/// TOSA 1.0, 2.5.4 (CLZ) of int32.
template <integer A>
HEADRACE_INLINE constexpr auto clz(A a) {
    const auto count = [](std::int32_t x) {
        return std::int32_t{std::countl_zero(static_cast<std::uint32_t>(x))};
    };
    using m = typename A::math;
    return number<0, 32, typename A::rep>{m::each(count, a.value)};
}

}  // namespace headrace::on_device

#endif
