// SPDX-License-Identifier: MIT
// Reading models and tensors, and how errors reach the person who reads them.
#ifndef HEADRACE_EXAMPLES_CLI_FILES_HPP
#define HEADRACE_EXAMPLES_CLI_FILES_HPP

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <headrace/eval/tensor.hpp>
#include <headrace/io/pt2_program.hpp>

namespace headrace {
class package;
}

namespace headrace::cli {

inline constexpr int status_ok = 0;
inline constexpr int status_unsupported = 1;
inline constexpr int status_usage = 2;
inline constexpr int status_malformed = 3;

/// The status that goes with an error, and the line that says it.
[[nodiscard]] int status_of(const error& e);
[[nodiscard]] std::string error_text(std::string_view message);

/// Prints `error: …` and returns the status that goes with the error.
int report_error(const error& e);
int report_usage(std::string_view message);

/// Reads a .pt2 or a .tosa file, told apart by what is in it.
[[nodiscard]] result<program> read_model(const std::string& path);

/// A program, and the package that its constants lie in if it comes from one.
struct loaded_model {
    loaded_model();
    loaded_model(loaded_model&&) noexcept;
    ~loaded_model();

    std::unique_ptr<package> source;
    program model;
};
/// Reads a .pt2 or a .tosa file, or a method of a package.
[[nodiscard]] result<loaded_model> load_model(const std::string& path, const std::string& method);

/// One tensor per placeholder: the given .npy files in order, or numbers from a fixed seed where there are
/// none.
[[nodiscard]] result<std::vector<tensor>> read_inputs(const graph& g, const std::vector<std::string>& files);

}  // namespace headrace::cli

#endif
