// SPDX-License-Identifier: MIT
// A model as a C++ type for a microcontroller: `lower -o NAME.hpp`, and what other commands say of it.
#ifndef HEADRACE_EXAMPLES_CLI_HEADER_HPP
#define HEADRACE_EXAMPLES_CLI_HEADER_HPP

#include <optional>
#include <string>

#include <headrace/firmware/header.hpp>
#include <headrace/lowering/lower.hpp>

#include "commands.hpp"
#include "messages.hpp"

namespace headrace::cli {

[[nodiscard]] bool is_header_path(const std::string& path);

/// A model on a core, or the status after the reason was printed.
struct core_model {
    int status = status_ok;
    std::optional<firmware::model_header> header{};
    firmware::header_options options{};  ///< what the header was written with
};

/// Lowers the model of the options for their core. A sample for the self-test of `has_sample` costs an
/// execution.
[[nodiscard]] core_model lower_for_core(
    const lower_options& options, const std::string& name, bool has_sample);

/// Lowers the model of the options to TOSA as `lower_for_core` does.
[[nodiscard]] lowering_outcome lower_to_kernels(
    const lower_options& options, const std::optional<target_spec>& target);

[[nodiscard]] int lower_to_header(const lower_options& options);

}  // namespace headrace::cli

#endif
