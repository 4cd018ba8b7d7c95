// SPDX-License-Identifier: MIT
// Defines the functions of headrace/io/file/atomic_file.hpp.

#include <headrace/io/file/atomic_file.hpp>

#include <atomic>
#include <cerrno>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <functional>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <system_error>

#include <headrace/base/result.hpp>
#include <headrace/io/file/mapped_file.hpp>
#include <headrace/io/file/os.hpp>

namespace headrace {

namespace detail {

/// Lets the kernel copy bytes of a mapped file, without reading them into this process's memory first.
/// Returns the bytes left to write: all of them if the file system cannot do that or the output is a pipe.
[[nodiscard]] inline std::span<const std::byte> copied_by_kernel(
    int descriptor, std::span<const std::byte> bytes) {
    constexpr std::size_t worth_while = std::size_t{1} << 16;
    if (bytes.size() < worth_while) return bytes;
    const auto from = mapped_places::find(bytes);
    if (!from) return bytes;
    std::int64_t offset = from->offset;
    while (!bytes.empty()) {
        const std::ptrdiff_t copied = os::copy_in_kernel(from->descriptor, offset, descriptor, bytes.size());
        if (copied <= 0) break;
        bytes = bytes.subspan(static_cast<std::size_t>(copied));
    }
    return bytes;
}

bool write_all(int descriptor, std::span<const std::byte> bytes) {
    bytes = copied_by_kernel(descriptor, bytes);
    while (!bytes.empty()) {
        const std::ptrdiff_t written = os::write_some(descriptor, bytes);
        if (written < 0 && errno != EINTR) return false;
        if (written > 0) bytes = bytes.subspan(static_cast<std::size_t>(written));
    }
    return true;
}

std::string temporary_name(const std::string& path) {
    static std::atomic<std::uint32_t> calls{0};
    constexpr std::uint32_t odd = 2'654'435'761U;  // so that processes start far apart
    std::uint32_t bits = os::process_number() * odd + calls++;
    std::string name = path + ".";
    for (int i = 0; i != 6; ++i, bits /= 32) name += "abcdefghijklmnopqrstuvwxyz234567"[bits % 32];
    return name;
}

temporaries& temporaries::of_process() {
    static auto* const all = new temporaries;
    return *all;
}

void temporaries::forget(const std::string& path) {
    const std::lock_guard lock(mutex_);
    paths_.erase(path);
}

void temporaries::remove_for_good() {
    mutex_.lock();
    std::error_code ignored;
    for (const std::string& path : paths_) std::filesystem::remove_all(path, ignored);
}

temporary_file::temporary_file(const std::string& beside, unsigned rights) {
    constexpr int max_attempts = 10'000;
    for (int i = 0; i != max_attempts && !made_; ++i) {
        path_ = temporary_name(beside);
        made_ = temporaries::of_process().add(path_, [&](const char* path) {
            descriptor_ = os::create_file(path, rights);
            return descriptor_ >= 0;
        });
        if (!made_ && errno != EEXIST) return;
    }
}

temporary_file::~temporary_file() {
    if (descriptor_ >= 0) os::close_file(descriptor_);
    if (made_ && !renamed_) std::remove(path_.c_str());
    if (made_) temporaries::of_process().forget(path_);
}

bool temporary_file::rename_to(const std::string& target) {
    const bool closed = os::close_file(descriptor_);
    descriptor_ = -1;
    renamed_ = closed && os::rename_to(path_, target);
    return renamed_;
}

}  // namespace detail

void remove_temporary_files() { detail::temporaries::of_process().remove_for_good(); }

namespace detail {

error cannot_write(const std::string& path, int reason) {
    return unwritable({"cannot write ", path, ": ", std::strerror(reason)});
}

result<void> write_to_descriptor(const std::string& path, int descriptor, const byte_source& source) {
    descriptor_sink sink(descriptor);
    result<void> given = source(std::ref(sink));
    if (sink.reason() != 0) return cannot_write(path, sink.reason());
    return given;
}

int descriptor_named_by(std::string_view path) {
    if (path == "/dev/stdout") return 1;
    if (path == "/dev/stderr") return 2;
    for (const std::string_view folder : {"/dev/fd/", "/proc/self/fd/"}) {
        if (!path.starts_with(folder)) continue;
        int number = -1;
        const char* const end = path.data() + path.size();
        const auto [rest, failed] = std::from_chars(path.data() + folder.size(), end, number);
        if (failed == std::errc() && rest == end && number >= 0) return number;
    }
    return -1;
}

std::string behind_links(const std::string& path) {
    constexpr int max_links = 40;  // as in Linux
    std::filesystem::path at = path;
    for (int i = 0; i != max_links; ++i) {
        std::error_code no_link;
        const std::filesystem::path target = std::filesystem::read_symlink(at, no_link);
        if (no_link) return at.string();
        at = at.parent_path() / target;
    }
    return {};
}

result<void> write_through(const std::string& path, const byte_source& source) {
    const int descriptor = os::open_to_write(path);
    if (descriptor < 0) return cannot_write(path, errno);
    result<void> written = write_to_descriptor(path, descriptor, source);
    if (!os::close_file(descriptor) && written) return cannot_write(path, errno);
    return written;
}

}  // namespace detail

result<void> write_atomically(const std::string& path, const byte_source& source, durability d) {
    if (const int open = detail::descriptor_named_by(path); open >= 0)
        return detail::write_to_descriptor(path, open, source);
    std::error_code none;
    const std::filesystem::file_status old = std::filesystem::status(path, none);
    const bool replaces = std::filesystem::status_known(old) && std::filesystem::exists(old);
    if (replaces && !std::filesystem::is_regular_file(old) && !std::filesystem::is_directory(old))
        return detail::write_through(path, source);
    // A new file gets the rights that the umask leaves. A replaced file keeps its rights; until then only the
    // owner can read the new one. Reading the umask would change it for other threads, too.
    const std::string target = detail::behind_links(path);
    if (target.empty()) return detail::cannot_write(path, ELOOP);
    detail::temporary_file file(target, replaces ? 0600U : 0666U);
    if (!file.is_open()) return detail::cannot_write(path, errno);
    HEADRACE_TRY(detail::write_to_descriptor(path, file.descriptor(), source));
    if ((d == durability::none || file.sync()) &&
        (!replaces || file.set_rights(static_cast<unsigned>(old.permissions()))) && file.rename_to(target)) {
        return {};
    }
    return detail::cannot_write(path, errno);
}

result<void> write_atomically(const std::string& path, std::span<const std::byte> bytes, durability d) {
    const byte_source source = [&](const byte_sink& sink) -> result<void> {
        static_cast<void>(sink(bytes));
        return {};
    };
    return write_atomically(path, source, d);
}

result<void> write_atomically(const std::string& path, std::string_view text, durability d) {
    return write_atomically(path, std::as_bytes(std::span(text)), d);
}

}  // namespace headrace
