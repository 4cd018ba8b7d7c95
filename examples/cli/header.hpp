// SPDX-License-Identifier: MIT
// `lower -o NAME.hpp`: a model as a C++ type for a microcontroller.
#ifndef HEADRACE_EXAMPLES_CLI_HEADER_HPP
#define HEADRACE_EXAMPLES_CLI_HEADER_HPP

#include <string>

#include "commands.hpp"

namespace headrace::cli {

[[nodiscard]] bool is_header_path(const std::string& path);
[[nodiscard]] int lower_to_header(const lower_options& options);

}  // namespace headrace::cli

#endif
