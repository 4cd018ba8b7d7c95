// SPDX-License-Identifier: MIT
// The least that a process can do with a model: reads the archive, parses the JSON and copies the weights.
// start_time.py compares the program with it.
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <span>
#include <string>
#include <string_view>

#include <simdjson.h>

#include <headrace/io/file/zip_archive.hpp>

int main(int argc, char** argv) {
    if (argc != 3) return 2;
    std::string file(static_cast<std::size_t>(std::filesystem::file_size(argv[1])), '\0');
    std::ifstream(argv[1], std::ios::binary).read(file.data(), static_cast<std::streamsize>(file.size()));
    const auto archive = headrace::zip_archive::open(std::as_bytes(std::span(file)));
    if (!archive) return 3;
    std::ofstream out(argv[2], std::ios::binary);
    for (const headrace::zip_entry& e : archive.value().entries()) {
        const auto viewed = archive.value().view(e);
        if (!viewed) return 3;
        const std::string_view text(
            reinterpret_cast<const char*>(viewed.value().data()), viewed.value().size());
        if (e.name.ends_with("/models/model.json")) {
            simdjson::dom::parser parser;
            simdjson::dom::element model;
            if (parser.parse(text.data(), text.size()).get(model) != simdjson::SUCCESS) return 3;
        } else {
            out.write(text.data(), static_cast<std::streamsize>(text.size()));
        }
    }
    return out.flush() ? 0 : 1;
}
