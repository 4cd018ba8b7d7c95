// SPDX-License-Identifier: MIT
// Programs that this program runs, and temporary directories for their files.
#ifndef HEADRACE_EXAMPLES_CLI_CHILD_HPP
#define HEADRACE_EXAMPLES_CLI_CHILD_HPP

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

/// How a program ended.
struct child_end {
    int status = -1;         ///< its exit status; -1 if it has none
    int signal = 0;          ///< the signal that ended it
    bool timed_out = false;  ///< it was ended, with its own children, after the seconds allowed
    bool is_run = true;      ///< false: it cannot be run
};

/// Runs a program until it ends, or for so many seconds unless they are 0. Standard output and standard error
/// go to the file `log`.
[[nodiscard]] child_end run_child(std::vector<std::string> words, const std::string& log, double seconds = 0);

/// Ends the program that run_child is running with a limit, if any.
void end_child();

/// Returns what is in a file; empty if it cannot be read.
[[nodiscard]] std::string text_of_file(const std::string& path);

/// Returns the last line, which names the cause in a traceback.
[[nodiscard]] std::string last_line_of(std::string_view said);

}  // namespace headrace::cli

#endif
