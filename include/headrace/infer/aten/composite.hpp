// SPDX-License-Identifier: MIT
// Defines the shape and dtype rules of composite functions of aten: elementwise, reductions, products and
// distances.
#ifndef HEADRACE_INFER_ATEN_COMPOSITE_HPP
#define HEADRACE_INFER_ATEN_COMPOSITE_HPP

#include <optional>

#include <headrace/infer/aten/arithmetic.hpp>
#include <headrace/infer/aten/elementwise.hpp>
#include <headrace/infer/aten/matrix.hpp>
#include <headrace/infer/aten/reduction.hpp>

namespace headrace {

namespace detail {

/// Returns the dtype of a norm or an average; refuses integers unless a dtype is given.
[[nodiscard]] inline result<dtype> norm_type(dtype self, std::optional<dtype> given) {
    const dtype type = given.value_or(self);
    if (is_integral(type) || is_boolean(type)) return require_floating("self", type).error();
    return magnitude_of(type);
}
[[nodiscard]] inline result<void> require_reduction(std::int64_t reduction) {
    return require_between("reduction", reduction, 0, 2);
}

}  // namespace detail

// Elementwise.

template <one_of<ops<aten::isneginf, aten::isposinf, aten::isreal>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    if constexpr (!std::is_same_v<Op, aten::isreal>) {
        HEADRACE_TRY(require_type_for<Op>("self", self.dtype));
    }
    return add_result(out, dtype::boolean, self);
}
template <one_of<ops<aten::sinc, aten::special_entr, aten::special_ndtr>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    HEADRACE_TRY(require_type_for<Op>("self", self.dtype));
    return add_result(out, as_floating(self.dtype), self);
}
template <one_of<ops<aten::angle>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    return add_result(out, magnitude_of(as_floating(self.dtype)), self);
}
template <one_of<ops<aten::special_round>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    return add_result(out, inference::of(a.self));
}
template <one_of<ops<aten::conj>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    return add_result(out, inference::of(a.self));
}
template <one_of<ops<aten::real>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    return add_result(out, magnitude_of(self.dtype), self);
}
template <one_of<ops<aten::isclose>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    if (!(a.rtol >= 0) || !(a.atol >= 0)) return invalid("rtol and atol must be at least 0");
    const tensor_meta& self = inference::of(a.self);
    HEADRACE_TRY(require_dtype("other", inference::of(a.other).dtype, self.dtype));
    return detail::infer_broadcast(out, dtype::boolean, self, inference::of(a.other));
}
template <one_of<ops<aten::heaviside>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    HEADRACE_TRY(require_type_for<Op>("self", self.dtype));
    HEADRACE_TRY(require_dtype("values", inference::of(a.values).dtype, self.dtype));
    return detail::infer_broadcast(out, self.dtype, self, inference::of(a.values));
}
template <one_of<ops<aten::logaddexp2, aten::special_xlog1py>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    HEADRACE_TRY(type, detail::promoted_for<Op>(self, inference::of(a.other)));
    return detail::infer_broadcast(out, as_floating(type), self, inference::of(a.other));
}
/// The result is float64 for all operands.
template <
    one_of<ops<aten::float_power_tensor_tensor, aten::float_power_tensor_scalar, aten::float_power_scalar>>
        Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    promotion common;
    const auto wide = [](dtype type) { return is_complex(type) ? dtype::complex128 : dtype::float64; };
    if constexpr (std::is_same_v<Op, aten::float_power_tensor_tensor>) {
        const tensor_meta& self = inference::of(a.self);
        const tensor_meta& exponent = inference::of(a.exponent);
        return detail::infer_broadcast(out, wide(common.add(self).add(exponent).type()), self, exponent);
    } else if constexpr (std::is_same_v<Op, aten::float_power_tensor_scalar>) {
        const tensor_meta& self = inference::of(a.self);
        return add_result(out, wide(self.dtype), self);
    } else {
        const tensor_meta& exponent = inference::of(a.exponent);
        return add_result(out, wide(exponent.dtype), exponent);
    }
}
template <one_of<ops<aten::feature_dropout, aten::alpha_dropout, aten::feature_alpha_dropout>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    if (!(a.p >= 0 && a.p <= 1)) return invalid("p must be a probability");
    return add_result(out, inference::of(a.input));
}

// Reductions.

