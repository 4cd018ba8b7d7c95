// SPDX-License-Identifier: MIT
// Runs of other programs, which compile what the program has lowered.
#ifndef HEADRACE_EXAMPLES_CLI_TOOLS_HPP
#define HEADRACE_EXAMPLES_CLI_TOOLS_HPP

#include <string>
#include <string_view>
#include <vector>

namespace headrace::cli {

/// A temporary directory, removed with its contents.
class scratch_directory {
public:
    /// `tool` is a part of its name.
    explicit scratch_directory(std::string_view tool);
    scratch_directory(const scratch_directory&) = delete;
    scratch_directory& operator=(const scratch_directory&) = delete;
    ~scratch_directory();
    [[nodiscard]] bool is_made() const { return is_made_; }
    [[nodiscard]] std::string file(const char* name) const { return path_ + '/' + name; }
    [[nodiscard]] const std::string& path() const { return path_; }

private:
    std::string path_;
    bool is_made_ = false;
};

/// Runs a program until it ends; its output goes to a file. Returns its status, or -1 if it cannot be run.
[[nodiscard]] int run_program(std::vector<std::string> words, const std::string& log);

[[nodiscard]] std::string text_of_file(const std::string& path);

/// Returns the last line, which names the cause in a traceback.
[[nodiscard]] std::string last_line_of(std::string_view said);

}  // namespace headrace::cli

#endif
