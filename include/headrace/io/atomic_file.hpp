// SPDX-License-Identifier: MIT
// Defines headrace::write_atomically, which leaves either the whole file or none.
#ifndef HEADRACE_IO_ATOMIC_FILE_HPP
#define HEADRACE_IO_ATOMIC_FILE_HPP

#include <atomic>
#include <cerrno>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <functional>
#include <mutex>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <system_error>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <headrace/base/error.hpp>

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

// Writes what comes, and remembers the reason of the first failure.
class descriptor_sink {
public:
    explicit descriptor_sink(int descriptor) : descriptor_(descriptor) {}
    [[nodiscard]] bool operator()(std::span<const std::byte> bytes) {
        if (reason_ == 0 && !write_all(descriptor_, bytes)) reason_ = errno;
        return reason_ == 0;
    }
    /// 0 if all was written.
    [[nodiscard]] int reason() const { return reason_; }

private:
    int descriptor_;
    int reason_ = 0;
};

// A new name beside the path at each call. Only opening the file tells whether it is taken.
inline std::string temporary_name(const std::string& path) {
    static std::atomic<std::uint32_t> calls{0};
    constexpr std::uint32_t odd = 2'654'435'761U;  // so that processes begin far from each other
    std::uint32_t bits = static_cast<std::uint32_t>(::getpid()) * odd + calls++;
    std::string name = path + ".";
    for (int i = 0; i != 6; ++i, bits /= 32) name += "abcdefghijklmnopqrstuvwxyz234567"[bits % 32];
    return name;
}

// The temporary files and directories that there are now, so that a program that is told to end can remove
// them.
class temporaries {
public:
    /// Lives until the process ends: threads may outlive what is destroyed before.
    [[nodiscard]] static temporaries& of_process() {
        static auto* const all = new temporaries;
        return *all;
    }
    /// Calls `make(path)`, which makes the file, and remembers the path if it returns true.
    template <class Make>
    [[nodiscard]] bool add(const std::string& path, Make&& make) {
        const std::lock_guard lock(mutex_);
        return make(path.c_str()) && paths_.insert(path).second;
    }
    void forget(const std::string& path) {
        const std::lock_guard lock(mutex_);
        paths_.erase(path);
    }
    /// Removes all. Threads that would add another wait from now on.
    void remove_for_good() {
        mutex_.lock();
        std::error_code ignored;
        for (const std::string& path : paths_) std::filesystem::remove_all(path, ignored);
    }

private:
    std::mutex mutex_;
    std::set<std::string> paths_;
};

// A temporary file that is removed unless it was renamed.
class temporary_file {
public:
    temporary_file(const std::string& beside, mode_t rights) {
        constexpr int max_attempts = 10'000;
        for (int i = 0; i != max_attempts && !made_; ++i) {
            path_ = temporary_name(beside);
            made_ = temporaries::of_process().add(path_, [&](const char* path) {
                descriptor_ = ::open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, rights);
                return descriptor_ >= 0;
            });
            if (!made_ && errno != EEXIST) return;
        }
    }
    temporary_file(const temporary_file&) = delete;
    temporary_file& operator=(const temporary_file&) = delete;
    ~temporary_file() {
        if (descriptor_ >= 0) ::close(descriptor_);
        if (made_ && !renamed_) ::unlink(path_.c_str());
        if (made_) temporaries::of_process().forget(path_);
    }

    [[nodiscard]] int descriptor() const { return descriptor_; }
    [[nodiscard]] bool is_open() const { return made_; }
    [[nodiscard]] bool sync() const { return ::fsync(descriptor_) == 0; }
    [[nodiscard]] bool set_rights(mode_t rights) const { return ::fchmod(descriptor_, rights) == 0; }
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

/// Removes the temporary files of writes that have not ended, for a program that is about to end by a signal.
/// No write ends after that: call it from a thread of its own, not from a signal handler, and then end.
inline void remove_temporary_files() { detail::temporaries::of_process().remove_for_good(); }

/// Takes bytes, and says whether to go on.
using byte_sink = std::function<bool(std::span<const std::byte>)>;
/// Gives bytes to a sink, from first to last, as long as it goes on. An error says that they are not what
/// they should be.
using byte_source = std::function<result<void>(const byte_sink&)>;

