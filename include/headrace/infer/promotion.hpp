// SPDX-License-Identifier: MIT
// Defines headrace::promotion, PyTorch's type promotion.
#ifndef HEADRACE_INFER_PROMOTION_HPP
#define HEADRACE_INFER_PROMOTION_HPP

#include <headrace/base/dtype.hpp>
#include <headrace/ir/tensor_meta.hpp>
#include <headrace/op/value.hpp>

namespace headrace {

/// The dtype of floating-point numbers if none is given.
inline constexpr dtype default_float = dtype::float32;

/// Returns the dtype of a tensor made from a Python number: bool, int64 or float32.
[[nodiscard]] constexpr dtype dtype_of(const scalar& number) {
    switch (number.kind()) {
        case scalar::kind_type::boolean:
            return dtype::boolean;
        case scalar::kind_type::integral:
            return dtype::int64;
        default:
            return default_float;
    }
}

/// Integers and booleans become float32, as in division and in most real functions.
[[nodiscard]] constexpr dtype as_floating(dtype t) {
    return is_integral(t) || is_boolean(t) ? default_float : t;
}
/// Integers and booleans become int64, as in sums.
[[nodiscard]] constexpr dtype as_accumulator(dtype t) {
    return is_integral(t) || is_boolean(t) ? dtype::int64 : t;
}
[[nodiscard]] constexpr dtype complex_of(dtype t) {
    switch (t) {
        case dtype::float16:
            return dtype::complex32;
        case dtype::float64:
            return dtype::complex128;
        default:
            return is_complex(t) ? t : dtype::complex64;
    }
}

/// Returns the dtype of absolute values, and of the parts of complex numbers.
[[nodiscard]] constexpr dtype magnitude_of(dtype t) {
    switch (t) {
        case dtype::complex32:
            return dtype::float16;
        case dtype::complex64:
            return dtype::float32;
        case dtype::complex128:
            return dtype::float64;
        default:
            return t;
    }
}

namespace detail {

constexpr bool is_unsigned_without_promotion(dtype t) {
    return t == dtype::uint16 || t == dtype::uint32 || t == dtype::uint64;
}
constexpr bool is_float8(dtype t) { return t == dtype::float8_e4m3 || t == dtype::float8_e5m2; }

constexpr dtype promote_integers(dtype a, dtype b) {
    if (is_unsigned_without_promotion(a) || is_unsigned_without_promotion(b)) return dtype::unknown;
    if (b == dtype::uint8) return promote_integers(b, a);
    if (a == dtype::uint8) return b == dtype::int8 ? dtype::int16 : b;
    return traits_of(a).bits > traits_of(b).bits ? a : b;
}
constexpr dtype promote_floats(dtype a, dtype b) {
    if (is_float8(a) || is_float8(b)) return dtype::unknown;
    if (traits_of(a).bits == traits_of(b).bits) return dtype::float32;  // bfloat16 with float16
    return traits_of(a).bits > traits_of(b).bits ? a : b;
}

}  // namespace detail

/// torch.promote_types. `unknown` promotes to the other dtype; dtypes that PyTorch does not promote give
/// `unknown`.
[[nodiscard]] constexpr dtype promote(dtype a, dtype b) {
    if (a == b || b == dtype::unknown) return a;
    const dtype_category left = traits_of(a).category;
    const dtype_category right = traits_of(b).category;
    if (left > right) return promote(b, a);
    if (a == dtype::unknown) return b;
    if (detail::is_float8(a) || detail::is_float8(b)) return dtype::unknown;
    if (left == dtype_category::boolean) return b;
    if (right == dtype_category::complex && left >= dtype_category::floating) {
        const dtype other = complex_of(a);
        return traits_of(other).bits > traits_of(b).bits ? other : b;
    }
    if (left != right) return b;
    return left == dtype_category::integral ? detail::promote_integers(a, b) : detail::promote_floats(a, b);
}

/// torch.result_type: tensors of rank 0 and Python numbers affect the result only if their category is above
/// that of the other tensors; Python numbers only if it is also above that of tensors of rank 0.
class promotion {
public:
    constexpr promotion& add(const tensor_meta& tensor) {
        dtype& type = tensor.rank() == 0 ? zero_ : dim_;
        type = promoted(type, tensor.dtype);
        return *this;
    }
    constexpr promotion& add(const scalar& number) {
        number_ = promoted(number_, dtype_of(number));
        return *this;
    }

    /// Returns the common dtype; `unknown` if there is none.
    [[nodiscard]] constexpr dtype type() {
        const dtype combined = combine(dim_, combine(zero_, number_));
        return impossible_ ? dtype::unknown : combined;
    }

private:
    constexpr dtype promoted(dtype a, dtype b) {
        const dtype type = promote(a, b);
        impossible_ |= type == dtype::unknown;
        return type;
    }
    constexpr dtype combine(dtype higher, dtype lower) {
        const dtype_category low = traits_of(lower).category;
        switch (traits_of(higher).category) {
            case dtype_category::none:
                return lower;
            case dtype_category::complex:
                return higher;
            case dtype_category::floating:
                return low == dtype_category::complex ? complex_of(higher) : higher;
            case dtype_category::boolean:
                return low == dtype_category::none ? higher : promoted(higher, lower);
            default:
                return low >= dtype_category::floating ? promoted(higher, lower) : higher;
        }
    }

    dtype dim_ = dtype::unknown;
    dtype zero_ = dtype::unknown;
    dtype number_ = dtype::unknown;
    bool impossible_ = false;
};

/// Returns the common dtype of tensors (tensor_meta) and Python numbers (scalar).
template <class... Operands>
[[nodiscard]] constexpr dtype result_type(const Operands&... operands) {
    promotion p;
    static_cast<void>((p.add(operands), ...));
    return p.type();
}

}  // namespace headrace

#endif
