// SPDX-License-Identifier: MIT
#include "stages.hpp"

#include <cerrno>
#include <cstring>
#include <fstream>

#include <headrace/io/text/dot.hpp>
#include <headrace/opt/stage_texts.hpp>

namespace headrace::cli {

result<void> picture_folder::draw(const graph& g, std::string_view name) {
    const auto path = stage_path(folder_, drawn_++, name, ".dot");
    std::ofstream file(path);
    write_dot(file, g);
    file.flush();
    if (!file) return unwritable("cannot write " + path.string() + ": " + std::strerror(errno));
    return {};
}

}  // namespace headrace::cli
