// SPDX-License-Identifier: MIT
// Defines the functions of headrace/io/package/package_writer.hpp.

#include <headrace/io/package/package_writer.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <numeric>
#include <optional>
#include <ranges>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <headrace/io/file/atomic_file.hpp>
#include <headrace/io/file/json_writer.hpp>
#include <headrace/io/file/os.hpp>
#include <headrace/io/package/package_parts.hpp>
#include <headrace/io/tosa/delegate.hpp>
#include <headrace/partition/named_data_store.hpp>

namespace headrace {

namespace {

/// A directory that is made next to its target and replaces it as a whole, or is removed.
class temporary_directory {
public:
    explicit temporary_directory(const std::filesystem::path& target)
        : target_(target.has_filename() ? target : target.parent_path()) {
        constexpr int max_attempts = 10'000;
        for (int i = 0; i != max_attempts && !made_; ++i) {
            path_ = detail::temporary_name(target_.string());
            made_ = detail::temporaries::of_process().add(path_, [](const char* path) {
                return os::make_directory(path, 0777);  // minus the umask
            });
            if (!made_ && errno != EEXIST) return;
        }
    }
    temporary_directory(const temporary_directory&) = delete;
    temporary_directory& operator=(const temporary_directory&) = delete;
    ~temporary_directory() {
        std::error_code ignored;
        if (made_) std::filesystem::remove_all(path_, ignored);
        detail::temporaries::of_process().forget(path_);
    }

