// SPDX-License-Identifier: MIT
// Defines the functions of headrace/io/file/zip_writer.hpp.

#include <headrace/io/file/zip_writer.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <libdeflate.h>

#include <headrace/base/error.hpp>
#include <headrace/io/file/zip_records.hpp>

namespace headrace {

namespace zip {

namespace {

constexpr std::uint32_t first_day =
    (1U << 21U) | (1U << 16U);  // 1 January 1980, the first that the format has

class archive_bytes {
public:
    void add(std::string_view name, std::span<const std::byte> entry) {
        const std::uint64_t offset = bytes_.size();
        const bool is_wide = entry.size() >= wide_number;
        const bool is_far = offset >= wide_number;
        description described;
        described.version = is_wide || is_far ? wide_version : std::uint16_t{10};
        described.flags = name_is_utf8;
        described.time = first_day;
        described.checksum = libdeflate_crc32(0, entry.data(), entry.size());
        described.size = described.stored_size =
            is_wide ? wide_number : static_cast<std::uint32_t>(entry.size());
        described.name_size = static_cast<std::uint16_t>(name.size());
        local_header local{.entry = described};
        directory_header listed{.entry = described};
        listed.offset = is_far ? wide_number : static_cast<std::uint32_t>(offset);

        const std::size_t wide_size = is_wide ? sizeof(extra_header) + 2 * sizeof(std::uint64_t) : 0;
        const std::uint64_t unaligned =
            offset + sizeof(local_header) + name.size() + wide_size + sizeof(extra_header);
        constexpr std::uint64_t alignment = 64;
        const auto padding = static_cast<std::uint16_t>((alignment - unaligned % alignment) % alignment);
        local.entry.extra_size = static_cast<std::uint16_t>(wide_size + sizeof(extra_header) + padding);
        put(bytes_, local);
        put_text(bytes_, name);
        if (is_wide) put_wide(bytes_, {entry.size(), entry.size()});
        put(bytes_, extra_header{little_uint16_buf_t{padding_field}, little_uint16_buf_t{padding}});
        put_text(bytes_, std::string(padding, 'Z'));
        bytes_.insert(bytes_.end(), entry.begin(), entry.end());

        std::vector<std::uint64_t> wide;
        if (is_wide) wide.assign(2, entry.size());
        if (is_far) wide.push_back(offset);
        if (!wide.empty())
            listed.entry.extra_size =
                static_cast<std::uint16_t>(sizeof(extra_header) + wide.size() * sizeof(wide[0]));
        put(directory_, listed);
        put_text(directory_, name);
        if (!wide.empty()) put_wide(directory_, wide);
        ++entries_;
    }

    [[nodiscard]] std::vector<std::byte> finish() && {
        const std::uint64_t offset = bytes_.size();
        bytes_.insert(bytes_.end(), directory_.begin(), directory_.end());
        if (entries_ >= wide_count || offset >= wide_number || directory_.size() >= wide_number)
            put_wide_end(offset);
        end_record end;
        end.entries = end.entries_on_disk =
            static_cast<std::uint16_t>(std::min<std::uint64_t>(entries_, wide_count));
        end.directory_size =
            static_cast<std::uint32_t>(std::min<std::uint64_t>(directory_.size(), wide_number));
        end.directory_offset = static_cast<std::uint32_t>(std::min<std::uint64_t>(offset, wide_number));
        put(bytes_, end);
        return std::move(bytes_);
    }

    void reserve(std::size_t size) { bytes_.reserve(size); }

private:
    using text = std::vector<std::byte>;

    static void put_text(text& to, std::string_view characters) {
        const auto bytes = std::as_bytes(std::span(characters));
        to.insert(to.end(), bytes.begin(), bytes.end());
    }
    template <class Record>
    static void put(text& to, const Record& record) {
        put_text(to, std::string_view(reinterpret_cast<const char*>(&record), sizeof record));
    }
    static void put_wide(text& to, const std::vector<std::uint64_t>& numbers) {
        const auto size = static_cast<std::uint16_t>(numbers.size() * sizeof(numbers[0]));
        put(to, extra_header{little_uint16_buf_t{wide_field}, little_uint16_buf_t{size}});
        for (const std::uint64_t number : numbers) put(to, little_uint64_buf_t{number});
    }

    void put_wide_end(std::uint64_t directory_offset) {
        wide_end_record end;
        end.rest_size = sizeof end - sizeof end.signature - sizeof end.rest_size;
        end.made_by = end.version = wide_version;
        end.entries = end.entries_on_disk = entries_;
        end.directory_size = directory_.size();
        end.directory_offset = directory_offset;
        wide_end_locator locator;
        locator.offset = bytes_.size();
        locator.disks = 1;
        put(bytes_, end);
        put(bytes_, locator);
    }

    text bytes_;
    text directory_;
    std::uint64_t entries_ = 0;
};

}  // namespace

}  // namespace zip

result<std::vector<std::byte>> zip_writer::finish() const {
    std::size_t size = sizeof(zip::end_record);
    for (const auto& [name, bytes] : entries_) {
        if (name.size() > zip::wide_count)
            return unwritable("a name in an archive has more than 65,535 bytes");
        constexpr std::size_t headers = 256;  // and alignment
        size += bytes.size() + 2 * name.size() + headers;
    }
    zip::archive_bytes archive;
    archive.reserve(size);
    for (const auto& [name, bytes] : entries_) archive.add(name, bytes);
    return std::move(archive).finish();
}

}  // namespace headrace
