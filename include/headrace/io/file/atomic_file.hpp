// SPDX-License-Identifier: MIT
// Declares headrace::write_atomically, which leaves either the whole file or none.
#ifndef HEADRACE_IO_FILE_ATOMIC_FILE_HPP
#define HEADRACE_IO_FILE_ATOMIC_FILE_HPP

#include <cerrno>
#include <cstddef>
#include <functional>
#include <mutex>
#include <set>
#include <span>
#include <string>
#include <string_view>

#include <headrace/base/result.hpp>
#include <headrace/io/file/os.hpp>

namespace headrace {

/// With `synced`, the bytes are on the disk before the file gets its name. Only a crash of the machine shows
/// the difference.
enum class durability : unsigned char { none, synced };

namespace detail {

bool write_all(int descriptor, std::span<const std::byte> bytes);

// Writes the bytes it is given, and keeps the errno of the first failure.
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

// Returns a new name next to the path at each call. Only opening the file tells whether the name is taken.
std::string temporary_name(const std::string& path);

// The temporary files and directories that exist, so that a program that is told to end can remove them.
class temporaries {
public:
    /// Lives until the process ends: threads may outlive static objects.
    [[nodiscard]] static temporaries& of_process();
    /// Calls `make(path)`, which makes the file, and remembers the path if it returns true.
    template <class Make>
    [[nodiscard]] bool add(const std::string& path, Make&& make) {
        const std::lock_guard lock(mutex_);
        return make(path.c_str()) && paths_.insert(path).second;
    }
    void forget(const std::string& path);
    /// Removes all of them. Threads that add another afterwards wait forever.
    void remove_for_good();

private:
    std::mutex mutex_;
    std::set<std::string> paths_;
};

// A temporary file that is removed unless it was renamed.
class temporary_file {
public:
    temporary_file(const std::string& beside, unsigned rights);
    temporary_file(const temporary_file&) = delete;
    temporary_file& operator=(const temporary_file&) = delete;
    ~temporary_file();

    [[nodiscard]] int descriptor() const { return descriptor_; }
    [[nodiscard]] bool is_open() const { return made_; }
    [[nodiscard]] bool sync() const { return os::sync_file(descriptor_); }
    [[nodiscard]] bool set_rights(unsigned rights) const { return os::set_rights(descriptor_, rights); }
    [[nodiscard]] bool rename_to(const std::string& target);

private:
    std::string path_;
    int descriptor_ = -1;
    bool made_ = false;
    bool renamed_ = false;
};

}  // namespace detail

/// Removes the temporary files of unfinished writes, for a program that is about to end on a signal. No write
/// finishes after that: call it from a thread of its own, not from a signal handler, and then exit.
void remove_temporary_files();

/// Takes bytes, and returns whether to go on.
using byte_sink = std::function<bool(std::span<const std::byte>)>;
/// Passes its bytes to a sink, from first to last, until the sink returns false. Returns an error if the
/// bytes are not what they should be.
using byte_source = std::function<result<void>(const byte_sink&)>;

namespace detail {

[[nodiscard]] error cannot_write(const std::string& path, int reason);

[[nodiscard]] result<void> write_to_descriptor(
    const std::string& path, int descriptor, const byte_source& source);

// Returns the number of the open file that a path such as /dev/fd/3 names, or -1. Opening such a path would
// start at the file's first byte, whatever was written there before.
[[nodiscard]] int descriptor_named_by(std::string_view path);

// Returns the path that symbolic links lead to, whether or not a file exists there; empty if they form a
// cycle.
[[nodiscard]] std::string behind_links(const std::string& path);

// Pipes and devices cannot be replaced, only written to.
[[nodiscard]] result<void> write_through(const std::string& path, const byte_source& source);

}  // namespace detail

/// Writes a temporary file next to the target and renames it. If anything fails, or the source returns an
/// error, the previous file stays and no other file is left. A symbolic link stays, and its target is
/// replaced. Pipes, devices and open files (/dev/stdout, /dev/fd/3) are written to directly. Threads and
/// processes may write to the same path at once: one of the files is there afterwards.
[[nodiscard]] result<void> write_atomically(
    const std::string& path, const byte_source& source, durability d = durability::none);

/// Writes bytes in memory, as above.
[[nodiscard]] result<void> write_atomically(
    const std::string& path, std::span<const std::byte> bytes, durability d = durability::none);

/// Writes a text, as above.
[[nodiscard]] result<void> write_atomically(
    const std::string& path, std::string_view text, durability d = durability::none);

}  // namespace headrace

#endif