template <one_of<ops<aten::count_nonzero, aten::count_nonzero_dim_intlist>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    return detail::infer_reduced(out, dtype::int64, inference::of(a.self).shape, a.dim, false);
}
template <one_of<ops<aten::nanmean>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    HEADRACE_TRY(require_floating("self", magnitude_of(self.dtype)));
    return detail::infer_reduced(out, a.dtype.value_or(self.dtype), self.shape, a.dim, a.keepdim);
}
template <one_of<ops<aten::dist>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    HEADRACE_TRY(broadcast(self.shape, inference::of(a.other).shape));
    HEADRACE_TRY(type, detail::norm_type(result_type(self, inference::of(a.other)), std::nullopt));
    return add_result(out, type, shape_builder());
}
template <one_of<ops<aten::std_mean, aten::var_mean>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    HEADRACE_TRY(type, detail::norm_type(inference::of(a.self).dtype, std::nullopt));
    HEADRACE_TRY(add_result(out, type, shape_builder()));
    return add_result(out, inference::of(a.self).dtype, shape_builder());
}
template <one_of<ops<aten::median, aten::nanmedian>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    HEADRACE_TRY(require_type_for<Op>("self", self.dtype));
    return add_result(out, self.dtype, shape_builder());
}
template <one_of<ops<aten::median_dim, aten::nanmedian_dim, aten::kthvalue>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    HEADRACE_TRY(detail::check_extrema<Op>(self, a.dim));
    if constexpr (requires { a.k; }) {
        HEADRACE_TRY(axis, axis_of(a.dim, self.rank()));
        HEADRACE_TRY(require_between("k", a.k, 1, self.rank() == 0 ? 1 : self.shape[axis]));
    }
    HEADRACE_TRY(detail::infer_reduced(out, self.dtype, self.shape, a.dim, a.keepdim));
    return detail::infer_reduced(out, dtype::int64, self.shape, a.dim, a.keepdim);
}
template <one_of<ops<aten::cummax, aten::cummin>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    HEADRACE_TRY(require_type_for<Op>("self", self.dtype));
    HEADRACE_TRY(axis_of(a.dim, self.rank()));
    HEADRACE_TRY(add_result(out, self));
    return add_result(out, dtype::int64, self.shape);
}
template <one_of<ops<aten::logcumsumexp>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    HEADRACE_TRY(require_type_for<Op>("self", self.dtype));
    HEADRACE_TRY(axis_of(a.dim, self.rank()));
    return add_result(out, self);
}
template <one_of<ops<aten::trapezoid_dx, aten::trapezoid_x, aten::cumulative_trapezoid_dx>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& y = inference::of(a.y);
    HEADRACE_TRY(require_rank("y", y.shape, 1, SIZE_MAX));
    HEADRACE_TRY(axis, axis_of(a.dim, y.rank()));
    HEADRACE_TRY(require_at_least("the size along dim", y.shape[axis], 1));
    shape_builder shape(y.shape);
    dtype type = as_floating(y.dtype);
    if constexpr (requires { a.x; }) {
        HEADRACE_TRY(require_shape("x", inference::of(a.x).shape, y.shape));
        type = as_floating(result_type(y, inference::of(a.x)));
    }
    if constexpr (std::is_same_v<Op, aten::cumulative_trapezoid_dx>) {
        --shape[axis];
    } else {
        shape.erase(axis);
    }
    return add_result(out, type, shape);
}
template <one_of<ops<aten::cov, aten::corrcoef>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    HEADRACE_TRY(require_rank("self", self.shape, 0, 2));
    const shape_builder square = self.rank() == 2 && self.shape[0] != 1
        ? shape_builder{self.shape[0], self.shape[0]}
        : shape_builder();
    return add_result(out, as_floating(self.dtype), square);
}

// Products.

template <one_of<ops<aten::inner>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    const tensor_meta& other = inference::of(a.other);
    if (self.rank() == 0 || other.rank() == 0)
        return detail::infer_broadcast(out, result_type(self, other), self, other);
    HEADRACE_TRY(detail::require_factors(self, other));
    HEADRACE_TRY(require_equal("the last size of other", other.shape.back(), self.shape.back()));
    shape_builder shape(sizes(self.shape).first(self.rank() - 1));
    shape.append(sizes(other.shape).first(other.rank() - 1));
    return add_result(out, self.dtype, shape);
}
/// Contracted axes have the same size; an axis of size 1 broadcasts, and the other is summed.
template <one_of<ops<aten::tensordot>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    const tensor_meta& other = inference::of(a.other);
    HEADRACE_TRY(detail::require_factors(self, other));
    HEADRACE_TRY(require_count("dims_other", a.dims_other.size(), a.dims_self.size()));
    HEADRACE_TRY(mine, axes_of(a.dims_self, self.rank(), no_axes::none));
    HEADRACE_TRY(others, axes_of(a.dims_other, other.rank(), no_axes::none));
    for (std::size_t i = 0; i != a.dims_self.size(); ++i) {
        const std::int64_t size = self.shape[*normalized_axis(a.dims_self[i], self.rank())];
        const std::int64_t other_size = other.shape[*normalized_axis(a.dims_other[i], other.rank())];
        if (size != other_size && size != 1 && other_size != 1)
            return invalid({"contracted axes have sizes ", size, " and ", other_size});
    }
    shape_builder shape = reduced_shape(self.shape, mine, false);
    shape.append(reduced_shape(other.shape, others, false));
    return add_result(out, self.dtype, shape);
}
template <one_of<ops<aten::kron>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    const tensor_meta& other = inference::of(a.other);
    shape_builder shape(self.rank() < other.rank() ? other.shape : self.shape);
    const std::size_t rank = shape.size();
    for (std::size_t i = 0; i != rank; ++i) {
        const std::size_t left = rank - 1 - i;  // from the end
        shape[left] = saturating_mul(i < self.rank() ? self.shape[self.rank() - 1 - i] : 1,
            i < other.rank() ? other.shape[other.rank() - 1 - i] : 1);
    }
    return add_result(out, result_type(self, other), shape);
}

}  // namespace headrace

#endif
