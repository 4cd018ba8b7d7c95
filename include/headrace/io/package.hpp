// SPDX-License-Identifier: MIT
// Defines headrace::package_writer and headrace::package, directories of delegates that share constants.
#ifndef HEADRACE_IO_PACKAGE_HPP
#define HEADRACE_IO_PACKAGE_HPP

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <map>
#include <memory>
#include <memory_resource>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <headrace/io/atomic_file.hpp>
#include <headrace/io/graph_json.hpp>
#include <headrace/io/json.hpp>
#include <headrace/io/mapped_file.hpp>
#include <headrace/io/tosa_delegate.hpp>
#include <headrace/partition/named_data_store.hpp>

namespace headrace {

// A package is a directory:
//
//     manifest.json    what follows, and the methods
//     constants.bin    each distinct constant once; constants with the external tag T lie in T.bin
//     NAME.delegate    a flatbuffer without its constants (io/tosa_delegate.hpp)
//     NAME.host.json   the host graph of a method (io/graph_json.hpp) that is not one delegate

/// A node of a host graph, and why no delegate has it.
struct host_note {
    std::string node;
    std::string op;
    std::string reason;
};

/// A method of a package: a delegate, or a host graph that calls delegates.
struct package_method {
    std::optional<std::size_t> delegate{};
    std::string host{};  ///< the file of the host graph, or empty
    std::size_t user_outputs = 0;
    std::vector<std::size_t> calls{};  ///< delegates that the host graph calls
    std::vector<host_note> notes{};
    std::string io{};  ///< JSON of its interface, as the caller made it
};

struct package_delegate {
    std::string file;
    std::string backend;
    std::uint64_t size = 0;         ///< of the whole flatbuffer
    std::uint64_t hash = 0;         ///< of the whole flatbuffer
    std::vector<std::size_t> data;  ///< its constants, in the order of their places
};

namespace detail {

inline constexpr std::string_view package_format = "headrace package";
inline constexpr std::int64_t package_version = 1;
inline constexpr std::string_view manifest_name = "manifest.json";

// A name that cannot lead out of the directory.
[[nodiscard]] inline bool is_plain_name(std::string_view name) {
    if (name.empty() || name.size() > 200 || name.front() == '.') return false;
    return std::all_of(name.begin(), name.end(), [](unsigned char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
               c == '-' || c == '.';
    });
}

/// A directory that is made beside its place and takes it whole, or is removed.
class temporary_directory {
public:
    explicit temporary_directory(const std::filesystem::path& target)
        : target_(target.has_filename() ? target : target.parent_path()),
          path_(target_.string() + ".XXXXXX") {
        made_ = ::mkdtemp(path_.data()) != nullptr;
        const mode_t mask = ::umask(0);
        ::umask(mask);
        if (made_) static_cast<void>(::chmod(path_.c_str(), 0777U & ~mask));
    }
    temporary_directory(const temporary_directory&) = delete;
    temporary_directory& operator=(const temporary_directory&) = delete;
    ~temporary_directory() {
        std::error_code ignored;
        if (made_) std::filesystem::remove_all(path_, ignored);
    }

