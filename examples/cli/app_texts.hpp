// SPDX-License-Identifier: MIT
// What follows from the description of the command line: completions, the manual page, suggestions.
#ifndef HEADRACE_EXAMPLES_CLI_APP_TEXTS_HPP
#define HEADRACE_EXAMPLES_CLI_APP_TEXTS_HPP

#include <span>
#include <string>
#include <string_view>

#include <CLI/App.hpp>

namespace headrace::cli {

/// A script for bash, zsh or fish that completes commands, options and their values.
[[nodiscard]] std::string completions(const CLI::App& app, std::string_view shell);

/// The manual page, for man: all commands with their options, the texts below them, and examples.
[[nodiscard]] std::string manual_page(const CLI::App& app, std::string_view version);

/// The command that the words begin with, options aside; null if there is none of that name.
[[nodiscard]] const CLI::App* chosen_command(const CLI::App& app, std::span<const char* const> words);

/// Why the words cannot be understood, with what was meant by a misspelt command or option.
[[nodiscard]] std::string usage_error_text(const CLI::App& app, std::span<const char* const> words,
                                           std::string_view reason);

}  // namespace headrace::cli

#endif
