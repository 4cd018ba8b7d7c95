// SPDX-License-Identifier: MIT
// Defines the functions of headrace/io/package/package.hpp.

#include <headrace/io/package/package.hpp>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory_resource>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <headrace/io/file/json.hpp>
#include <headrace/io/text/elements.hpp>
#include <headrace/io/text/graph_text.hpp>
#include <headrace/io/tosa/delegate.hpp>
#include <headrace/partition/named_data_store.hpp>

namespace headrace {

namespace {

// Returns the number that a key is, as package_writer's caller made it; nullopt for other keys.
std::optional<std::size_t> number_of_key(std::string_view key) {
    std::size_t number = 0;
    return text::number_in(key, number) ? std::optional(number) : std::nullopt;
}

}  // namespace

/// Reads a manifest into a package; throws headrace::failure.
class package::manifest_reader {
public:
    explicit manifest_reader(package& p) : package_(p) {}

    void read(std::span<const std::byte> text) {
        std::pmr::monotonic_buffer_resource arena;
        json_parser json(&arena);
        const padded_text padded(text, text);
        const element all = json.parse(padded.view());
        if (json_get<std::string_view>(all, "format") != package_file::format)
            fail_malformed("not the manifest of a package");
        if (json_get<std::int64_t>(all, "version") != package_file::version)
            fail_malformed("the package is of a version that cannot be read");
        for (const element name : json_get<simdjson::dom::array>(all, "files")) {
            auto opened = open_data(
                package_.directory_ / plain_name(value_of<std::string_view>(name, "a file's name")));
            if (!opened) throw failure{opened.error()};
            package_.files_.push_back(std::move(opened).value());
        }
        for (const element d : json_get<simdjson::dom::array>(all, "data")) {
            package_.data_.push_back(read_data(value_of<simdjson::dom::array>(d, "an entry of 'data'")));
        }
        for (const element d : json_get<simdjson::dom::array>(all, "delegates")) {
            package_.delegates_.push_back(read_delegate(d));
        }
        for (const auto [name, m] : json_get<simdjson::dom::object>(all, "methods")) {
            if (!package_.methods_.emplace(std::string(name), read_method(m)).second)
                fail_malformed("method " + in_quotes(name) + " is given twice");
        }
        if (package_.methods_.empty()) fail_malformed("the package has no method");
    }

private:
    using element = simdjson::dom::element;

    static std::string plain_name(std::string_view name) {
        if (!is_plain_name(name)) fail_malformed(in_quotes(name) + " cannot be the name of a file");
        return std::string(name);
    }
    template <class T>
    static T value_of(element e, const char* what) {
        T found{};
        if (e.get(found)) fail_malformed(std::string(what) + " is of the wrong type");
        return found;
    }

    // The file may be empty: all constants may be empty.
    static result<mapped_file> open_data(const std::filesystem::path& path) {
        std::error_code failed;
        if (std::filesystem::is_regular_file(path, failed) && std::filesystem::file_size(path, failed) == 0)
            return mapped_file();
        return open_mapped(path);
    }
    [[nodiscard]] std::span<const std::byte> read_data(simdjson::dom::array entry) const {
        std::uint64_t numbers[3] = {};
        if (entry.size() != std::size(numbers))
            fail_malformed("an entry of 'data' does not have three numbers");
        for (std::size_t i = 0; i != std::size(numbers); ++i)
            numbers[i] = value_of<std::uint64_t>(entry.at(i).value(), "an entry of 'data'");
        if (numbers[0] >= package_.files_.size()) fail_malformed("data lies in a file that is not listed");
        const std::span<const std::byte> file = package_.files_[numbers[0]].bytes();
        if (numbers[1] > file.size() || numbers[2] > file.size() - numbers[1])
            fail_malformed("data lies past the end of its file");
        return file.subspan(static_cast<std::size_t>(numbers[1]), static_cast<std::size_t>(numbers[2]));
    }
    [[nodiscard]] std::vector<std::size_t> read_numbers(simdjson::dom::array items, std::size_t below) const {
        std::vector<std::size_t> numbers;
        for (const element item : items) {
            const auto number = value_of<std::uint64_t>(item, "a list of numbers");
            if (number >= below)
                fail_malformed("it refers to an entry that does not exist: " + std::to_string(number));
            numbers.push_back(static_cast<std::size_t>(number));
        }
        return numbers;
    }
    [[nodiscard]] package_delegate read_delegate(element text) const {
        package_delegate d{.file = plain_name(json_get<std::string_view>(text, "file")),
            .backend = std::string(json_get<std::string_view>(text, "backend")),
            .size = json_get<std::uint64_t>(text, "size"),
            .data = read_numbers(json_get<simdjson::dom::array>(text, "data"), package_.data_.size())};
        if (d.backend != "tosa") fail_malformed("there is no backend " + in_quotes(d.backend));
        const auto hash = json_get<std::string_view>(text, "hash");
        const auto [end, failed] = std::from_chars(hash.data(), hash.data() + hash.size(), d.hash, 16);
        if (failed != std::errc() || end != hash.data() + hash.size())
            fail_malformed("'hash' is not a number");
        return d;
    }
    [[nodiscard]] package_method read_method(element text) const {
        package_method m;
        element io;
        if (text["io"].get(io) == simdjson::SUCCESS) m.io = simdjson::minify(io);
        std::uint64_t number = 0;
        if (text["delegate"].get(number) == simdjson::SUCCESS) {
            if (number >= package_.delegates_.size())
                fail_malformed("a method is a delegate that does not exist");
            m.delegate = static_cast<std::size_t>(number);
            return m;
        }
        m.host = plain_name(json_get<std::string_view>(text, "host"));
        m.user_outputs = static_cast<std::size_t>(json_get<std::uint64_t>(text, "user_outputs"));
        m.calls = read_numbers(json_get<simdjson::dom::array>(text, "calls"), package_.delegates_.size());
        for (const element note : json_get<simdjson::dom::array>(text, "host_nodes")) {
            const auto parts = value_of<simdjson::dom::array>(note, "a host node");
            if (parts.size() != 3 && parts.size() != 4)
                fail_malformed("a host node does not have three strings, or four");
            std::string words[4];
            for (std::size_t i = 0; i != parts.size(); ++i)
                words[i] = value_of<std::string_view>(parts.at(i).value(), "a host node");
            m.notes.push_back(
                {std::move(words[0]), std::move(words[1]), std::move(words[2]), std::move(words[3])});
        }
        return m;
    }

