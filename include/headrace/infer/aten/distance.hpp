// SPDX-License-Identifier: MIT
// Defines the shape and dtype rules of composite products, norms and distances of aten.
#ifndef HEADRACE_INFER_ATEN_DISTANCE_HPP
#define HEADRACE_INFER_ATEN_DISTANCE_HPP

#include <optional>

#include <headrace/infer/aten/composite.hpp>

namespace headrace {

template <one_of<ops<aten::vdot>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    const tensor_meta& other = inference::of(a.other);
    HEADRACE_TRY(detail::require_factors(self, other));
    HEADRACE_TRY(require_rank("self", self.shape, 1));
    HEADRACE_TRY(require_shape("other", other.shape, self.shape));
    return add_result(out, self.dtype, shape_builder());
}
/// torch.cross without an axis takes the first of size 3.
[[nodiscard]] inline result<std::size_t> cross_axis(sizes shape, std::optional<std::int64_t> dim) {
    if (dim) {
        HEADRACE_TRY(axis, axis_of(*dim, shape.size()));
        if (shape.empty() || shape[axis] != 3) return invalid({"axis ", *dim, " must have size 3"});
        return axis;
    }
    for (std::size_t i = 0; i != shape.size(); ++i) {
        if (shape[i] == 3) return i;
    }
    return invalid({"no axis of ", shape_text(shape), " has size 3"});
}
template <one_of<ops<aten::linalg_cross, aten::cross>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    const tensor_meta& other = inference::of(a.other);
    HEADRACE_TRY(require_rank("other", other.shape, self.rank()));
    HEADRACE_TRY(shape, broadcast(self.shape, other.shape));
    HEADRACE_TRY(axis, cross_axis(self.shape, a.dim));
    HEADRACE_TRY(require_equal("the size of other along dim", other.shape[axis], 3));
    const dtype type = result_type(self, other);
    if (is_boolean(type)) return detail::other_dtype("self", type, "a type of numbers");
    return add_result(out, type, shape);
}
template <one_of<ops<aten::linalg_vecdot>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& x = inference::of(a.x);
    const tensor_meta& y = inference::of(a.y);
    HEADRACE_TRY(detail::require_factors(x, y));
    HEADRACE_TRY(shape, broadcast(x.shape, y.shape));
    return detail::infer_reduced(out, x.dtype, shape, a.dim, false);
}
template <one_of<ops<aten::addmv, aten::addr, aten::addbmm>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    shape_builder shape;
    if constexpr (requires { a.mat; }) {
        HEADRACE_TRY(
            product, detail::product_shape(inference::of(a.mat).shape, 2, inference::of(a.vec).shape, 1));
        HEADRACE_TRY(detail::require_factors(inference::of(a.mat), inference::of(a.vec)));
        HEADRACE_TRY(require_dtype("self", self.dtype, inference::of(a.mat).dtype));
        shape = product;
    } else if constexpr (requires { a.vec1; }) {
        const tensor_meta& left = inference::of(a.vec1);
        const tensor_meta& right = inference::of(a.vec2);
        HEADRACE_TRY(require_rank("vec1", left.shape, 1));
        HEADRACE_TRY(require_rank("vec2", right.shape, 1));
        shape = shape_builder{left.shape[0], right.shape[0]};
        HEADRACE_TRY(require_expandable("self", self.shape, shape));
        return add_result(out, result_type(self, left, right), shape);
    } else {
        HEADRACE_TRY(product,
            detail::product_shape(inference::of(a.batch1).shape, 3, inference::of(a.batch2).shape, 3));
        HEADRACE_TRY(detail::require_factors(inference::of(a.batch1), inference::of(a.batch2)));
        HEADRACE_TRY(require_dtype("self", self.dtype, inference::of(a.batch1).dtype));
        shape = shape_builder(sizes(product).subspan(1));
    }
    HEADRACE_TRY(require_expandable("self", self.shape, shape));
    return add_result(out, self.dtype, shape);
}
/// Matrix products from left to right; the first and the last operand of linalg.multi_dot may be vectors.
template <one_of<ops<aten::chain_matmul, aten::linalg_multi_dot>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    constexpr bool takes_vectors = std::is_same_v<Op, aten::linalg_multi_dot>;
    const auto& factors = [&]() -> const list<value>& {
        if constexpr (takes_vectors) {
            return a.tensors;
        } else {
            return a.matrices;
        }
    }();
    if (factors.size() < (takes_vectors ? 2U : 1U)) return invalid("there are too few factors");
    const tensor_meta& first = inference::of(factors[0]);
    shape_builder shape(first.shape);
    for (std::size_t i = 0; i != factors.size(); ++i) {
        const tensor_meta& factor = inference::of(factors[i]);
        const bool outer = i == 0 || i + 1 == factors.size();
        HEADRACE_TRY(require_rank("a factor", factor.shape, takes_vectors && outer ? 1 : 2, 2));
        if (i == 0) continue;
        HEADRACE_TRY(detail::require_factors(first, factor));
        HEADRACE_TRY(product, detail::matmul_shape(shape, factor.shape));
        shape = product;
    }
    return add_result(out, first.dtype, shape);
}
template <one_of<ops<aten::linalg_matrix_power>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    HEADRACE_TRY(require_rank("self", self.shape, 2, SIZE_MAX));
    HEADRACE_TRY(require_equal("the last size", self.shape.back(), self.shape[self.rank() - 2]));
    HEADRACE_TRY(detail::require_factors(self, self));
    return add_result(out, self);
}
template <one_of<ops<aten::bilinear>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& left = inference::of(a.input1);
    const tensor_meta& right = inference::of(a.input2);
    const tensor_meta& weight = inference::of(a.weight);
    HEADRACE_TRY(require_rank("weight", weight.shape, 3));
    HEADRACE_TRY(require_rank("input1", left.shape, 1, SIZE_MAX));
    HEADRACE_TRY(require_rank("input2", right.shape, left.rank()));
    HEADRACE_TRY(detail::require_factors(weight, left));
    HEADRACE_TRY(detail::require_factors(weight, right));
    HEADRACE_TRY(require_equal("the last size of input1", left.shape.back(), weight.shape[1]));
    HEADRACE_TRY(require_equal("the last size of input2", right.shape.back(), weight.shape[2]));
    shape_builder shape(left.shape);
    shape.back() = right.shape.back();
    HEADRACE_TRY(require_shape("input2", right.shape, shape));
    shape.back() = weight.shape[0];
    HEADRACE_TRY(require_elements("bias", a.bias, weight.shape[0]));
    HEADRACE_TRY(require_dtype("bias", a.bias, weight.dtype));
    return add_result(out, left.dtype, shape);
}

