// SPDX-License-Identifier: MIT
// Declares how the reader of .pte files classifies operators and values, and where the elements of tensors
// are.
#ifndef HEADRACE_IO_PTE_OPERATORS_HPP
#define HEADRACE_IO_PTE_OPERATORS_HPP

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <headrace/base/dtype.hpp>
#include <headrace/base/error.hpp>
#include <headrace/base/printable.hpp>
#include <headrace/io/pte/pte_generated.hpp>
#include <headrace/op/op.hpp>

namespace headrace::pte {

/// How a call of an operator is read.
enum class call_kind : std::uint8_t {
    kernel,  ///< an op of the executorch or the cortex_m dialect
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

[[nodiscard]] call_kind kind_of_operator(std::string_view name);

/// Returns the name by which the runtime finds the kernel of an op: "cortex_m::pad.out" for cortex_m.pad, the
/// op's own name for others.
[[nodiscard]] std::string kernel_name_of(const op_info& op);
/// Returns the op whose kernel has that name; null if there is none.
[[nodiscard]] const op_info* op_of_kernel(std::string_view name);
/// True for a tensor that a kernel works in: what is in it before has no effect, and what is after, no use.
[[nodiscard]] bool is_scratch(const op_info& op, const field_info& f);

[[nodiscard]] inline error wrong_argument_count(const called_operator& o) {
    return malformed({printable(o.name), " is given the wrong number of arguments"});
}

/// Returns the type of a number among the values of a method.
[[nodiscard]] std::optional<dtype> type_of_number(const pte_fb::Value& v);

/// True if the elements of a tensor are in another file.
[[nodiscard]] bool is_external(const pte_fb::Tensor& t);
[[nodiscard]] inline bool is_constant(const pte_fb::Tensor& t) {
    return is_external(t) || (t.data() != 0 && t.allocation() == nullptr);
}

}  // namespace headrace::pte

#endif
