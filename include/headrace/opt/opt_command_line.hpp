// SPDX-License-Identifier: MIT
// Declares headrace::parse_opt_command, the command line of programs by opt_main, and its usage.
#ifndef HEADRACE_OPT_OPT_COMMAND_LINE_HPP
#define HEADRACE_OPT_OPT_COMMAND_LINE_HPP

#include <span>
#include <string>
#include <vector>

#include <headrace/base/result.hpp>
#include <headrace/opt/opt_main.hpp>

namespace headrace {

/// The parsed command line of a program by opt_main.
struct opt_request {
    std::string command;
    std::string file;
    std::string passes;  ///< separated by commas
    std::string pipeline;
    std::string output;
    std::string reproducer;
    std::string ir;         ///< a folder
    std::string ir_around;  ///< passes, separated by commas
    std::string assumed;    ///< properties, separated by commas
    std::vector<std::string> inputs;
    std::vector<std::string> results;
    bool all_passes = false;
    bool verify = false;
    bool partition = false;
    bool retrace = false;
    bool help = false;
};

/// Parses a command line, whose first word is the program. An error says which word is wrong, with the
/// nearest known one.
[[nodiscard]] result<opt_request> parse_opt_command(std::span<char*> words);

/// Returns the commands, options, pipelines and passes of a program.
[[nodiscard]] std::string opt_usage(const opt_program& own, const std::string& name);

}  // namespace headrace

#endif