    [[nodiscard]] bool is_made() const { return made_; }
    [[nodiscard]] std::string file(std::string_view name) const { return path_ + '/' + std::string(name); }
    /// In place of an older package, or of an empty directory, in one step.
    [[nodiscard]] bool take_place() {
        if (::rename(path_.c_str(), target_.c_str()) == 0) {
            made_ = false;
            return true;
        }
        if ((errno != ENOTEMPTY && errno != EEXIST) || !std::filesystem::exists(target_ / manifest_name))
            return false;
        // What was there is then under the temporary name, and goes away with it.
        return ::renameat2(AT_FDCWD, path_.c_str(), AT_FDCWD, target_.c_str(), RENAME_EXCHANGE) == 0;
    }

private:
    std::filesystem::path target_;
    std::string path_;
    bool made_ = false;
};

}  // namespace detail

/// Collects the parts of a package, and writes it whole or not at all.
class package_writer {
public:
    /// Adds named data, each content once; for delegates, to_backend's.
    void add_data(const named_data_store_output& data) {
        const auto add = [&](const auto& keys, const std::string& tag) {
            for (const auto& [key, position] : keys) {
                const auto& held = data.buffers[position];
                keys_[key] = add_buffer(held->bytes, held->alignment, tag);
            }
        };
        add(data.keys, "");
        for (const auto& [tag, keys] : data.external) add(keys, tag);
    }
    /// Adds the elements of a constant; returns its number.
    [[nodiscard]] std::size_t add_constant(std::span<const std::byte> bytes, std::size_t alignment = 8) {
        while (alignment > 1 && bytes.size() % alignment != 0) alignment /= 2;
        return add_buffer(bytes, alignment, "");
    }
    /// Adds a delegate, whose constants are among the data. Its number, or an error if a key is not known.
    [[nodiscard]] result<std::size_t> add_delegate(std::string_view name, std::string_view backend,
                                                   std::vector<std::byte> bytes,
                                                   std::span<const std::string> data_keys) {
        package_delegate d{
            .file = std::string(name) + ".delegate", .backend = std::string(backend), .data = {}};
        std::vector<std::span<const std::byte>> constants;
        for (const std::string& key : data_keys) {
            const auto known = keys_.find(key);
            if (known == keys_.end()) return invalid("delegate " + d.file + ": no data '" + key + "'");
            d.data.push_back(known->second);
            constants.emplace_back(buffers_[known->second].bytes);
        }
        BOOST_OUTCOME_TRY(whole, join_tosa(bytes, constants));
        d.size = whole.size();
        d.hash = hash_of_bytes(whole);
        files_.emplace_back(d.file, std::move(bytes));
        delegates_.push_back(std::move(d));
        return delegates_.size() - 1;
    }
    void add_file(std::string name, std::string_view text) {
        const auto bytes = std::as_bytes(std::span(text.data(), text.size()));
        files_.emplace_back(std::move(name), std::vector<std::byte>(bytes.begin(), bytes.end()));
    }
    void add_method(std::string name, package_method method) {
        methods_.emplace(std::move(name), std::move(method));
    }

    /// Bytes of the distinct constants.
    [[nodiscard]] std::uint64_t data_bytes() const {
        return std::accumulate(buffers_.begin(), buffers_.end(), std::uint64_t{0},
                               [](std::uint64_t sum, const buffer& b) { return sum + b.bytes.size(); });
    }
    [[nodiscard]] std::size_t data_count() const { return buffers_.size(); }
    [[nodiscard]] const std::vector<package_delegate>& delegates() const { return delegates_; }

    /// Writes the directory. It takes the place of an older package; anything else that is there stays, and
    /// is an error.
    [[nodiscard]] result<void> write(const std::filesystem::path& directory) const {
        const auto fail = [&] {
            const int reason = errno;
            return invalid("cannot write " + directory.string() + ": " + std::strerror(reason));
        };
        for (const auto& [name, bytes] : files_) {
            if (!detail::is_plain_name(name)) return invalid("'" + name + "' cannot be the name of a file");
        }
        detail::temporary_directory temporary(directory);
        if (!temporary.is_made()) return fail();
        std::vector<std::uint64_t> offsets(buffers_.size());
        std::vector<std::string> tags;
        for (const buffer& b : buffers_) {
            if (std::find(tags.begin(), tags.end(), b.tag) == tags.end()) tags.push_back(b.tag);
        }
        for (const std::string& tag : tags) {
            if (!detail::is_plain_name(file_of(tag)))
                return invalid("'" + tag + "' cannot be an external tag");
            BOOST_OUTCOME_TRY(write_atomically(temporary.file(file_of(tag)), lay_out(tag, offsets)));
        }
        for (const auto& [name, bytes] : files_) {
            BOOST_OUTCOME_TRY(write_atomically(temporary.file(name), bytes));
        }
        BOOST_OUTCOME_TRY(write_atomically(temporary.file(detail::manifest_name), manifest(tags, offsets)));
        if (!temporary.take_place()) return fail();
        return boost::outcome_v2::success();
    }

private:
    struct buffer {
        std::vector<std::byte> bytes;
        std::size_t alignment;
        std::string tag;
    };

