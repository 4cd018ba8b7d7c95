// SPDX-License-Identifier: MIT
// Lowering to packages: several methods that share constants, or what can be lowered of a model.
#ifndef HEADRACE_EXAMPLES_CLI_PACKAGE_HPP
#define HEADRACE_EXAMPLES_CLI_PACKAGE_HPP

#include "commands.hpp"

namespace headrace::cli {

/// `lower` with --method or --partition. Returns the exit status.
[[nodiscard]] int lower_package(const lower_options& options);

/// Does --method fit the model? Reports bad usage if it is given and the model is no package, or if it is not
/// given and the package has several methods. Returns the exit status.
[[nodiscard]] int check_method_option(const std::string& model, const std::string& method);

}  // namespace headrace::cli

#endif
