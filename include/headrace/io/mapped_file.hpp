// SPDX-License-Identifier: MIT
// Defines headrace::mapped_file, a file's bytes in memory without a copy.
#ifndef HEADRACE_IO_MAPPED_FILE_HPP
#define HEADRACE_IO_MAPPED_FILE_HPP

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <filesystem>
#include <span>
#include <string>
#include <utility>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <headrace/base/error.hpp>

namespace headrace {

/// A read-only mapping. It keeps its address when it is moved, so that views into it stay good.
class mapped_file {
public:
    mapped_file() = default;
    mapped_file(const std::byte* first, std::size_t size) : bytes_(first, size) {}
    mapped_file(mapped_file&& other) noexcept : bytes_(std::exchange(other.bytes_, {})) {}
    mapped_file& operator=(mapped_file&& other) noexcept {
        std::swap(bytes_, other.bytes_);
        return *this;
    }
    ~mapped_file() {
        if (!bytes_.empty()) ::munmap(const_cast<std::byte*>(bytes_.data()), bytes_.size());
    }

    [[nodiscard]] std::span<const std::byte> bytes() const { return bytes_; }

private:
    std::span<const std::byte> bytes_;
};

namespace detail {

struct file_descriptor {
    int number;
    explicit file_descriptor(int n) : number(n) {}
    file_descriptor(const file_descriptor&) = delete;
    file_descriptor& operator=(const file_descriptor&) = delete;
    ~file_descriptor() {
        if (number >= 0) ::close(number);
    }
};

}  // namespace detail

/// Maps a file. Errors begin with its path.
[[nodiscard]] inline result<mapped_file> open_mapped(const std::filesystem::path& path) {
    const auto fail = [&](const char* what) { return malformed(path.string() + ": " + what); };
    // O_NONBLOCK: opening a pipe must not wait for its writer.
    const detail::file_descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    if (file.number < 0) return fail(errno == ENOENT ? "no such file" : std::strerror(errno));
    struct stat status {};
    if (::fstat(file.number, &status) != 0) return fail(std::strerror(errno));
    if (S_ISDIR(status.st_mode)) return fail("is a directory, not a file");
    if (!S_ISREG(status.st_mode)) return fail("is not a regular file");
    if (status.st_size == 0) return fail("is empty");
    const auto size = static_cast<std::size_t>(status.st_size);
    void* first = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.number, 0);
    if (first == MAP_FAILED) return fail(std::strerror(errno));
    return mapped_file(static_cast<const std::byte*>(first), size);
}

}  // namespace headrace

#endif