// Norms and distances.

template <one_of<ops<aten::linalg_norm>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    HEADRACE_TRY(type, detail::norm_type(self.dtype, a.dtype));
    if (a.ord && !a.dim) {
        HEADRACE_TRY(require_rank("self", self.shape, 1, 2));
    }
    if (a.ord && a.dim) {
        HEADRACE_TRY(require_between("the number of axes", static_cast<std::int64_t>(a.dim->size()), 1, 2));
    }
    return detail::infer_reduced(out, type, self.shape, a.dim, a.keepdim);
}
template <one_of<ops<aten::linalg_matrix_norm, aten::linalg_matrix_norm_str_ord>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    HEADRACE_TRY(type, detail::norm_type(self.dtype, a.dtype));
    HEADRACE_TRY(require_rank("self", self.shape, 2, SIZE_MAX));
    HEADRACE_TRY(require_count("dim", a.dim.size(), 2));
    return detail::infer_reduced(out, type, self.shape, a.dim, a.keepdim);
}
template <one_of<ops<aten::pairwise_distance>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& x1 = inference::of(a.x1);
    const tensor_meta& x2 = inference::of(a.x2);
    HEADRACE_TRY(type, detail::promoted_for<Op>(x1, x2));
    HEADRACE_TRY(shape, broadcast(x1.shape, x2.shape));
    HEADRACE_TRY(require_rank("x1", shape, 1, SIZE_MAX));
    return detail::infer_reduced(out, type, shape, std::int64_t{-1}, a.keepdim);
}
template <one_of<ops<aten::cdist, aten::_cdist_forward>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& x1 = inference::of(a.x1);
    const tensor_meta& x2 = inference::of(a.x2);
    HEADRACE_TRY(require_type_for<Op>("x1", x1.dtype));
    HEADRACE_TRY(require_dtype("x2", x2.dtype, x1.dtype));
    HEADRACE_TRY(require_rank("x1", x1.shape, 2, SIZE_MAX));
    HEADRACE_TRY(require_rank("x2", x2.shape, 2, SIZE_MAX));
    HEADRACE_TRY(require_equal("the last size of x2", x2.shape.back(), x1.shape.back()));
    if (!(a.p >= 0)) return invalid("p must be at least 0");
    if (a.compute_mode) {
        HEADRACE_TRY(require_between("compute_mode", *a.compute_mode, 0, 2));
    }
    HEADRACE_TRY(
        shape, broadcast(sizes(x1.shape).first(x1.rank() - 2), sizes(x2.shape).first(x2.rank() - 2)));
    shape.push_back(x1.shape[x1.rank() - 2]);
    shape.push_back(x2.shape[x2.rank() - 2]);
    return add_result(out, x1.dtype, shape);
}
template <one_of<ops<aten::pdist, aten::_pdist_forward>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    HEADRACE_TRY(require_type_for<Op>("self", self.dtype));
    HEADRACE_TRY(require_rank("self", self.shape, 2));
    if (!(a.p >= 0)) return invalid("p must be at least 0");
    const std::int64_t n = self.shape[0];
    return add_result(out, self.dtype, {n < 2 ? 0 : saturating_mul(n, n - 1) / 2});
}

}  // namespace headrace

#endif
