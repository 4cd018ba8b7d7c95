// SPDX-License-Identifier: MIT
// Defines the kernel of headrace::on_device::elementwise for MVE, which computes four integers at once.
#ifndef HEADRACE_ON_DEVICE_MVE_ELEMENTWISE_HPP
#define HEADRACE_ON_DEVICE_MVE_ELEMENTWISE_HPP

#include <arm_mve.h>

#include <cstdint>
#include <utility>

#include <headrace/on_device/portable/elementwise.hpp>
#include <headrace/on_device/loops.hpp>
#include <headrace/on_device/mve/lanes.hpp>
#include <headrace/on_device/number.hpp>

namespace headrace::on_device {

namespace detail {

// Compilers do not use the addresses that loads and stores of vectors advance, so these are written by hand.

// Widening loads take their address from a low register.
#define HEADRACE_LOAD(mnemonic) \
    asm volatile(mnemonic " %q0, [%1], %2" : "=w"(v), "+l"(p) : "i"(4 * sizeof *p) : "memory")
#define HEADRACE_STORE(mnemonic) \
    asm volatile(mnemonic " %q1, [%0], %2" : "+l"(p) : "w"(v.values), "i"(4 * sizeof *p) : "memory")

/// The next four elements.
template <element E>
HEADRACE_INLINE lanes next_lanes(const element_t<E>*& p) {
    int32x4_t v;
    if constexpr (E == element::int8)
        HEADRACE_LOAD("vldrb.s32");
    else if constexpr (E == element::int16)
        HEADRACE_LOAD("vldrh.s32");
    else if constexpr (E == element::int32)
        HEADRACE_LOAD("vldrw.u32");
    else if constexpr (E == element::uint16)
        HEADRACE_LOAD("vldrh.u32");
    else
        HEADRACE_LOAD("vldrb.u32");
    return {v};
}
/// Stores the low bits of four elements.
template <element E>
HEADRACE_INLINE void store_next(element_t<E>*& p, lanes v) {
    if constexpr (bytes_of(E) == 4)
        HEADRACE_STORE("vstrw.32");
    else if constexpr (bytes_of(E) == 2)
        HEADRACE_STORE("vstrh.32");
    else
        HEADRACE_STORE("vstrb.32");
}

#undef HEADRACE_LOAD
#undef HEADRACE_STORE

/// The elements in a predicate; the others are 0. A boolean has the representation of a byte.
template <element E>
HEADRACE_INLINE lanes load_lanes(const element_t<E>* p, mve_pred16_t which) {
    if constexpr (E == element::int8)
        return {vldrbq_z_s32(p, which)};
    else if constexpr (E == element::int16)
        return {vldrhq_z_s32(p, which)};
    else if constexpr (E == element::int32)
        return {vldrwq_z_s32(p, which)};
    else if constexpr (E == element::uint16)
        return {vreinterpretq_s32_u32(vldrhq_z_u32(p, which))};
    else
        return {vreinterpretq_s32_u32(vldrbq_z_u32(reinterpret_cast<const std::uint8_t*>(p), which))};
}
template <element E>
HEADRACE_INLINE void store_lanes(element_t<E>* p, lanes v, mve_pred16_t which) {
    if constexpr (bytes_of(E) == 4)
        vstrwq_p_s32(reinterpret_cast<std::int32_t*>(p), v.values, which);
    else if constexpr (bytes_of(E) == 2)
        vstrhq_p_s32(reinterpret_cast<std::int16_t*>(p), v.values, which);
    else
        vstrbq_p_s32(reinterpret_cast<std::int8_t*>(p), v.values, which);
}

/// `line_of` for four elements at once. A line whose size is no multiple of 4 has a tail.
template <class F, bool HasTail, class Out, class... In>
struct lanes_line {
    [[gnu::flatten]] HEADRACE_SHARED static void run(
        std::int32_t n, element_t<Out::type>* out, const element_t<In::type>*... in) {
        run(std::index_sequence_for<In...>(), n, out, in..., first<In>(in)...);
    }

private:
    template <class S>
    using lanes_of = value_of<S::type, lanes>;
    template <class S>
    using value = std::conditional_t<S::stride == 0, value_of<S::type>, lanes_of<S>>;

