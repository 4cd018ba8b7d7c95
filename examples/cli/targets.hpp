// SPDX-License-Identifier: MIT
// What a lowering aims at, and how its refusals reach the person who reads them.
#ifndef HEADRACE_EXAMPLES_CLI_TARGETS_HPP
#define HEADRACE_EXAMPLES_CLI_TARGETS_HPP

#include <optional>
#include <span>
#include <string>
#include <vector>

#include <headrace/base/target_spec.hpp>
#include <headrace/io/pt2_program.hpp>
#include <headrace/pass/pass_context.hpp>

namespace headrace::cli {

/// What --target says; nothing if it is empty. The exit status is of bad usage if it is not understood.
[[nodiscard]] int parse_target_option(const std::string& text, std::optional<target_spec>& target);

[[nodiscard]] std::string target_text(const target_spec& target);

/// Without --target, the first that can hold the graph.
[[nodiscard]] std::vector<target_spec> default_targets(const graph& g);

/// A line for each refusal and one that counts them.
[[nodiscard]] std::string diagnostics_text(std::span<const diagnostic> refusals, const std::string& model);
/// Prints that; returns the status.
int report_diagnostics(std::span<const diagnostic> refusals, const std::string& model);

/// An error if the program writes to its buffers.
[[nodiscard]] result<void> refuse_mutations(const program& p);

}  // namespace headrace::cli

#endif
