// SPDX-License-Identifier: MIT
// Defines the shape and dtype rules of the reductions of aten.
#ifndef HEADRACE_INFER_ATEN_REDUCTION_HPP
#define HEADRACE_INFER_ATEN_REDUCTION_HPP

#include <optional>

#include <headrace/dialect/aten.hpp>
#include <headrace/infer/preconditions.hpp>
#include <headrace/infer/promotion.hpp>
#include <headrace/infer/shape_builder.hpp>

namespace headrace {

namespace detail {

/// Infers a reduction. No list of axes and, for most ops, an empty list mean all axes.
inline result<void> infer_reduced(
    inference& out, dtype type, sizes shape, sizes axes, bool keepdim, no_axes empty = no_axes::all) {
    HEADRACE_TRY(reduced, axes_of(axes, shape.size(), empty));
    return add_result(out, type, reduced_shape(shape, reduced, keepdim));
}
inline result<void> infer_reduced(
    inference& out, dtype type, sizes shape, const int_list& axes, bool keepdim) {
    return infer_reduced(out, type, shape, sizes(axes), keepdim);
}
inline result<void> infer_reduced(
    inference& out, dtype type, sizes shape, const std::optional<int_list>& axes, bool keepdim) {
    return infer_reduced(out, type, shape, axes ? sizes(*axes) : sizes(), keepdim);
}
inline result<void> infer_reduced(inference& out, dtype type, sizes shape, std::int64_t axis, bool keepdim) {
    return infer_reduced(out, type, shape, sizes(&axis, 1), keepdim);
}
inline result<void> infer_reduced(
    inference& out, dtype type, sizes shape, std::optional<std::int64_t> axis, bool keepdim) {
    return axis ? infer_reduced(out, type, shape, *axis, keepdim)
                : infer_reduced(out, type, shape, sizes(), keepdim);
}

/// Refuses an extremum along an empty axis, which is undefined.
inline result<void> check_reduced_sizes(sizes shape, sizes axes) {
    HEADRACE_TRY(reduced, axes_of(axes, shape.size()));
    for (std::size_t i = 0; i != shape.size(); ++i) {
        if (reduced.contains(i) && shape[i] == 0) {
            return invalid({"axis ", i, " of ", shape_text(shape), " must not be empty"});
        }
    }
    return {};
}
template <class Op>
result<void> check_extrema(const tensor_meta& self, sizes axes) {
    HEADRACE_TRY(require_type_for<Op>("self", self.dtype));
    return check_reduced_sizes(self.shape, axes);
}
template <class Op>
result<void> check_extrema(const tensor_meta& self, std::optional<std::int64_t> axis) {
    return check_extrema<Op>(self, axis ? sizes(&*axis, 1) : sizes());
}
/// Returns the accumulating dtype of means and deviations; refuses integers.
inline result<dtype> real_type(dtype self, std::optional<dtype> given = std::nullopt) {
    const dtype type = given.value_or(self);
    HEADRACE_TRY(require_floating(given ? "dtype" : "self", type));
    return type;
}

/// `all` and `any` keep uint8, which once represented bool.
constexpr dtype truth_of(dtype t) { return t == dtype::uint8 ? t : dtype::boolean; }

}  // namespace detail

template <one_of<ops<aten::sum, aten::prod>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    return add_result(out, a.dtype.value_or(as_accumulator(inference::of(a.self).dtype)), shape_builder());
}

template <one_of<ops<aten::sum_dim_intlist, aten::prod_dim_int, aten::nansum>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    HEADRACE_TRY(require_type_for<Op>("self", self.dtype));
    return detail::infer_reduced(
        out, a.dtype.value_or(as_accumulator(self.dtype)), self.shape, a.dim, a.keepdim);
}

template <one_of<ops<aten::cumsum, aten::cumprod>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    HEADRACE_TRY(axis_of(a.dim, self.rank()));
    return add_result(out, a.dtype.value_or(as_accumulator(self.dtype)), self);
}

template <one_of<ops<aten::mean>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    HEADRACE_TRY(type, detail::real_type(inference::of(a.self).dtype, a.dtype));
    return add_result(out, type, shape_builder());
}

template <one_of<ops<aten::mean_dim, aten::linalg_vector_norm>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    HEADRACE_TRY(type, detail::real_type(self.dtype, a.dtype));
    return detail::infer_reduced(out, type, self.shape, a.dim, a.keepdim);
}

template <one_of<ops<aten::amax, aten::amin>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    HEADRACE_TRY(detail::check_extrema<Op>(self, a.dim));
    return detail::infer_reduced(out, self.dtype, self.shape, a.dim, a.keepdim);
}

template <one_of<
    ops<aten::std_correction, aten::std_dim, aten::var_correction, aten::var_dim, aten::norm_scalaropt_dim>>
        Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    HEADRACE_TRY(type, detail::real_type(self.dtype));
    return detail::infer_reduced(out, type, self.shape, a.dim, a.keepdim);
}