    std::size_t add_buffer(std::span<const std::byte> bytes, std::size_t alignment, const std::string& tag) {
        const std::uint64_t hash = hash_of_bytes(bytes);
        const auto [first, last] = by_content_.equal_range(hash);
        for (auto at = first; at != last; ++at) {
            buffer& known = buffers_[at->second];
            if (known.tag != tag || !std::ranges::equal(known.bytes, bytes)) continue;
            known.alignment = std::lcm(known.alignment, alignment);
            return at->second;
        }
        by_content_.emplace(hash, buffers_.size());
        buffers_.push_back({std::vector<std::byte>(bytes.begin(), bytes.end()), alignment, tag});
        return buffers_.size() - 1;
    }
    [[nodiscard]] static std::string file_of(const std::string& tag) {
        return (tag.empty() ? "constants" : tag) + ".bin";
    }
    // The strictest alignment first: then nothing needs a gap whose size its alignment divides.
    [[nodiscard]] std::vector<std::byte> lay_out(const std::string& tag,
                                                 std::vector<std::uint64_t>& offsets) const {
        std::vector<std::size_t> order;
        for (std::size_t i = 0; i != buffers_.size(); ++i) {
            if (buffers_[i].tag == tag) order.push_back(i);
        }
        std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
            return buffers_[a].alignment > buffers_[b].alignment;
        });
        std::vector<std::byte> file;
        for (const std::size_t i : order) {
            const buffer& b = buffers_[i];
            file.resize((file.size() + b.alignment - 1) / b.alignment * b.alignment);
            offsets[i] = file.size();
            file.insert(file.end(), b.bytes.begin(), b.bytes.end());
        }
        return file;
    }

    template <class Items>
    static void put_numbers(std::string& out, const Items& items) {
        out += '[';
        bool first = true;
        for (const auto& item : items) {
            if (!first) out += ',';
            first = false;
            out += std::to_string(item);
        }
        out += ']';
    }
    [[nodiscard]] std::string manifest(const std::vector<std::string>& tags,
                                       const std::vector<std::uint64_t>& offsets) const {
        std::string out = "{\"format\":\"headrace package\",\"version\":1,\n\"files\":[";
        for (std::size_t i = 0; i != tags.size(); ++i) {
            if (i != 0) out += ',';
            append_json(out, file_of(tags[i]));
        }
        out += "],\n\"data\":[";  // file, offset, size
        for (std::size_t i = 0; i != buffers_.size(); ++i) {
            const auto tag = std::find(tags.begin(), tags.end(), buffers_[i].tag) - tags.begin();
            if (i != 0) out += ',';
            put_numbers(out, std::array{static_cast<std::uint64_t>(tag), offsets[i],
                                        static_cast<std::uint64_t>(buffers_[i].bytes.size())});
        }
        out += "],\n\"delegates\":[";
        for (const package_delegate& d : delegates_) {
            out += &d == delegates_.data() ? "\n{\"file\":" : ",\n{\"file\":";
            append_json(out, d.file);
            out += ",\"backend\":";
            append_json(out, d.backend);
            char hash[17];
            std::snprintf(hash, sizeof hash, "%016llx", static_cast<unsigned long long>(d.hash));
            out += ",\"size\":" + std::to_string(d.size) + ",\"hash\":\"" + hash + "\",\"data\":";
            put_numbers(out, d.data);
            out += '}';
        }
        out += "],\n\"methods\":{";
        bool first = true;
        for (const auto& [name, method] : methods_) {
            out += first ? "\n" : ",\n";
            first = false;
            append_json(out, name);
            out += ':';
            put_method(out, method);
        }
        return out += "}}\n";
    }
    static void put_method(std::string& out, const package_method& m) {
        if (m.delegate) {
            out += "{\"delegate\":" + std::to_string(*m.delegate);
        } else {
            out += "{\"host\":";
            append_json(out, m.host);
            out += ",\"user_outputs\":" + std::to_string(m.user_outputs) + ",\"calls\":";
            put_numbers(out, m.calls);
            out += ",\"host_nodes\":[";
            for (const host_note& n : m.notes) {
                out += &n == m.notes.data() ? "\n[" : ",\n[";
                append_json(out, n.node);
                out += ',';
                append_json(out, n.op);
                out += ',';
                append_json(out, n.reason);
                out += ']';
            }
            out += ']';
        }
        if (!m.io.empty()) out += ",\"io\":" + m.io;
        out += '}';
    }

    std::vector<buffer> buffers_;
    std::multimap<std::uint64_t, std::size_t> by_content_;
    std::map<std::string, std::size_t, std::less<>> keys_;
    std::vector<package_delegate> delegates_;
    std::vector<std::pair<std::string, std::vector<std::byte>>> files_;
    std::map<std::string, package_method, std::less<>> methods_;
};

/// A package that has been opened. Whatever its files hold, reading gives parts that are sound, or an error.
class package {
public:
    /// Is there a manifest at that path?
    [[nodiscard]] static bool is_package(const std::filesystem::path& directory) {
        std::error_code ignored;
        return std::filesystem::is_directory(directory, ignored);
    }

    [[nodiscard]] static result<package> open(const std::filesystem::path& directory) {
        package p;
        p.directory_ = directory;
        BOOST_OUTCOME_TRY(text, open_mapped(directory / detail::manifest_name));
        try {
            p.read_manifest(text.bytes());
        } catch (const failure& f) {
            return p.in_manifest(f.what);
        }
        return p;
    }

