// SPDX-License-Identifier: MIT
// Defines the shape and dtype rules of the indexing ops of aten.
#ifndef HEADRACE_INFER_ATEN_INDEX_HPP
#define HEADRACE_INFER_ATEN_INDEX_HPP

#include <headrace/base/text.hpp>
#include <headrace/dialect/aten.hpp>
#include <headrace/infer/promotion.hpp>
#include <headrace/infer/shape_builder.hpp>

namespace headrace {

/// What x[indices] gives: the broadcast shape of the indices replaces the axes that they index, in the place
/// of the first if those are neighbours, else in front.
[[nodiscard]] inline result<shape_builder> indexed_shape(sizes shape, list<std::optional<value>> indices) {
    if (indices.size() > shape.size()) {
        return invalid(number_text(indices.size()) + " indices are too many for " + shape_text(shape));
    }
    shape_builder given;
    shape_builder left;
    std::optional<std::size_t> first;
    std::size_t runs = 0;
    for (std::size_t i = 0; i != shape.size(); ++i) {
        const bool indexed = i < indices.size() && indices[i];
        if (!indexed) {
            left.push_back(shape[i]);
            continue;
        }
        const tensor_meta& index = inference::of(*indices[i]);
        if (is_boolean(index.dtype) || index.dtype == dtype::uint8) {
            return invalid("the shape that a mask selects depends on its data");
        }
        BOOST_OUTCOME_TRY(both, broadcast(given, index.shape));
        given = both;
        if (!first) first = i;
        runs += i == 0 || !indices[i - 1];
    }
    const std::size_t at = runs == 1 ? *first : 0;
    const sizes rest(left);
    shape_builder whole(rest.first(at));
    whole.append(given);
    whole.append(rest.subspan(at));
    return whole;
}

template <one_of<ops<aten::index_tensor, aten::_unsafe_index_tensor>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    BOOST_OUTCOME_TRY(shape, indexed_shape(self.shape, a.indices));
    return add_result(out, self.dtype, shape);
}

template <one_of<ops<aten::embedding>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& weight = inference::of(a.weight);
    BOOST_OUTCOME_TRY(require_rank("weight", weight.shape, 2));
    shape_builder shape(inference::of(a.indices).shape);
    shape.push_back(weight.shape[1]);
    return add_result(out, weight.dtype, shape);
}

template <one_of<ops<aten::gather>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    BOOST_OUTCOME_TRY(axis_of(a.dim, self.rank()));
    return add_result(out, self.dtype, inference::of(a.index).shape);
}

template <one_of<ops<aten::index_select>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    const tensor_meta& index = inference::of(a.index);
    BOOST_OUTCOME_TRY(axis, axis_of(a.dim, self.rank()));
    BOOST_OUTCOME_TRY(require_rank("index", index.shape, 0, 1));
    shape_builder shape(self.shape);
    if (!shape.empty()) shape[axis] = index.elements();
    return add_result(out, self.dtype, shape);
}

template <one_of<ops<aten::one_hot>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    if (a.num_classes < 0) return invalid("num_classes depends on data");
    shape_builder shape(inference::of(a.self).shape);
    shape.push_back(a.num_classes);
    return add_result(out, dtype::int64, shape);
}

template <one_of<ops<aten::masked_fill_scalar, aten::masked_fill_tensor>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    BOOST_OUTCOME_TRY(shape, broadcast(self.shape, inference::of(a.mask).shape));
    return add_result(out, self.dtype, shape);
}

template <one_of<ops<aten::where_self>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    const tensor_meta& other = inference::of(a.other);
    BOOST_OUTCOME_TRY(shape, broadcast(inference::of(a.condition).shape, self.shape, other.shape));
    return add_result(out, result_type(self, other), shape);
}
template <one_of<ops<aten::where_scalarother>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    BOOST_OUTCOME_TRY(shape, broadcast(inference::of(a.condition).shape, self.shape));
    return add_result(out, result_type(self, a.other), shape);
}
template <one_of<ops<aten::where_scalarself>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& other = inference::of(a.other);
    BOOST_OUTCOME_TRY(shape, broadcast(inference::of(a.condition).shape, other.shape));
    return add_result(out, result_type(other, a.self), shape);
}
template <one_of<ops<aten::where_scalar>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    return add_result(out, result_type(a.self, a.other), inference::of(a.condition).shape);
}

}  // namespace headrace

#endif
