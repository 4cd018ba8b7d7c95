// SPDX-License-Identifier: MIT
// Declares what operating systems do for files under other names: os_posix.cpp and os_windows.cpp define it.
#ifndef HEADRACE_IO_FILE_OS_HPP
#define HEADRACE_IO_FILE_OS_HPP

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace headrace::os {

/// Returns -1, with errno, if the file cannot be opened. Programs that this one runs do not inherit it.
[[nodiscard]] int open_to_write(const std::string& path);
/// Fails with EEXIST if there is such a file. `rights` are those of POSIX; Windows has none.
[[nodiscard]] int create_file(const std::string& path, unsigned rights);
bool close_file(int descriptor);
/// Returns the number of bytes that were written, or -1 with errno.
[[nodiscard]] std::ptrdiff_t write_some(int descriptor, std::span<const std::byte> bytes);
/// Reads from a position; may be called from several threads. Returns the number of bytes, or -1 with errno.
[[nodiscard]] std::ptrdiff_t read_at(int descriptor, std::uint64_t position, std::span<std::byte> to);
/// Waits until the file's bytes are on the disk.
[[nodiscard]] bool sync_file(int descriptor);
[[nodiscard]] bool set_rights(int descriptor, unsigned rights);

/// Copies from one file to another without reading the bytes into this process's memory, and moves `offset`.
/// Returns how many, at most `bytes`; 0 or less if the system or the files cannot do that.
[[nodiscard]] std::ptrdiff_t copy_in_kernel(int from, std::int64_t& offset, int to, std::size_t bytes);

/// Fails with EEXIST if there is such a directory.
[[nodiscard]] bool make_directory(const std::string& path, unsigned rights);
/// Replaces a file, or an empty directory, by another: in one step where the system can do that.
[[nodiscard]] bool rename_to(const std::string& path, const std::string& target);
/// Exchanges two directories: in one step on Linux and macOS, in three on Windows.
[[nodiscard]] bool exchange(const std::string& path, const std::string& other);

/// Differs between processes that run.
[[nodiscard]] std::uint32_t process_number();
/// True if a descriptor, such as 2 for standard error, is a terminal.
[[nodiscard]] bool is_terminal(int descriptor);

/// Reserves addresses of zeros: only pages that are written to take memory. Null if there are not so many.
[[nodiscard]] void* reserve_memory(std::size_t bytes);
void release_memory(void* first, std::size_t bytes);

}  // namespace headrace::os

#endif
