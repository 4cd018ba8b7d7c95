// SPDX-License-Identifier: MIT
// Defines TOSA's functions of integers, headrace::on_device::add and its kin, for
// headrace::on_device::number.
#ifndef HEADRACE_ON_DEVICE_ARITHMETIC_HPP
#define HEADRACE_ON_DEVICE_ARITHMETIC_HPP

#include <algorithm>

#include <headrace/on_device/bits.hpp>
#include <headrace/on_device/number.hpp>

namespace headrace::on_device {

// The bounds of a result follow from those of the operands. A result that may exceed 32 bits has all numbers
// of int32, and wraps. Operands have 32 bits: TOSA has no arithmetic on int48.

namespace detail {

template <integer A, integer B>
struct products {
    static constexpr std::int64_t all[4]{A::bounds::lowest * B::bounds::lowest,
        A::bounds::lowest* B::bounds::highest, A::bounds::highest* B::bounds::lowest,
        A::bounds::highest* B::bounds::highest};
    static constexpr std::int64_t lowest = std::min({all[0], all[1], all[2], all[3]}),
                                  highest = std::max({all[0], all[1], all[2], all[3]});
};

}  // namespace detail

/// TOSA 1.0, 2.4.1 (ADD).
template <integer A, integer B>
HEADRACE_INLINE constexpr auto add(A a, B b) {
    using R = detail::wrapped<A::bounds::lowest + B::bounds::lowest, A::bounds::highest + B::bounds::highest,
        detail::rep_of<A, B>>;
    using m = typename R::math;
    return R{m::plus(detail::as_in<R>(a), detail::as_in<R>(b))};
}
/// TOSA 1.0, 2.4.16 (SUB).
template <integer A, integer B>
HEADRACE_INLINE constexpr auto sub(A a, B b) {
    using R = detail::wrapped<A::bounds::lowest - B::bounds::highest, A::bounds::highest - B::bounds::lowest,
        detail::rep_of<A, B>>;
    using m = typename R::math;
    return R{m::minus(detail::as_in<R>(a), detail::as_in<R>(b))};
}
/// TOSA 1.0, 2.4.14 (MUL). A shift rounds half up.
template <int Shift = 0, integer A, integer B>
HEADRACE_INLINE constexpr auto mul(A a, B b) {
    using P = detail::products<A, B>;
    // A shift by 63 adds what 64 bits may not hold: nothing is known about its result then.
    constexpr std::int64_t half = Shift == 0 || Shift > 62 ? 0 : std::int64_t{1} << (Shift - 1);
    using R =
        detail::wrapped<((P::lowest + half) >> Shift), ((P::highest + half) >> Shift), detail::rep_of<A, B>>;
    using m = typename R::math;
    if constexpr (Shift == 0) {
        return R{m::times(detail::as_in<R>(a), detail::as_in<R>(b))};
    } else if constexpr (Shift < 31 && detail::fits_int32(P::lowest, P::highest + half)) {
        const auto product = m::times(detail::as_in<R>(a), detail::as_in<R>(b));
        return R{m::template right<Shift>(m::plus(product, m::of(static_cast<std::int32_t>(half))))};
    } else {
        const auto wide = [](std::int32_t x, std::int32_t y) {
            constexpr std::int64_t rounding = std::int64_t{1} << (Shift - 1);
            return static_cast<std::int32_t>(
                detail::machine<std::int64_t>::plus(std::int64_t{x} * y, rounding) >> Shift);
        };
        using whole = number<(Shift > 62 ? detail::int32_lowest : R::bounds::lowest),
            (Shift > 62 ? detail::int32_highest : R::bounds::highest), typename R::rep>;
        return whole{m::each(wide, detail::as_in<R>(a), detail::as_in<R>(b))};
    }
}
/// TOSA 1.0, 2.4.6 (INTDIV): toward zero. A quotient by 0, which the specification forbids, is 0.
template <integer A, integer B>
HEADRACE_INLINE constexpr auto intdiv(A a, B b) {
    constexpr std::int64_t most = std::max(-A::bounds::lowest, A::bounds::highest);
    using R = detail::wrapped<(B::bounds::lowest < 0 ? -most : std::min<std::int64_t>(A::bounds::lowest, 0)),
        (B::bounds::lowest < 0 ? most : std::max<std::int64_t>(A::bounds::highest, 0)), detail::rep_of<A, B>>;
    using m = typename R::math;
    const auto quotient = [](std::int32_t x, std::int32_t y) {
        return y == 0 ? 0 : y == -1 ? detail::machine<std::int32_t>::minus(0, x) : x / y;
    };
    return R{m::each(quotient, detail::as_in<R>(a), detail::as_in<R>(b))};
}
/// TOSA 1.0, 2.4.12 (MAXIMUM). The mode is for floats.
template <nan_mode = nan_mode::propagate, integer A, integer B>
HEADRACE_INLINE constexpr auto maximum(A a, B b) {
    using R = number<std::max(A::bounds::lowest, B::bounds::lowest),
        std::max(A::bounds::highest, B::bounds::highest), detail::rep_of<A, B>>;
    using m = typename R::math;
    if constexpr (A::bounds::lowest >= B::bounds::highest)
        return R{detail::as_in<R>(a)};
    else if constexpr (B::bounds::lowest >= A::bounds::highest)
        return R{detail::as_in<R>(b)};
    else
        return R{m::max(detail::as_in<R>(a), detail::as_in<R>(b))};
}
/// TOSA 1.0, 2.4.13 (MINIMUM). The mode is for floats.
template <nan_mode = nan_mode::propagate, integer A, integer B>
HEADRACE_INLINE constexpr auto minimum(A a, B b) {
    using R = number<std::min(A::bounds::lowest, B::bounds::lowest),
        std::min(A::bounds::highest, B::bounds::highest), detail::rep_of<A, B>>;
    using m = typename R::math;
    if constexpr (A::bounds::highest <= B::bounds::lowest)
        return R{detail::as_in<R>(a)};
    else if constexpr (B::bounds::highest <= A::bounds::lowest)
        return R{detail::as_in<R>(b)};
    else
        return R{m::min(detail::as_in<R>(a), detail::as_in<R>(b))};
}
/// TOSA 1.0, 2.3.1 (CLAMP). The maximum goes last, so that two clamps become one where they share an upper
/// bound.
template <std::int64_t Lo, std::int64_t Hi, integer A>
HEADRACE_INLINE constexpr auto clamp(A a) {
    return maximum(minimum(a, constant<Hi>), constant<Lo>);
}
/// TOSA 1.0, 2.5.1 (ABS). The least int32 stays.
template <integer A>
HEADRACE_INLINE constexpr auto abs(A a) {
    constexpr std::int64_t most = std::max(-A::bounds::lowest, A::bounds::highest);
    using m = typename A::math;
    using R = number<(most > detail::int32_highest ? A::bounds::lowest : 0),
        std::min(most, detail::int32_highest), typename A::rep>;
    if constexpr (A::bounds::lowest >= 0)
        return a;
    else
        return R{m::max(a.value, m::minus(m::of(0), a.value))};
}
/// TOSA 1.0, 2.5.10 (NEGATE): input_zero - a + output_zero, as near as the element type comes.
template <std::int64_t InputZero, std::int64_t OutputZero, element E, integer A>
HEADRACE_INLINE constexpr auto negate(A a) {
    constexpr std::int64_t zero = InputZero + OutputZero, lo = zero - A::bounds::highest,
                           hi = zero - A::bounds::lowest;
    using T = typename A::rep;
    using m = detail::machine<T>;
    if constexpr (detail::fits_int32(zero, zero) && detail::fits_int32(lo, hi)) {
        const number<lo, hi, T> r{m::minus(m::of(static_cast<std::int32_t>(zero)), a.value)};
        return clamp<lowest_of(E), highest_of(E)>(r);
    } else {
        const auto wide = [](std::int32_t x) {
            return static_cast<std::int32_t>(std::clamp(zero - x, lowest_of(E), highest_of(E)));
        };
        return number<lowest_of(E), highest_of(E), T>{m::each(wide, a.value)};
    }
}

/// TOSA 1.0, 2.7 (EQUAL, GREATER, GREATER_EQUAL).
template <integer A, integer B>
HEADRACE_INLINE constexpr auto equal(A a, B b) {
    using T = detail::rep_of<A, B>;
    using m = detail::machine<T>;
    return number<0, 1, T>{m::equal(m::of(a.value), m::of(b.value))};
}
template <integer A, integer B>
HEADRACE_INLINE constexpr auto greater(A a, B b) {
    using T = detail::rep_of<A, B>;
    using m = detail::machine<T>;
    return number<0, 1, T>{m::greater(m::of(a.value), m::of(b.value))};
}
template <integer A, integer B>
HEADRACE_INLINE constexpr auto greater_equal(A a, B b) {
    return logical_not(greater(b, a));
}
/// TOSA 1.0, 2.6.1 (SELECT): a where the condition holds, else b.
template <integer C, integer A, integer B>
HEADRACE_INLINE constexpr auto select(C c, A a, B b) {
    using T = detail::rep_of<C, A, B>;
    using m = detail::machine<T>;
    using R = number<std::min(A::bounds::lowest, B::bounds::lowest),
        std::max(A::bounds::highest, B::bounds::highest), T>;
    return R{m::chosen(m::of(c.value), detail::as_in<R>(a), detail::as_in<R>(b))};
}

}  // namespace headrace::on_device

#endif
