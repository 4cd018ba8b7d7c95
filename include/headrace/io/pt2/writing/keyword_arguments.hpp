// SPDX-License-Identifier: MIT
// Declares headrace::pt2::is_keyword_only, which is true for arguments that PyTorch's ops take by name only.
#ifndef HEADRACE_IO_PT2_WRITING_KEYWORD_ARGUMENTS_HPP
#define HEADRACE_IO_PT2_WRITING_KEYWORD_ARGUMENTS_HPP

#include <string>
#include <string_view>

namespace headrace::pt2 {

/// Arguments after the asterisk of a schema, and the overloads that have exactly these after it.
struct keyword_arguments {
    std::string_view names;
    std::string_view ops;  ///< without the namespace of ATen
};

/// Returns the arguments that an op takes by name only, as names between blanks. Empty if there are none, and
/// for unknown ops.
[[nodiscard]] std::string_view keyword_only_arguments(std::string_view op);

/// True if PyTorch's schema of an op has that argument after its asterisk.
[[nodiscard]] inline bool is_keyword_only(std::string_view op, std::string_view argument) {
    return keyword_only_arguments(op).find(" " + std::string(argument) + " ") != std::string_view::npos;
}

}  // namespace headrace::pt2

#endif
