// SPDX-License-Identifier: MIT
// Tells where each node of a .pte file's methods is computed.
#ifndef HEADRACE_EXAMPLES_CLI_PLACEMENTS_HPP
#define HEADRACE_EXAMPLES_CLI_PLACEMENTS_HPP

#include <string>
#include <string_view>

#include <headrace/io/file/json_writer.hpp>
#include <headrace/lowering/lower_pte.hpp>

namespace headrace::cli {

/// Writes the nodes of a method and its multiplications as members of an object. `delegate` names what
/// computes the delegates: an accelerator, or "tosa".
void write_placements(json_writer& w, const method_report& m, std::string_view delegate);

/// Prints a line for each method that has integer kernels, and its nodes that are computed in floating point
/// with the reasons, unless the program is quiet.
void print_placements(const lowered_pte& made, const std::string& output);

}  // namespace headrace::cli

#endif
