// SPDX-License-Identifier: MIT
// Lowering to packages: several methods that share constants, or what can be lowered of a model.
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

/// The models that `lower` is given, by method: a single one is the method "forward". Returns the exit
/// status.
[[nodiscard]] int methods_of(const lower_options& options, file_map& models);

/// Their files, for messages.
[[nodiscard]] std::string names_of(const file_map& models);

/// `lower` with --method or --partition. Returns the exit status.
[[nodiscard]] int lower_package(const lower_options& options);

/// Says what each method of the output has of delegates, and why nodes are on the host.
void print_reports(const std::map<std::string, method_report, std::less<>>& methods,
                   const std::string& output);

/// The page that --report asks for, if it asks for one: the host graph of each method, and its delegates.
[[nodiscard]] result<void> write_method_pages(
    const lower_options& options, const file_map& models,
    const std::map<std::string, method_report, std::less<>>& methods, page_collector&& pages);

/// Does --method fit the model? Reports bad usage if it is given and the model is no package, or if it is not
/// given and the package has several methods. Returns the exit status.
[[nodiscard]] int check_method_option(const std::string& model, const std::string& method);

}  // namespace headrace::cli

#endif
