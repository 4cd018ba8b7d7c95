// SPDX-License-Identifier: MIT
// Defines the shape and dtype rules of quantiles, gradients, limited norms and Vandermonde matrices of aten.
#ifndef HEADRACE_INFER_ATEN_QUANTILE_HPP
#define HEADRACE_INFER_ATEN_QUANTILE_HPP

#include <optional>
#include <string_view>
#include <type_traits>

#include <headrace/infer/aten/composite.hpp>

namespace headrace {

/// The results for each q are stacked along a new first axis.
template <one_of<ops<aten::quantile, aten::quantile_scalar, aten::nanquantile, aten::nanquantile_scalar>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    HEADRACE_TRY(detail::check_extrema<Op>(self, a.dim));
    HEADRACE_TRY(require_at_least("the number of elements", element_count(self.shape), 1));
    const auto is = [&](std::string_view name) { return a.interpolation == name; };
    if (!is("linear") && !is("lower") && !is("higher") && !is("midpoint") && !is("nearest"))
        return invalid({"interpolation is unknown: ", a.interpolation});
    shape_builder shape;
    if constexpr (std::is_same_v<decltype(a.q), double>) {
        if (!(a.q >= 0 && a.q <= 1)) return invalid("q must be from 0 to 1");
    } else {
        const tensor_meta& q = inference::of(a.q);
        HEADRACE_TRY(require_rank("q", q.shape, 0, 1));
        HEADRACE_TRY(require_dtype("q", q.dtype, self.dtype));
        shape.append(q.shape);
    }
    HEADRACE_TRY(axes, axes_of(a.dim ? sizes(&*a.dim, 1) : sizes(), self.rank()));
    shape.append(reduced_shape(self.shape, axes, a.keepdim));
    return add_result(out, self.dtype, shape);
}

/// Returns the axes along which torch.gradient differentiates, one per result.
template <class Args>
[[nodiscard]] shape_builder gradient_axes(const Args& a, std::size_t rank) {
    shape_builder axes;
    if constexpr (std::is_same_v<decltype(a.dim), int_list>) {
        axes.append(a.dim);
    } else if (a.dim) {
        axes.push_back(*a.dim);
    } else {
        for (std::size_t i = 0; i != rank; ++i) axes.push_back(static_cast<std::int64_t>(i));
    }
    return axes;
}
template <one_of<ops<aten::gradient_scalarint, aten::gradient_scalararray, aten::gradient_array,
    aten::gradient_scalarrayint, aten::gradient_scalarrayarray, aten::gradient_tensorarrayint,
    aten::gradient_tensorarray>>
        Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    HEADRACE_TRY(require_real("self", self.dtype));
    if (is_boolean(self.dtype) || self.dtype == dtype::uint8)
        return detail::other_dtype("self", self.dtype, "signed numbers");
    HEADRACE_TRY(require_between("edge_order", a.edge_order, 1, 2));
    const shape_builder axes = gradient_axes(a, self.rank());
    HEADRACE_TRY(axes_of(axes, self.rank(), no_axes::none));
    if constexpr (requires { a.spacing.size(); }) {
        HEADRACE_TRY(require_count("spacing", a.spacing.size(), axes.size()));
    }
    for (std::size_t i = 0; i != axes.size(); ++i) {
        const auto axis = normalized_axis(axes[i], self.rank());
        const std::int64_t size = self.rank() == 0 || !axis ? 1 : self.shape[*axis];
        HEADRACE_TRY(require_at_least("the size along dim", size, a.edge_order + 1));
        dtype type = self.dtype;
        if constexpr (requires { inference::of(a.spacing[0]); }) {
            const tensor_meta& coordinates = inference::of(a.spacing[i]);
            HEADRACE_TRY(require_shape("a tensor of spacing", coordinates.shape, shape_builder{size}));
            HEADRACE_TRY(require_real("a tensor of spacing", coordinates.dtype));
            type = result_type(self, coordinates);
        }
        HEADRACE_TRY(add_result(out, as_floating(type), self.shape));
    }
    return {};
}

template <one_of<ops<aten::renorm>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    HEADRACE_TRY(require_floating("self", self.dtype));
    HEADRACE_TRY(require_real("self", self.dtype));
    HEADRACE_TRY(require_rank("self", self.shape, 2, SIZE_MAX));
    HEADRACE_TRY(axis_of(a.dim, self.rank()));
    if (!(a.p.to_double() > 0)) return invalid("p must be above 0");
    if (!(a.maxnorm.to_double() >= 0)) return invalid("maxnorm must be at least 0");
    return add_result(out, self);
}

/// Each row has the powers of one number.
template <one_of<ops<aten::linalg_vander, aten::vander>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    constexpr bool takes_matrices = std::is_same_v<Op, aten::linalg_vander>;
    const tensor_meta& x = inference::of(a.x);
    HEADRACE_TRY(require_rank("x", x.shape, 1, takes_matrices ? shape_builder::capacity - 1 : 1));
    if (takes_matrices && is_boolean(x.dtype)) return detail::other_dtype("x", x.dtype, "numbers");
    const std::int64_t count = a.N.value_or(x.shape.back());
    HEADRACE_TRY(require_at_least("N", count, takes_matrices ? 2 : 0));
    shape_builder shape(x.shape);
    shape.push_back(count);
    return add_result(out, as_accumulator(x.dtype), shape);
}

}  // namespace headrace

#endif
