// SPDX-License-Identifier: MIT
// Defines the functions of headrace/lowering/samples/array_stream.hpp.

#include <headrace/lowering/samples/array_stream.hpp>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <headrace/base/error.hpp>
#include <headrace/io/file/os.hpp>

namespace headrace {

bool array_stream::is_stream(const std::string& path) {
    std::error_code failed;
    const std::filesystem::file_status status = std::filesystem::status(path, failed);
    return path == "-" || std::filesystem::is_fifo(status) || std::filesystem::is_character_file(status) ||
        std::filesystem::is_socket(status);
}

array_stream::array_stream(std::string name, input from, const std::string& kept)
    : name_(std::move(name)), from_(std::move(from)), kept_(kept, 0600) {}

result<std::shared_ptr<array_stream>> array_stream::open(const std::string& path) {
    const bool is_standard = path == "-";
    std::string name = is_standard ? "standard input" : path;
    input from(is_standard ? stdin : std::fopen(path.c_str(), "rb"));
    if (!from) return malformed({name, ": ", std::strerror(errno)});
    std::error_code failed;
    const std::filesystem::path folder = std::filesystem::temp_directory_path(failed);
    if (failed) return unwritable({"there is no directory for temporary files: ", failed.message()});
    std::shared_ptr<array_stream> made(
        new array_stream(std::move(name), std::move(from), (folder / "headrace_samples").string()));
    if (!made->kept_.is_open()) return detail::cannot_write(folder.string(), errno);
    return made;
}

// Returns how many bytes there were: fewer than asked for at the end.
std::size_t array_stream::take(std::span<std::byte> to) {
    return std::fread(to.data(), 1, to.size(), from_.get());
}

result<void> array_stream::keep(std::span<const std::byte> bytes) {
    if (!detail::write_all(kept_.descriptor(), bytes))
        return unwritable({"cannot keep the samples in a temporary file: ", std::strerror(errno),
            "; TMPDIR names the directory for it"});
    kept_bytes_ += bytes.size();
    return {};
}

// Returns all before an array's data; empty at the end of the stream.
result<std::vector<std::byte>> array_stream::take_head() {
    std::vector<std::byte> head(detail::npy_begin);
    const std::size_t taken = take(head);
    if (std::ferror(from_.get()) != 0) return malformed({"cannot be read: ", std::strerror(errno)});
    if (taken == 0) return std::vector<std::byte>();
    if (taken != head.size()) return malformed("ends within its header");
    HEADRACE_TRY(size, detail::npy_head_size(head));
    constexpr std::size_t largest = std::size_t{1} << 20U;
    if (size > largest) return malformed({"has a header of ", size, " bytes, more than ", largest});
    head.resize(size);
    const std::span<std::byte> rest = std::span(head).subspan(detail::npy_begin);
    if (take(rest) != rest.size()) return malformed("ends within its header");
    return head;
}

result<void> array_stream::keep_data(std::uint64_t size) {
    constexpr std::uint64_t part = std::uint64_t{1} << 18U;
    std::vector<std::byte> buffer(static_cast<std::size_t>(std::min(size, part)));
    for (std::uint64_t left = size; left != 0;) {
        const std::span<std::byte> now =
            std::span(buffer).first(static_cast<std::size_t>(std::min<std::uint64_t>(left, buffer.size())));
        const std::size_t taken = take(now);
        HEADRACE_TRY(keep(now.first(taken)));
        left -= taken;
        if (taken != now.size()) return malformed({"ends after ", size - left, " of its ", size, " bytes"});
    }
    return {};
}

result<std::optional<array_stream::array>> array_stream::next() {
    HEADRACE_TRY(head, take_head());
    if (head.empty()) return std::optional<array>();
    HEADRACE_TRY(layout, detail::npy_layout_of(head));
    array found{layout.type, std::move(layout.shape), kept_bytes_, 0};
    HEADRACE_TRY(keep(head));
    HEADRACE_TRY(keep_data(layout.bytes));
    found.size = static_cast<std::size_t>(kept_bytes_ - found.begin);
    return std::optional(std::move(found));
}

result<npy_array> array_stream::read(const array& kept) const {
    std::vector<std::byte> bytes(kept.size);
    for (std::size_t at = 0; at != bytes.size();) {
        const std::ptrdiff_t taken =
            os::read_at(kept_.descriptor(), kept.begin + at, std::span(bytes).subspan(at));
        if (taken <= 0) return malformed({name_, ": the temporary file of its samples cannot be read"});
        at += static_cast<std::size_t>(taken);
    }
    return detail::npy_parse(bytes);
}

}  // namespace headrace
