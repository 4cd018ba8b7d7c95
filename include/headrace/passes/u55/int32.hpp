// SPDX-License-Identifier: MIT
// Defines headrace::u55's arithmetic on INT32 and tables of INT8, shared by the passes for Ethos-U55.
#ifndef HEADRACE_PASSES_U55_INT32_HPP
#define HEADRACE_PASSES_U55_INT32_HPP

#include <array>
#include <cstdint>
#include <cstring>
#include <span>

#include <headrace/base/pmr_vector.hpp>
#include <headrace/passes/support/build.hpp>
#include <headrace/passes/support/constants.hpp>

namespace headrace::u55 {

/// Divides, rounding toward minus infinity.
[[nodiscard]] constexpr std::int64_t floor_division(std::int64_t a, std::int64_t b) {
    return a >= 0 ? a / b : -((b - 1 - a) / b);
}

/// Makes a number of the rank of a value, to compute with it.
inline value splat(emit<ops<>> e, std::int64_t number, value beside) {
    return e.splat(number, dtype::int32, e.rank(beside));
}
inline value constant(emit<ops<>> e, sizes shape, const pmr_vector<std::int64_t>& numbers) {
    const pmr_vector<std::int32_t> elements(numbers.begin(), numbers.end());
    return e.constant<std::int32_t>(dtype::int32, shape, elements);
}

/// Casts integers to INT32; a constant remains one, so that it can still be read.
inline value widen(emit<ops<tosa::cast>> e, value v) {
    if (e.dtype(v) == dtype::int32) return v;
    if (const auto numbers = constant_integers(v)) return constant(e, e.shape(v), *numbers);
    return e.make<tosa::cast>({.input = v, .output_type = dtype::int32});
}

/// The only right shift of Ethos-U55; it rounds half up.
inline value rounded_shift(emit<ops<tosa::arithmetic_right_shift>> e, value v, value by) {
    return e.make<tosa::arithmetic_right_shift>({.input1 = v, .input2 = by, .round = true});
}

inline value clamp(
    emit<ops<tosa::maximum, tosa::minimum>> e, value v, std::int64_t least, std::int64_t greatest) {
    return e.make<tosa::minimum>(e.make<tosa::maximum>(v, splat(e, least, v)), splat(e, greatest, v));
}

/// Applies `f(number)` to each INT8 element, from -128 to 127, by a table.
template <class F>
value table(emit<ops<tosa::table>> e, value v, F&& f) {
    constexpr std::int64_t count = 256;
    std::array<std::int8_t, count> entries{};
    for (std::int64_t i = 0; i != count; ++i)
        entries[static_cast<std::size_t>(i)] = static_cast<std::int8_t>(f(i - 128));
    return e.make<tosa::table>(
        {.input1 = v, .table = e.constant<std::int8_t>(dtype::int8, sizes(&count, 1), entries)});
}

/// Repeats the elements of an integer constant.
inline value repeat(emit<ops<>> e, value v, std::int64_t times) {
    const auto numbers = constant_integers(v);
    const auto count = static_cast<std::int64_t>(numbers->size());
    return e.constant({e.dtype(v), {count * times}, {}}, [&](std::span<std::byte> data) {
        const std::size_t width = traits_of(e.dtype(v)).bits / 8U;
        for (std::size_t i = 0; i * width != data.size(); ++i)
            std::memcpy(&data[i * width], &(*numbers)[i % numbers->size()], width);
    });
}

}  // namespace headrace::u55

#endif
