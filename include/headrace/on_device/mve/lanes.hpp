// SPDX-License-Identifier: MIT
// Defines headrace::on_device::lanes, four numbers that TOSA's functions take at once on MVE.
#ifndef HEADRACE_ON_DEVICE_MVE_LANES_HPP
#define HEADRACE_ON_DEVICE_MVE_LANES_HPP

#include <arm_mve.h>

#include <concepts>
#include <cstdint>
#include <utility>

#include <headrace/on_device/functions.hpp>
#include <headrace/on_device/number.hpp>

namespace headrace::on_device {

/// Four integers of 32 bits: the representation of a number.
struct lanes {
    int32x4_t values;
};
/// Four floats, of expressions in which an integer becomes a float on its way to another integer. Functions
/// take them one by one.
struct real_lanes {
    float values[4];
};

namespace detail {

template <>
struct machine<lanes> {
    HEADRACE_INLINE static lanes of(std::integral auto v) {
        return {vdupq_n_s32(static_cast<std::int32_t>(v))};
    }
    HEADRACE_INLINE static lanes of(lanes v) { return v; }
    HEADRACE_INLINE static lanes plus(lanes a, lanes b) { return {vaddq_s32(a.values, b.values)}; }
    HEADRACE_INLINE static lanes minus(lanes a, lanes b) { return {vsubq_s32(a.values, b.values)}; }
    HEADRACE_INLINE static lanes times(lanes a, lanes b) { return {vmulq_s32(a.values, b.values)}; }
    HEADRACE_INLINE static lanes left(lanes a, lanes by) { return {vshlq_s32(a.values, by.values)}; }
    HEADRACE_INLINE static lanes right(lanes a, lanes by) {
        return {vshlq_s32(a.values, vnegq_s32(by.values))};
    }
    HEADRACE_INLINE static lanes logical_right(lanes a, lanes by) {
        return {vreinterpretq_s32_u32(vshlq_u32(vreinterpretq_u32_s32(a.values), vnegq_s32(by.values)))};
    }
    template <int By>
    HEADRACE_INLINE static lanes left(lanes a) {
        return {vshlq_n_s32(a.values, By)};
    }
    template <int By>
    HEADRACE_INLINE static lanes right(lanes a) {
        if constexpr (By == 0)
            return a;
        else
            return {vshrq_n_s32(a.values, By)};
    }
    HEADRACE_INLINE static lanes min(lanes a, lanes b) { return {vminq_s32(a.values, b.values)}; }
    HEADRACE_INLINE static lanes max(lanes a, lanes b) { return {vmaxq_s32(a.values, b.values)}; }
    HEADRACE_INLINE static lanes bits_and(lanes a, lanes b) { return {vandq_s32(a.values, b.values)}; }
    HEADRACE_INLINE static lanes bits_or(lanes a, lanes b) { return {vorrq_s32(a.values, b.values)}; }
    HEADRACE_INLINE static lanes bits_xor(lanes a, lanes b) { return {veorq_s32(a.values, b.values)}; }
    HEADRACE_INLINE static lanes equal(lanes a, lanes b) {
        return {vpselq_s32(vdupq_n_s32(1), vdupq_n_s32(0), vcmpeqq_s32(a.values, b.values))};
    }
    HEADRACE_INLINE static lanes greater(lanes a, lanes b) {
        return {vpselq_s32(vdupq_n_s32(1), vdupq_n_s32(0), vcmpgtq_s32(a.values, b.values))};
    }
    HEADRACE_INLINE static lanes chosen(lanes condition, lanes a, lanes b) {
        return {vpselq_s32(a.values, b.values, vcmpneq_n_s32(condition.values, 0))};
    }
    HEADRACE_INLINE static lanes rounded_high(lanes a, std::int32_t b) {
        return {vrmulhq_s32(a.values, vdupq_n_s32(b))};
    }
    HEADRACE_INLINE static lanes high_plus(lanes a, std::int32_t b, std::int32_t c) {
        return {vaddq_n_s32(vmulhq_s32(a.values, vdupq_n_s32(b)), c)};
    }
    /// A saturating shift limits to 32 bits, of which the highest remain.
    template <int Bits, int By>
    HEADRACE_INLINE static lanes saturated_right(lanes a) {
        constexpr int unused = 32 - Bits;
        if constexpr (By > unused)
            return saturated_right<Bits, unused>(right<By - unused>(a));
        else if constexpr (By == unused)
            return right<unused>(a);
        else
            return {vshrq_n_s32(vqshlq_n_s32(a.values, unused - By), unused)};
    }
    HEADRACE_INLINE static lanes low_signed(lanes a, int bits) {
        return bits == 8 ? lanes{vshrq_n_s32(vshlq_n_s32(a.values, 24), 24)}
                         : lanes{vshrq_n_s32(vshlq_n_s32(a.values, 16), 16)};
    }
    HEADRACE_INLINE static lanes lookup(const std::int8_t* entries, lanes a) {
        return {vldrbq_gather_offset_s32(entries, vreinterpretq_u32_s32(a.values))};
    }
    HEADRACE_INLINE static real_lanes to_float(lanes a) {
        std::int32_t x[4];
        vst1q_s32(x, a.values);
        return {{static_cast<float>(x[0]), static_cast<float>(x[1]), static_cast<float>(x[2]),
            static_cast<float>(x[3])}};
    }
    template <class... L>
    HEADRACE_INLINE static lanes each(auto f, L... operands) {
        std::int32_t x[sizeof...(L)][4];
        int n = 0;
        (vst1q_s32(x[n++], operands.values), ...);
        return each_of(f, x, std::index_sequence_for<L...>());
    }

private:
    template <std::size_t N, std::size_t... K>
    HEADRACE_INLINE static lanes each_of(auto f, const std::int32_t (&x)[N][4], std::index_sequence<K...>) {
        std::int32_t result[4];
        for (int i = 0; i != 4; ++i) result[i] = f(x[K][i]...);
        return {vld1q_s32(result)};
    }
};

HEADRACE_INLINE float lane_of(const real_lanes& x, int i) { return x.values[i]; }
HEADRACE_INLINE float lane_of(float x, int) { return x; }

template <class T>
concept real = std::same_as<T, float> || std::same_as<T, real_lanes>;
template <class... T>
concept with_real_lanes = (real<T> && ...) && (std::same_as<T, real_lanes> || ...);

/// A function of floats for each lane, and the same for one that gives a number.
template <class... X>
HEADRACE_INLINE real_lanes each_real(auto f, X... x) {
    real_lanes r;
    for (int i = 0; i != 4; ++i) r.values[i] = f(lane_of(x, i)...);
    return r;
}
template <class... X>
HEADRACE_INLINE auto each_number(auto f, X... x) {
    using R = decltype(f(lane_of(x, 0)...));
    std::int32_t r[4];
    for (int i = 0; i != 4; ++i) r[i] = static_cast<std::int32_t>(f(lane_of(x, i)...).value);
    return number<R::bounds::lowest, R::bounds::highest, lanes>{{vld1q_s32(r)}};
}

}  // namespace detail

// Functions of floats, as functions.hpp and float_math.hpp define them.

template <class A, class B>
    requires detail::with_real_lanes<A, B>
HEADRACE_INLINE real_lanes add(A a, B b) {
    return detail::each_real([](float x, float y) { return add(x, y); }, a, b);
}
template <class A, class B>
    requires detail::with_real_lanes<A, B>
HEADRACE_INLINE real_lanes sub(A a, B b) {
    return detail::each_real([](float x, float y) { return sub(x, y); }, a, b);
}
template <class A, class B>
    requires detail::with_real_lanes<A, B>
HEADRACE_INLINE real_lanes mul(A a, B b) {
    return detail::each_real([](float x, float y) { return mul(x, y); }, a, b);
}
template <class A, class B>
    requires detail::with_real_lanes<A, B>
HEADRACE_INLINE real_lanes pow(A a, B b) {
    return detail::each_real([](float x, float y) { return pow(x, y); }, a, b);
}
template <nan_mode M = nan_mode::propagate, class A, class B>
    requires detail::with_real_lanes<A, B>
HEADRACE_INLINE real_lanes maximum(A a, B b) {
    return detail::each_real([](float x, float y) { return maximum<M>(x, y); }, a, b);
}
template <nan_mode M = nan_mode::propagate, class A, class B>
    requires detail::with_real_lanes<A, B>
HEADRACE_INLINE real_lanes minimum(A a, B b) {
    return detail::each_real([](float x, float y) { return minimum<M>(x, y); }, a, b);
}
template <nan_mode M = nan_mode::propagate>
HEADRACE_INLINE real_lanes clamp(real_lanes a, float lo, float hi) {
    return detail::each_real([=](float x) { return clamp<M>(x, lo, hi); }, a);
}
template <class A, class B>
    requires detail::with_real_lanes<A, B>
HEADRACE_INLINE auto equal(A a, B b) {
    return detail::each_number([](float x, float y) { return equal(x, y); }, a, b);
}
template <class A, class B>
    requires detail::with_real_lanes<A, B>
HEADRACE_INLINE auto greater(A a, B b) {
    return detail::each_number([](float x, float y) { return greater(x, y); }, a, b);
}
template <class A, class B>
    requires detail::with_real_lanes<A, B>
HEADRACE_INLINE auto greater_equal(A a, B b) {
    return detail::each_number([](float x, float y) { return greater_equal(x, y); }, a, b);
}
template <integer C, class A, class B>
    requires(detail::with_real_lanes<A, B> ||
        (detail::real<A> && detail::real<B> && std::same_as<typename C::rep, lanes>))
HEADRACE_INLINE real_lanes select(C c, A a, B b) {
    std::int32_t condition[4];
    vst1q_s32(condition, detail::machine<lanes>::of(c.value).values);
    real_lanes r;
    for (int i = 0; i != 4; ++i)
        r.values[i] = condition[i] != 0 ? detail::lane_of(a, i) : detail::lane_of(b, i);
    return r;
}
template <element E>
HEADRACE_INLINE auto cast(real_lanes a) {
    if constexpr (E == element::float32)
        return a;
    else if constexpr (is_floating(E))
        return detail::each_real([](float x) { return cast<E>(x); }, a);
    else
        return detail::each_number([](float x) { return cast<E>(x); }, a);
}
HEADRACE_INLINE real_lanes negate(real_lanes a) {
    return detail::each_real([](float x) { return negate(x); }, a);
}
HEADRACE_INLINE real_lanes abs(real_lanes a) {
    return detail::each_real([](float x) { return abs(x); }, a);
}
HEADRACE_INLINE real_lanes ceil(real_lanes a) {
    return detail::each_real([](float x) { return ceil(x); }, a);
}
HEADRACE_INLINE real_lanes floor(real_lanes a) {
    return detail::each_real([](float x) { return floor(x); }, a);
}
HEADRACE_INLINE real_lanes reciprocal(real_lanes a) {
    return detail::each_real([](float x) { return reciprocal(x); }, a);
}
HEADRACE_INLINE real_lanes rsqrt(real_lanes a) {
    return detail::each_real([](float x) { return rsqrt(x); }, a);
}
HEADRACE_INLINE real_lanes exp(real_lanes a) {
    return detail::each_real([](float x) { return exp(x); }, a);
}
HEADRACE_INLINE real_lanes log(real_lanes a) {
    return detail::each_real([](float x) { return log(x); }, a);
}
HEADRACE_INLINE real_lanes sin(real_lanes a) {
    return detail::each_real([](float x) { return sin(x); }, a);
}
HEADRACE_INLINE real_lanes cos(real_lanes a) {
    return detail::each_real([](float x) { return cos(x); }, a);
}
HEADRACE_INLINE real_lanes tanh(real_lanes a) {
    return detail::each_real([](float x) { return tanh(x); }, a);
}
HEADRACE_INLINE real_lanes sigmoid(real_lanes a) {
    return detail::each_real([](float x) { return sigmoid(x); }, a);
}
HEADRACE_INLINE real_lanes erf(real_lanes a) {
    return detail::each_real([](float x) { return erf(x); }, a);
}

}  // namespace headrace::on_device

#endif
