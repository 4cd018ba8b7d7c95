// SPDX-License-Identifier: MIT
// Defines headrace::zip_archive, which finds the entries of a zip archive in memory and views them in place.
#ifndef HEADRACE_IO_FILE_ZIP_ARCHIVE_HPP
#define HEADRACE_IO_FILE_ZIP_ARCHIVE_HPP

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include <headrace/base/result.hpp>

namespace headrace {

/// A stored entry of an archive. The name lives as long as the archive's bytes.
struct zip_entry {
    std::string_view name;
    std::uint64_t size = 0;
    std::uint64_t begin = 0;     ///< position of its bytes in the archive
    std::uint32_t checksum = 0;  ///< CRC-32
};

/// An archive over bytes that must outlive it, such as a mapped file.
class zip_archive {
public:
    /// Lists the entries. Refuses archives with entries that are compressed or encrypted, lie outside of the
    /// file or in other entries, or have another description in the directory than in the header before them.
    [[nodiscard]] static result<zip_archive> open(std::span<const std::byte> bytes);

    /// Returns the entries, sorted by name.
    [[nodiscard]] std::span<const zip_entry> entries() const { return entries_; }
    [[nodiscard]] const zip_entry* find(std::string_view name) const;

    /// Returns the bytes of an entry, in place, after verifying their checksum.
    [[nodiscard]] result<std::span<const std::byte>> view(const zip_entry& entry) const;

private:
    explicit zip_archive(std::span<const std::byte> bytes) : bytes_(bytes) {}

    std::span<const std::byte> bytes_;
    std::vector<zip_entry> entries_;
};

}  // namespace headrace

#endif
