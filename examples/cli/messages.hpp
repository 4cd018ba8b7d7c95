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
#include <headrace/rewrite/pass_context.hpp>

namespace headrace::cli {

inline constexpr int status_ok = 0;
inline constexpr int status_unsupported = 1;
inline constexpr int status_usage = 2;
inline constexpr int status_malformed = 3;

/// Returns the status for an error; the line for it contains nothing that could control a terminal.
[[nodiscard]] int status_of(const error& e);
[[nodiscard]] std::string format_error(std::string_view message);

/// Prints `error: …` and returns the status for the error.
int report_error(const error& e);
int report_usage(std::string_view message);

/// Silences notes on standard error about success, and reports on standard output other than results.
/// Standard output is otherwise for results only.
void be_quiet();
[[nodiscard]] bool is_quiet();
void say(std::string_view line);

/// The path that replaces the option value `-`.
inline constexpr std::string_view standard_output = "/dev/stdout";

/// Returns the stream for reports that accompany a written file: standard output, or standard error if the
/// file goes to standard output.
[[nodiscard]] std::FILE* report_stream(const std::string& output);

/// Returns "1 node", "2 nodes".
[[nodiscard]] std::string counted(std::size_t count, std::string_view one);
/// Returns "512 bytes", "4.1 kB".
[[nodiscard]] std::string format_size(std::uint64_t bytes);

/// Returns a line for each refused node, or one for four or more that are refused for the same reason, and a
/// line that counts them.
[[nodiscard]] std::string format_diagnostics(std::span<const diagnostic> refusals, const std::string& model);
/// Prints format_diagnostics; returns the status.
int report_diagnostics(std::span<const diagnostic> refusals, const std::string& model);

/// Runs a command on a file. Lack of memory becomes an error that names the file; a full disk is reported as
/// such.
[[nodiscard]] int guarded(const std::string& file, const std::function<int()>& command);

/// Reports bad usage if two of the files that a command is to write, or one of them and the model that it
/// reads, are the same; else returns the status of success. Options that were not given are empty; devices
/// may be given twice.
[[nodiscard]] int check_distinct_files(std::span<const std::string> outputs, const std::string& model = {});

/// Reports bad usage if the name of a file to write has none of these extensions; the first one is the usual
/// one. Names without an extension, links, pipes and devices are accepted.
[[nodiscard]] int check_extension(const std::string& path, std::initializer_list<std::string_view> fitting);

/// Parses the text of --target, where `TOSA-1.0+` may be left out; an empty text means no target. Returns the
/// status of bad usage if it is invalid.
[[nodiscard]] int parse_target_option(const std::string& text, std::optional<target_spec>& target);

}  // namespace headrace::cli

#endif
