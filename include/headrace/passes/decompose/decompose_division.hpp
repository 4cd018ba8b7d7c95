// SPDX-License-Identifier: MIT
// Defines headrace::decompose_division.
#ifndef HEADRACE_PASSES_DECOMPOSE_DECOMPOSE_DIVISION_HPP
#define HEADRACE_PASSES_DECOMPOSE_DECOMPOSE_DIVISION_HPP

#include <headrace/passes/properties.hpp>
#include <headrace/passes/support/formula.hpp>

namespace headrace {

/// Division and its remainders. PyTorch divides integers as real numbers unless a rounding mode is given.
///
///     a / b = a · (1/b)        fmod(a, b) = a - trunc(a/b)·b        remainder(a, b) = a - floor(a/b)·b
///
/// A quotient that is rounded to an integer must not be off by the last bit of 1/b. So the remainder is
/// computed first, exactly: with q = floor(|a|·(1/|b|)), at most one off below 2^23, |a| - q·|b| comes from a
/// product split in two halves (Veltkamp and Dekker 1971), and tells which way q is off. A first step with
/// 2^20·|b| makes that exact for quotients up to 2^43. The rest of integers is exact anyway. Rounding toward
/// zero takes the nearest float to a/b instead, as PyTorch does: 1/0.1f is 10 there, not 9.99….
struct decompose_division : pass {
    using phase = function_decomposition;
    using targets = ops<aten::div_tensor, aten::div_tensor_mode, aten::floor_divide, aten::remainder_tensor,
                        aten::fmod_tensor>;
    using produces = joined<formula_ops, ops<aten::div_tensor_mode>>;

    value operator()(const args<aten::div_tensor>& a, emit<produces>& e) const {
        return in_result_type(formula::real(e, a.self) / formula::real(e, a.other));
    }
    /// Integers divided toward zero are TOSA's INTDIV: these stay.
    std::optional<value> operator()(const args<aten::div_tensor_mode>& a, emit<produces>& e) const {
        if (!a.rounding_mode) return in_result_type(formula::real(e, a.self) / formula::real(e, a.other));
        if (*a.rounding_mode == "floor") return floored(e, a.self, a.other);
        if (!is_floating(type_of(e, a.self, a.other))) {
            if (e.dtype(a.self) == e.dtype(a.other)) return std::nullopt;
            const operands x = common(e, a.self, a.other);
            return quotient(x).v;
        }
        const operands x = common(e, a.self, a.other);
        return trunc(as(nearest_quotient(x), e.result_meta().dtype));
    }
    value operator()(const args<aten::floor_divide>& a, emit<produces>& e) const {
        return floored(e, a.self, a.other);
    }
    value operator()(const args<aten::fmod_tensor>& a, emit<produces>& e) const {
        return in_result_type(fmod(common(e, a.self, a.other)));
    }
    value operator()(const args<aten::remainder_tensor>& a, emit<produces>& e) const {
        const operands x = common(e, a.self, a.other);
        const term rest = fmod(x);
        return in_result_type(where(signs_differ(rest, x.b), rest + x.b, rest));
    }

private:
    using term = formula::term<emit<produces>>;
    struct operands {
        term a, b;
    };

    static dtype type_of(emit<produces>& e, value a, value b) { return result_type(e.meta(a), e.meta(b)); }
    /// Both in the type that the operation is computed in.
    static operands common(emit<produces>& e, value a, value b) {
        const dtype type = type_of(e, a, b);
        const dtype computed = is_floating(type) ? dtype::float32 : type;
        return {as(formula::term_of(e, a), computed), as(formula::term_of(e, b), computed)};
    }
    /// Of integers, toward zero.
    static term quotient(const operands& x) {
        return {x.a.e, x.a.e->make<aten::div_tensor_mode>(x.a.v, x.b.v, "trunc")};
    }
    static value floored(emit<produces>& e, value a, value b) {
        const operands x = common(e, a, b);
        const term rest = fmod(x);
        const term differ = signs_differ(rest, x.b);
        if (!is_floating(e.dtype(x.a))) {
            const term q = quotient(x);
            return in_result_type(where(differ, q - 1, q));
        }
        const term q = rounded_quotient(x, rest);
        return in_result_type(where(x.b == 0, x.a / x.b, where(differ, q - 1, q)));
    }
    /// The rest is not 0 and on the other side of 0 than the divisor.
    static term signs_differ(const term& rest, const term& divisor) {
        return either(both(rest<0, divisor> 0), both(rest > 0, divisor < 0));
    }
    /// (a - rest) / b is an integer; what 1/b adds to it is rounded away.
    static term rounded_quotient(const operands& x, const term& rest) {
        return where(x.b == 0, x.a / x.b, floor((x.a - rest) / x.b + 0.5));
    }
    /// a / b, its error taken back once; not where that is NaN, because something is infinite.
    static term nearest_quotient(const operands& x) {
        const term inverse = reciprocal(x.b);
        const term q = x.a * inverse;
        const term error = minus_product(x.a, q, x.b);
        return where(error == error, q + error * inverse, q);
    }
    static term fmod(const operands& x) {
        if (!is_floating(x.a.e->dtype(x.a))) return x.a - quotient(x) * x.b;
        const term step = abs(x.b);
        const term rest = reduced(reduced(abs(x.a), step * 0x1p20), step);
        return where(x.a < 0, -rest, rest);
    }
    /// The rest of size / step, neither negative, with a quotient below 2^23.
    static term reduced(const term& size, const term& step) {
        const term q = floor(size * reciprocal(step));
        const term rest = minus_product(size, q, step);
        const term positive = where(rest < 0, rest + step, rest);
        const term less = where(positive >= step, positive - step, positive);
        return where(size < step, size, less);  // step may be infinite
    }
    /// a - b·c, exactly where a and b·c are close: b·c = p + (((bh·ch - p) + bh·cl + bl·ch) + bl·cl).
    static term minus_product(const term& a, const term& b, const term& c) {
        const auto high = [](const term& x) {
            const term scaled = x * 4097;  // 2^12 + 1
            return scaled - (scaled - x);
        };
        const term p = b * c;
        const term bh = high(b), ch = high(c);
        const term bl = b - bh, cl = c - ch;
        const term error = bl * cl - (((p - bh * ch) - bl * ch) - bh * cl);
        return (a - p) - error;
    }
};

}  // namespace headrace

#endif
