// SPDX-License-Identifier: MIT
// Defines the functions of headrace/io/pte/reading/views.hpp.

#include <headrace/io/pte/reading/views.hpp>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include <headrace/base/result.hpp>
#include <headrace/dialect/executorch.hpp>
#include <headrace/io/pte/reading/tensors.hpp>

namespace headrace::pte {

result<void> view_reader::add_shape(const called_operator& o, const indices_type& indices) {
    if (indices.size() < 2) return wrong_argument_count(o);
    const std::int64_t made = indices.Get(indices.size() - 1);
    HEADRACE_TRY(from, tensors_.tensor(indices.Get(0)));
    HEADRACE_TRY(to, method_.table_of(made));
    std::vector<std::int64_t> sizes;
    HEADRACE_TRY(meta, meta_of_table(*to, sizes));
    if (meta.elements() != meta_of(from)->elements())
        return malformed({o.name, " gives another number of elements than it takes"});
    const value shaped = tensors_.as_shape(from, {meta_of(from)->dtype, meta.shape, {}});
    return tensors_.define(made, tensors_.as_type(shaped, meta.dtype));
}

result<void> view_reader::add_slice(const indices_type& indices) {
    if (indices.size() < 3) return malformed("et_copy_index is given the wrong number of arguments");
    HEADRACE_TRY(to, tensors_.tensor(indices.Get(0)));
    HEADRACE_TRY(slice, tensors_.tensor(indices.Get(1)));
    HEADRACE_TRY(number, tensors_.number(indices.Get(2)));
    const tensor_meta& whole = *meta_of(to);
    const tensor_meta& part = *meta_of(slice);
    const bool fits = whole.rank() == part.rank() + 1 && whole.dtype == part.dtype &&
        std::equal(part.shape.begin(), part.shape.end(), whole.shape.begin() + 1);
    if (!fits) return malformed("et_copy_index writes a slice of a different type or shape");
    std::vector<std::int64_t> shape(whole.shape.begin(), whole.shape.end());
    shape[0] = 1;
    const value index = tensors_.as_shape(number, {meta_of(number)->dtype, {1}, {}});
    const std::vector<std::optional<value>> at{index};
    const args<aten::index_put> arguments{
        to, list<std::optional<value>>(at), tensors_.as_shape(slice, {part.dtype, int_list(shape), {}})};
    return tensors_.define(indices.Get(0), tensors_.make(info_of<aten::index_put>, &arguments, whole));
}

result<void> view_reader::add_select(const indices_type& indices, std::int64_t made) {
    HEADRACE_TRY(from, tensors_.tensor(indices.Get(0)));
    HEADRACE_TRY(axis, method_.values().at(indices.Get(1)));
    HEADRACE_TRY(number, tensors_.number(indices.Get(2)));
    HEADRACE_TRY(to, method_.table_of(made));
    if (axis->kind_as_Int() == nullptr || method_.is_computed(indices.Get(1)) ||
        meta_of(number)->dtype != dtype::int64)
        return malformed("aten::select_copy.int_out takes no such axis or index");
    const auto dim = normalized_axis(axis->kind_as_Int()->value(), meta_of(from)->rank());
    if (!dim) return malformed("aten::select_copy.int_out of no axis");
    std::vector<std::int64_t> shape(meta_of(from)->shape.begin(), meta_of(from)->shape.end());
    shape[*dim] = 1;
    const args<aten::index_select> arguments{
        from, static_cast<std::int64_t>(*dim), tensors_.as_shape(number, {dtype::int64, {1}, {}})};
    const value picked =
        tensors_.make(info_of<aten::index_select>, &arguments, {meta_of(from)->dtype, int_list(shape), {}});
    std::vector<std::int64_t> sizes;
    HEADRACE_TRY(meta, meta_of_table(*to, sizes));
    if (meta.dtype != meta_of(picked)->dtype || meta.elements() != meta_of(picked)->elements())
        return malformed("aten::select_copy.int_out gives another type or shape than it takes");
    return tensors_.define(made, tensors_.as_shape(picked, meta));
}

}  // namespace headrace::pte
