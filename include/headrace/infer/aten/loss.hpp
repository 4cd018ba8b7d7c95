// SPDX-License-Identifier: MIT
// Defines the shape and dtype rules of the losses of aten.
#ifndef HEADRACE_INFER_ATEN_LOSS_HPP
#define HEADRACE_INFER_ATEN_LOSS_HPP

#include <cstdint>
#include <optional>

#include <headrace/dialect/aten.hpp>
#include <headrace/infer/aten/composite.hpp>
#include <headrace/infer/aten/elementwise.hpp>
#include <headrace/infer/preconditions.hpp>
#include <headrace/infer/promotion.hpp>
#include <headrace/infer/shape_builder.hpp>

namespace headrace {

namespace detail {

/// Infers one number or, with reduction 0, the loss of each element. Integers have a sum, but no mean.
inline result<void> infer_loss(inference& out, dtype type, sizes each, std::int64_t reduction) {
    HEADRACE_TRY(require_reduction(reduction));
    if (reduction == 0) return add_result(out, type, each);
    if (reduction == 1) {
        HEADRACE_TRY(require_floating("what the mean is taken of", type));
    }
    return add_result(out, as_accumulator(type), shape_builder());
}
/// Checks targets that are class indices. Classes are along the second axis, or the only one.
inline result<void> check_classes(const tensor_meta& self, const tensor_meta& target) {
    HEADRACE_TRY(require_rank("self", self.shape, 1, SIZE_MAX));
    shape_builder rest(self.shape);
    rest.erase(self.rank() == 1 ? 0 : 1);
    HEADRACE_TRY(require_shape("target", target.shape, rest));
    return require_dtype("target", target.dtype, target.dtype == dtype::uint8 ? dtype::uint8 : dtype::int64);
}
[[nodiscard]] inline std::int64_t class_count(sizes shape) { return shape[shape.size() == 1 ? 0 : 1]; }
inline result<void> check_class_weight(const std::optional<value>& weight, const tensor_meta& self) {
    HEADRACE_TRY(require_dtype("weight", weight, self.dtype));
    return require_shape("weight", weight, shape_builder{class_count(self.shape)});
}

}  // namespace detail

template <one_of<ops<aten::mse_loss, aten::l1_loss, aten::smooth_l1_loss, aten::huber_loss,
    aten::soft_margin_loss, aten::kl_div>>
        Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    const tensor_meta& target = inference::of(a.target);
    HEADRACE_TRY(type, detail::promoted_for<Op>(self, target));
    HEADRACE_TRY(shape, broadcast(self.shape, target.shape));
    if constexpr (one_of<Op, ops<aten::huber_loss, aten::soft_margin_loss, aten::kl_div>>) {
        HEADRACE_TRY(require_floating("self", self.dtype));  // the kernels compute in the type of self
    }
    if constexpr (one_of<Op, ops<aten::kl_div>>) {
        HEADRACE_TRY(require_floating("target", target.dtype));
    }
    if constexpr (one_of<Op, ops<aten::l1_loss>>) {
        HEADRACE_TRY(require_type_for<Op>("self", self.dtype));
        HEADRACE_TRY(require_type_for<Op>("target", target.dtype));
    }
    if constexpr (requires { a.beta; }) {
        if (!(a.beta >= 0)) return invalid("beta must be at least 0");
    }
    if constexpr (requires { a.delta; }) {
        if (!(a.delta > 0)) return invalid("delta must be above 0");
    }
    return detail::infer_loss(out, magnitude_of(type), shape, a.reduction);
}
template <one_of<ops<aten::binary_cross_entropy>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    HEADRACE_TRY(require_type_for<Op>("self", self.dtype));
    HEADRACE_TRY(require_shape("target", inference::of(a.target).shape, self.shape));
    if (a.weight) {
        HEADRACE_TRY(require_expandable("weight", inference::of(*a.weight).shape, self.shape));
    }
    return detail::infer_loss(out, self.dtype, self.shape, a.reduction);
}
template <one_of<ops<aten::binary_cross_entropy_with_logits>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    const tensor_meta& target = inference::of(a.target);
    HEADRACE_TRY(shape, broadcast(self.shape, target.shape));
    promotion type;
    type.add(self).add(target);
    for (const std::optional<value>& v : {a.weight, a.pos_weight}) {
        if (!v) continue;
        HEADRACE_TRY(wide, broadcast(shape, inference::of(*v).shape));
        shape = wide;
        type.add(inference::of(*v));
    }
    HEADRACE_TRY(require_floating("self", self.dtype));
    HEADRACE_TRY(require_floating("target", target.dtype));
    HEADRACE_TRY(require_type_for<Op>("the common type of the operands", type.type()));
    return detail::infer_loss(out, type.type(), shape, a.reduction);
}
template <one_of<ops<aten::nll_loss, aten::nll_loss2d, aten::nll_loss_nd, aten::nll_loss_forward,
    aten::nll_loss2d_forward>>
        Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    const tensor_meta& target = inference::of(a.target);
    HEADRACE_TRY(require_type_for<Op>("self", self.dtype));
    HEADRACE_TRY(detail::check_classes(self, target));
    HEADRACE_TRY(detail::check_class_weight(a.weight, self));
    HEADRACE_TRY(detail::infer_loss(out, self.dtype, target.shape, a.reduction));
    return Op::results == 2 ? add_result(out, self.dtype, shape_builder()) : result<void>();
}
/// Targets are class indices or class probabilities.
template <one_of<ops<aten::cross_entropy_loss>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    const tensor_meta& target = inference::of(a.target);
    HEADRACE_TRY(require_type_for<Op>("self", self.dtype));
    HEADRACE_TRY(require_rank("self", self.shape, 1, SIZE_MAX));
    HEADRACE_TRY(detail::check_class_weight(a.weight, self));
    if (!(a.label_smoothing >= 0 && a.label_smoothing <= 1))
        return invalid("label_smoothing must be from 0 to 1");
    shape_builder rest(self.shape);
    rest.erase(self.rank() == 1 ? 0 : 1);
    if (shape_builder(self.shape) == shape_builder(target.shape)) {
        HEADRACE_TRY(require_floating("target", target.dtype));
        HEADRACE_TRY(require_real("target", target.dtype));
    } else {
        HEADRACE_TRY(detail::check_classes(self, target));
    }
    return detail::infer_loss(out, self.dtype, rest, a.reduction);
}
template <one_of<ops<aten::poisson_nll_loss>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& input = inference::of(a.input);
    HEADRACE_TRY(type, detail::promoted_for<Op>(input, inference::of(a.target)));
    HEADRACE_TRY(shape, broadcast(input.shape, inference::of(a.target).shape));
    return detail::infer_loss(out, as_floating(type), shape, a.reduction);
}
template <one_of<ops<aten::cosine_embedding_loss>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& x = inference::of(a.input1);
    const tensor_meta& y = inference::of(a.input2);
    const tensor_meta& target = inference::of(a.target);
    HEADRACE_TRY(require_rank("target", target.shape, 0, 1));
    HEADRACE_TRY(require_rank("input1", x.shape, target.rank() + 1));
    HEADRACE_TRY(require_rank("input2", y.shape, target.rank() + 1));
    HEADRACE_TRY(type, detail::promoted_for<Op>(x, y));
    HEADRACE_TRY(both, broadcast(x.shape, y.shape));
    HEADRACE_TRY(shape, broadcast(sizes(both).first(target.rank()), target.shape));
    return detail::infer_loss(out, as_floating(type), shape, a.reduction);
}
template <one_of<ops<aten::margin_ranking_loss>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& x = inference::of(a.input1);
    const tensor_meta& y = inference::of(a.input2);
    const tensor_meta& target = inference::of(a.target);
    HEADRACE_TRY(require_rank("input2", y.shape, x.rank()));
    HEADRACE_TRY(require_rank("target", target.shape, x.rank()));
    HEADRACE_TRY(type, detail::promoted_for<Op>(x, y, target));
    HEADRACE_TRY(shape, broadcast(x.shape, y.shape, target.shape));
    return detail::infer_loss(out, as_floating(type), shape, a.reduction);  // the margin is floating-point
}
template <one_of<ops<aten::hinge_embedding_loss>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    HEADRACE_TRY(require_type_for<Op>("self", self.dtype));
    HEADRACE_TRY(shape, broadcast(self.shape, inference::of(a.target).shape));
    return detail::infer_loss(out, self.dtype, shape, a.reduction);
}
template <one_of<ops<aten::triplet_margin_loss>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& anchor = inference::of(a.anchor);
    const tensor_meta& positive = inference::of(a.positive);
    const tensor_meta& negative = inference::of(a.negative);
    HEADRACE_TRY(require_rank("positive", positive.shape, anchor.rank()));
    HEADRACE_TRY(require_rank("negative", negative.shape, anchor.rank()));
    HEADRACE_TRY(require_rank("anchor", anchor.shape, 1, SIZE_MAX));
    HEADRACE_TRY(require_floating("anchor", anchor.dtype));
    HEADRACE_TRY(type, detail::promoted_for<Op>(anchor, positive, negative));
    HEADRACE_TRY(shape, broadcast(anchor.shape, positive.shape, negative.shape));
    return detail::infer_loss(out, type, sizes(shape).first(shape.size() - 1), a.reduction);
}
template <one_of<ops<aten::multi_margin_loss>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    const tensor_meta& target = inference::of(a.target);
    HEADRACE_TRY(require_rank("self", self.shape, 1, 2));
    HEADRACE_TRY(require_floating("self", self.dtype));
    HEADRACE_TRY(require_dtype("target", target.dtype, dtype::int64));
    HEADRACE_TRY(require_elements("target", target.shape, self.rank() == 1 ? 1 : self.shape[0]));
    HEADRACE_TRY(require_rank("target", target.shape, 0, 1));
    HEADRACE_TRY(detail::check_class_weight(a.weight, self));
    if (a.p.to_double() != 1 && a.p.to_double() != 2) return invalid("p must be 1 or 2");
    return detail::infer_loss(out, self.dtype, target.shape, a.reduction);
}
/// Each row lists its classes, padded with -1.
template <one_of<ops<aten::multilabel_margin_loss>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    HEADRACE_TRY(require_rank("self", self.shape, 0, 2));
    HEADRACE_TRY(require_nonempty("self", self.shape));
    HEADRACE_TRY(require_type_for<Op>("self", self.dtype));
    HEADRACE_TRY(require_shape("target", inference::of(a.target).shape, self.shape));
    HEADRACE_TRY(require_dtype("target", inference::of(a.target).dtype, dtype::int64));
    const sizes rows = sizes(self.shape).first(self.rank() == 2 ? 1 : 0);
    return detail::infer_loss(out, self.dtype, rows, a.reduction);
}

}  // namespace headrace

#endif
