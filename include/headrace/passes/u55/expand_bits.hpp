// SPDX-License-Identifier: MIT
// Defines headrace::expand_bits.
#ifndef HEADRACE_PASSES_U55_EXPAND_BITS_HPP
#define HEADRACE_PASSES_U55_EXPAND_BITS_HPP

#include <algorithm>
#include <functional>
#include <optional>

#include <headrace/base/pmr_vector.hpp>
#include <headrace/passes/npu/preferring.hpp>
#include <headrace/passes/u55/int32.hpp>

namespace headrace {

struct expand_resize;
struct rescale_before_moving;

/// Expands operators on bits. Ethos-U55 shifts only INT32, and its right shift rounds, so half of the divisor
/// is subtracted first. A bitwise operator of two values is a table lookup of two nibbles, byte by byte.
struct expand_bits : for_u55 {
    using runs_before = pass_list<expand_resize, rescale_before_moving>;
    static constexpr std::string_view summary =
        "lowers bitwise logic, shifts and narrowing casts to arithmetic and tables";

    static auto rewrites() {
        return rules(on<tosa::bitwise_and> = code<by_bytes<std::bit_and<unsigned>>>(),
            on<tosa::bitwise_or> = code<by_bytes<std::bit_or<unsigned>>>(),
            on<tosa::bitwise_xor> = code<by_bytes<std::bit_xor<unsigned>>>(),
            on<tosa::bitwise_not> = code<inverted>(),
            on<tosa::arithmetic_right_shift> = code<shifted_arithmetically>(),
            on<tosa::logical_right_shift> = code<shifted_right>(),
            on<tosa::logical_left_shift> = code<shifted_left>(), on<tosa::cast> = code<narrowed>());
    }

private:
    using made = ops<tosa::cast, tosa::rescale, tosa::table, tosa::add, tosa::sub, tosa::maximum,
        tosa::minimum, tosa::arithmetic_right_shift, tosa::logical_left_shift>;
    // ~x = -1 - x
    static value inverted(emit<made> e, value v) {
        const value x = u55::widen(e, v);
        return build::narrow(e, e.make<tosa::sub>(u55::splat(e, -1, x), x), e.dtype(v));
    }
    static std::optional<value> shifted_arithmetically(
        emit<made> e, const args<tosa::arithmetic_right_shift>& a) {
        const dtype type = e.dtype(a.input1);
        if (a.round && type == dtype::int32) return std::nullopt;
        const value x = u55::widen(e, a.input1);
        const value by = u55::widen(e, a.input2);
        return build::narrow(e, a.round ? u55::rounded_shift(e, x, by) : right_shift(e, x, by), type);
    }
    static value shifted_right(emit<made> e, value v, value count) {
        const dtype type = e.dtype(v);
        const value x = u55::widen(e, v);
        const value by = u55::widen(e, count);
        const value sign = u55::clamp(e, x, -1, 0);  // -1 if negative
        if (type != dtype::int32) {                  // the unsigned element fits in 32 bits
            const value bits = u55::splat(e, traits_of(type).bits, x);
            const value number = e.make<tosa::sub>(x, left_shift(e, sign, bits));
            return low_bits(e, right_shift(e, number, by), type);
        }
        if (constant_integer(by) == 31) return e.make<tosa::sub>(u55::splat(e, 0, x), sign);
        // Subtracts the copies of the sign bit: sign * 2^(32 - by), which is 0 if by is 0.
        const value left = e.make<tosa::sub>(u55::splat(e, 31, by), by);
        const value twice = left_shift(e, sign, u55::splat(e, 1, x));
        return e.make<tosa::sub>(right_shift(e, x, by), left_shift(e, twice, left));
    }
    static std::optional<value> shifted_left(emit<made> e, value v, value count) {
        const dtype type = e.dtype(v);
        if (type == dtype::int32) return std::nullopt;
        return low_bits(e, left_shift(e, u55::widen(e, v), u55::widen(e, count)), type);
    }
    static std::optional<value> narrowed(emit<made> e, const args<tosa::cast>& a) {
        const dtype from = e.dtype(a.input);
        if (!is_integral(from) || !is_integral(a.output_type) ||
            traits_of(a.output_type).bits >= traits_of(from).bits)
            return std::nullopt;
        if (u55::interval_of(a.input).fits(a.output_type)) return build::narrow(e, a.input, a.output_type);
        return low_bits(e, u55::widen(e, a.input), a.output_type);
    }