    package& package_;
};

bool package::is_package(const std::filesystem::path& directory) {
    std::error_code ignored;
    return std::filesystem::is_directory(directory, ignored);
}

result<package> package::open(const std::filesystem::path& directory) {
    package p;
    p.directory_ = directory;
    HEADRACE_TRY(text, open_mapped(directory / package_file::manifest_name));
    try {
        manifest_reader(p).read(text.bytes());
    } catch (const failure& f) {
        return f.what.in((directory / package_file::manifest_name).string());
    }
    HEADRACE_TRY(text.check());
    return p;
}

result<void> package::check() const {
    for (const mapped_file& file : files_) {
        HEADRACE_TRY(file.check());
    }
    return {};
}

result<const package_method*> package::method(std::string_view name) const {
    if (name.empty() && methods_.size() == 1) return &methods_.begin()->second;
    const auto found = methods_.find(name);
    if (found != methods_.end()) return &found->second;
    std::string names;
    for (const auto& [known, m] : methods_) (names += names.empty() ? "" : ", ") += known;
    if (name.empty())
        return unsupported({directory_.string(), ": it has several methods, name one of: ", names});
    return unsupported({directory_.string(), ": there is no method '", name, "'; it has: ", names});
}

result<std::vector<std::byte>> package::flatbuffer(std::size_t number) const {
    const package_delegate& d = delegates_[number];
    const auto in_file = [&](const std::string& what) {
        return malformed({(directory_ / d.file).string(), ": ", what});
    };
    HEADRACE_TRY(file, open_mapped(directory_ / d.file));
    std::vector<std::span<const std::byte>> constants;
    for (const std::size_t i : d.data) constants.push_back(data_[i]);
    auto whole = join_tosa(file.bytes(), constants);
    if (!whole) return in_file(std::string(whole.error().message));
    if (whole.value().size() != d.size || hash_of_bytes(whole.value()) != d.hash)
        return in_file("it or its constants are not those that the manifest describes");
    return whole;
}

result<program> package::read_host(
    const package_method& m, const delegate_reader& read_delegate, op_finder find_own_op) const {
    const std::string path = (directory_ / m.host).string();
    HEADRACE_TRY(text, open_mapped(path));
    const auto constant = [&](std::string_view key) -> result<std::span<const std::byte>> {
        const auto number = number_of_key(key);
        if (!number || *number >= data_.size()) return malformed({"there is no data ", in_quotes(key)});
        return data_[*number];
    };
    // A delegate may be called several times; the budget stops a hostile graph that does nothing else.
    std::uint64_t budget = std::uint64_t{1} << 32;
    const auto delegate = [&](std::string_view key, graph& region) -> result<void> {
        const auto number = number_of_key(key);
        if (!number || std::ranges::find(m.calls, *number) == m.calls.end())
            return malformed({"delegate ", in_quotes(key), " is not one of the method's"});
        HEADRACE_TRY(bytes, flatbuffer(*number));
        if (bytes.size() > budget) return malformed("it calls delegates without end");
        budget -= bytes.size();
        return read_delegate(bytes, region);
    };
    auto host = parse_graph_text(text.text(),
        {.name = path, .find_own_op = find_own_op, .constant = constant, .nested = delegate});
    HEADRACE_TRY(text.check());
    if (host) host.value().user_outputs = m.user_outputs;
    return host;
}

}  // namespace headrace
