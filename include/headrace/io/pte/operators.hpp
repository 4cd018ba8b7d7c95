// SPDX-License-Identifier: MIT
// Defines how the reader of .pte files classifies operators and values, and where the elements of tensors
// are.
#ifndef HEADRACE_IO_PTE_OPERATORS_HPP
#define HEADRACE_IO_PTE_OPERATORS_HPP

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <memory_resource>
#include <optional>
#include <string>
#include <string_view>

#include <headrace/base/dtype.hpp>
#include <headrace/base/error.hpp>
#include <headrace/base/printable.hpp>
#include <headrace/io/pte/format.hpp>
#include <headrace/io/pte/pte_generated.hpp>
#include <headrace/op/op.hpp>

namespace headrace::detail::pte {

/// How a call of an operator is read.
enum class call_kind : std::uint8_t {
    kernel,  ///< an op of the executorch dialect
    copy,    ///< writes a state
    shape,   ///< the elements of a tensor in another shape or order in memory
    number,  ///< computes with numbers, not with tensors
    slice,   ///< writes a slice of a tensor
    opaque   ///< not known
};

struct called_operator {
    std::string name{};  ///< with its overload
    const op_info* op = nullptr;
    call_kind kind = call_kind::opaque;
};

[[nodiscard]] inline call_kind kind_of_operator(std::string_view name) {
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

[[nodiscard]] inline error wrong_argument_count(const called_operator& o) {
    return malformed({printable(o.name), " is given the wrong number of arguments"});
}

/// Returns the type of a number among the values of a method.
[[nodiscard]] inline std::optional<dtype> type_of_number(const pte_fb::Value& v) {
    if (v.kind_as_Int() != nullptr) return dtype::int64;
    if (v.kind_as_Bool() != nullptr) return dtype::boolean;
    if (v.kind_as_Double() != nullptr) return dtype::float64;
    return std::nullopt;
}

/// True if the elements of a tensor are in another file.
[[nodiscard]] inline bool is_external(const pte_fb::Tensor& t) {
    return t.extra() != nullptr && t.extra()->location() == pte_fb::TensorLocation::EXTERNAL &&
        t.allocation() == nullptr;
}
[[nodiscard]] inline bool is_constant(const pte_fb::Tensor& t) {
    return is_external(t) || (t.data() != 0 && t.allocation() == nullptr);
}

}  // namespace headrace::detail::pte

#endif
