// SPDX-License-Identifier: MIT
#include "archive.hpp"

#include <algorithm>
#include <boost/crc.hpp>
#include <cstring>
#include <set>

#include <headrace/io/file/zip_archive.hpp>
#include <headrace/io/file/zip_writer.hpp>

namespace headrace::fuzz {

namespace {

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
    const auto opened = zip_archive::open(std::as_bytes(std::span(file)));
    if (!opened) return std::nullopt;
    std::vector<zip_entry> found(opened.value().entries().begin(), opened.value().entries().end());
    std::ranges::sort(found, {}, &zip_entry::begin);
    archive a;
    a.comment = comment_of(file);
    for (const zip_entry& e : found) {
        const auto data = opened.value().view(e);
        if (!data) return std::nullopt;
        const auto* const first = reinterpret_cast<const char*>(data.value().data());
        a.entries.push_back({std::string(e.name), std::string(first, data.value().size())});
    }
    return a;
}

bytes write_archive(const archive& a) {
    zip_writer writer;
    std::set<std::string_view> names;
    for (const archive_entry& e : a.entries) {
        if (names.insert(e.name).second) writer.add(e.name, std::as_bytes(std::span(e.data)));
    }
    const auto made = writer.finish();
    if (!made) return {};
    bytes written;
    for (const std::byte b : made.value()) written.push_back(static_cast<std::uint8_t>(b));
    written[written.size() - 2] = static_cast<std::uint8_t>(a.comment.size());  // at most 255 bytes
    written.insert(written.end(), a.comment.begin(), a.comment.end());
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
