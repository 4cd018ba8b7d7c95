// SPDX-License-Identifier: MIT
// Lowers to packages: several methods that share constants, or the parts of a model that can be lowered.
#ifndef HEADRACE_EXAMPLES_CLI_PACKAGE_HPP
#define HEADRACE_EXAMPLES_CLI_PACKAGE_HPP

#include <functional>
#include <map>
#include <string>

#include <headrace/lowering/method_report.hpp>

#include "commands.hpp"
#include "page.hpp"

namespace headrace::cli {

using file_map = std::map<std::string, std::string, std::less<>>;

/// Collects the models given to `lower`, by method: a single one is the method "forward". Returns the exit
/// status.
[[nodiscard]] int methods_of(const lower_options& options, file_map& models);

/// Returns the names of their files, for messages.
[[nodiscard]] std::string names_of(const file_map& models);

/// Runs `lower` with --method or --partition. Returns the exit status.
[[nodiscard]] int lower_package(const lower_options& options);

/// Prints the delegates of each method of the output, and why nodes are on the host.
void print_reports(
    const std::map<std::string, method_report, std::less<>>& methods, const std::string& output);

/// Writes the page for --report, if requested: the host graph of each method, and its delegates.
[[nodiscard]] result<void> write_method_pages(const lower_options& options, const file_map& models,
    const std::map<std::string, method_report, std::less<>>& methods, page_collector&& pages);

/// Checks --method against the model. Reports bad usage if it is given but the model is not a package, or if
/// it is missing and the package has several methods. Returns the exit status.
[[nodiscard]] int check_method_option(const std::string& model, const std::string& method);

}  // namespace headrace::cli

#endif
