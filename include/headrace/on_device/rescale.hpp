// SPDX-License-Identifier: MIT
// Defines headrace::on_device::rescale, TOSA's RESCALE of numbers, in the cheapest arithmetic that is exact.
#ifndef HEADRACE_ON_DEVICE_RESCALE_HPP
#define HEADRACE_ON_DEVICE_RESCALE_HPP

#include <algorithm>
#include <type_traits>

#include <headrace/on_device/arithmetic.hpp>
#include <headrace/on_device/number.hpp>
#include <headrace/on_device/rescaling.hpp>

namespace headrace::on_device {

namespace detail {

/// The output type's bits of a result.
template <rescaling S, integer A>
HEADRACE_INLINE constexpr auto limited(A a) {
    constexpr bool loses_sign = S.output_unsigned && lowest_of(S.output) < 0;
    constexpr std::int64_t lo = S.output_unsigned ? 0 : lowest_of(S.output),
                           hi = S.output_unsigned ? highest_as_unsigned(S.output) : highest_of(S.output);
    const auto r = clamp<lo, hi>(a);
    using R = std::remove_const_t<decltype(r)>;
    if constexpr (loses_sign && R::bounds::highest > highest_of(S.output))
        return low_bits<S.output>(r.value);
    else
        return r;
}
/// Saturates a scalar of 64 bits likewise.
template <rescaling S>
HEADRACE_INLINE constexpr std::int32_t saturated(std::int64_t v) {
    return static_cast<std::int32_t>(limited<S>(number<INT64_MIN, INT64_MAX, std::int64_t>{v}).value);
}
template <class Rep>
using rescaled_rep = std::conditional_t<std::is_same_v<Rep, std::int64_t>, std::int32_t, Rep>;

/// RESCALE of a scalar in 64 bits. The result is limited only if it needs them, too.
template <rescaling S, scale_plan P>
struct wide_scale {
    static constexpr bool is_limited = !fits_int32(P.low, P.high);
    static constexpr std::int64_t lowest = is_limited ? lowest_of(S.output) : P.low,
                                  highest = is_limited ? highest_of(S.output) : P.high;

    HEADRACE_INLINE constexpr std::int32_t operator()(std::int64_t x) const {
        const std::int64_t factor =
            machine<std::int64_t>::minus(x, zero_of(S.input_zero, S.input, S.input_unsigned));
        const std::int64_t r =
            P.output_zero + scaled_widely(factor, S.multiplier, std::clamp(S.shift, 1, 62), S.rounds_twice());
        if constexpr (is_limited)
            return saturated<S>(r);
        else
            return static_cast<std::int32_t>(r);
    }
};
template <rescaling S, scale_plan P, integer A>
HEADRACE_INLINE constexpr auto rescaled_widely(A a) {
    using scale = wide_scale<S, P>;
    using R = number<scale::lowest, scale::highest, rescaled_rep<typename A::rep>>;
    R r{};
    if constexpr (std::is_same_v<typename A::rep, std::int64_t>)
        r = {scale()(a.value)};
    else
        r = {A::math::each(scale(), a.value)};
    if constexpr (scale::is_limited)
        return r;
    else
        return limited<S>(r);
}

template <rescaling S, integer A>
struct scale_steps {
    static constexpr scale_plan plan = plan_scale(S, A::bounds::lowest, A::bounds::highest);
    using T = rescaled_rep<typename A::rep>;
    using m = machine<T>;
    using R = number<plan.low, plan.high, T>;
    static constexpr auto addend = static_cast<std::int32_t>(static_cast<std::uint32_t>(plan.addend));

