// SPDX-License-Identifier: MIT
// Defines headrace::on_device::matmul, TOSA's MATMUL with the RESCALE and CLAMP after it.
#ifndef HEADRACE_ON_DEVICE_PORTABLE_MATMUL_HPP
#define HEADRACE_ON_DEVICE_PORTABLE_MATMUL_HPP

#include <cstdint>
#include <type_traits>

#include <headrace/on_device/core.hpp>
#include <headrace/on_device/functions.hpp>
#include <headrace/on_device/number.hpp>
#include <headrace/on_device/packing.hpp>
#include <headrace/on_device/scale.hpp>
#include <headrace/on_device/tensor.hpp>

namespace headrace::on_device {

/// TOSA 1.0, 2.2.7 (MATMUL): a is (batch, height, depth), b (batch, depth, width), the output (batch, height,
/// width), each in any layout. int8 has sums of int32, int16 of int48, floats of float32; without a scale
/// they are the output. One scale holds for all of the output.
struct matrix_product {
    tensor a, b, output;
    std::int32_t a_zero = 0, b_zero = 0;
    scaling scale = scaling::none;
    std::int32_t minimum = -128, maximum = 127;  ///< of the scaled value

    constexpr std::int32_t depth() const { return a.size[2]; }
    constexpr std::int64_t macs() const { return std::int64_t{output.elements()} * depth(); }
};

/// `run(a, b, extra…, scale, output, scratch)`; the scale is a `channel` whose bias is 0 (int16: a
/// `wide_channel`), and a null pointer if there is none. `Finish::of` takes each value, scaled and clamped,
/// and those of `Extra` operands at its index.
template <matrix_product M, class Finish = as_it_is, tensor... Extra>
struct matmul {};

namespace detail {
template <matrix_product M>
using product_sum = std::conditional_t<is_floating(M.a.type), float,
    std::conditional_t<M.a.type == element::int8, std::int32_t, std::int64_t>>;
template <matrix_product M>
using product_scale = std::conditional_t<M.a.type == element::int16, wide_channel, channel>;

/// The value that `Finish` takes.
template <matrix_product M>
HEADRACE_INLINE constexpr auto product_result(product_sum<M> sum, const product_scale<M>* q) {
    if constexpr (is_floating(M.a.type))
        return sum;
    else if constexpr (M.scale == scaling::none)
        return value_of < M.a.type == element::int8 ? element::int32 : element::int48 > {sum};
    else if constexpr (M.a.type == element::int8)
        return number<M.minimum, M.maximum>{clamped(scaled<M.scale>(sum, *q), M.minimum, M.maximum)};
    else
        return number<M.minimum, M.maximum>{clamped(scaled(sum, *q), M.minimum, M.maximum)};
}

/// All types and layouts by loops over indices.
template <matrix_product M, class Finish, tensor... Extra>
constexpr void multiply_by_index(const element_t<M.a.type>* a, const element_t<M.b.type>* b,
    const element_t<Extra.type>*... extra, const product_scale<M>* q, element_t<M.output.type>* y) {
    for (std::int32_t n = 0; n != M.output.size[0]; ++n)
        for (std::int32_t i = 0; i != M.output.size[1]; ++i)
            for (std::int32_t j = 0; j != M.output.size[2]; ++j) {
                // Without calls, for the compilers' sake; int8 comes here in constant expressions alone.
                std::conditional_t<is_floating(M.a.type), float, std::int64_t> sum = 0;
                const std::int32_t row = M.a.at(n, i, 0), column = M.b.at(n, 0, j);
                for (std::int32_t k = 0; k != M.depth(); ++k) {
                    const auto left = a[row + k * M.a.stride[2]];
                    const auto right = b[column + k * M.b.stride[1]];
                    if constexpr (M.a.type == element::int8)
                        sum += (left - M.a_zero) * (right - M.b_zero);
                    else
                        sum += left * right;
                }
                store<M.output.type>(y + M.output.at(n, i, j),
                    Finish::of(product_result<M>(static_cast<product_sum<M>>(sum), q),
                        load<Extra.type>(extra + Extra.at(n, i, j))...));
            }
}

/// Bytes of the columns of b, their sums, and a row of a, where rows are filled up to a multiple of `chunk`.
constexpr std::int32_t scratch_by_rows(const matrix_product& m, std::int32_t chunk) {
    if (m.a.type != element::int8) return 0;
    const std::int32_t depth = round_up(m.depth(), chunk), width = round_up(m.b.size[2], 4);
    return round_up(width * depth, 16) + width * 4 + round_up(depth, 16);
}

/// Sums of one row of a with four columns of b, which lie `column` bytes apart: `n` is a multiple of `chunk`.
struct portable_dots {
    static constexpr std::int32_t chunk = 4;
    HEADRACE_SHARED static void four(
        const std::int8_t* a, const std::int8_t* b, std::int32_t column, std::int32_t n, std::int32_t* sums) {
        std::int32_t s = 0, t = 0, u = 0, v = 0;
        const std::int8_t *c = b + column, *d = c + column, *e = d + column;
#pragma GCC unroll 4
        for (; n != 0; --n) {
            const std::int32_t x = *a++;
            s += x * *b++, t += x * *c++, u += x * *d++, v += x * *e++;
        }
        sums[0] = s, sums[1] = t, sums[2] = u, sums[3] = v;
    }
};

/// int8 by rows of a and columns of b, which are copied so that they follow each other in memory, are filled
/// up with zeros and follow the order of b's columns. Zero points are taken from the sums: sum((a - p)(b -
/// q)) is sum(ab) - p sum(b) - q sum(a) + depth p q.
template <matrix_product M, class Dots>
struct row_products {
    static constexpr std::int32_t depth = round_up(M.depth(), Dots::chunk);
    static constexpr std::int32_t width = round_up(M.b.size[2], 4);