namespace detail {

[[nodiscard]] inline error cannot_write(const std::string& path, int reason) {
    return unwritable("cannot write " + path + ": " + std::strerror(reason));
}

[[nodiscard]] inline result<void> write_to_descriptor(const std::string& path, int descriptor,
                                                      const byte_source& source) {
    descriptor_sink sink(descriptor);
    const result<void> given = source(std::ref(sink));
    if (sink.reason() != 0) return cannot_write(path, sink.reason());
    return given;
}

// The number of an open file that a path names, or -1. Opening such a path begins at the file's first byte,
// whatever was written there before.
[[nodiscard]] inline int descriptor_named_by(std::string_view path) {
    if (path == "/dev/stdout") return STDOUT_FILENO;
    if (path == "/dev/stderr") return STDERR_FILENO;
    for (const std::string_view folder : {"/dev/fd/", "/proc/self/fd/"}) {
        if (!path.starts_with(folder)) continue;
        int number = -1;
        const char* const end = path.data() + path.size();
        const auto [rest, failed] = std::from_chars(path.data() + folder.size(), end, number);
        if (failed == std::errc() && rest == end && number >= 0) return number;
    }
    return -1;
}

// Where a path leads through links, be a file there or not; empty if they lead in a circle.
[[nodiscard]] inline std::string behind_links(const std::string& path) {
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

// Pipes and devices cannot be replaced, only written to.
[[nodiscard]] inline result<void> write_through(const std::string& path, const byte_source& source) {
    const int descriptor = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
    if (descriptor < 0) return cannot_write(path, errno);
    result<void> written = write_to_descriptor(path, descriptor, source);
    if (::close(descriptor) != 0 && written) return cannot_write(path, errno);
    return written;
}

}  // namespace detail

/// Writes a file beside its target and renames it. What was there before stays until then, and if anything
/// fails, or the source gives an error; no other file is left behind. A link stays, and what it leads to is
/// replaced. A pipe or a device is written to as it is, and so is an open file: /dev/stdout, /dev/fd/3.
/// Threads and processes may write beside each other, and to the same path: one of the files is there then.
[[nodiscard]] inline result<void> write_atomically(const std::string& path, const byte_source& source,
                                                   durability d = durability::none) {
    if (const int open = detail::descriptor_named_by(path); open >= 0)
        return detail::write_to_descriptor(path, open, source);
    struct stat old {};
    const bool replaces = ::stat(path.c_str(), &old) == 0;
    if (replaces && !S_ISREG(old.st_mode) && !S_ISDIR(old.st_mode))
        return detail::write_through(path, source);
    // A new file gets the rights that the umask leaves. A replaced file keeps its rights; until then nobody
    // else can read the new one. Asking for the umask would change it for other threads, too.
    const std::string target = detail::behind_links(path);
    if (target.empty()) return detail::cannot_write(path, ELOOP);
    detail::temporary_file file(target, replaces ? 0600U : 0666U);
    if (!file.is_open()) return detail::cannot_write(path, errno);
    BOOST_OUTCOME_TRY(detail::write_to_descriptor(path, file.descriptor(), source));
    if ((d == durability::none || file.sync()) && (!replaces || file.set_rights(old.st_mode & 07777U)) &&
        file.rename_to(target)) {
        return boost::outcome_v2::success();
    }
    return detail::cannot_write(path, errno);
}

/// The same of bytes in memory.
[[nodiscard]] inline result<void> write_atomically(const std::string& path, std::span<const std::byte> bytes,
                                                   durability d = durability::none) {
    const byte_source source = [&](const byte_sink& sink) -> result<void> {
        static_cast<void>(sink(bytes));
        return boost::outcome_v2::success();
    };
    return write_atomically(path, source, d);
}

/// The same of a text.
[[nodiscard]] inline result<void> write_atomically(const std::string& path, std::string_view text,
                                                   durability d = durability::none) {
    return write_atomically(path, std::as_bytes(std::span(text)), d);
}

}  // namespace headrace

#endif
