// SPDX-License-Identifier: MIT
// Declares headrace::pt2::find_target, which finds the op for a name in an exported program.
#ifndef HEADRACE_IO_PT2_TARGET_HPP
#define HEADRACE_IO_PT2_TARGET_HPP

#include <string_view>

#include <headrace/op/op.hpp>

namespace headrace::pt2 {

/// The op that a node calls.
struct target {
    const op_info* op = nullptr;  ///< null: not known
    bool in_place = false;        ///< the result is then copied into the first operand
};

/// Returns the op of that name, or of a synonym. If the dialect has an op only out of place, its in-place
/// form is found as well.
[[nodiscard]] target find_target(std::string_view name);

/// Returns the op's name for an argument that may have NumPy's.
[[nodiscard]] std::string_view argument_name(const op_info& op, std::string_view name);

}  // namespace headrace::pt2

#endif
