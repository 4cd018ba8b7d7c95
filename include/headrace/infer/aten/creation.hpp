// SPDX-License-Identifier: MIT
// Defines the shape and dtype rules of the ops of aten that create, cast and inspect tensors.
#ifndef HEADRACE_INFER_ATEN_CREATION_HPP
#define HEADRACE_INFER_ATEN_CREATION_HPP

#include <headrace/dialect/aten.hpp>
#include <headrace/infer/preconditions.hpp>
#include <headrace/infer/promotion.hpp>
#include <headrace/infer/shape_builder.hpp>

namespace headrace {
namespace aten {

using like_ops = ops<empty_like, full_like, ones_like, zeros_like, _to_copy, to_dtype_layout>;
using new_ops = ops<new_empty, new_full, new_ones, new_zeros>;
using assertion_ops = ops<_assert_async, _assert_scalar, _assert_tensor_metadata, sym_constrain_range,
    sym_constrain_range_for_size>;

}  // namespace aten

namespace detail {

/// Returns the number of elements of a range; computed in double precision unless all bounds are integers.
inline result<std::int64_t> arange_size(
    const scalar& start, const scalar& end, const scalar& step, bool integers) {
    const auto refuse = [] { return invalid("the range has no end"); };
    if (!integers) {
        const double count = __builtin_ceil((end.to_double() - start.to_double()) / step.to_double());
        return count >= 0 && count < 9e15 ? result<std::int64_t>(static_cast<std::int64_t>(count)) : refuse();
    }
    const bool down = step.to_int() < 0;
    const std::int64_t low = down ? end.to_int() : start.to_int();
    const std::int64_t high = down ? start.to_int() : end.to_int();
    const std::int64_t stride = down ? saturating_sub(0, step.to_int()) : step.to_int();
    if (stride == 0 || low > high) return refuse();
    const std::int64_t room = saturating_sub(high, low);
    return room == 0 ? 0 : (room - 1) / stride + 1;
}

inline result<void> infer_arange(
    inference& out, const scalar& start, const scalar& end, const scalar& step, std::optional<dtype> type) {
    const bool floating = start.is_floating() || end.is_floating() || step.is_floating();
    HEADRACE_TRY(count, arange_size(start, end, step, !floating));
    const dtype given = type.value_or(floating ? default_float : dtype::int64);
    if (is_boolean(given)) return other_dtype("the range", given, "a type of numbers");
    return add_result(out, given, {count});
}

}  // namespace detail

template <one_of<ops<aten::arange>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    return detail::infer_arange(out, 0, a.end, 1, a.dtype);
}
template <one_of<ops<aten::arange_start>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    return detail::infer_arange(out, a.start, a.end, 1, a.dtype);
}
template <one_of<ops<aten::arange_start_step>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    return detail::infer_arange(out, a.start, a.end, a.step, a.dtype);
}
template <one_of<ops<aten::linspace>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    HEADRACE_TRY(require_at_least("steps", a.steps, 0));
    return add_result(out, a.dtype.value_or(default_float), {a.steps});
}

template <one_of<ops<aten::empty_memory_format, aten::ones, aten::zeros>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    return add_result(out, a.dtype.value_or(default_float), a.size);
}
template <one_of<ops<aten::full>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    return add_result(out, a.dtype.value_or(dtype_of(a.fill_value)), a.size);
}
template <one_of<ops<aten::eye>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    HEADRACE_TRY(require_at_least("n", a.n, 0));
    return add_result(out, a.dtype.value_or(default_float), {a.n, a.n});
}
template <one_of<ops<aten::eye_m>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    HEADRACE_TRY(require_at_least("n", a.n, 0));
    HEADRACE_TRY(require_at_least("m", a.m, 0));
    return add_result(out, a.dtype.value_or(default_float), {a.n, a.m});
}
template <one_of<ops<aten::scalar_tensor>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    return add_result(out, a.dtype.value_or(default_float), shape_builder());
}

template <one_of<aten::new_ops> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    return add_result(out, a.dtype.value_or(inference::of(a.self).dtype), a.size);
}
template <one_of<aten::like_ops> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    return add_result(out, a.dtype.value_or(self.dtype), self);
}
template <one_of<ops<aten::to_device, aten::to_dtype>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    return add_result(out, a.dtype, inference::of(a.self).shape);
}
template <one_of<ops<aten::to_other, aten::type_as>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    return add_result(out, inference::of(a.other).dtype, inference::of(a.self).shape);
}

template <one_of<aten::assertion_ops> Op>
result<void> infer_results(Op, const args<Op>&, inference&) {
    return {};
}
template <one_of<ops<aten::item, aten::_local_scalar_dense>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    if (self.checked_elements() != 1) {
        return invalid({"a tensor of shape ", shape_text(self.shape), " is not one number"});
    }
    return add_result(out, self.dtype, shape_builder());
}
template <one_of<ops<aten::sym_numel>> Op>
result<void> infer_results(Op, const args<Op>&, inference& out) {
    return add_result(out, dtype::int64, shape_builder());
}
template <one_of<ops<aten::sym_size_int>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const sizes shape(inference::of(a.self).shape);
    HEADRACE_TRY(require_rank("self", shape, 1, SIZE_MAX));
    HEADRACE_TRY(axis_of(a.dim, shape.size()));
    return add_result(out, dtype::int64, shape_builder());
}

template <one_of<ops<aten::hann_window, aten::hamming_window, aten::blackman_window, aten::bartlett_window,
    aten::kaiser_window, aten::hann_window_periodic, aten::hamming_window_periodic,
    aten::blackman_window_periodic, aten::bartlett_window_periodic, aten::kaiser_window_periodic,
    aten::hamming_window_periodic_alpha, aten::hamming_window_periodic_alpha_beta, aten::kaiser_window_beta>>
        Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    HEADRACE_TRY(require_at_least("window_length", a.window_length, 0));
    const dtype type = a.dtype.value_or(default_float);
    HEADRACE_TRY(require_floating("dtype", type));
    HEADRACE_TRY(require_real("dtype", type));
    return add_result(out, type, {a.window_length});
}
template <one_of<ops<aten::logspace>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    HEADRACE_TRY(require_at_least("steps", a.steps, 0));
    return add_result(out, a.dtype.value_or(default_float), {a.steps});
}

template <one_of<ops<aten::rand, aten::randn>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    return add_result(out, a.dtype.value_or(default_float), a.size);
}
template <one_of<ops<aten::rand_like, aten::randn_like>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    return add_result(out, a.dtype.value_or(inference::of(a.self).dtype), inference::of(a.self));
}
template <one_of<ops<aten::bernoulli, aten::bernoulli_p>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    HEADRACE_TRY(require_type_for<Op>("self", self.dtype));
    if constexpr (requires { a.p; }) {
        if (!(a.p >= 0 && a.p <= 1)) return invalid("p must be a probability");
    }
    return add_result(out, self);
}

}  // namespace headrace

#endif
