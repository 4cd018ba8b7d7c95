// SPDX-License-Identifier: MIT
// Exit statuses, and how errors are printed.
#ifndef HEADRACE_EXAMPLES_CLI_MESSAGES_HPP
#define HEADRACE_EXAMPLES_CLI_MESSAGES_HPP

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <headrace/base/error.hpp>
#include <headrace/base/target_spec.hpp>
#include <headrace/pass/pass_context.hpp>

namespace headrace::cli {

inline constexpr int status_ok = 0;
inline constexpr int status_unsupported = 1;
inline constexpr int status_usage = 2;
inline constexpr int status_malformed = 3;

/// The status that goes with an error, and the line that says it, with nothing in it that commands a
/// terminal.
[[nodiscard]] int status_of(const error& e);
[[nodiscard]] std::string error_text(std::string_view message);

/// Prints `error: …` and returns the status that goes with the error.
int report_error(const error& e);
int report_usage(std::string_view message);

/// What the program says of its own accord when it succeeds, on standard error: standard output is for what
/// was asked for. `quiet` silences it, and what commands report on standard output besides their results.
void be_quiet();
[[nodiscard]] bool is_quiet();
void say(std::string_view line);

/// What an option of `-` becomes: the path of standard output.
inline constexpr std::string_view standard_output = "/dev/stdout";

/// Where a command prints what it reports besides the file that it writes: standard output, or standard error
/// if that file goes to standard output.
[[nodiscard]] std::FILE* report_stream(const std::string& output);

/// "1 node", "2 nodes".
[[nodiscard]] std::string counted(std::size_t count, std::string_view one);
/// "512 bytes", "4.1 kB".
[[nodiscard]] std::string size_text(std::uint64_t bytes);

/// A line for each refused node, or for four and more that are refused for the same reason, and one line that
/// counts them.
[[nodiscard]] std::string diagnostics_text(std::span<const diagnostic> refusals, const std::string& model);
/// Prints that; returns the status.
int report_diagnostics(std::span<const diagnostic> refusals, const std::string& model);

/// Runs a command on a file. Lack of memory is then an error that names the file, a full disk one that says
/// so.
[[nodiscard]] int guarded(const std::string& file, const std::function<int()>& command);

/// Bad usage if two of the files that a command is to write, or one of them and the model that it reads, are
/// the same; else the status of success. Options that were not given are empty; devices may be given twice.
[[nodiscard]] int check_distinct_files(std::span<const std::string> outputs, const std::string& model = {});

/// Bad usage if the name of a file to write ends in none of these extensions, of which the first is the usual
/// one. Names without an extension, links, pipes and devices are taken as they are.
[[nodiscard]] int check_extension(const std::string& path, std::initializer_list<std::string_view> fitting);

/// Reads the text of --target, of which `TOSA-1.0+` may be left out; an empty one is no target. Returns the
/// status of bad usage if it is not understood.
[[nodiscard]] int parse_target_option(const std::string& text, std::optional<target_spec>& target);

}  // namespace headrace::cli

#endif
