// SPDX-License-Identifier: MIT
// Defines the functions of headrace/io/file/os.hpp and mapped_file.hpp for Windows.

#ifdef _WIN32

#define WIN32_LEAN_AND_MEAN
#define NOMINMAX
#include <windows.h>

#include <fcntl.h>
#include <io.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>

#include <headrace/base/result.hpp>
#include <headrace/io/file/mapped_file.hpp>
#include <headrace/io/file/os.hpp>

namespace headrace {

namespace os {

namespace {

constexpr int all_files = _O_BINARY | _O_NOINHERIT;

/// Sets errno to the reason of a failure.
bool succeeds(const std::error_code& failure) {
    if (failure) errno = failure.default_error_condition().value();
    return !failure;
}

std::string message_of(DWORD failure) { return std::system_category().message(static_cast<int>(failure)); }

}  // namespace

int open_to_write(const std::string& path) { return ::_open(path.c_str(), _O_WRONLY | all_files); }

int create_file(const std::string& path, unsigned) {
    return ::_open(path.c_str(), _O_RDWR | _O_CREAT | _O_EXCL | all_files, _S_IREAD | _S_IWRITE);
}

bool close_file(int descriptor) { return ::_close(descriptor) == 0; }

std::ptrdiff_t write_some(int descriptor, std::span<const std::byte> bytes) {
    const std::size_t count = std::min<std::size_t>(bytes.size(), INT_MAX);
    return ::_write(descriptor, bytes.data(), static_cast<unsigned>(count));
}

std::ptrdiff_t read_at(int descriptor, std::uint64_t position, std::span<std::byte> to) {
    OVERLAPPED at{};
    at.Offset = static_cast<DWORD>(position);
    at.OffsetHigh = static_cast<DWORD>(position >> 32U);
    auto* const file = reinterpret_cast<HANDLE>(::_get_osfhandle(descriptor));
    DWORD taken = 0;
    const auto count = static_cast<DWORD>(std::min<std::size_t>(to.size(), INT_MAX));
    if (::ReadFile(file, to.data(), count, &taken, &at) != 0) return taken;
    errno = EIO;
    return -1;
}

bool sync_file(int descriptor) { return ::_commit(descriptor) == 0; }

bool set_rights(int, unsigned) { return true; }

std::ptrdiff_t copy_in_kernel(int, std::int64_t&, int, std::size_t) { return 0; }

bool make_directory(const std::string& path, unsigned) {
    std::error_code failure;
    const bool is_made = std::filesystem::create_directory(path, failure);
    if (!is_made && !failure) errno = EEXIST;
    return succeeds(failure) && is_made;
}

// Windows replaces files, but no directories: an empty one is removed first, any other fails with ENOTEMPTY.
bool rename_to(const std::string& path, const std::string& target) {
    std::error_code failure;
    std::error_code ignored;
    if (std::filesystem::is_directory(path, ignored) && std::filesystem::is_directory(target, ignored))
        std::filesystem::remove(target, failure);
    if (!failure) std::filesystem::rename(path, target, failure);
    return succeeds(failure);
}

bool exchange(const std::string& path, const std::string& other) {
    const std::string aside = path + ".aside";
    return rename_to(other, aside) && rename_to(path, other) && rename_to(aside, path);
}

std::uint32_t process_number() { return ::GetCurrentProcessId(); }

bool is_terminal(int descriptor) { return ::_isatty(descriptor) != 0; }

// Windows gives a page its memory when it is first written to.
void* reserve_memory(std::size_t bytes) {
    return ::VirtualAlloc(nullptr, bytes, MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE);
}

void release_memory(void* first, std::size_t) { ::VirtualFree(first, 0, MEM_RELEASE); }

}  // namespace os

// No place is kept: nothing copies in the kernel.
std::optional<detail::mapped_places::extent> detail::mapped_places::find(std::span<const std::byte>) {
    return std::nullopt;
}

mapped_file::~mapped_file() {
    if (!bytes_.empty()) ::UnmapViewOfFile(bytes_.data());
}

// Windows keeps other programs from shortening a file that is mapped.
result<void> mapped_file::check() const { return {}; }

void guard_mapped_files() {}

result<mapped_file> open_mapped(const std::filesystem::path& path) {
    namespace fs = std::filesystem;
    const auto fail = [&](std::string_view what) { return malformed({path.string(), ": ", what}); };
    std::error_code failure;
    const fs::file_status status = fs::status(path, failure);
    if (status.type() == fs::file_type::not_found) return fail("no such file");
    if (fs::is_directory(status)) return fail("is a directory, not a file");
    if (!fs::is_regular_file(status)) return fail("is not a regular file");
    // Closed handles leave the view as it is.
    const HANDLE file = ::CreateFileW(path.c_str(), GENERIC_READ, FILE_SHARE_READ | FILE_SHARE_DELETE,
        nullptr, OPEN_EXISTING, FILE_ATTRIBUTE_NORMAL, nullptr);
    if (file == INVALID_HANDLE_VALUE) return fail(os::message_of(::GetLastError()));
    LARGE_INTEGER size{};
    const bool has_size = ::GetFileSizeEx(file, &size) != 0;
    const HANDLE mapping = ::CreateFileMappingW(file, nullptr, PAGE_READONLY, 0, 0, nullptr);
    const void* const first = mapping == nullptr ? nullptr : ::MapViewOfFile(mapping, FILE_MAP_READ, 0, 0, 0);
    const DWORD reason = ::GetLastError();
    if (mapping != nullptr) ::CloseHandle(mapping);
    ::CloseHandle(file);
    if (has_size && size.QuadPart == 0) return fail("is empty");
    if (first == nullptr || !has_size) return fail(os::message_of(reason));
    return mapped_file(
        {static_cast<const std::byte*>(first), static_cast<std::size_t>(size.QuadPart)}, {}, path.string());
}

}  // namespace headrace

#endif
