// SPDX-License-Identifier: MIT
// Texts derived from the description of the command line: completions, the manual page, suggestions.
#ifndef HEADRACE_EXAMPLES_CLI_APP_TEXTS_HPP
#define HEADRACE_EXAMPLES_CLI_APP_TEXTS_HPP

#include <span>
#include <string>
#include <string_view>

#include <CLI/App.hpp>

namespace headrace::cli {

/// Returns a script for bash, zsh or fish that completes commands, options and their values.
[[nodiscard]] std::string completions(const CLI::App& app, std::string_view shell);

/// Returns the manual page, for man: all commands with their options, the texts below them, and examples.
[[nodiscard]] std::string manual_page(const CLI::App& app, std::string_view version);

/// Returns the command that the words name, options aside; null if there is no such command.
[[nodiscard]] const CLI::App* chosen_command(const CLI::App& app, std::span<const char* const> words);

/// Returns why the words cannot be parsed, with a suggestion for a misspelt command or option.
[[nodiscard]] std::string format_usage_error(
    const CLI::App& app, std::span<const char* const> words, std::string_view reason);

}  // namespace headrace::cli

#endif
