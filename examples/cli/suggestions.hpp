// SPDX-License-Identifier: MIT
// What a misspelt word may have meant.
#ifndef HEADRACE_EXAMPLES_CLI_SUGGESTIONS_HPP
#define HEADRACE_EXAMPLES_CLI_SUGGESTIONS_HPP

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace headrace::cli {

/// The candidates that a word may be a misspelling of: those that are nearest, if they are near enough. Upper
/// and lower case count as the same letter.
[[nodiscard]] std::vector<std::string_view> closest(std::string_view word,
                                                    std::span<const std::string_view> candidates,
                                                    std::size_t count = 3);

/// "; did you mean lower or show?", or nothing if no candidate is near.
[[nodiscard]] std::string did_you_mean(std::string_view word, std::span<const std::string_view> candidates);
[[nodiscard]] std::string did_you_mean(std::string_view word, std::span<const std::string> candidates);

}  // namespace headrace::cli

#endif
