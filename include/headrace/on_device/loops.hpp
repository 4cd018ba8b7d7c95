// SPDX-License-Identifier: MIT
// Defines headrace::on_device::loop_nest, the fewest loops that visit the elements of several tensors.
#ifndef HEADRACE_ON_DEVICE_LOOPS_HPP
#define HEADRACE_ON_DEVICE_LOOPS_HPP

#include <cstddef>
#include <cstdint>
#include <utility>

#include <headrace/on_device/core.hpp>
#include <headrace/on_device/tensor.hpp>

namespace headrace::on_device {

/// Loops over the indices that N operands share, outermost first; strides are counted in elements, by
/// operand.
template <int N>
struct loop_nest {
    struct loop {
        std::int32_t size = 1, stride[N]{};
    };
    int depth = 0;
    loop loops[2 * max_rank]{};
    std::int32_t offset[N]{};

    constexpr std::int32_t iterations(int from = 0) const {
        std::int32_t n = 1;
        for (int d = from; d < depth; ++d) n *= loops[d].size;
        return n;
    }
    /// The last loop, or one of a single iteration.
    constexpr loop innermost() const { return depth == 0 ? loop{} : loops[depth - 1]; }

    constexpr void add(const loop& l) {
        if (l.size != 1) loops[depth++] = l;
    }
    /// Puts loops in the order of the strides of the first operand, the least innermost (of the next operand,
    /// where it has none), and makes one of two wherever all operands allow it.
    constexpr void merge() {
        for (int i = 1; i < depth; ++i) {
            for (int k = i; k != 0 && is_inside(loops[k - 1], loops[k]); --k)
                std::swap(loops[k - 1], loops[k]);
        }
        int merged = 0;
        for (int i = 1; i < depth; ++i) {
            loop& outer = loops[merged];
            const loop& inner = loops[i];
            bool follow = true;
            for (int n = 0; n != N; ++n) follow = follow && outer.stride[n] == inner.size * inner.stride[n];
            if (follow) {
                const std::int32_t size = outer.size * inner.size;
                outer = inner;
                outer.size = size;
            } else {
                loops[++merged] = inner;
            }
        }
        if (depth != 0) depth = merged + 1;
    }

private:
    static constexpr bool is_inside(const loop& a, const loop& b) {
        for (int n = 0; n != N; ++n) {
            const std::int32_t x = a.stride[n] < 0 ? -a.stride[n] : a.stride[n];
            const std::int32_t y = b.stride[n] < 0 ? -b.stride[n] : b.stride[n];
            if (x != y) return x < y;
        }
        return false;
    }
};

/// The loops over tensors of the same sizes; `without` is an axis that is left out.
template <class... Tensors>
constexpr loop_nest<1 + sizeof...(Tensors)> loops_over(
    int without, const tensor& first, const Tensors&... others) {
    constexpr int count = 1 + sizeof...(Tensors);
    const tensor* const all[]{&first, &others...};
    loop_nest<count> nest;
    for (int d = 0; d != first.rank; ++d) {
        typename loop_nest<count>::loop l{.size = d == without ? 1 : first.size[d]};
        for (int n = 0; n != count; ++n) l.stride[n] = all[n]->stride[d];
        nest.add(l);
    }
    for (int n = 0; n != count; ++n) nest.offset[n] = all[n]->offset;
    nest.merge();
    return nest;
}

/// The positions of the elements of N operands.
template <int N>
struct places {
    std::int32_t at[N];
};

/// Calls `line` with the places at which each run of the innermost loop starts; `Nest` is a loop_nest.
/// `Inner` loops are left to it.
template <auto Nest, int Inner = 1, int Depth = 0, int N, class F>
HEADRACE_INLINE constexpr void for_each_line(places<N> p, F line) {
    if constexpr (Depth + Inner >= Nest.depth) {
        line(p);
    } else {
        constexpr auto l = Nest.loops[Depth];
        for (std::int32_t i = 0; i != l.size; ++i) {
            places<N> next = p;
            for (int n = 0; n != N; ++n) next.at[n] += i * l.stride[n];
            for_each_line<Nest, Inner, Depth + 1>(next, line);
        }
    }
}
template <auto Nest, int Inner = 1, class F>
HEADRACE_INLINE constexpr void for_each_line(F line) {
    constexpr int count = static_cast<int>(sizeof(Nest.offset) / sizeof(Nest.offset[0]));
    places<count> p{};
    for (int n = 0; n != count; ++n) p.at[n] = Nest.offset[n];
    for_each_line<Nest, Inner, 0>(p, line);
}

}  // namespace headrace::on_device

#endif
