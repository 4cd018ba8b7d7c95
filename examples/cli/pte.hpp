// SPDX-License-Identifier: MIT
// `headrace lower -o model.pte` and what else the program knows of ExecuTorch's files.
#ifndef HEADRACE_EXAMPLES_CLI_PTE_HPP
#define HEADRACE_EXAMPLES_CLI_PTE_HPP

#include <string>

#include "commands.hpp"

namespace headrace::cli {

/// By its name: does that path ask for a program for ExecuTorch's runtime?
[[nodiscard]] bool is_pte_path(const std::string& path);

[[nodiscard]] int lower_pte(const lower_options& options);

}  // namespace headrace::cli

#endif
