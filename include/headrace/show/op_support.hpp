// SPDX-License-Identifier: MIT
// Declares headrace::support_of, which determines how an op is lowered, for each class of elements and each
// rank, by lowering it.
#ifndef HEADRACE_SHOW_OP_SUPPORT_HPP
#define HEADRACE_SHOW_OP_SUPPORT_HPP

#include <array>
#include <cstddef>
#include <memory_resource>
#include <optional>
#include <string>
#include <vector>

#include <headrace/base/target_spec.hpp>
#include <headrace/op/op.hpp>
#include <headrace/show/op_programs.hpp>

namespace headrace {

/// The outcome for programs of one op: all were lowered, all were refused, or it depends on the arguments.
struct op_support {
    std::size_t lowered = 0;
    std::size_t refused = 0;
    std::pmr::string reason{};  ///< of the first refusal

    [[nodiscard]] bool is_known() const { return lowered + refused != 0; }
};

/// By class and rank; unknown if the op takes no such operand, or none was found.
using op_support_table = std::array<std::array<op_support, probed_ranks>, element_classes.size()>;

/// Draws arguments that the op's inference rule accepts, the same ones on every machine, and lowers each as a
/// program of its own, to the given target or to the one that `headrace lower` would choose. Ops without a
/// tensor operand are classified by their result.
[[nodiscard]] op_support_table support_of(const op_info& op, const std::optional<target_spec>& target);

/// Returns the ops that exported programs may have and for which support_of can draw arguments, by name: all
/// of ATen and dim_order_ops except those that write in place or into given tensors.
[[nodiscard]] std::vector<const op_info*> probed_ops();

}  // namespace headrace

#endif