    [[nodiscard]] bool is_made() const { return made_; }
    [[nodiscard]] std::string file(std::string_view name) const { return path_ + '/' + std::string(name); }
    /// Replaces an older package, or an empty directory, in one step. Fails for files that are no package.
    [[nodiscard]] result<void> take_place() {
        const std::string target = target_.string();
        if (os::rename_to(path_, target)) {
            made_ = false;
            return {};
        }
        if (errno != ENOTEMPTY && errno != EEXIST) return detail::cannot_write(target, errno);
        std::error_code ignored;
        if (!std::filesystem::exists(target_ / package_file::manifest_name, ignored)) {
            return unwritable({"cannot write ", target, ": it has files but no ", package_file::manifest_name,
                ", so it is not a package; name a directory that is new or empty"});
        }
        // The older package then has the temporary name, and is removed with it.
        if (!os::exchange(path_, target)) return detail::cannot_write(target, errno);
        return {};
    }

private:
    std::filesystem::path target_;
    std::string path_;
    bool made_ = false;
};

}  // namespace

void package_writer::add_data(const named_data_store_output& data) {
    const auto add = [&](const auto& keys, const std::string& tag) {
        for (const auto& [key, position] : keys) {
            const auto& held = data.buffers[position];
            keys_[key] = add_buffer(held->bytes, held->alignment, tag);
        }
    };
    add(data.keys, "");
    for (const auto& [tag, keys] : data.external) add(keys, tag);
}

std::size_t package_writer::add_constant(std::span<const std::byte> bytes, std::size_t alignment) {
    while (alignment > 1 && bytes.size() % alignment != 0) alignment /= 2;
    return add_buffer(bytes, alignment, "");
}

result<std::size_t> package_writer::add_delegate(std::string_view name, std::string_view backend,
    std::vector<std::byte> bytes, std::span<const std::string> data_keys) {
    package_delegate d{.file = std::string(name) + ".delegate", .backend = std::string(backend), .data = {}};
    std::vector<std::span<const std::byte>> constants;
    for (const std::string& key : data_keys) {
        const auto known = keys_.find(key);
        if (known == keys_.end()) return invalid({"delegate ", d.file, ": no data '", key, "'"});
        d.data.push_back(known->second);
        constants.emplace_back(buffers_[known->second].bytes);
    }
    HEADRACE_TRY(whole, join_tosa(bytes, constants));
    d.size = whole.size();
    d.hash = hash_of_bytes(whole);
    if (const auto equal = find_equal(d, bytes)) return *equal;
    files_.emplace_back(d.file, std::move(bytes));
    delegates_.push_back(std::move(d));
    return delegates_.size() - 1;
}

void package_writer::add_file(std::string name, std::string_view text) {
    const auto bytes = std::as_bytes(std::span(text.data(), text.size()));
    files_.emplace_back(std::move(name), std::vector<std::byte>(bytes.begin(), bytes.end()));
}

std::uint64_t package_writer::data_bytes() const {
    return std::accumulate(buffers_.begin(), buffers_.end(), std::uint64_t{0},
        [](std::uint64_t sum, const buffer& b) { return sum + b.bytes.size(); });
}

result<void> package_writer::write(const std::filesystem::path& directory) const {
    for (const auto& [name, bytes] : files_) {
        if (!is_plain_name(name)) return invalid({"'", name, "' cannot be the name of a file"});
    }
    temporary_directory temporary(directory);
    if (!temporary.is_made()) {
        const int reason = errno;
        return detail::cannot_write(directory.string(), reason);
    }
    std::vector<std::uint64_t> offsets(buffers_.size());
    std::vector<std::string> tags;
    for (const buffer& b : buffers_) {
        if (std::find(tags.begin(), tags.end(), b.tag) == tags.end()) tags.push_back(b.tag);
    }
    for (const std::string& tag : tags) {
        if (!is_plain_name(file_of(tag))) return invalid({"'", tag, "' cannot be an external tag"});
        HEADRACE_TRY(write_atomically(temporary.file(file_of(tag)), lay_out(tag, offsets)));
    }
    for (const auto& [name, bytes] : files_) {
        HEADRACE_TRY(write_atomically(temporary.file(name), bytes));
    }
    HEADRACE_TRY(write_atomically(temporary.file(package_file::manifest_name), manifest(tags, offsets)));
    return temporary.take_place();
}

std::optional<std::size_t> package_writer::find_equal(
    const package_delegate& d, const std::vector<std::byte>& bytes) const {
    for (std::size_t i = 0; i != delegates_.size(); ++i) {
        const package_delegate& known = delegates_[i];
        if (known.hash != d.hash || known.size != d.size || known.backend != d.backend ||
            known.data != d.data)
            continue;
        const auto file =
            std::find_if(files_.begin(), files_.end(), [&](const auto& f) { return f.first == known.file; });
        if (file != files_.end() && file->second == bytes) return i;
    }
    return std::nullopt;
}

std::size_t package_writer::add_buffer(
    std::span<const std::byte> bytes, std::size_t alignment, const std::string& tag) {
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

std::vector<std::byte> package_writer::lay_out(
    const std::string& tag, std::vector<std::uint64_t>& offsets) const {
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i != buffers_.size(); ++i) {
        if (buffers_[i].tag == tag) order.push_back(i);
    }
    std::stable_sort(order.begin(), order.end(),
        [&](std::size_t a, std::size_t b) { return buffers_[a].alignment > buffers_[b].alignment; });
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
void package_writer::put_numbers(std::string& out, const Items& items) {
    out += '[';
    bool first = true;
    for (const auto& item : items) {
        if (!first) out += ',';
        first = false;
        out += std::to_string(item);
    }
    out += ']';
}

std::string package_writer::manifest(
    const std::vector<std::string>& tags, const std::vector<std::uint64_t>& offsets) const {
    std::string out = "{\"format\":\"headrace package\",\"version\":2,\n\"files\":[";
    for (std::size_t i = 0; i != tags.size(); ++i) {
        if (i != 0) out += ',';
        append_json(out, file_of(tags[i]));
    }
    out += "],\n\"data\":[";  // file, offset, size
    for (std::size_t i = 0; i != buffers_.size(); ++i) {
        const auto tag = std::find(tags.begin(), tags.end(), buffers_[i].tag) - tags.begin();
        if (i != 0) out += ',';
        put_numbers(out,
            std::array{static_cast<std::uint64_t>(tag), offsets[i],
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

void package_writer::put_method(std::string& out, const package_method& m) {
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
            if (!n.source.empty()) append_json(out += ',', n.source);
            out += ']';
        }
        out += ']';
    }
    if (!m.io.empty()) out += ",\"io\":" + m.io;
    out += '}';
}

}  // namespace headrace
