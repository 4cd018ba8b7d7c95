// SPDX-License-Identifier: MIT
// `headrace lower -o model.pte` and what else the program knows of ExecuTorch's files.
#ifndef HEADRACE_EXAMPLES_CLI_PTE_HPP
#define HEADRACE_EXAMPLES_CLI_PTE_HPP

#include <string>
#include <vector>

#include <headrace/base/result.hpp>

#include "commands.hpp"

namespace headrace::cli {

/// By its name: does that path ask for a program for ExecuTorch's runtime?
[[nodiscard]] bool is_pte_path(const std::string& path);

/// The names of a .pte file's methods; none if it is no such file or cannot be read.
[[nodiscard]] std::vector<std::string> pte_methods(const std::string& path);

/// Is that one of them, or not given where there is one? Reports bad usage; returns the exit status.
[[nodiscard]] int check_pte_method(const std::vector<std::string>& methods, const std::string& method);

[[nodiscard]] int lower_pte(const lower_options& options);

/// `unpack`: the flatbuffer of a delegate.
[[nodiscard]] result<void> unpack_pte(const unpack_options& options);

}  // namespace headrace::cli

#endif
