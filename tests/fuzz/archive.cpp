// SPDX-License-Identifier: MIT
#include "archive.hpp"

#include <zip.h>

#include <algorithm>
#include <boost/crc.hpp>
#include <cstring>
#include <memory>

namespace headrace::fuzz {

namespace {

struct discard {
    void operator()(zip_t* z) const { zip_discard(z); }
    void operator()(zip_file_t* f) const { zip_fclose(f); }
};

std::uint32_t number_at(const bytes& file, std::size_t at, std::size_t width) {
    std::uint32_t number = 0;
    for (std::size_t i = width; i-- != 0;) number = number << 8 | file[at + i];
    return number;
}
void put_number(bytes& file, std::size_t at, std::uint32_t number) {
    for (std::size_t i = 0; i != 4; ++i) file[at + i] = static_cast<std::uint8_t>(number >> (8 * i));
}
bool has_mark(const bytes& file, std::size_t at, const char* mark) {
    return std::memcmp(file.data() + at, mark, 4) == 0;
}

constexpr std::size_t local_header = 30;
constexpr std::size_t central_header = 46;
constexpr std::size_t end_record = 22;

}  // namespace

archive_entry* archive::find(std::string_view part_of_name) {
    const auto at = std::find_if(entries.begin(), entries.end(),
        [&](const archive_entry& e) { return e.name.find(part_of_name) != std::string::npos; });
    return at == entries.end() ? nullptr : &*at;
}

std::optional<archive> read_archive(const bytes& file) {
    zip_source_t* source = zip_source_buffer_create(file.data(), file.size(), 0, nullptr);
    const std::unique_ptr<zip_t, discard> opened(zip_open_from_source(source, ZIP_RDONLY, nullptr));
    if (!opened) {
        zip_source_free(source);
        return std::nullopt;
    }
    archive a;
    a.comment = comment_of(file);
    for (zip_int64_t i = 0; i < zip_get_num_entries(opened.get(), 0); ++i) {
        const auto number = static_cast<zip_uint64_t>(i);
        zip_stat_t status;
        const std::unique_ptr<zip_file_t, discard> entry(zip_fopen_index(opened.get(), number, 0));
        if (!entry || zip_stat_index(opened.get(), number, 0, &status) != 0 || status.size > file.size())
            return std::nullopt;
        archive_entry read{status.name, std::string(status.size, '\0')};
        if (zip_fread(entry.get(), read.data.data(), status.size) != static_cast<zip_int64_t>(status.size))
            return std::nullopt;
        a.entries.push_back(std::move(read));
    }
    return a;
}

bytes write_archive(const archive& a) {
    zip_source_t* target = zip_source_buffer_create(nullptr, 0, 0, nullptr);
    zip_source_keep(target);
    zip_t* opened = zip_open_from_source(target, ZIP_CREATE | ZIP_TRUNCATE, nullptr);
    for (const archive_entry& e : a.entries) {
        zip_source_t* data = zip_source_buffer(opened, e.data.data(), e.data.size(), 0);
        const zip_int64_t index = zip_file_add(opened, e.name.c_str(), data, ZIP_FL_ENC_UTF_8);
        if (index < 0) {
            zip_source_free(data);  // if there are two entries of one name
            continue;
        }
        zip_set_file_compression(opened, static_cast<zip_uint64_t>(index), ZIP_CM_STORE, 0);
        zip_file_set_mtime(opened, static_cast<zip_uint64_t>(index), 0,
            0);  // equal entries give equal bytes
    }
    zip_set_archive_comment(opened, a.comment.data(), static_cast<zip_uint16_t>(a.comment.size()));
    bytes written;
    if (zip_close(opened) == 0 && zip_source_open(target) == 0) {
        zip_stat_t status;
        zip_source_stat(target, &status);
        written.resize(status.size);
        zip_source_read(target, written.data(), written.size());
        zip_source_close(target);
    } else {
        zip_discard(opened);
    }
    zip_source_free(target);
    return written;
}

std::string comment_of(std::span<const std::uint8_t> file) {
    const bytes all(file.begin(), file.end());
    for (std::size_t at = all.size() < end_record ? 0 : all.size() - end_record + 1; at-- != 0;) {
        if (!has_mark(all, at, "PK\5\6")) continue;
        const std::size_t length =
            std::min<std::size_t>(number_at(all, at + 20, 2), all.size() - at - end_record);
        const auto first = all.begin() + static_cast<std::ptrdiff_t>(at + end_record);
        return {first, first + static_cast<std::ptrdiff_t>(length)};
    }
    return {};
}

void repair_checksums(bytes& file) {
    for (std::size_t at = 0; at + central_header <= file.size(); ++at) {
        if (!has_mark(file, at, "PK\1\2")) continue;
        const std::size_t local = number_at(file, at + 42, 4);
        if (local + local_header > file.size() || !has_mark(file, local, "PK\3\4")) continue;
        const std::size_t first =
            local + local_header + number_at(file, local + 26, 2) + number_at(file, local + 28, 2);
        const std::size_t size = number_at(file, at + 20, 4);
        if (first + size > file.size()) continue;
        boost::crc_32_type crc;
        crc.process_bytes(file.data() + first, size);
        put_number(file, at + 16, crc.checksum());
        put_number(file, local + 14, crc.checksum());
        put_number(file, local + 18, static_cast<std::uint32_t>(size));
        put_number(file, local + 22, number_at(file, at + 24, 4));
    }
}

}  // namespace headrace::fuzz
