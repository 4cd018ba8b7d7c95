// SPDX-License-Identifier: MIT
// Defines headrace::read_memory_map.

#include <headrace/io/banks/memory_map_reader.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include <headrace/base/strings.hpp>
#include <headrace/io/file/json_document.hpp>
#include <headrace/io/file/mapped_file.hpp>

namespace headrace {

namespace {

constexpr std::uint64_t max_bank_bytes = std::uint64_t{1} << 48;
constexpr std::uint64_t max_alignment = std::uint64_t{1} << 20;
constexpr std::size_t max_banks = 64;

// Returns the bytes of "64K"; nothing for other text.
std::optional<std::uint64_t> size_in_text(std::string_view text) {
    std::uint64_t number = 0;
    const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), number);
    const std::string_view unit(end, static_cast<std::size_t>(text.data() + text.size() - end));
    if (failed != std::errc() || unit.size() > 1) return std::nullopt;
    constexpr std::string_view units = "KMG";
    const std::size_t at = unit.empty() ? 0 : units.find(unit[0]) + 1;
    if (!unit.empty() && at == 0) return std::nullopt;
    if (number > max_bank_bytes >> (10 * at)) return std::nullopt;
    return number << (10 * at);
}

std::uint64_t read_size(simdjson::dom::element json, const std::string& where) {
    std::uint64_t number = 0;
    if (!json.get(number) && number <= max_bank_bytes) return number;
    std::string_view text;
    if (!json.get(text)) {
        if (const auto bytes = size_in_text(text)) return *bytes;
    }
    fail_malformed(where + " is not a size of at most 256 TiB, such as 65536, \"64K\" or \"2M\"");
}

memory_use read_use(simdjson::dom::element json, const std::string& where) {
    std::string_view word;
    if (json.get(word)) fail_malformed(where + " is not a list of strings");
    for (const memory_use use : memory_uses) {
        if (word == name_of(use)) return use;
    }
    fail_malformed(where + " has " + in_quotes(word) + "; there are constants, arena, state, stack");
}

bool is_bank_name(std::string_view name) {
    const auto is_letter = [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
    };
    return !name.empty() && name.size() <= 32 && is_letter(name[0]) &&
        std::ranges::all_of(name, [&](char c) { return is_letter(c) || (c >= '0' && c <= '9'); });
}

class bank_reader {
public:
    bank_reader(simdjson::dom::element json, std::size_t position) : where_(join_text("bank ", position)) {
        simdjson::dom::object members;
        if (json.get(members)) fail_malformed(where_ + " is not an object");
        std::string_view name;
        if (members["name"].get(name)) fail_malformed(where_ + ": 'name' is missing, or of the wrong type");
        if (!is_bank_name(name))
            fail_malformed(where_ + ": its name " + in_quotes(name) +
                " is not made of up to 32 letters, digits and underscores, a letter first");
        bank_.name = name;
        where_ += " " + in_quotes(name);
        for (const auto& [key, value] : members) read_member(key, value);
        if (bank_.bytes == 0) fail_malformed(where_ + ": 'size' is missing, or 0");
        if (bank_.holds == 0) fail_malformed(where_ + ": 'holds' is missing, or empty");
    }
    [[nodiscard]] memory_bank take() { return std::move(bank_); }

private:
    [[nodiscard]] std::string at(std::string_view key) const { return where_ + ": " + in_quotes(key); }

    void read_member(std::string_view key, simdjson::dom::element value) {
        if (key == "name") return;
        if (key == "size") {
            bank_.bytes = read_size(value, at(key));
        } else if (key == "alignment") {
            const bool is_number = !value.get(bank_.alignment);
            const std::uint64_t a = bank_.alignment;
            if (!is_number || a == 0 || a > max_alignment || (a & (a - 1)) != 0)
                fail_malformed(at(key) + " is not a power of two up to 1048576");
        } else if (key == "bytes_per_cycle") {
            double& speed = bank_.bytes_per_cycle;
            if (value.get(speed) || !(speed >= 1e-6 && speed <= 1e6))
                fail_malformed(at(key) + " is not a number from 0.000001 to 1000000");
        } else if (key == "latency") {
            std::uint64_t cycles = 0;
            if (value.get(cycles) || cycles > 1'000'000)
                fail_malformed(at(key) + " is not a number of cycles from 0 to 1000000");
            bank_.latency = static_cast<std::uint32_t>(cycles);
        } else if (key == "holds") {
            simdjson::dom::array uses;
            if (value.get(uses)) fail_malformed(at(key) + " is not a list");
            for (const simdjson::dom::element use : uses) bank_.allow(read_use(use, at(key)));
        } else {
            fail_malformed(where_ + " has no member " + in_quotes(key) +
                "; there are name, size, alignment, bytes_per_cycle, latency, holds");
        }
    }

    std::string where_;
    memory_bank bank_{};
};

memory_map read_map(simdjson::dom::object members) {
    memory_map map;
    for (const auto& [key, value] : members) {
        if (key == "stack") {
            map.stack_bytes = read_size(value, "'stack'");
        } else if (key == "name") {
            std::string_view name;
            if (value.get(name)) fail_malformed("'name' is not a string");
            map.name = name;
        } else if (key != "banks") {
            fail_malformed("a memory map has no member " + in_quotes(key) + "; there are name, stack, banks");
        }
    }
    const auto banks = json_get<simdjson::dom::array>(members, "banks");
    std::size_t position = 0;
    for (const simdjson::dom::element json : banks) {
        memory_bank bank = bank_reader(json, position).take();
        if (map.find(bank.name) != map.banks.size())
            fail_malformed(join_text("bank ", position, ": there is another named ", in_quotes(bank.name)));
        if (++position > max_banks) fail_malformed("there are more than 64 banks");
        map.banks.push_back(std::move(bank));
    }
    if (map.banks.empty()) fail_malformed("'banks' is empty");
    return map;
}

}  // namespace

result<memory_map> read_memory_map(std::string_view json) {
    return read_json_object(std::as_bytes(std::span(json)), read_map);
}

result<memory_map> load_memory_map(const std::string& preset_or_path) {
    std::string names;
    for (const memory_preset& preset : memory_presets()) {
        names += (names.empty() ? "" : ", ") + std::string(preset.name);
        if (preset.name != preset_or_path) continue;
        HEADRACE_TRY(map, read_memory_map(preset.json));
        map.name = preset.name;
        return std::move(map);
    }
    auto file = open_mapped(preset_or_path);
    if (!file) {
        error e = std::move(file).error();
        if (preset_or_path.find_first_of("./") == std::string::npos)
            e.message += "; the presets are " + names;
        return e;
    }
    auto map = read_memory_map(file.value().text());
    if (!map) return map.error().in(preset_or_path);
    HEADRACE_TRY(file.value().check());
    if (map.value().name.empty()) map.value().name = preset_or_path;
    return map;
}

}  // namespace headrace
