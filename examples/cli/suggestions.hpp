// SPDX-License-Identifier: MIT
// Suggestions for misspelt words.
#ifndef HEADRACE_EXAMPLES_CLI_SUGGESTIONS_HPP
#define HEADRACE_EXAMPLES_CLI_SUGGESTIONS_HPP

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace headrace::cli {

/// Returns the candidates that a word may be a misspelling of: the nearest ones, if they are near enough.
/// Case is ignored.
[[nodiscard]] std::vector<std::string_view> closest(
    std::string_view word, std::span<const std::string_view> candidates, std::size_t count = 3);

/// Returns "; did you mean lower or show?", or nothing if no candidate is near.
[[nodiscard]] std::string did_you_mean(std::string_view word, std::span<const std::string_view> candidates);
[[nodiscard]] std::string did_you_mean(std::string_view word, std::span<const std::string> candidates);

}  // namespace headrace::cli

#endif
