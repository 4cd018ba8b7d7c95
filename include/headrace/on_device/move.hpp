// SPDX-License-Identifier: MIT
// Defines headrace::on_device::copy, fill, tile, gather and scatter, which move elements between tensors.
#ifndef HEADRACE_ON_DEVICE_MOVE_HPP
#define HEADRACE_ON_DEVICE_MOVE_HPP

#include <cstdint>
#include <type_traits>

#include <headrace/on_device/core.hpp>
#include <headrace/on_device/loops.hpp>
#include <headrace/on_device/tensor.hpp>

namespace headrace::on_device {

/// Copies elements between tensors of the same sizes. Layouts say the rest: TRANSPOSE permutes the axes of
/// one of them, REVERSE negates a stride, SLICE, CONCAT and PAD are views of a part of a tensor
/// (TOSA 1.0, 2.9). Memory is shared only by tensors of one layout, for which nothing is done.
template <tensor In, tensor Out>
struct copy {};

/// Stores one value in each element.
template <tensor Out>
struct fill {};

/// TOSA 1.0, 2.9.6 (TILE): the sizes of the result are multiples of the operand's.
template <tensor In, tensor Out>
struct tile {};

/// TOSA 1.0, 2.10.1 (GATHER): values [N, K, C], indices [N, W] in int32, result [N, W, C]. An index out of
/// range, which the specification forbids, reads the nearest row.
template <tensor Values, tensor Indices, tensor Out>
struct gather {};

/// TOSA 1.0, 2.10.2 (SCATTER): values [N, K, C], indices [N, W] in int32, rows [N, W, C], result [N, K, C],
/// which may be the memory of the values. A row whose index is out of range is left out.
template <tensor Values, tensor Indices, tensor Rows, tensor Out>
struct scatter {};

namespace detail {

/// Copies dense elements, by words where the processor loads them from any address.
template <class T>
HEADRACE_SHARED constexpr void copy_dense(std::int32_t n, T* to, const T* from) {
    if (std::is_constant_evaluated()) {
        for (std::int32_t i = 0; i != n; ++i) to[i] = from[i];
        return;
    }
#if defined(__arm__) && !defined(__ARM_FEATURE_UNALIGNED)
    __builtin_memmove(to, from, static_cast<unsigned>(n) * sizeof(T));
#else
    struct words {
        std::uint32_t word[4];
    };
    constexpr auto of_words = static_cast<std::int32_t>(sizeof(words) / sizeof(T));
    for (; n >= of_words; n -= of_words, to += of_words, from += of_words) {
        words w;
        __builtin_memcpy(&w, from, sizeof w);
        __builtin_memcpy(to, &w, sizeof w);
    }
    for (; n > 0; --n) *to++ = *from++;
#endif
}
template <class T, class U>
HEADRACE_SHARED constexpr void copy_strided(
    std::int32_t n, T* to, std::int32_t to_stride, const U* from, std::int32_t from_stride) {
#pragma GCC unroll 4
    for (std::int32_t i = 0; i < n; ++i) to[i * to_stride] = static_cast<T>(from[i * from_stride]);
}
template <class T>
HEADRACE_SHARED constexpr void fill_dense(std::int32_t n, T* to, T value) {
#pragma GCC unroll 4
    for (std::int32_t i = 0; i < n; ++i) to[i] = value;
}
template <class T>
HEADRACE_SHARED constexpr void fill_strided(std::int32_t n, T* to, std::int32_t stride, T value) {
    for (std::int32_t i = 0; i < n; ++i) to[i * stride] = value;
}

/// True if lines are so short that a call for each costs more than its elements.
template <int N>
constexpr bool has_short_lines(const loop_nest<N>& nest) {
    return nest.depth > 1 && nest.innermost().size <= 4;
}
/// Copies all short lines of the two innermost loops, each unrolled.
template <auto Nest, class T, class U>
HEADRACE_SHARED constexpr void copy_short_lines(T* to, const U* from) {
    constexpr auto outer = Nest.loops[Nest.depth - 2], inner = Nest.innermost();
#pragma GCC unroll 2
    for (std::int32_t i = 0; i != outer.size; ++i)
#pragma GCC unroll 4
        for (std::int32_t k = 0; k != inner.size; ++k)
            to[i * outer.stride[0] + k * inner.stride[0]] =
                static_cast<T>(from[i * outer.stride[1] + k * inner.stride[1]]);
}

/// Copies along the loops of a nest whose first operand is the result.
template <auto Nest, class T, class U>
HEADRACE_INLINE constexpr void copy_nest(T* to, const U* from) {
    if constexpr (has_short_lines(Nest)) {
        for_each_line<Nest, 2>([&](auto p) { copy_short_lines<Nest>(to + p.at[0], from + p.at[1]); });
        return;
    }
    constexpr auto inner = Nest.innermost();
    for_each_line<Nest>([&](auto p) {
        T* const first = to + p.at[0];
        const U* const source = from + p.at[1];
        if constexpr (inner.size == 1)
            *first = static_cast<T>(*source);
        else if constexpr (inner.stride[0] == 1 && inner.stride[1] == 1 && std::is_same_v<T, U>)
            copy_dense(inner.size, first, source);
        else if constexpr (inner.stride[0] == 1 && inner.stride[1] == 0)
            fill_dense(inner.size, first, static_cast<T>(*source));
        else
            copy_strided(inner.size, first, inner.stride[0], source, inner.stride[1]);
    });
}

/// Each axis of a tile is two loops: over the repetitions and over the elements.
constexpr loop_nest<2> loops_of_tile(const tensor& out, const tensor& in) {
    loop_nest<2> nest{.offset = {out.offset, in.offset}};
    for (int d = 0; d != out.rank; ++d) {
        nest.add({out.size[d] / in.size[d], {out.stride[d] * in.size[d], 0}});
        nest.add({in.size[d], {out.stride[d], in.stride[d]}});
    }
    nest.merge();
    return nest;
}

/// The loops over the channels of rows [N, W, C].
template <tensor A, tensor B>
HEADRACE_INLINE constexpr void copy_row(auto* to, const auto* from) {
    constexpr std::int32_t n = A.size[2], a = A.stride[2], b = B.stride[2];
    if constexpr (n != 1 && a == 1 && b == 1)
        copy_dense(n, to, from);
    else
        copy_strided(n, to, a, from, b);
}

}  // namespace detail

template <tensor In, tensor Out>
struct kernel<copy<In, Out>, portable> {
    static constexpr std::int32_t scratch = 0;
    static constexpr auto nest = loops_over(-1, Out, In);
    static constexpr void run(const element_t<In.type>* in, element_t<Out.type>* out) {
        if constexpr (In == Out) {
            if (in == out) return;
        }
        detail::copy_nest<nest>(out, in);
    }
};

template <tensor Out>
struct kernel<fill<Out>, portable> {
    static constexpr std::int32_t scratch = 0;
    static constexpr auto nest = loops_over(-1, Out);
    static constexpr void run(const element_t<Out.type>* value, element_t<Out.type>* out) {
        constexpr auto inner = nest.innermost();
        for_each_line<nest>([&](auto p) {
            if constexpr (inner.stride[0] == 1)
                detail::fill_dense(inner.size, out + p.at[0], *value);
            else
                detail::fill_strided(inner.size, out + p.at[0], inner.stride[0], *value);
        });
    }
};

template <tensor In, tensor Out>
struct kernel<tile<In, Out>, portable> {
    static constexpr std::int32_t scratch = 0;
    static constexpr auto nest = detail::loops_of_tile(Out, In);
    static constexpr void run(const element_t<In.type>* in, element_t<Out.type>* out) {
        detail::copy_nest<nest>(out, in);
    }
};

template <tensor Values, tensor Indices, tensor Out>
struct kernel<gather<Values, Indices, Out>, portable> {
    static constexpr std::int32_t scratch = 0;
    static constexpr void run(
        const element_t<Values.type>* values, const std::int32_t* indices, element_t<Out.type>* out) {
        for (std::int32_t n = 0; n != Out.size[0]; ++n) {
            for (std::int32_t w = 0; w != Out.size[1]; ++w) {
                constexpr std::int32_t last = Values.size[1] - 1;
                const std::int32_t index = indices[Indices.at(n, w)];
                const std::int32_t k = index < 0 ? 0 : index > last ? last : index;
                detail::copy_row<Out, Values>(out + Out.at(n, w, 0), values + Values.at(n, k, 0));
            }
        }
    }
};

template <tensor Values, tensor Indices, tensor Rows, tensor Out>
struct kernel<scatter<Values, Indices, Rows, Out>, portable> {
    static constexpr std::int32_t scratch = 0;
    static constexpr void run(const element_t<Values.type>* values, const std::int32_t* indices,
        const element_t<Rows.type>* rows, element_t<Out.type>* out) {
        kernel<copy<Values, Out>, native>::run(values, out);
        for (std::int32_t n = 0; n != Rows.size[0]; ++n) {
            for (std::int32_t w = 0; w != Rows.size[1]; ++w) {
                const std::int32_t k = indices[Indices.at(n, w)];
                if (k < 0 || k >= Out.size[1]) continue;
                detail::copy_row<Out, Rows>(out + Out.at(n, k, 0), rows + Rows.at(n, w, 0));
            }
        }
    }
};

}  // namespace headrace::on_device

#endif