    template <class S>
    HEADRACE_INLINE static value_of<S::type> first(const element_t<S::type>* in) {
        if constexpr (S::stride == 0)
            return load<S::type>(in);
        else
            return {};
    }
    template <class S>
    HEADRACE_INLINE static value<S> next(const element_t<S::type>*& in, value_of<S::type> first) {
        if constexpr (S::stride == 0)
            return first;
        else
            return {next_lanes<S::type>(in)};
    }
    template <class S>
    HEADRACE_INLINE static value<S> last(
        const element_t<S::type>* in, value_of<S::type> first, mve_pred16_t which) {
        if constexpr (S::stride == 0)
            return first;
        else
            return {load_lanes<S::type>(in, which)};
    }
    /// A result that is the same for all lanes is a scalar.
    HEADRACE_INLINE static lanes result(auto v) { return machine<lanes>::of(v.value); }

    template <std::size_t... K>
    HEADRACE_INLINE static void run(std::index_sequence<K...>, std::int32_t n, element_t<Out::type>* out,
        const element_t<In::type>*... in, value_of<In::type>... first) {
        for (; n >= 4; n -= 4) store_next<Out::type>(out, result(F::of(next<In>(in, first)...)));
        if constexpr (HasTail) {
            const mve_pred16_t which = vctp32q(static_cast<std::uint32_t>(n));
            store_lanes<Out::type>(out, result(F::of(last<In>(in, first, which)...)), which);
        }
    }
};

template <auto Nest>
constexpr bool is_vectorizable() {
    constexpr auto inner = Nest.innermost();
    bool is_dense = inner.size >= 4 && inner.stride[0] == 1, has_vector = false;
    for (const std::int32_t stride : inner.stride) is_dense = is_dense && (stride == 0 || stride == 1);
    for (int n = 1; n < static_cast<int>(sizeof inner.stride / sizeof inner.stride[0]); ++n)
        has_vector = has_vector || inner.stride[n] == 1;
    return is_dense && has_vector;
}
constexpr bool has_lanes(element e) { return e != element::int48 && !is_floating(e); }

template <class F, tensor Out, class Operands, class Indices>
struct elementwise_lanes;
template <class F, tensor Out, tensor... In, std::size_t... K>
struct elementwise_lanes<F, Out, operands_of<F, Out, In...>, std::index_sequence<K...>> {
    static constexpr auto nest = loops_over(-1, Out, In...);
    static constexpr auto inner = nest.innermost();
    using line =
        lanes_line<F, inner.size % 4 != 0, stream<Out.type, 1>, stream<In.type, inner.stride[K + 1]>...>;

    static void run(const element_t<In.type>*... in, element_t<Out.type>* out) {
        for_each_line<nest>([&](auto p) { line::run(inner.size, out + p.at[0], in + p.at[K + 1]...); });
    }
};

}  // namespace detail

template <class F, tensor Out, tensor... In>
    requires(sizeof...(In) != 0 && detail::has_lanes(Out.type) && (detail::has_lanes(In.type) && ...) &&
        detail::is_vectorizable<loops_over(-1, Out, In...)>())
struct kernel<elementwise<F, Out, In...>, mve> {
    static constexpr std::int32_t scratch = 0;
    static constexpr void run(const element_t<In.type>*... in, element_t<Out.type>* out) {
        if (std::is_constant_evaluated()) {
            kernel<elementwise<F, Out, In...>, portable>::run(in..., out);
        } else {
            detail::elementwise_lanes<F, Out, detail::operands_of<F, Out, In...>,
                std::make_index_sequence<sizeof...(In)>>::run(in..., out);
        }
    }
};

}  // namespace headrace::on_device

#endif
