// SPDX-License-Identifier: MIT
// Defines the shape rules of the ops of aten that repeat a tensor or its elements.
#ifndef HEADRACE_INFER_ATEN_REPEAT_HPP
#define HEADRACE_INFER_ATEN_REPEAT_HPP

#include <cstddef>
#include <cstdint>

#include <headrace/base/text.hpp>
#include <headrace/dialect/aten.hpp>
#include <headrace/infer/preconditions.hpp>
#include <headrace/infer/shape_builder.hpp>

namespace headrace {

namespace detail {

inline result<void> infer_repeated(inference& out, const tensor_meta& self, sizes repeats) {
    if (repeats.size() < self.rank()) {
        return invalid({"repeats ", shape_text(repeats), " are too few for ", shape_text(self.shape)});
    }
    shape_builder shape(repeats);
    for (const std::int64_t times : repeats) {
        HEADRACE_TRY(require_at_least("repeats", times, 0));
    }
    const std::size_t lead = repeats.size() - self.rank();
    for (std::size_t i = lead; i < shape.size(); ++i)
        shape[i] = saturating_mul(shape[i], self.shape[i - lead]);
    return add_result(out, self.dtype, shape);
}

}  // namespace detail

template <one_of<ops<aten::repeat>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    return detail::infer_repeated(out, inference::of(a.self), a.repeats);
}
template <one_of<ops<aten::tile>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    shape_builder repeats;
    for (std::size_t i = a.dims.size(); i < self.rank(); ++i) repeats.push_back(1);
    repeats.append(a.dims);
    if (repeats.overflowed()) return rank_too_large();
    return detail::infer_repeated(out, self, repeats);
}
template <one_of<ops<aten::repeat_interleave_self_int>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    shape_builder shape(self.shape);
    std::size_t axis = 0;
    if (a.dim) {
        HEADRACE_TRY(found, axis_of(*a.dim, self.rank()));
        axis = found;
    }
    if (!a.dim || self.rank() == 0) shape = {element_count(self.shape)};
    HEADRACE_TRY(require_at_least("repeats", a.repeats, 0));
    shape[axis] = saturating_mul(shape[axis], a.repeats);
    if (a.output_size) {
        HEADRACE_TRY(require_equal("output_size", *a.output_size, shape[axis]));
    }
    return add_result(out, self.dtype, shape);
}

template <one_of<ops<aten::repeat_interleave_tensor>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& repeats = inference::of(a.repeats);
    HEADRACE_TRY(require_rank("repeats", repeats.shape, 1));
    HEADRACE_TRY(require_indices("repeats", repeats));
    if (!a.output_size) return invalid("output_size is needed: the size of the result depends on data");
    HEADRACE_TRY(require_at_least("output_size", *a.output_size, 0));
    return add_result(out, repeats.dtype, {*a.output_size});
}
template <one_of<ops<aten::repeat_interleave_self_tensor>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    const tensor_meta& repeats = inference::of(a.repeats);
    HEADRACE_TRY(require_rank("repeats", repeats.shape, 0, 1));
    HEADRACE_TRY(require_indices("repeats", repeats));
    if (!a.output_size) return invalid("output_size is needed: the size of the result depends on data");
    HEADRACE_TRY(require_at_least("output_size", *a.output_size, 0));
    if (!a.dim || self.rank() == 0) {
        if (repeats.rank() == 1) {
            HEADRACE_TRY(require_elements("repeats", repeats.shape, element_count(self.shape)));
        }
        return add_result(out, self.dtype, {*a.output_size});
    }
    HEADRACE_TRY(axis, axis_of(*a.dim, self.rank()));
    if (repeats.rank() == 1 && repeats.shape[0] != 1) {
        HEADRACE_TRY(require_elements("repeats", repeats.shape, self.shape[axis]));
    }
    shape_builder shape(self.shape);
    shape[axis] = *a.output_size;
    return add_result(out, self.dtype, shape);
}

}  // namespace headrace

#endif
