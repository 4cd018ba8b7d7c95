// SPDX-License-Identifier: MIT
// Defines headrace::on_device::elementwise, an expression of TOSA's functions for each index of tensors.
#ifndef HEADRACE_ON_DEVICE_PORTABLE_ELEMENTWISE_HPP
#define HEADRACE_ON_DEVICE_PORTABLE_ELEMENTWISE_HPP

#include <cstdint>
#include <utility>

#include <headrace/on_device/core.hpp>
#include <headrace/on_device/functions.hpp>
#include <headrace/on_device/loops.hpp>
#include <headrace/on_device/number.hpp>
#include <headrace/on_device/tensor.hpp>

namespace headrace::on_device {

/// Stores `F::of(values...)` for each index. It takes an element of each operand, a float or a number with
/// the bounds of its type. Operands have the rank and sizes of the result, and stride 0 along axes where they
/// are broadcast. The result may share the memory of an operand that has its layout.
///
///     struct relu_of_sum {
///         static constexpr auto of(auto x, auto y) { return hr::clamp<0, 127>(hr::add(x, y)); }
///     };
template <class F, tensor Out, tensor... In>
struct elementwise {};

namespace detail {

template <element E, std::int32_t Stride>
struct stream {
    static constexpr element type = E;
    static constexpr std::int32_t stride = Stride;
};

/// One loop. It is shared by all tensors with these element types and strides, which take `F`.
template <class F, class Out, class... In>
struct line_of {
    HEADRACE_INLINE static constexpr void run(
        std::int32_t n, element_t<Out::type>* out, const element_t<In::type>*... in) {
        // Broadcast operands are loaded once; the compiler cannot know that the result does not change them.
        run(std::index_sequence_for<In...>(), n, out, in..., load<In::type>(in)...);
    }

private:
    template <class S, class V>
    HEADRACE_INLINE static constexpr auto value(const element_t<S::type>* in, std::int32_t i, V first) {
        if constexpr (S::stride == 0)
            return first;
        else
            return load<S::type>(in + i * S::stride);
    }
    template <std::size_t... K>
    HEADRACE_INLINE static constexpr void run(std::index_sequence<K...>, std::int32_t n,
        element_t<Out::type>* out, const element_t<In::type>*... in, value_of<In::type>... first) {
        for (std::int32_t i = 0; i < n; ++i)
            store<Out::type>(out + i * Out::stride, F::of(value<In>(in, i, first)...));
    }
};
template <class Line>
struct shared_line;
template <class F, class Out, class... In>
struct shared_line<line_of<F, Out, In...>> {
    // All that `F::of` calls becomes a part of the loop, also where compilers would rather not.
    [[gnu::flatten]] HEADRACE_SHARED static constexpr void run(
        std::int32_t n, element_t<Out::type>* out, const element_t<In::type>*... in) {
        line_of<F, Out, In...>::run(n, out, in...);
    }
};

template <class F, tensor Out, class Operands, class Indices>
struct elementwise_loops;
template <class F, tensor Out, tensor... In>
struct operands_of {};
template <class F, tensor Out, tensor... In, std::size_t... K>
struct elementwise_loops<F, Out, operands_of<F, Out, In...>, std::index_sequence<K...>> {
    static constexpr auto nest = loops_over(-1, Out, In...);
    static constexpr auto inner = nest.innermost();
    using line = line_of<F, stream<Out.type, inner.stride[0]>, stream<In.type, inner.stride[K + 1]>...>;

    [[gnu::flatten]] static constexpr void run(const element_t<In.type>*... in, element_t<Out.type>* out) {
        if constexpr (nest.depth <= 1) {
            shared_line<line>::run(inner.size, out + nest.offset[0], in + nest.offset[K + 1]...);
        } else {
            for_each_line<nest>([&](auto p) { line::run(inner.size, out + p.at[0], in + p.at[K + 1]...); });
        }
    }
};

}  // namespace detail

template <class F, tensor Out, tensor... In>
struct kernel<elementwise<F, Out, In...>, portable> {
    static constexpr std::int32_t scratch = 0;
    static constexpr void run(const element_t<In.type>*... in, element_t<Out.type>* out) {
        detail::elementwise_loops<F, Out, detail::operands_of<F, Out, In...>,
            std::make_index_sequence<sizeof...(In)>>::run(in..., out);
    }
};

}  // namespace headrace::on_device

#endif
