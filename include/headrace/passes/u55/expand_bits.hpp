// SPDX-License-Identifier: MIT
// Defines headrace::expand_bits.
#ifndef HEADRACE_PASSES_U55_EXPAND_BITS_HPP
#define HEADRACE_PASSES_U55_EXPAND_BITS_HPP

#include <algorithm>
#include <array>
#include <memory_resource>
#include <optional>
#include <vector>

#include <headrace/passes/support/build.hpp>
#include <headrace/passes/u55/for_u55.hpp>
#include <headrace/passes/u55/intervals.hpp>

namespace headrace {

/// Bitwise logic, shifts and casts to fewer bits. Ethos-U55 shifts INT32 alone, and to the right with
/// rounding; what that rounds up is taken back. Bitwise logic is a table of two nibbles, byte by byte.
struct expand_bits : pass, for_u55 {
    static constexpr std::string_view summary =
        "bitwise logic, shifts and narrowing casts as tables and 32-bit arithmetic";
    using logic = ops<tosa::bitwise_and, tosa::bitwise_or, tosa::bitwise_xor>;
    using targets = joined<logic, ops<tosa::bitwise_not, tosa::arithmetic_right_shift,
                                      tosa::logical_right_shift, tosa::logical_left_shift, tosa::cast>>;
    using produces = ops<tosa::cast, tosa::rescale, tosa::table, tosa::add, tosa::sub, tosa::maximum,
                         tosa::minimum, tosa::arithmetic_right_shift, tosa::logical_left_shift>;

    template <one_of<logic> Op>
    value operator()(Op, const args<Op>& a, emit<produces>& e) const {
        const dtype type = e.dtype(a.input1);
        const auto of_bytes = [](unsigned x, unsigned y) {
            return std::is_same_v<Op, tosa::bitwise_and>  ? x & y
                   : std::is_same_v<Op, tosa::bitwise_or> ? x | y
                                                          : x ^ y;
        };
        const std::pmr::vector<value> x = bytes_of(e, a.input1);
        const auto number = constant_integers(a.input2);
        std::pmr::vector<value> bytes;
        if (number && number->size() == 1) {
            for (std::size_t i = 0; i != x.size(); ++i) {
                const auto with = static_cast<std::uint8_t>((*number)[0] >> (8 * i));
                bytes.push_back(table(e, x[i], [&](unsigned byte) { return of_bytes(byte, with); }));
            }
        } else {
            const std::pmr::vector<value> y = bytes_of(e, a.input2);
            for (std::size_t i = 0; i != x.size(); ++i) bytes.push_back(combined(e, x[i], y[i], of_bytes));
        }
        return from_bytes(e, bytes, type);
    }

    value operator()(const args<tosa::bitwise_not>& a, emit<produces>& e) const {
        const value x = wide(e, a.input1);
        return narrow(e, e.make<tosa::sub>(splat(e, -1, x), x), e.dtype(a.input1));
    }

    std::optional<value> operator()(const args<tosa::arithmetic_right_shift>& a, emit<produces>& e) const {
        const dtype type = e.dtype(a.input1);
        if (a.round && type == dtype::int32) return std::nullopt;
        const value x = wide(e, a.input1);
        const value by = wide(e, a.input2);
        return narrow(e, a.round ? rounded_shift(e, x, by) : right_shift(e, x, by), type);
    }
    value operator()(const args<tosa::logical_right_shift>& a, emit<produces>& e) const {
        const dtype type = e.dtype(a.input1);
        const value x = wide(e, a.input1);
        const value by = wide(e, a.input2);
        const value sign = minus_one_below_zero(e, x);
        if (type != dtype::int32) {  // a number of more bits, not below 0
            const value bits = splat(e, traits_of(type).bits, x);
            const value number = e.make<tosa::sub>(x, e.make<tosa::logical_left_shift>(sign, bits));
            return wrapped(e, right_shift(e, number, by), type);
        }
        const auto shift = constant_integers(by);
        if (shift && shift->size() == 1 && (*shift)[0] == 31) return e.make<tosa::sub>(splat(e, 0, x), sign);
        // The sign's bits are taken away again: they are sign · 2^(32 - by), nothing where by is 0.
        const value left = e.make<tosa::sub>(splat(e, 31, by), by);
        const value twice = e.make<tosa::logical_left_shift>(sign, splat(e, 1, x));
        return e.make<tosa::sub>(right_shift(e, x, by), e.make<tosa::logical_left_shift>(twice, left));
    }
    std::optional<value> operator()(const args<tosa::logical_left_shift>& a, emit<produces>& e) const {
        const dtype type = e.dtype(a.input1);
        if (type == dtype::int32) return std::nullopt;
        return wrapped(e, e.make<tosa::logical_left_shift>(wide(e, a.input1), wide(e, a.input2)), type);
    }
    std::optional<value> operator()(const args<tosa::cast>& a, emit<produces>& e) const {
        const dtype from = e.dtype(a.input);
        if (!is_integral(from) || !is_integral(a.output_type) ||
            traits_of(a.output_type).bits >= traits_of(from).bits)
            return std::nullopt;
        const auto [lowest, highest] = range_of(a.output_type);
        if (interval_of(a.input).lies_in(lowest, highest)) return narrow(e, a.input, a.output_type);
        return wrapped(e, wide(e, a.input), a.output_type);
    }

private:
    static value splat(emit<produces>& e, std::int64_t number, value beside) {
        return e.splat(number, dtype::int32, e.rank(beside));
    }
    static value wide(emit<produces>& e, value v) {
        if (e.dtype(v) == dtype::int32) return v;
        if (const auto numbers = constant_integers(v)) {
            const std::pmr::vector<std::int32_t> elements(numbers->begin(), numbers->end());
            return e.constant<std::int32_t>(dtype::int32, e.shape(v), elements);
        }
        return e.make<tosa::cast>({.input = v, .output_type = dtype::int32});
    }
    // Of numbers that have room in the type.
    static value narrow(emit<produces>& e, value v, dtype type) {
        if (e.dtype(v) == type) return v;
        constexpr int shift = 30;
        return e.make<tosa::rescale>({.input = v,
                                      .multiplier = e.splat(1 << shift, dtype::int32, 1),
                                      .shift = e.splat(shift, dtype::int8, 1),
                                      .input_zp = e.splat(0, e.dtype(v), 1),
                                      .output_zp = e.splat(0, type, 1)});
    }
    // The low bits of others: up, and down again.
    static value wrapped(emit<produces>& e, value v, dtype type) {
        const value unused = splat(e, 32 - static_cast<std::int64_t>(traits_of(type).bits), v);
        return narrow(e, rounded_shift(e, e.make<tosa::logical_left_shift>(v, unused), unused), type);
    }
    static value rounded_shift(emit<produces>& e, value v, value by) {
        return e.make<tosa::arithmetic_right_shift>({.input1 = v, .input2 = by, .round = true});
    }
    static value minus_one_below_zero(emit<produces>& e, value v) {
        return e.make<tosa::minimum>(e.make<tosa::maximum>(v, splat(e, -1, v)), splat(e, 0, v));
    }
    // Toward minus infinity: half of the divisor is taken off before, where it is there.
    static value right_shift(emit<produces>& e, value v, value by) {
        const auto shifts = constant_integers(by);
        value half;
        std::int64_t most = std::int64_t{1} << 30;
        if (shifts) {
            most = 0;
            std::pmr::vector<std::int32_t> halves;
            for (const std::int64_t s : *shifts) {
                halves.push_back(s < 1 || s > 31 ? 0 : std::int32_t{1} << (s - 1));
                most = std::max<std::int64_t>(most, halves.back());
            }
            if (most == 0) return v;
            half = e.constant<std::int32_t>(dtype::int32, e.shape(by), halves);
        } else {
            const value one = splat(e, 1, by);
            const value less = e.make<tosa::maximum>(e.make<tosa::sub>(by, one), splat(e, 0, by));
            half = e.make<tosa::logical_left_shift>(e.make<tosa::minimum>(by, one), less);
        }
        if (interval_of(v).least - most < INT32_MIN)
            v = e.make<tosa::maximum>(v, e.make<tosa::add>(half, splat(e, INT32_MIN, half)));
        return rounded_shift(e, e.make<tosa::sub>(v, half), by);
    }