    [[nodiscard]] const std::map<std::string, package_method, std::less<>>& methods() const {
        return methods_;
    }
    [[nodiscard]] const std::vector<package_delegate>& delegates() const { return delegates_; }

    /// The method of that name, or the only one if the name is empty.
    [[nodiscard]] result<const package_method*> method(std::string_view name) const {
        if (name.empty() && methods_.size() == 1) return &methods_.begin()->second;
        const auto found = methods_.find(name);
        if (found != methods_.end()) return &found->second;
        std::string names;
        for (const auto& [known, m] : methods_) (names += names.empty() ? "" : ", ") += known;
        if (name.empty())
            return unsupported(directory_.string() + ": it has several methods, name one of: " + names);
        return unsupported(directory_.string() + ": there is no method '" + std::string(name) +
                           "'; it has: " + names);
    }

    /// The flatbuffer of a delegate, as it was before it was taken apart.
    [[nodiscard]] result<std::vector<std::byte>> flatbuffer(std::size_t number) const {
        const package_delegate& d = delegates_[number];
        const auto in_file = [&](const std::string& what) {
            return malformed((directory_ / d.file).string() + ": " + what);
        };
        BOOST_OUTCOME_TRY(file, open_mapped(directory_ / d.file));
        std::vector<std::span<const std::byte>> constants;
        for (const std::size_t i : d.data) constants.push_back(data_[i]);
        auto whole = join_tosa(file.bytes(), constants);
        if (!whole) return in_file(std::string(whole.error().message));
        if (whole.value().size() != d.size || hash_of_bytes(whole.value()) != d.hash)
            return in_file("it or its constants are not those that the manifest means");
        return whole;
    }

    /// Reads the host graph of a method into an empty graph; `read_delegate(flatbuffer, region)` fills a
    /// region. Constants view the package.
    template <class ReadDelegate>
    [[nodiscard]] result<void> read_host(const package_method& m, graph& g,
                                         ReadDelegate&& read_delegate) const {
        BOOST_OUTCOME_TRY(text, open_mapped(directory_ / m.host));
        std::uint64_t budget = most_delegate_bytes;
        const graph_json_sources sources{
            .data = [&](std::uint64_t number) -> std::span<const std::byte> {
                if (number >= data_.size()) fail_malformed("there is no data " + std::to_string(number));
                return data_[number];
            },
            .delegate =
                [&](std::uint64_t number, graph& region) {
                    if (std::find(m.calls.begin(), m.calls.end(), number) == m.calls.end())
                        fail_malformed("delegate " + std::to_string(number) + " is none of the method's");
                    auto bytes = flatbuffer(static_cast<std::size_t>(number));
                    if (!bytes) throw failure{bytes.error()};
                    if (bytes.value().size() > budget) fail_malformed("it calls delegates without end");
                    budget -= bytes.value().size();
                    result<void> done = read_delegate(bytes.value(), region);
                    if (!done) throw failure{done.error()};
                }};
        result<void> done = read_graph_json(text.bytes(), g, sources);
        if (!done) return done.error().in((directory_ / m.host).string());
        return done;
    }

private:
    // One delegate may be called often; a hostile graph does nothing else.
    static constexpr std::uint64_t most_delegate_bytes = std::uint64_t{1} << 32;

    using element = simdjson::dom::element;

    [[nodiscard]] error in_manifest(const error& e) const {
        return e.in((directory_ / detail::manifest_name).string());
    }
    static std::string plain_name(std::string_view name) {
        if (!detail::is_plain_name(name)) fail_malformed(in_quotes(name) + " cannot be the name of a file");
        return std::string(name);
    }
    template <class T>
    static T value_of(element e, const char* what) {
        T found{};
        if (e.get(found)) fail_malformed(std::string(what) + " is of the wrong type");
        return found;
    }

