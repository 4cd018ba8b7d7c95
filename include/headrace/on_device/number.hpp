// SPDX-License-Identifier: MIT
// Defines headrace::on_device::number, an integer whose bounds the compiler knows, and load and store, which
// read and write elements as such.
#ifndef HEADRACE_ON_DEVICE_NUMBER_HPP
#define HEADRACE_ON_DEVICE_NUMBER_HPP

#include <concepts>
#include <cstdint>
#include <type_traits>

#include <headrace/on_device/core.hpp>
#include <headrace/on_device/tensor.hpp>

namespace headrace::on_device {

/// NaN in minima and maxima: it is the result, or does not count (TOSA 1.0, 1.10.2).
enum class nan_mode : std::uint8_t { propagate, ignore };

namespace detail {

constexpr std::int64_t int32_lowest = -2147483648LL, int32_highest = 2147483647LL;
constexpr bool fits_int32(std::int64_t lo, std::int64_t hi) {
    return lo >= int32_lowest && hi <= int32_highest;
}

/// Static members of a number itself would make GCC warn of a change in how it is passed.
template <std::int64_t Lo, std::int64_t Hi>
struct bounds {
    static constexpr std::int64_t lowest = Lo, highest = Hi;
};
template <class T>
struct machine;

template <std::int64_t Lo, std::int64_t Hi>
using integer_for = std::conditional_t<fits_int32(Lo, Hi), std::int32_t, std::int64_t>;

}  // namespace detail

/// An integer of [Lo, Hi]. The bounds let functions choose the cheapest arithmetic that is exact. `Rep` holds
/// the number: an int32, an int64 if the bounds demand it, or a vector of numbers that share the bounds. A
/// boolean is number<0, 1>.
template <std::int64_t Lo, std::int64_t Hi, class Rep = detail::integer_for<Lo, Hi>>
struct number {
    using bounds = detail::bounds<Lo, Hi>;
    using rep = Rep;
    using math = detail::machine<Rep>;
    Rep value;
};

/// Matches each `number`.
template <class T>
concept integer = requires { typename T::rep; } &&
    std::same_as<T, number<T::bounds::lowest, T::bounds::highest, typename T::rep>>;

/// A constant as a number.
template <std::int64_t V>
inline constexpr number<V, V> constant{V};

/// The integers that an element holds.
constexpr std::int64_t lowest_of(element e) {
    switch (e) {
        case element::int8:
            return -128;
        case element::int16:
            return -32768;
        case element::int32:
            return detail::int32_lowest;
        case element::int48:
            return -(std::int64_t{1} << 47);
        default:
            return 0;
    }
}
constexpr std::int64_t highest_of(element e) {
    switch (e) {
        case element::boolean:
            return 1;
        case element::uint8:
            return 255;
        case element::uint16:
            return 65535;
        case element::float32:
        case element::float16:
        case element::bfloat16:
            return 0;
        default:
            return -1 - lowest_of(e);
    }
}

/// An element as the functions of functions.hpp take it: a float, or a number with the bounds of its type.
template <element E, class Rep = detail::integer_for<lowest_of(E), highest_of(E)>>
using value_of = std::conditional_t<is_floating(E), float, number<lowest_of(E), highest_of(E), Rep>>;

template <element E>
HEADRACE_INLINE constexpr value_of<E> load(const element_t<E>* place) {
    if constexpr (is_floating(E)) {
        return *place;
    } else {
        return {*place};
    }
}

/// Stores the low bits of what the element cannot hold; a float is rounded.
template <element E, class V>
HEADRACE_INLINE constexpr void store(element_t<E>* place, V v) {
    if constexpr (is_floating(E)) {
        static_assert(
            std::same_as<V, float>, "elementwise: a float is stored; cast<element::float32> the result");
        *place = v;
    } else {
        static_assert(integer<V>, "elementwise: an integer is stored; cast<element> the result");
        static_assert(E != element::boolean || (V::bounds::lowest >= 0 && V::bounds::highest <= 1),
            "elementwise: a boolean is stored; cast<element::boolean> the result");
        *place = static_cast<element_t<E>>(v.value);
    }
}

namespace detail {

/// The high word of a product.
HEADRACE_INLINE constexpr std::int32_t high_word(std::int32_t a, std::int32_t b) {
    return static_cast<std::int32_t>((std::int64_t{a} * b) >> 32);
}
/// The high word of a product, rounded half up.
HEADRACE_INLINE constexpr std::int32_t rounded_high_word(std::int32_t a, std::int32_t b) {
#if defined(__ARM_FEATURE_DSP) && !defined(__aarch64__)
    if (!std::is_constant_evaluated()) {
        std::int32_t word;
        asm("smmulr %0, %1, %2" : "=r"(word) : "r"(a), "r"(b));
        return word;
    }
#endif
    return static_cast<std::int32_t>((std::int64_t{a} * b + (std::int64_t{1} << 31)) >> 32);
}
/// The high word of a product, and a number added to it.
HEADRACE_INLINE constexpr std::int32_t high_word_plus(std::int32_t a, std::int32_t b, std::int32_t c) {
#if defined(__ARM_FEATURE_DSP) && !defined(__aarch64__)
    if (!std::is_constant_evaluated()) {
        std::int32_t word;
        asm("smmla %0, %1, %2, %3" : "=r"(word) : "r"(a), "r"(b), "r"(c));
        return word;
    }
#endif
    return static_cast<std::int32_t>(
        static_cast<std::uint32_t>(high_word(a, b)) + static_cast<std::uint32_t>(c));
}

/// Arithmetic on what holds numbers. It wraps, as TOSA's int32 does. A vector type has a specialisation.
template <class T>
struct machine {
    using U = std::make_unsigned_t<T>;
    HEADRACE_INLINE static constexpr T of(std::integral auto v) { return static_cast<T>(v); }
    HEADRACE_INLINE static constexpr T plus(T a, T b) {
        return static_cast<T>(static_cast<U>(a) + static_cast<U>(b));
    }
    HEADRACE_INLINE static constexpr T minus(T a, T b) {
        return static_cast<T>(static_cast<U>(a) - static_cast<U>(b));
    }
    HEADRACE_INLINE static constexpr T times(T a, T b) {
        return static_cast<T>(static_cast<U>(a) * static_cast<U>(b));
    }
    HEADRACE_INLINE static constexpr T left(T a, T by) { return static_cast<T>(static_cast<U>(a) << by); }
    HEADRACE_INLINE static constexpr T right(T a, T by) { return a >> by; }
    template <int By>
    HEADRACE_INLINE static constexpr T left(T a) {
        return left(a, T{By});
    }
    template <int By>
    HEADRACE_INLINE static constexpr T right(T a) {
        return a >> By;
    }
    HEADRACE_INLINE static constexpr T logical_right(T a, T by) {
        return static_cast<T>(static_cast<U>(a) >> by);
    }
    HEADRACE_INLINE static constexpr T min(T a, T b) { return a < b ? a : b; }
    HEADRACE_INLINE static constexpr T max(T a, T b) { return a > b ? a : b; }
    HEADRACE_INLINE static constexpr T bits_and(T a, T b) { return a & b; }
    HEADRACE_INLINE static constexpr T bits_or(T a, T b) { return a | b; }
    HEADRACE_INLINE static constexpr T bits_xor(T a, T b) { return a ^ b; }
    HEADRACE_INLINE static constexpr T equal(T a, T b) { return static_cast<T>(a == b); }
    HEADRACE_INLINE static constexpr T greater(T a, T b) { return static_cast<T>(a > b); }
    HEADRACE_INLINE static constexpr T chosen(T condition, T a, T b) { return condition != 0 ? a : b; }
    HEADRACE_INLINE static constexpr T rounded_high(T a, std::int32_t b) { return rounded_high_word(a, b); }
    HEADRACE_INLINE static constexpr T high_plus(T a, std::int32_t b, std::int32_t c) {
        return high_word_plus(a, b, c);
    }
    /// A number shifted right and limited to a signed type of 8 or 16 bits.
    template <int Bits, int By>
    HEADRACE_INLINE static constexpr T saturated_right(T a) {
#if defined(__ARM_FEATURE_SAT)
        if (!std::is_constant_evaluated()) {
            std::int32_t r;
            if constexpr (By == 0)
                asm("ssat %0, %1, %2" : "=r"(r) : "i"(Bits), "r"(a));
            else
                asm("ssat %0, %1, %2, asr %3" : "=r"(r) : "i"(Bits), "r"(a), "i"(By));
            return r;
        }
#endif
        constexpr T most = (T{1} << (Bits - 1)) - 1;
        return max(min(a >> By, most), -1 - most);
    }
    /// The low 8 or 16 bits as a signed number.
    HEADRACE_INLINE static constexpr T low_signed(T a, int bits) {
        return bits == 8 ? static_cast<T>(static_cast<std::int8_t>(a))
                         : static_cast<T>(static_cast<std::int16_t>(a));
    }
    HEADRACE_INLINE static constexpr float to_float(T a) { return static_cast<float>(a); }
    HEADRACE_INLINE static constexpr T lookup(const std::int8_t* entries, T a) { return entries[a]; }
    /// A function of scalars; of each number, if the type is a vector.
    HEADRACE_INLINE static constexpr T each(auto f, T a) { return f(a); }
    HEADRACE_INLINE static constexpr T each(auto f, T a, T b) { return f(a, b); }
    HEADRACE_INLINE static constexpr T each(auto f, T a, T b, T c) { return f(a, b, c); }
};

// A scalar becomes what it is combined with.
template <class A, class B>
struct common_rep {
    using type = std::conditional_t<std::is_integral_v<A>, B, A>;
};
template <std::integral A, std::integral B>
struct common_rep<A, B> {
    using type = std::conditional_t<(sizeof(A) < sizeof(B)), B, A>;
};
template <integer A, integer... B>
struct rep_of_all {
    using type = typename A::rep;
};
template <integer A, integer B, integer... C>
struct rep_of_all<A, B, C...> {
    using type = typename common_rep<typename A::rep, typename rep_of_all<B, C...>::type>::type;
};
template <integer... A>
using rep_of = typename rep_of_all<A...>::type;

template <integer R, integer A>
HEADRACE_INLINE constexpr typename R::rep as_in(A a) {
    return machine<typename R::rep>::of(a.value);
}

/// A number that wraps at 32 bits.
template <std::int64_t Lo, std::int64_t Hi, class Rep>
using wrapped =
    std::conditional_t<fits_int32(Lo, Hi), number<Lo, Hi, Rep>, number<int32_lowest, int32_highest, Rep>>;

/// The least range of a signed type, or of an unsigned one if it starts at 0, that has all bits of both
/// bounds.
constexpr std::int64_t mask_over(std::int64_t lo, std::int64_t hi) {
    std::int64_t mask = 0;
    while (mask < hi || mask < -1 - lo) mask = 2 * mask + 1;
    return mask;
}

}  // namespace detail

}  // namespace headrace::on_device

#endif
