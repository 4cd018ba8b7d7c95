// SPDX-License-Identifier: MIT
// The tables that `compare --board` and `compare --cycles` print.
#ifndef HEADRACE_EXAMPLES_CLI_BOARD_TEXT_HPP
#define HEADRACE_EXAMPLES_CLI_BOARD_TEXT_HPP

#include <cstddef>
#include <string>

#include <headrace/compare/board_comparison.hpp>
#include <headrace/compare/measured_times.hpp>

namespace headrace::cli {

/// Returns the first layer that differs, and a summary of the later ones; `top` limits their lines.
[[nodiscard]] std::string board_report(const board_comparison& c, std::size_t top);

/// Returns a table of name, predicted and measured time and their ratio.
[[nodiscard]] std::string format_times(
    const timed_layers& t, const measured_times& measured, const predicted_times& predicted);

}  // namespace headrace::cli

#endif
