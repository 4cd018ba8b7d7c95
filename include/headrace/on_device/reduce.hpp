// SPDX-License-Identifier: MIT
// Defines headrace::on_device::reduce, TOSA's reductions along an axis, and headrace::on_device::argmax.
#ifndef HEADRACE_ON_DEVICE_REDUCE_HPP
#define HEADRACE_ON_DEVICE_REDUCE_HPP

#include <cstdint>
#include <type_traits>

#include <headrace/on_device/core.hpp>
#include <headrace/on_device/functions.hpp>
#include <headrace/on_device/loops.hpp>
#include <headrace/on_device/number.hpp>
#include <headrace/on_device/scale.hpp>
#include <headrace/on_device/tensor.hpp>

namespace headrace::on_device {

enum class reduction_kind : std::uint8_t { all, any, max, min, product, sum };

/// TOSA 1.0, 2.8. The output has the rank of the input and size 1 along the axis.
struct reduction {
    tensor input, output;
    int axis = 0;
    reduction_kind kind = reduction_kind::sum;
    nan_mode nan = nan_mode::propagate;
};

/// `Start::of` takes each element before it is reduced, `Finish::of` each result, and gives what is stored.
/// Sums and products of integers wrap at 32 bits; floats are added in the order of the axis.
template <reduction R, class Start = as_it_is, class Finish = as_it_is>
struct reduce {};

namespace detail {

/// The number that a reduction of elements V starts from, with the bounds of its result, and its step.
template <reduction R, class V>
struct accumulation;
template <reduction R>
struct accumulation<R, float> {
    static constexpr float start = R.kind == reduction_kind::max ? -infinity
        : R.kind == reduction_kind::min                          ? infinity
        : R.kind == reduction_kind::product                      ? 1.F
                                                                 : 0.F;
    HEADRACE_INLINE static constexpr float step(float sum, float v) {
        if constexpr (R.kind == reduction_kind::max)
            return maximum<R.nan>(sum, v);
        else if constexpr (R.kind == reduction_kind::min)
            return minimum<R.nan>(sum, v);
        else if constexpr (R.kind == reduction_kind::product)
            return sum * v;
        else
            return sum + v;
    }
};
template <reduction R, integer V>
struct accumulation<R, V> {
    using any_number = number<int32_lowest, int32_highest>;
    static constexpr std::int64_t count = R.input.size[R.axis];
    using type = std::conditional_t<R.kind == reduction_kind::product, any_number,
        std::conditional_t<R.kind == reduction_kind::sum,
            wrapped<count * V::bounds::lowest, count * V::bounds::highest, typename V::rep>, V>>;
    static constexpr type start{
        static_cast<typename type::rep>(R.kind == reduction_kind::max                ? V::bounds::lowest
                : R.kind == reduction_kind::min                                      ? V::bounds::highest
                : R.kind == reduction_kind::product || R.kind == reduction_kind::all ? 1
                                                                                     : 0)};
    HEADRACE_INLINE static constexpr type step(type sum, V v) {
        using m = typename type::math;
        const auto x = m::of(v.value);
        switch (R.kind) {
            case reduction_kind::max:
                return {m::max(sum.value, x)};
            case reduction_kind::min:
                return {m::min(sum.value, x)};
            case reduction_kind::all:
                return {m::bits_and(sum.value, x)};
            case reduction_kind::any:
                return {m::bits_or(sum.value, x)};
            case reduction_kind::product:
                return {m::times(sum.value, x)};
            default:
                return {m::plus(sum.value, x)};
        }
    }
};

/// Strides of a row of results: those of the result and the operand, and the operand's along the axis.
struct reduced_strides {
    std::int32_t out, in, axis;
};

}  // namespace detail

template <reduction R, class Start, class Finish>
struct kernel<reduce<R, Start, Finish>, portable> {
    static constexpr std::int32_t scratch = 0;
    using in_type = element_t<R.input.type>;
    using out_type = element_t<R.output.type>;
    static constexpr auto nest = loops_over(R.axis, R.output, R.input);

    static constexpr void run(const in_type* in, out_type* out) {
        constexpr auto inner = nest.innermost();
        for_each_line<nest>([&](auto p) {
            run_row(inner.size, out + p.at[0], in + p.at[1],
                {inner.stride[0], inner.stride[1], R.input.stride[R.axis]});
        });
    }

private:
    [[gnu::flatten]] HEADRACE_SHARED static constexpr void run_row(
        std::int32_t n, out_type* out, const in_type* in, detail::reduced_strides by) {
        using value = decltype(Start::of(load<R.input.type>(in)));
        using steps = detail::accumulation<R, value>;
        for (std::int32_t i = 0; i != n; ++i) {
            auto sum = steps::start;
            for (std::int32_t k = 0; k != R.input.size[R.axis]; ++k)
                sum = steps::step(sum, Start::of(load<R.input.type>(in + i * by.in + k * by.axis)));
            store<R.output.type>(out + i * by.out, Finish::of(sum));
        }
    }
};

/// TOSA 1.0, 2.2.1 (ARGMAX): the first place of the largest element along the axis, in int32. The result has
/// no such axis. NaN is the largest, or does not count.
template <tensor In, tensor Out, int Axis, nan_mode Mode = nan_mode::propagate>
struct argmax {};

namespace detail {
/// The tensor with an axis of size 1.
constexpr tensor with_axis(tensor t, int axis) {
    for (int d = t.rank; d != axis; --d) {
        t.size[d] = t.size[d - 1];
        t.stride[d] = t.stride[d - 1];
    }
    t.size[axis] = 1;
    t.stride[axis] = 0;
    ++t.rank;
    return t;
}
template <element E, nan_mode Mode>
HEADRACE_SHARED constexpr std::int32_t place_of_largest(
    std::int32_t n, const element_t<E>* in, std::int32_t by) {
    std::int32_t place = 0;
    scalar_of<E> most = in[0];
    if constexpr (is_floating(E) && Mode == nan_mode::ignore) most = most != most ? -infinity : most;
    for (std::int32_t i = 1; i < n; ++i) {
        const scalar_of<E> x = in[i * by];
        bool is_more = x > most;
        if constexpr (is_floating(E) && Mode == nan_mode::propagate)
            is_more = is_more || (x != x && most == most);
        if (is_more) {
            most = x;
            place = i;
        }
    }
    return place;
}
}  // namespace detail

template <tensor In, tensor Out, int Axis, nan_mode Mode>
struct kernel<argmax<In, Out, Axis, Mode>, portable> {
    static constexpr std::int32_t scratch = 0;
    static constexpr auto nest = loops_over(Axis, detail::with_axis(Out, Axis), In);
    static constexpr void run(const element_t<In.type>* in, element_t<Out.type>* out) {
        for_each_line<nest, 0>([&](auto p) {
            out[p.at[0]] =
                detail::place_of_largest<In.type, Mode>(In.size[Axis], in + p.at[1], In.stride[Axis]);
        });
    }
};

}  // namespace headrace::on_device

#endif