    static value left_shift(emit<made> e, value v, value by) {
        return e.make<tosa::logical_left_shift>(v, by);
    }
    // Reduces INT32 modulo 2^bits of the dtype: shifts up, and down again.
    static value low_bits(emit<made> e, value v, dtype type) {
        const value unused = u55::splat(e, 32 - static_cast<std::int64_t>(traits_of(type).bits), v);
        return build::narrow(e, u55::rounded_shift(e, left_shift(e, v, unused), unused), type);
    }
    // Rounds toward minus infinity: half of the divisor is subtracted first.
    static value right_shift(emit<made> e, value v, value by) {
        const auto shifts = constant_integers(by);
        value half;
        std::int64_t max_half = std::int64_t{1} << 30;
        if (shifts) {
            pmr_vector<std::int64_t> halves;
            for (const std::int64_t s : *shifts)
                halves.push_back(s < 1 || s > 31 ? 0 : std::int64_t{1} << (s - 1));
            max_half = halves.empty() ? 0 : *std::max_element(halves.begin(), halves.end());
            if (max_half == 0 && e.shape(v) == e.result_meta().shape) return v;
            half = u55::constant(e, e.shape(by), halves);
        } else {
            const value one = u55::splat(e, 1, by);
            const value less = e.make<tosa::maximum>(e.make<tosa::sub>(by, one), u55::splat(e, 0, by));
            half = left_shift(e, e.make<tosa::minimum>(by, one), less);
        }
        if (u55::interval_of(v).least - max_half < INT32_MIN)
            v = e.make<tosa::maximum>(v, e.make<tosa::add>(half, u55::splat(e, INT32_MIN, half)));
        return u55::rounded_shift(e, e.make<tosa::sub>(v, half), by);
    }

    template <class F>
    static value by_bytes(emit<made> e, value left, value right) {
        const F f;
        const pmr_vector<value> x = bytes_of(e, left);
        const auto number = constant_integer(right);
        const pmr_vector<value> y = number ? x : bytes_of(e, right);
        pmr_vector<value> bytes;
        for (std::size_t i = 0; i != x.size(); ++i) {
            const auto with = static_cast<std::uint8_t>(number.value_or(0) >> (8 * i));
            bytes.push_back(number ? table(e, x[i], [&](unsigned byte) { return f(byte, with); })
                                   : combined(e, x[i], y[i], f));
        }
        return from_bytes(e, bytes, e.dtype(left));
    }

    // Returns the bytes of each element as INT8, the lowest first.
    static pmr_vector<value> bytes_of(emit<made> e, value v) {
        pmr_vector<value> bytes;
        const std::size_t count = traits_of(e.dtype(v)).bits / 8U;
        if (count == 1) return {v};
        value rest = u55::widen(e, v);
        const value by = u55::splat(e, 8, rest);
        while (bytes.size() + 1 != count) {
            const value rounded = u55::rounded_shift(e, rest, by);
            const value byte = e.make<tosa::sub>(rest, left_shift(e, rounded, by));
            bytes.push_back(build::narrow(e, byte, dtype::int8));
            rest = e.make<tosa::add>(rounded, u55::clamp(e, byte, -1, 0));
        }
        bytes.push_back(build::narrow(e, rest, dtype::int8));
        return bytes;
    }
    static value from_bytes(emit<made> e, const pmr_vector<value>& bytes, dtype type) {
        if (bytes.size() == 1) return bytes[0];
        value v = u55::widen(e, bytes.back());
        const value by = u55::splat(e, 8, v);
        for (std::size_t i = bytes.size() - 1; i-- != 0;) {
            const value byte = u55::widen(e, bytes[i]);  // 256 too low if its highest bit is set
            const value above = e.make<tosa::sub>(v, u55::clamp(e, byte, -1, 0));
            v = e.make<tosa::add>(left_shift(e, above, by), byte);
        }
        return build::narrow(e, v, type);
    }
    static value table(emit<made> e, value v, function_ref<unsigned(unsigned)> of_byte) {
        return u55::table(e, v, [&](std::int64_t i) {
            return static_cast<std::int8_t>(static_cast<std::uint8_t>(of_byte(static_cast<std::uint8_t>(i))));
        });
    }
    // Applies a bitwise operator to two bytes: a nibble of each forms the index into a table.
    static value combined(emit<made> e, value x, value y, function_ref<unsigned(unsigned, unsigned)> f) {
        const auto sum = [&](value a, value b) {
            return build::narrow(e, e.make<tosa::add>(u55::widen(e, a), u55::widen(e, b)), dtype::int8);
        };
        const value high = sum(table(e, x, [](unsigned b) { return b & 240U; }),
            table(e, y, [](unsigned b) { return b >> 4U; }));
        const value low = sum(table(e, x, [](unsigned b) { return (b << 4U) & 240U; }),
            table(e, y, [](unsigned b) { return b & 15U; }));
        return sum(table(e, high, [&](unsigned b) { return f(b >> 4U, b & 15U) << 4U; }),
            table(e, low, [&](unsigned b) { return f(b >> 4U, b & 15U) & 15U; }));
    }
};
HEADRACE_COMPILED_PASS(expand_bits);

}  // namespace headrace

#endif
