// SPDX-License-Identifier: MIT
// The commands of the headrace program. Each returns the exit status: 0, or 1 where the model cannot be
// lowered, 2 for bad usage, 3 for a file that is unreadable or malformed.
#ifndef HEADRACE_EXAMPLES_CLI_COMMANDS_HPP
#define HEADRACE_EXAMPLES_CLI_COMMANDS_HPP

#include <string>
#include <vector>

namespace headrace::cli {

struct lower_options {
    std::string model;
    std::string output;
    std::string target;  ///< empty: chosen by what the graph holds
    std::string io;
    std::string report;
    std::string dot_directory;
    std::vector<std::string> inputs;  ///< .npy files for `verify`; random tensors where there are none
    bool verify = false;
};
[[nodiscard]] int lower(const lower_options& options);

struct show_options {
    std::string model;
    bool pipeline = false;
    bool dot = false;
};
[[nodiscard]] int show(const show_options& options);

struct run_model_options {
    std::string model;
    std::vector<std::string> inputs;
    std::vector<std::string> outputs;
};
[[nodiscard]] int run(const run_model_options& options);

}  // namespace headrace::cli

#endif
