// SPDX-License-Identifier: MIT
// Defines the functions of headrace/io/pte/operators.hpp.

#include <headrace/io/pte/operators.hpp>

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <optional>
#include <ranges>
#include <string_view>

#include <headrace/base/dtype.hpp>
#include <headrace/io/pte/format.hpp>
#include <headrace/io/pte/pte_generated.hpp>

namespace headrace::pte {

call_kind kind_of_operator(std::string_view name) {
    constexpr std::string_view shapes[] = {"executorch_prim::et_view.default", "aten::view_copy.out",
        "aten::squeeze_copy.dim_out", "aten::squeeze_copy.dims_out", "aten::unsqueeze_copy.out",
        "aten::clone.out", "aten::alias_copy.out", "aten::detach_copy.out", "aten::lift_fresh_copy.out",
        "dim_order_ops::_clone_dim_order.out", "dim_order_ops::_to_dim_order_copy.out"};
    if (name == copy_name) return call_kind::copy;
    if (std::ranges::find(shapes, name) != std::end(shapes)) return call_kind::shape;
    if (name == "executorch_prim::et_copy_index.tensor") return call_kind::slice;
    if (name.starts_with("executorch_prim::") || name == "aten::sym_size.int" || name == "aten::sym_numel" ||
        name == "aten::_local_scalar_dense" || name == "aten::item")
        return call_kind::number;
    return call_kind::opaque;
}

std::optional<dtype> type_of_number(const pte_fb::Value& v) {
    if (v.kind_as_Int() != nullptr) return dtype::int64;
    if (v.kind_as_Bool() != nullptr) return dtype::boolean;
    if (v.kind_as_Double() != nullptr) return dtype::float64;
    return std::nullopt;
}

bool is_external(const pte_fb::Tensor& t) {
    return t.extra() != nullptr && t.extra()->location() == pte_fb::TensorLocation::EXTERNAL &&
        t.allocation() == nullptr;
}

}  // namespace headrace::pte
