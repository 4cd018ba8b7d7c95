// SPDX-License-Identifier: MIT
// Defines headrace::write_atomically, which leaves either the whole file or none.
#ifndef HEADRACE_IO_ATOMIC_FILE_HPP
#define HEADRACE_IO_ATOMIC_FILE_HPP

#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <span>
#include <string>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <headrace/op/error.hpp>

namespace headrace {

/// Must the bytes be on the disk before the file gets its name? Only a crash of the machine tells the
/// difference.
enum class durability : unsigned char { none, synced };

namespace detail {

inline bool write_all(int descriptor, std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
        const ssize_t written = ::write(descriptor, bytes.data(), bytes.size());
        if (written < 0 && errno != EINTR) return false;
        if (written > 0) bytes = bytes.subspan(static_cast<std::size_t>(written));
    }
    return true;
}

// Pipes and devices cannot be replaced, only written to.
inline bool write_through(const std::string& path, std::span<const std::byte> bytes) {
    const int descriptor = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
    if (descriptor < 0) return false;
    const bool written = write_all(descriptor, bytes);
    return ::close(descriptor) == 0 && written;
}

// A temporary file that is removed unless it was renamed.
class temporary_file {
public:
    explicit temporary_file(const std::string& beside) : path_(beside + ".XXXXXX") {
        descriptor_ = ::mkstemp(path_.data());
        made_ = descriptor_ >= 0;
    }
    temporary_file(const temporary_file&) = delete;
    temporary_file& operator=(const temporary_file&) = delete;
    ~temporary_file() {
        if (descriptor_ >= 0) ::close(descriptor_);
        if (made_ && !renamed_) ::unlink(path_.c_str());
    }

    [[nodiscard]] bool write(std::span<const std::byte> bytes) const { return write_all(descriptor_, bytes); }
    [[nodiscard]] bool is_open() const { return made_; }
    [[nodiscard]] bool sync() const { return ::fsync(descriptor_) == 0; }
    // mkstemp lets only the owner read; a new file gets what the umask leaves, one that is replaced keeps its
    // own.
    [[nodiscard]] bool copy_mode(const std::string& target) const {
        struct stat old {};
        const mode_t mask = ::umask(0);
        ::umask(mask);
        const mode_t mode = ::stat(target.c_str(), &old) == 0 ? old.st_mode & 07777U : 0666U & ~mask;
        return ::fchmod(descriptor_, mode) == 0;
    }
    [[nodiscard]] bool rename_to(const std::string& target) {
        const bool closed = ::close(descriptor_) == 0;
        descriptor_ = -1;
        renamed_ = closed && ::rename(path_.c_str(), target.c_str()) == 0;
        return renamed_;
    }

private:
    std::string path_;
    int descriptor_ = -1;
    bool made_ = false;
    bool renamed_ = false;
};

}  // namespace detail

/// Writes a file beside its target and renames it. What was there before stays until then, and if anything
/// fails; no other file is left behind. A pipe or a device is written to as it is.
[[nodiscard]] inline result<void> write_atomically(const std::string& path, std::span<const std::byte> bytes,
                                                   durability d = durability::none) {
    struct stat old {};
    const bool special = ::stat(path.c_str(), &old) == 0 && !S_ISREG(old.st_mode) && !S_ISDIR(old.st_mode);
    if (special) {
        if (detail::write_through(path, bytes)) return boost::outcome_v2::success();
    } else {
        detail::temporary_file file(path);
        if (file.is_open() && file.write(bytes) && (d == durability::none || file.sync()) &&
            file.copy_mode(path) && file.rename_to(path)) {
            return boost::outcome_v2::success();
        }
    }
    const int reason = errno;
    return invalid("cannot write " + path + ": " + std::strerror(reason));
}

}  // namespace headrace

#endif
