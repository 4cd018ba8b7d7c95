// SPDX-License-Identifier: MIT
// Defines the records of zip archives, as they are in files.
#ifndef HEADRACE_IO_FILE_ZIP_RECORDS_HPP
#define HEADRACE_IO_FILE_ZIP_RECORDS_HPP

#include <cstddef>
#include <cstdint>
#include <limits>

#include <boost/endian/buffers.hpp>

// PKWARE's APPNOTE.TXT, sections 4.3.7 to 4.3.16.
namespace headrace::zip {

using boost::endian::little_uint16_buf_t;
using boost::endian::little_uint32_buf_t;
using boost::endian::little_uint64_buf_t;

/// The fields that both headers of an entry have.
struct description {
    little_uint16_buf_t version{};
    little_uint16_buf_t flags{};
    little_uint16_buf_t method{};
    little_uint32_buf_t time{};
    little_uint32_buf_t checksum{};
    little_uint32_buf_t stored_size{};
    little_uint32_buf_t size{};
    little_uint16_buf_t name_size{};
    little_uint16_buf_t extra_size{};
};

/// Before the name, the extra fields and the bytes of an entry.
struct local_header {
    static constexpr std::uint32_t mark = 0x04034b50;
    little_uint32_buf_t signature{mark};
    description entry{};
};

/// Before the name, the extra fields and the comment of an entry, in the directory.
struct directory_header {
    static constexpr std::uint32_t mark = 0x02014b50;
    little_uint32_buf_t signature{mark};
    little_uint16_buf_t made_by{};
    description entry{};
    little_uint16_buf_t comment_size{};
    little_uint16_buf_t disk{};
    little_uint16_buf_t internal_attributes{};
    little_uint32_buf_t external_attributes{};
    little_uint32_buf_t offset{};  // of the local header
};

/// After the directory and the two records below, if there are those; a comment follows it.
struct end_record {
    static constexpr std::uint32_t mark = 0x06054b50;
    little_uint32_buf_t signature{mark};
    little_uint16_buf_t disk{};
    little_uint16_buf_t directory_disk{};
    little_uint16_buf_t entries_on_disk{};
    little_uint16_buf_t entries{};
    little_uint32_buf_t directory_size{};
    little_uint32_buf_t directory_offset{};
    little_uint16_buf_t comment_size{};
};

/// The end record with numbers of 64 bits, of zip64.
struct wide_end_record {
    static constexpr std::uint32_t mark = 0x06064b50;
    little_uint32_buf_t signature{mark};
    little_uint64_buf_t rest_size{};  // of what follows this number
    little_uint16_buf_t made_by{};
    little_uint16_buf_t version{};
    little_uint32_buf_t disk{};
    little_uint32_buf_t directory_disk{};
    little_uint64_buf_t entries_on_disk{};
    little_uint64_buf_t entries{};
    little_uint64_buf_t directory_size{};
    little_uint64_buf_t directory_offset{};
};

/// Between the wide end record and the end record.
struct wide_end_locator {
    static constexpr std::uint32_t mark = 0x07064b50;
    little_uint32_buf_t signature{mark};
    little_uint32_buf_t disk{};
    little_uint64_buf_t offset{};  // of the wide end record
    little_uint32_buf_t disks{};
};

struct extra_header {
    little_uint16_buf_t id{};
    little_uint16_buf_t size{};
};

static_assert(sizeof(local_header) == 30 && sizeof(directory_header) == 46 && sizeof(end_record) == 22 &&
    sizeof(wide_end_record) == 56 && sizeof(wide_end_locator) == 20 && sizeof(extra_header) == 4);

/// Extra field of the numbers of 64 bits that stand for those that are all ones, in the order of the header.
inline constexpr std::uint16_t wide_field = 1;
/// Extra field by which PyTorch aligns the bytes of entries.
inline constexpr std::uint16_t padding_field = 0x4246;

inline constexpr std::uint32_t wide_number = std::numeric_limits<std::uint32_t>::max();
inline constexpr std::uint16_t wide_count = std::numeric_limits<std::uint16_t>::max();
inline constexpr std::uint16_t wide_version = 45;  // of the format, that zip64 needs

inline constexpr std::uint16_t is_encrypted = 1U << 0U;
inline constexpr std::uint16_t numbers_follow = 1U << 3U;  // sizes and checksum of the local header may be 0
inline constexpr std::uint16_t name_is_utf8 = 1U << 11U;
inline constexpr std::uint16_t stored = 0;  // a method

}  // namespace headrace::zip

#endif