    void read_manifest(std::span<const std::byte> text) {
        std::pmr::monotonic_buffer_resource arena;
        json_parser json(&arena);
        const padded_text padded(text, text);
        const element all = json.parse(padded.view());
        if (json_get<std::string_view>(all, "format") != detail::package_format)
            fail_malformed("not the manifest of a package");
        if (json_get<std::int64_t>(all, "version") != detail::package_version)
            fail_malformed("the package is of another version");
        for (const element name : json_get<simdjson::dom::array>(all, "files")) {
            auto opened =
                open_data(directory_ / plain_name(value_of<std::string_view>(name, "a file's name")));
            if (!opened) throw failure{opened.error()};
            files_.push_back(std::move(opened).value());
        }
        for (const element d : json_get<simdjson::dom::array>(all, "data")) {
            data_.push_back(read_data(value_of<simdjson::dom::array>(d, "an entry of 'data'")));
        }
        for (const element d : json_get<simdjson::dom::array>(all, "delegates")) {
            delegates_.push_back(read_delegate(d));
        }
        for (const auto [name, m] : json_get<simdjson::dom::object>(all, "methods")) {
            if (!methods_.emplace(std::string(name), read_method(m)).second)
                fail_malformed("method " + in_quotes(name) + " is given twice");
        }
        if (methods_.empty()) fail_malformed("the package has no method");
    }
    // The file may be empty: all constants may be.
    static result<mapped_file> open_data(const std::filesystem::path& path) {
        std::error_code failed;
        if (std::filesystem::is_regular_file(path, failed) && std::filesystem::file_size(path, failed) == 0)
            return mapped_file();
        return open_mapped(path);
    }
    [[nodiscard]] std::span<const std::byte> read_data(simdjson::dom::array entry) const {
        std::uint64_t numbers[3] = {};
        if (entry.size() != std::size(numbers)) fail_malformed("an entry of 'data' has not three numbers");
        for (std::size_t i = 0; i != std::size(numbers); ++i)
            numbers[i] = value_of<std::uint64_t>(entry.at(i).value(), "an entry of 'data'");
        if (numbers[0] >= files_.size()) fail_malformed("data lies in a file that is not listed");
        const std::span<const std::byte> file = files_[numbers[0]].bytes();
        if (numbers[1] > file.size() || numbers[2] > file.size() - numbers[1])
            fail_malformed("data lies behind the end of its file");
        return file.subspan(static_cast<std::size_t>(numbers[1]), static_cast<std::size_t>(numbers[2]));
    }
    [[nodiscard]] std::vector<std::size_t> read_numbers(simdjson::dom::array items, std::size_t below) const {
        std::vector<std::size_t> numbers;
        for (const element item : items) {
            const auto number = value_of<std::uint64_t>(item, "a list of numbers");
            if (number >= below) fail_malformed("it refers to what is not there: " + std::to_string(number));
            numbers.push_back(static_cast<std::size_t>(number));
        }
        return numbers;
    }
    [[nodiscard]] package_delegate read_delegate(element text) const {
        package_delegate d{.file = plain_name(json_get<std::string_view>(text, "file")),
                           .backend = std::string(json_get<std::string_view>(text, "backend")),
                           .size = json_get<std::uint64_t>(text, "size"),
                           .data = read_numbers(json_get<simdjson::dom::array>(text, "data"), data_.size())};
        if (d.backend != "tosa") fail_malformed("there is no backend " + in_quotes(d.backend));
        const auto hash = json_get<std::string_view>(text, "hash");
        const auto [end, failed] = std::from_chars(hash.data(), hash.data() + hash.size(), d.hash, 16);
        if (failed != std::errc() || end != hash.data() + hash.size()) fail_malformed("'hash' is no number");
        return d;
    }
    [[nodiscard]] package_method read_method(element text) const {
        package_method m;
        std::uint64_t number = 0;
        if (text["delegate"].get(number) == simdjson::SUCCESS) {
            if (number >= delegates_.size()) fail_malformed("a method is a delegate that is not there");
            m.delegate = static_cast<std::size_t>(number);
            return m;
        }
        m.host = plain_name(json_get<std::string_view>(text, "host"));
        m.user_outputs = static_cast<std::size_t>(json_get<std::uint64_t>(text, "user_outputs"));
        m.calls = read_numbers(json_get<simdjson::dom::array>(text, "calls"), delegates_.size());
        for (const element note : json_get<simdjson::dom::array>(text, "host_nodes")) {
            const auto parts = value_of<simdjson::dom::array>(note, "a host node");
            if (parts.size() != 3) fail_malformed("a host node has not three texts");
            std::string words[3];
            for (std::size_t i = 0; i != 3; ++i)
                words[i] = value_of<std::string_view>(parts.at(i).value(), "a host node");
            m.notes.push_back({std::move(words[0]), std::move(words[1]), std::move(words[2])});
        }
        return m;
    }

    std::filesystem::path directory_;
    std::vector<mapped_file> files_;
    std::vector<std::span<const std::byte>> data_;
    std::vector<package_delegate> delegates_;
    std::map<std::string, package_method, std::less<>> methods_;
};

}  // namespace headrace

#endif
