// SPDX-License-Identifier: MIT
// Lowers one model, from a path to files: for `lower` of one model or many.
#ifndef HEADRACE_EXAMPLES_CLI_LOWER_HPP
#define HEADRACE_EXAMPLES_CLI_LOWER_HPP

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <headrace/base/pmr_vector.hpp>
#include <headrace/base/target_spec.hpp>
#include <headrace/lowering/lower.hpp>

#include "commands.hpp"
#include "messages.hpp"

namespace headrace::cli {

/// The outcome for a model and its files.
struct file_outcome {
    int status = status_ok;
    std::string error{};                  ///< the error, unless nodes are refused
    pmr_vector<diagnostic> refusals{};    ///< nodes that cannot be lowered
    std::vector<std::string> warnings{};  ///< of a model that was lowered
    lowering_report report{};             ///< up to where the lowering came
    std::uint64_t bytes = 0;              ///< of the output
    std::uint64_t macs = 0;               ///< of the lowered model
    bool has_page = false;                ///< if `report` is the path of one
};

/// Called with the name of each pass that has ended; may be empty.
using show_function = std::function<void(std::string_view)>;

/// Lowers the model of the options, writes the files that they ask for, and prints nothing. May be called
/// from several threads at once. Exceptions, such as lack of memory, are an outcome as well.
[[nodiscard]] file_outcome lower_to_files(const lower_options& options,
    const std::optional<target_spec>& target, const show_function& show_pass = {});

/// Returns how `--state` treats buffers that the program writes back.
[[nodiscard]] state_kind state_of(const lower_options& options);

/// Prints the findings of --verify: how far the outputs are off, and which passes changed them; names the
/// method of several.
void say_verified(const lowering_report& report, std::string_view method = {});

/// Returns the message for an unsuccessful outcome: lines that begin with `error: `.
[[nodiscard]] std::string text_of(const file_outcome& outcome, const std::string& model);

}  // namespace headrace::cli

#endif
