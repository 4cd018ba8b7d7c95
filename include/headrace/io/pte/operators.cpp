// SPDX-License-Identifier: MIT
// Defines the functions of headrace/io/pte/operators.hpp.

#include <headrace/io/pte/operators.hpp>

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <optional>
#include <ranges>
#include <string>
#include <string_view>

#include <headrace/base/dtype.hpp>
#include <headrace/dialect/cortex_m.hpp>
#include <headrace/dialect/executorch.hpp>
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

namespace {

constexpr std::string_view cortex_m_dialect = "cortex_m.", functional_overload = ".default";
constexpr std::string_view cortex_m_namespace = "cortex_m::", out_overload = ".out";

}  // namespace

std::string kernel_name_of(const op_info& op) {
    if (op.dialect != &info_of_dialect<cortex_m::dialect>) return std::string(op.name);
    std::string_view stem = op.name.substr(cortex_m_dialect.size());
    stem.remove_suffix(functional_overload.size());
    return std::string(cortex_m_namespace).append(stem).append(out_overload);
}

const op_info* op_of_kernel(std::string_view name) {
    if (!name.starts_with(cortex_m_namespace) || !name.ends_with(out_overload)) {
        const op_info* const op = find_op<executorch::dialect>(name);
        return op == &info_of<executorch::call_delegate> ? nullptr : op;
    }
    name.remove_prefix(cortex_m_namespace.size());
    name.remove_suffix(out_overload.size());
    return find_op<cortex_m::dialect>(std::string(cortex_m_dialect).append(name).append(functional_overload));
}

bool is_scratch(const op_info& op, const field_info& f) {
    if (op.dialect != &info_of_dialect<cortex_m::dialect>) return false;
    return f.name == "scratch" || f.name == "output_scratch";
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
