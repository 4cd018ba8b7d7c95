// SPDX-License-Identifier: MIT
// Defines the functions of headrace/opt/stage_texts.hpp.

#include <headrace/opt/stage_texts.hpp>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>

namespace headrace {

std::filesystem::path stage_path(
    const std::filesystem::path& folder, int number, std::string_view name, std::string_view extension) {
    std::error_code ignored;  // writing into a folder that could not be made fails with the cause
    std::filesystem::create_directories(folder, ignored);
    constexpr std::size_t digits = 3;
    std::string file = std::to_string(number);
    file.insert(0, digits - std::min(digits, file.size()), '0');
    return folder / (((file += '_') += name) += extension);
}

result<void> stage_texts::write(const graph& g, std::string_view name) {
    const bool chosen = passes_.empty() || passes_.contains(name);
    if (!chosen && !last_is_kept_) forget_last();
    std::filesystem::path path = stage_path(folder_, written_++, name, ".hr");
    HEADRACE_TRY(write_graph_text(path.string(), g));
    last_ = std::move(path);
    last_is_kept_ = chosen;
    return {};
}

void stage_texts::forget_last() {
    if (last_.empty()) return;
    std::error_code ignored;
    std::filesystem::remove(last_, ignored);
    std::filesystem::remove(last_.string() + ".data", ignored);
    last_.clear();
}

}  // namespace headrace
