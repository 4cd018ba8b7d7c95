// SPDX-License-Identifier: MIT
// Defines headrace::zip_archive, which finds the entries of a zip archive in memory and views them in place.
#ifndef HEADRACE_IO_FILE_ZIP_ARCHIVE_HPP
#define HEADRACE_IO_FILE_ZIP_ARCHIVE_HPP

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <zip.h>

#include <headrace/base/error.hpp>
#include <headrace/base/result.hpp>

namespace headrace {

/// An entry of an archive. The name lives as long as the archive.
struct zip_entry {
    std::string_view name;
    std::uint64_t size = 0;
    std::uint64_t index = 0;
    std::uint32_t checksum = 0;  ///< CRC-32
};

namespace detail {

/// The bytes of an archive as libzip reads them, and the position of the first read since `first_read` was
/// reset.
struct zip_window {
    std::span<const std::byte> bytes;
    std::uint64_t position = 0;
    std::optional<std::uint64_t> first_read{};
    zip_error_t error{};

    zip_int64_t read(void* to, std::uint64_t size);
    zip_int64_t seek(void* data, std::uint64_t size);
    zip_int64_t stat(void* data) const;

    static zip_int64_t callback(void* self, void* data, zip_uint64_t size, zip_source_cmd_t command);
};

struct zip_closer {
    void operator()(zip_t* archive) const { zip_discard(archive); }
    void operator()(zip_file_t* file) const { zip_fclose(file); }
};

}  // namespace detail

/// An archive over bytes that must outlive it, such as a mapped file.
class zip_archive {
public:
    [[nodiscard]] static result<zip_archive> open(std::span<const std::byte> bytes);

    /// Returns the entries, sorted by name.
    [[nodiscard]] std::span<const zip_entry> entries() const { return entries_; }
    [[nodiscard]] const zip_entry* find(std::string_view name) const;

    /// Returns the bytes of a stored entry, in place, after verifying their checksum.
    [[nodiscard]] result<std::span<const std::byte>> view(const zip_entry& entry) const;

private:
    zip_archive() = default;

    result<void> list_entries();

    static result<void> check(const zip_stat_t& status);

    // libzip does not tell where an entry's bytes begin, but its first read after opening the entry is there.
    // The checksum of these bytes is compared, so that a wrong position can only be an error. libzip would
    // compare it as well, but takes three passes for that, and four times as long with zlib's CRC.
    result<std::span<const std::byte>> locate(
        zip_file_t& file, const zip_entry& entry, const std::string& place) const;

    // Declared before the archive, which uses it until it is closed.
    std::unique_ptr<detail::zip_window> window_;
    std::unique_ptr<zip_t, detail::zip_closer> archive_;
    std::vector<zip_entry> entries_;
};

}  // namespace headrace

#endif