template <one_of<ops<aten::logsumexp>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    return detail::infer_reduced(out, as_floating(self.dtype), self.shape, a.dim, a.keepdim);
}

template <one_of<ops<aten::max, aten::min>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    HEADRACE_TRY(detail::check_extrema<Op>(self, sizes()));
    return add_result(out, self.dtype, shape_builder());
}

template <one_of<ops<aten::std_, aten::var, aten::norm_scalar>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    HEADRACE_TRY(type, detail::real_type(inference::of(a.self).dtype));
    return add_result(out, type, shape_builder());
}

template <one_of<ops<aten::max_dim, aten::min_dim>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    HEADRACE_TRY(detail::check_extrema<Op>(self, a.dim));
    HEADRACE_TRY(detail::infer_reduced(out, self.dtype, self.shape, a.dim, a.keepdim));
    return detail::infer_reduced(out, dtype::int64, self.shape, a.dim, a.keepdim);
}

template <one_of<ops<aten::topk>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    HEADRACE_TRY(require_type_for<Op>("self", self.dtype));
    HEADRACE_TRY(axis, axis_of(a.dim, self.rank()));
    shape_builder shape(self.shape);
    HEADRACE_TRY(require_between("k", a.k, 0, shape.empty() ? 1 : shape[axis]));
    if (!shape.empty()) shape[axis] = a.k;
    HEADRACE_TRY(add_result(out, self.dtype, shape));
    return add_result(out, dtype::int64, shape);
}

template <one_of<aten::sort_ops> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    constexpr bool gives_positions = !std::is_same_v<Op, aten::msort>;
    constexpr bool gives_elements = !has_trait<Op>(trait::locating);
    HEADRACE_TRY(require_type_for<Op>("self", self.dtype));
    if constexpr (gives_positions) {
        HEADRACE_TRY(axis_of(a.dim, self.rank()));
    }
    if constexpr (gives_elements) {
        HEADRACE_TRY(add_result(out, self.dtype, self.shape));
    }
    if constexpr (gives_positions) {
        HEADRACE_TRY(add_result(out, dtype::int64, self.shape));
    }
    return {};
}

template <one_of<ops<aten::aminmax>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    HEADRACE_TRY(detail::check_extrema<Op>(self, a.dim));
    HEADRACE_TRY(detail::infer_reduced(out, self.dtype, self.shape, a.dim, a.keepdim));
    return detail::infer_reduced(out, self.dtype, self.shape, a.dim, a.keepdim);
}

template <
    one_of<ops<aten::var_mean_correction, aten::var_mean_dim, aten::std_mean_correction, aten::std_mean_dim>>
        Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    HEADRACE_TRY(detail::real_type(self.dtype));
    HEADRACE_TRY(detail::infer_reduced(out, self.dtype, self.shape, a.dim, a.keepdim));
    return detail::infer_reduced(out, self.dtype, self.shape, a.dim, a.keepdim);
}

template <one_of<ops<aten::argmax, aten::argmin>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    HEADRACE_TRY(detail::check_extrema<Op>(self, a.dim));
    return detail::infer_reduced(out, dtype::int64, self.shape, a.dim, a.keepdim);
}

template <one_of<ops<aten::all, aten::any>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    return add_result(out, detail::truth_of(inference::of(a.self).dtype), shape_builder());
}

template <one_of<ops<aten::all_dim, aten::any_dim>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    return detail::infer_reduced(out, detail::truth_of(self.dtype), self.shape, a.dim, a.keepdim);
}

/// An empty list reduces nothing here.
template <one_of<ops<aten::all_dims, aten::any_dims>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    const dtype type = detail::truth_of(self.dtype);
    return a.dim ? detail::infer_reduced(out, type, self.shape, sizes(*a.dim), a.keepdim, no_axes::none)
                 : detail::infer_reduced(out, type, self.shape, sizes(), a.keepdim);
}

// Softmax keeps the shape.

template <one_of<ops<aten::softmax_int, aten::log_softmax_int, aten::_safe_softmax>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    const dtype type = a.dtype.value_or(as_floating(self.dtype));
    HEADRACE_TRY(require_floating("dtype", type));
    HEADRACE_TRY(require_type_for<Op>(a.dtype ? "dtype" : "self", type));
    HEADRACE_TRY(axis_of(a.dim, self.rank()));
    return add_result(out, type, self);
}

template <one_of<ops<aten::_softmax, aten::_log_softmax>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    HEADRACE_TRY(require_floating("self", self.dtype));
    HEADRACE_TRY(require_type_for<Op>("self", self.dtype));
    HEADRACE_TRY(axis_of(a.dim, self.rank()));
    return add_result(out, a.half_to_float ? dtype::float32 : self.dtype, self);
}

}  // namespace headrace

#endif