    // --- bytes -------------------------------------------------------------------------------

    // The bytes of each element, the lowest first, as INT8.
    static std::pmr::vector<value> bytes_of(emit<produces>& e, value v) {
        std::pmr::vector<value> bytes;
        const std::size_t count = traits_of(e.dtype(v)).bits / 8U;
        if (count == 1) return {v};
        value rest = wide(e, v);
        const value by = splat(e, 8, rest);
        while (bytes.size() + 1 != count) {
            const value rounded = rounded_shift(e, rest, by);
            const value byte = e.make<tosa::sub>(rest, e.make<tosa::logical_left_shift>(rounded, by));
            bytes.push_back(narrow(e, byte, dtype::int8));
            rest = e.make<tosa::add>(rounded, minus_one_below_zero(e, byte));
        }
        bytes.push_back(narrow(e, rest, dtype::int8));
        return bytes;
    }
    static value from_bytes(emit<produces>& e, const std::pmr::vector<value>& bytes, dtype type) {
        if (bytes.size() == 1) return bytes[0];
        value v = wide(e, bytes.back());
        const value by = splat(e, 8, v);
        for (std::size_t i = bytes.size() - 1; i-- != 0;) {
            const value byte = wide(e, bytes[i]);  // 256 less where its highest bit is set
            const value above = e.make<tosa::sub>(v, minus_one_below_zero(e, byte));
            v = e.make<tosa::add>(e.make<tosa::logical_left_shift>(above, by), byte);
        }
        return narrow(e, v, type);
    }
    // A function of a byte.
    template <class F>
    static value table(emit<produces>& e, value v, F&& f) {
        constexpr std::int64_t count = 256;
        std::array<std::int8_t, count> entries{};
        for (unsigned i = 0; i != count; ++i)  // from -128 on
            entries[i] = static_cast<std::int8_t>(static_cast<std::uint8_t>(f((i + 128U) & 255U)));
        return e.make<tosa::table>(
            {.input1 = v, .table = e.constant<std::int8_t>(dtype::int8, sizes(&count, 1), entries)});
    }
    // A bitwise function of two bytes: a nibble of each makes the index of a table.
    template <class F>
    static value combined(emit<produces>& e, value x, value y, F&& f) {
        const auto sum = [&](value a, value b) {
            return narrow(e, e.make<tosa::add>(wide(e, a), wide(e, b)), dtype::int8);
        };
        const value high = sum(table(e, x, [](unsigned b) { return b & 240U; }),
                               table(e, y, [](unsigned b) { return b >> 4U; }));
        const value low = sum(table(e, x, [](unsigned b) { return (b << 4U) & 240U; }),
                              table(e, y, [](unsigned b) { return b & 15U; }));
        return sum(table(e, high, [&](unsigned b) { return f(b >> 4U, b & 15U) << 4U; }),
                   table(e, low, [&](unsigned b) { return f(b >> 4U, b & 15U) & 15U; }));
    }
};

}  // namespace headrace

#endif
