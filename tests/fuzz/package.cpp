// SPDX-License-Identifier: MIT
// Fuzzes packages: the input is an archive of the directory's files.
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <headrace/io/package/package.hpp>
#include <headrace/io/tosa/delegate.hpp>
#include <headrace/io/tosa/reader.hpp>
#include <headrace/partition/named_data_store.hpp>
#include <headrace/run/models.hpp>
#include <nlohmann/json.hpp>
#include <random>

#include "archive.hpp"
#include "lowering_checks.hpp"

namespace headrace::fuzz {

namespace {

using json = nlohmann::ordered_json;

/// The directory to which packages are unpacked, emptied for each.
class package_folder {
public:
    explicit package_folder(const archive& a)
        : path_(std::filesystem::temp_directory_path() / ("headrace_fuzz_" + std::to_string(::getpid()))) {
        std::filesystem::create_directory(path_);
        for (const archive_entry& e : a.entries) {
            if (is_plain_name(e.name)) std::ofstream(path_ / e.name, std::ios::binary) << e.data;
        }
    }
    package_folder(const package_folder&) = delete;
    package_folder& operator=(const package_folder&) = delete;
    ~package_folder() { std::filesystem::remove_all(path_); }
    [[nodiscard]] const std::filesystem::path& path() const { return path_; }

private:
    std::filesystem::path path_;
};

// Changes a value of the JSON, or repeats or removes one.
void edit(json& at, std::mt19937& random) {
    if (at.is_structured() && !at.empty() && random() % 6 != 0) {
        const auto chosen = static_cast<std::ptrdiff_t>(random() % at.size());
        return edit(*std::next(at.begin(), chosen), random);
    }
    static const char* const words[] = {
        "", "..", "/etc/hostname", "constants.bin", "manifest.json", "x\033[31m"};
    static constexpr std::int64_t numbers[] = {0, 1, -1, 2, 3, 64, 1 << 20, INT32_MAX, INT64_MAX, INT64_MIN};
    if (at.is_number()) {
        at = numbers[random() % std::size(numbers)];
    } else if (at.is_string()) {
        at = words[random() % std::size(words)];
    } else if (at.is_array() && !at.empty()) {
        if (random() % 2 == 0) {
            at.erase(random() % at.size());
        } else {
            at.push_back(at[random() % at.size()]);
        }
    } else {
        at = nullptr;
    }
}

// Updates the hashes of delegates, so that changed ones are read.
void repair_hashes(archive& a) {
    const bytes written = write_archive(a);
    const package_folder folder(*read_archive(written));
    archive_entry* manifest = a.find("manifest.json");
    if (manifest == nullptr) return;
    json text = json::parse(manifest->data);
    for (json& d : text.at("delegates")) {
        const archive_entry* file = a.find(d.at("file").get<std::string>());
        if (file == nullptr) continue;
        std::vector<std::span<const std::byte>> constants;
        for (const json& i : d.at("data")) {
            const json& place = text.at("data").at(i.get<std::size_t>());
            const archive_entry* of =
                a.find(text.at("files").at(place.at(0).get<std::size_t>()).get<std::string>());
            const auto first = place.at(1).get<std::size_t>();
            const auto size = place.at(2).get<std::size_t>();
            if (of == nullptr || first > of->data.size() || size > of->data.size() - first) return;
            constants.push_back(std::as_bytes(std::span(of->data)).subspan(first, size));
        }
        const auto whole = join_tosa(std::as_bytes(std::span(file->data)), constants);
        if (!whole) continue;
        char hash[32];
        std::snprintf(
            hash, sizeof hash, "%016llx", static_cast<unsigned long long>(hash_of_bytes(whole.value())));
        d["hash"] = hash;
        d["size"] = whole.value().size();
    }
    manifest->data = text.dump(-1, ' ', false, json::error_handler_t::replace);
}

}  // namespace

void run(std::span<const std::uint8_t> input) {
    const auto files = read_archive(bytes(input.begin(), input.end()));
    if (!files) return;
    const package_folder folder(*files);
    step("opening");
    const auto opened = package::open(folder.path());
    if (!opened) return check(opened.error());
    for (std::size_t i = 0; i != opened.value().delegates().size(); ++i) {
        step("joining a flatbuffer");
        const auto whole = opened.value().flatbuffer(i);
        if (!whole) {
            check(whole.error());
            continue;
        }
        step("reading a flatbuffer");
        const auto read = read_tosa(whole.value());
        if (!read) check(read.error());
    }
    for (const auto& [name, m] : opened.value().methods()) {
        step("reading a method");
        const auto loaded = load_model(folder.path().string(), name);
        if (!loaded) {
            check(loaded.error());
            continue;
        }
        saw_graph(*loaded.value().model.graph, "host");
        check_execution(*loaded.value().model.graph);
    }
}

bytes mutated(const bytes& input, std::size_t capacity, unsigned seed) {
    auto files = read_archive(input);
    if (!files || files->entries.empty()) return mutated_bytes(input, capacity);
    std::mt19937 random(seed);
    archive_entry& chosen = files->entries[random() % files->entries.size()];
    try {
        if (chosen.name.ends_with(".json") && random() % 8 != 0) {
            json text = json::parse(chosen.data);
            edit(text, random);
            chosen.data = text.dump(-1, ' ', false, json::error_handler_t::replace);
        } else {
            const bytes changed = mutated_bytes(bytes(chosen.data.begin(), chosen.data.end()), capacity);
            chosen.data.assign(changed.begin(), changed.end());
        }
        if (random() % 4 != 0) repair_hashes(*files);
    } catch (const json::exception&) {
        // The text is kept: the reader must also handle invalid JSON.
    }
    return write_archive(*files);
}
std::vector<bytes> simpler(const bytes& input) {
    std::vector<bytes> all;
    const auto files = read_archive(input);
    for (std::size_t i = 0; files && i != files->entries.size(); ++i) {
        archive fewer = *files;
        const std::string& data = files->entries[i].data;
        for (const bytes& shorter : without_parts(bytes(data.begin(), data.end()))) {
            fewer.entries[i].data.assign(shorter.begin(), shorter.end());
            all.push_back(write_archive(fewer));
        }
    }
    return all;
}

}  // namespace headrace::fuzz
