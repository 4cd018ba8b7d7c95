// SPDX-License-Identifier: MIT
#include "stages.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <system_error>

#include <headrace/io/dot.hpp>
#include <headrace/io/graph_text.hpp>

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

result<void> text_folder::write(const graph& g, std::string_view name) {
    const bool chosen = passes_.empty() || passes_.contains(name);
    if (!chosen && !last_is_kept_) forget_last();
    auto path = stage_path(folder_, written_++, name, ".hr");
    BOOST_OUTCOME_TRY(write_graph_text(path.string(), g));
    last_ = std::move(path);
    last_is_kept_ = chosen;
    return boost::outcome_v2::success();
}

void text_folder::end() {
    if (!last_is_kept_) forget_last();
}

void text_folder::forget_last() {
    if (last_.empty()) return;
    std::error_code ignored;
    std::filesystem::remove(last_, ignored);
    std::filesystem::remove(last_.string() + ".data", ignored);
    last_.clear();
}

}  // namespace headrace::cli
