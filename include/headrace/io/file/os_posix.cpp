// SPDX-License-Identifier: MIT
// Defines the functions of headrace/io/file/os.hpp for POSIX.

#ifndef _WIN32

#include <headrace/io/file/os.hpp>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <span>
#include <string>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace headrace::os {

int open_to_write(const std::string& path) { return ::open(path.c_str(), O_WRONLY | O_CLOEXEC); }

int create_file(const std::string& path, unsigned rights) {
    return ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, static_cast<mode_t>(rights));
}

bool close_file(int descriptor) { return ::close(descriptor) == 0; }

std::ptrdiff_t write_some(int descriptor, std::span<const std::byte> bytes) {
    return ::write(descriptor, bytes.data(), bytes.size());
}

std::ptrdiff_t read_at(int descriptor, std::uint64_t position, std::span<std::byte> to) {
    ssize_t taken = -1;
    do taken = ::pread(descriptor, to.data(), to.size(), static_cast<off_t>(position));
    while (taken < 0 && errno == EINTR);
    return taken;
}

bool sync_file(int descriptor) { return ::fsync(descriptor) == 0; }

bool set_rights(int descriptor, unsigned rights) {
    return ::fchmod(descriptor, static_cast<mode_t>(rights)) == 0;
}

std::ptrdiff_t copy_in_kernel([[maybe_unused]] int from, [[maybe_unused]] std::int64_t& offset,
    [[maybe_unused]] int to, [[maybe_unused]] std::size_t bytes) {
#ifdef __linux__
    off_t at = offset;
    const ssize_t copied = ::copy_file_range(from, &at, to, nullptr, bytes, 0);
    offset = at;
    return copied;
#else
    return 0;
#endif
}

bool make_directory(const std::string& path, unsigned rights) {
    return ::mkdir(path.c_str(), static_cast<mode_t>(rights)) == 0;
}

bool rename_to(const std::string& path, const std::string& target) {
    return ::rename(path.c_str(), target.c_str()) == 0;
}

bool exchange(const std::string& path, const std::string& other) {
#ifdef __APPLE__
    return ::renamex_np(path.c_str(), other.c_str(), RENAME_SWAP) == 0;
#else
    return ::renameat2(AT_FDCWD, path.c_str(), AT_FDCWD, other.c_str(), RENAME_EXCHANGE) == 0;
#endif
}

std::uint32_t process_number() { return static_cast<std::uint32_t>(::getpid()); }

bool is_terminal(int descriptor) { return ::isatty(descriptor) != 0; }

void* reserve_memory(std::size_t bytes) {
    void* const first =
        ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (first == MAP_FAILED) return nullptr;
#ifdef MADV_NOHUGEPAGE
    ::madvise(first, bytes, MADV_NOHUGEPAGE);  // a huge page would fill many pages that nothing is written to
#endif
    return first;
}

void release_memory(void* first, std::size_t bytes) { ::munmap(first, bytes); }

}  // namespace headrace::os

#endif