    template <class Finish, tensor... Extra>
    static void run(const std::int8_t* a, const std::int8_t* b, const element_t<Extra.type>*... extra,
        const channel* q, element_t<M.output.type>* y, std::int8_t* memory) {
        std::int8_t* const columns = memory;
        auto* const column_sums = reinterpret_cast<std::int32_t*>(memory + round_up(width * depth, 16));
        std::int8_t* const row = memory + round_up(width * depth, 16) + width * 4;
        for (std::int32_t n = 0; n != M.output.size[0]; ++n) {
            for (std::int32_t j = 0; j != width; ++j)
                column_sums[j] = copy_line(b + M.b.at(n, 0, j < M.b.size[2] ? j : 0), M.depth(),
                    M.b.stride[1], columns + j * depth, depth);
            for (std::int32_t i = 0; i != M.output.size[1]; ++i) {
                const std::int32_t row_sum =
                    copy_line(a + M.a.at(n, i, 0), M.depth(), M.a.stride[2], row, depth);
                const std::int32_t base = M.depth() * M.a_zero * M.b_zero - M.b_zero * row_sum;
                for (std::int32_t j = 0; j < M.output.size[2]; j += 4) {
                    std::int32_t sums[4];
                    Dots::four(row, columns + j * depth, depth, depth, sums);
                    for (std::int32_t l = 0; l != 4 && j + l < M.output.size[2]; ++l) {
                        const std::int32_t sum = sums[l] - M.a_zero * column_sums[j + l] + base;
                        store<M.output.type>(y + M.output.at(n, i, j + l),
                            Finish::of(product_result<M>(sum, q),
                                load<Extra.type>(extra + Extra.at(n, i, j + l))...));
                    }
                }
            }
        }
    }

    /// Copies n elements at a distance of `step`, fills them up to `filled` with zeros, and returns their
    /// sum.
    HEADRACE_SHARED static std::int32_t copy_line(
        const std::int8_t* from, std::int32_t n, std::int32_t step, std::int8_t* to, std::int32_t filled) {
        std::int32_t sum = 0;
        for (std::int32_t k = 0; k != n; ++k, from += step) sum += *from, to[k] = *from;
        for (std::int32_t k = n; k != filled; ++k) to[k] = 0;
        return sum;
    }
};

template <class Dots, matrix_product M, class Finish, tensor... Extra>
struct matmul_by_rows {
    static constexpr std::int32_t scratch = scratch_by_rows(M, Dots::chunk);
    static constexpr void run(const element_t<M.a.type>* a, const element_t<M.b.type>* b,
        const element_t<Extra.type>*... extra, const product_scale<M>* q, element_t<M.output.type>* y,
        std::int8_t* memory = nullptr) {
        if constexpr (M.a.type == element::int8)
            if (!std::is_constant_evaluated())
                return row_products<M, Dots>::template run<Finish, Extra...>(a, b, extra..., q, y, memory);
        multiply_by_index<M, Finish, Extra...>(a, b, extra..., q, y);
    }
};
}  // namespace detail

/// The scratch memory of the core's kernel, in bytes.
constexpr std::int32_t scratch_of(const matrix_product& m, core_id core) {
    return detail::scratch_by_rows(m, core == core_id::mve ? 16 : 4);
}

template <matrix_product M, class Finish, tensor... Extra>
struct kernel<matmul<M, Finish, Extra...>, portable>
    : detail::matmul_by_rows<detail::portable_dots, M, Finish, Extra...> {};

}  // namespace headrace::on_device

#endif