    HEADRACE_INLINE static constexpr T add_zero(T v) {
        if constexpr (plan.output_zero == 0)
            return v;
        else
            return m::plus(v, m::of(static_cast<std::int32_t>(plan.output_zero)));
    }
    HEADRACE_INLINE static constexpr auto shift_right(T v) {
        constexpr std::int64_t lo = lowest_of(S.output), hi = highest_of(S.output);
        if constexpr (plan.output_zero == 0 && !S.output_unsigned && lo < 0 && bytes_of(S.output) < 4 &&
            plan.low < lo && plan.high > hi) {
            return number<lo, hi, T>{m::template saturated_right<8 * bytes_of(S.output), plan.right>(v)};
        } else {
            return limited<S>(R{add_zero(m::template right<plan.right>(v))});
        }
    }
    HEADRACE_INLINE static constexpr auto run(A a) {
        if constexpr (plan.form == scale_form::constant) {
            return limited<S>(number<plan.low, plan.high, integer_for<plan.low, plan.high>>{plan.low});
        } else if constexpr (plan.form == scale_form::wide) {
            return rescaled_widely<S, plan>(a);
        } else {
            const T x = m::of(a.value);
            if constexpr (plan.form == scale_form::left_shift) {
                return limited<S>(R{m::plus(m::template left<plan.left>(x), m::of(addend))});
            } else if constexpr (plan.form == scale_form::right_shift) {
                return shift_right(m::plus(x, m::of(addend)));
            } else if constexpr (plan.form == scale_form::narrow) {
                return shift_right(m::plus(m::times(x, m::of(plan.multiplier)), m::of(addend)));
            } else if constexpr (plan.form == scale_form::rounded_high) {
                const T factor = m::plus(m::template left<plan.left>(x), m::of(addend));
                return limited<S>(R{add_zero(m::rounded_high(factor, plan.multiplier))});
            } else {
                constexpr auto zero =
                    static_cast<std::int32_t>(zero_of(S.input_zero, S.input, S.input_unsigned));
                const T factor = zero == 0 ? x : m::minus(x, m::of(zero));
                return shift_right(m::high_plus(factor, plan.multiplier, addend));
            }
        }
    }
};

}  // namespace detail

/// RESCALE of a number that has the bounds of its element type, or narrower ones.
template <rescaling S, integer A>
HEADRACE_INLINE constexpr auto rescale(A a) {
    static_assert(bytes_of(S.output) <= 4, "rescale: a result has at most 32 bits");
    if constexpr (S.input_unsigned && A::bounds::lowest < 0) {
        constexpr std::int64_t mask = detail::highest_as_unsigned(S.input);
        if constexpr (bytes_of(S.input) < 4) {
            return rescale<S>(
                number<0, mask, typename A::rep>{A::math::bits_and(a.value, A::math::of(mask))});
        } else {
            return rescale<S>(number<0, mask, std::int64_t>{std::int64_t{a.value} & mask});
        }
    } else {
        return detail::scale_steps<S, A>::run(a);
    }
}

namespace detail {
template <rescaling S, bool LosesSign>
struct channel_scale {
    HEADRACE_INLINE constexpr std::int32_t operator()(
        std::int64_t x, std::int32_t multiplier, std::int32_t shift) const {
        if (LosesSign) x &= highest_as_unsigned(S.input);
        const int by = std::clamp<std::int32_t>(shift, 1, 62);
        const bool twice = S.scale32 && by > 31 && S.rounds == rounding::double_round;
        const std::int64_t zero = zero_of(S.input_zero, S.input, S.input_unsigned);
        return saturated<S>(scaled_widely(x - zero, multiplier, by, twice) +
            zero_of(S.output_zero, S.output, S.output_unsigned));
    }
};
}  // namespace detail

/// The same with a multiplier and a shift of which nothing is known: those of a channel.
template <rescaling S, integer A, integer M, integer N>
HEADRACE_INLINE constexpr auto rescale(A a, M multiplier, N shift) {
    constexpr detail::channel_scale < S, S.input_unsigned&& A::bounds::lowest<0> scale;
    using T = detail::rescaled_rep<detail::rep_of<A, M, N>>;
    using R = number<lowest_of(S.output), highest_of(S.output), T>;
    if constexpr (std::is_same_v<typename A::rep, std::int64_t>) {
        return R{scale(a.value, multiplier.value, shift.value)};
    } else {
        using m = detail::machine<T>;
        return R{m::each(scale, m::of(a.value), m::of(multiplier.value), m::of(shift.value))};
    }
}

}  // namespace headrace::on_device

#endif
