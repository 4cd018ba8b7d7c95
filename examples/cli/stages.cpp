// SPDX-License-Identifier: MIT
#include "stages.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <system_error>

#include <headrace/io/dot.hpp>

namespace headrace::cli {

namespace {

// Writing into a folder that could not be made fails, and says why.
std::filesystem::path stage_path(const std::filesystem::path& folder, int number, std::string_view name,
                                 std::string_view extension) {
    std::error_code ignored;
    std::filesystem::create_directories(folder, ignored);
    return folder / fmt::format("{:03}_{}{}", number, name, extension);
}

}  // namespace

result<void> picture_folder::draw(const graph& g, std::string_view name) {
    const auto path = stage_path(folder_, drawn_++, name, ".dot");
    std::ofstream file(path);
    write_dot(file, g);
    file.flush();
    if (!file) return unwritable("cannot write " + path.string() + ": " + std::strerror(errno));
    return boost::outcome_v2::success();
}

}  // namespace headrace::cli
