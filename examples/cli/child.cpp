// SPDX-License-Identifier: MIT
#include "child.hpp"

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>

#include <headrace/base/printable.hpp>
#include <headrace/base/strings.hpp>
#include <headrace/io/file/atomic_file.hpp>
#include <headrace/io/file/os.hpp>

namespace headrace::cli {

scratch_directory::scratch_directory(std::string_view tool) {
    constexpr int max_attempts = 1000;
    const std::string wanted =
        (std::filesystem::temp_directory_path() / join_text("headrace_", tool)).string();
    for (int i = 0; i != max_attempts && !is_made_; ++i) {
        path_ = detail::temporary_name(wanted);
        is_made_ = detail::temporaries::of_process().add(
            path_, [](const char* path) { return os::make_directory(path, 0700); });
        if (!is_made_ && errno != EEXIST) return;
    }
}

scratch_directory::~scratch_directory() {
    std::error_code ignored;
    if (is_made_) std::filesystem::remove_all(path_, ignored);
    detail::temporaries::of_process().forget(path_);
}

std::string text_of_file(const std::string& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
}

std::string last_line_of(std::string_view said) {
    while (!said.empty() && (said.back() == '\n' || said.back() == ' ')) said.remove_suffix(1);
    const std::size_t begin = said.rfind('\n');
    return std::string(printable(said.substr(begin == std::string_view::npos ? 0 : begin + 1), 300));
}

}  // namespace headrace::cli
