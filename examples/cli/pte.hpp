// SPDX-License-Identifier: MIT
// `headrace lower -o model.pte` and other functions for ExecuTorch's files.
#ifndef HEADRACE_EXAMPLES_CLI_PTE_HPP
#define HEADRACE_EXAMPLES_CLI_PTE_HPP

#include <string>
#include <vector>

#include <headrace/base/result.hpp>

#include "commands.hpp"

namespace headrace::cli {

/// True if the path's extension is that of a program for ExecuTorch's runtime.
[[nodiscard]] bool is_pte_path(const std::string& path);

/// Returns the names of a .pte file's methods; none if it is not such a file or cannot be read.
[[nodiscard]] std::vector<std::string> pte_methods(const std::string& path);

/// Checks that `method` is one of them, or is empty and there is only one. Reports bad usage; returns the
/// exit status.
[[nodiscard]] int check_pte_method(const std::vector<std::string>& methods, const std::string& method);

[[nodiscard]] int lower_pte(const lower_options& options);

/// Runs `unpack`: writes the flatbuffer of a delegate.
[[nodiscard]] result<void> unpack_pte(const unpack_options& options);

}  // namespace headrace::cli

#endif
