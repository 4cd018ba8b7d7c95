// SPDX-License-Identifier: MIT
// The page that `show --html` and `lower --report FILE.html` write.
#ifndef HEADRACE_EXAMPLES_CLI_PAGE_HPP
#define HEADRACE_EXAMPLES_CLI_PAGE_HPP

#include <string>
#include <string_view>

#include <headrace/base/error.hpp>
#include <headrace/lowering/page_data.hpp>

namespace headrace::cli {

[[nodiscard]] inline bool is_page_path(std::string_view path) { return path.ends_with(".html"); }

/// An error if the program was built without the libraries that draw the page, or if there is no such file of
/// Vela's figures; empty for none.
[[nodiscard]] result<void> check_page(const std::string& vela_csv);

/// Writes the page whole or not at all. `vela_csv` is a file; empty for none.
[[nodiscard]] result<void> write_page(const std::string& path, page_source source,
                                      const std::string& vela_csv);

}  // namespace headrace::cli

#endif
