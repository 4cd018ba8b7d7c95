// SPDX-License-Identifier: MIT
// Defines the functions of headrace/io/file/zip_writer.hpp.

#include <headrace/io/file/zip_writer.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <zip.h>

namespace headrace {

zip_writer::zip_writer() {
    zip_error_init(&error_);
    source_ = zip_source_buffer_create(nullptr, 0, 0, &error_);
    if (source_ == nullptr) return;
    zip_source_keep(source_);  // closing the archive releases its own reference
    archive_ = zip_open_from_source(source_, ZIP_TRUNCATE, &error_);
    if (archive_ == nullptr) zip_source_free(source_);
}

zip_writer::~zip_writer() {
    if (archive_ != nullptr) zip_discard(archive_);
    if (source_ != nullptr) zip_source_free(source_);
    zip_error_fini(&error_);
}

void zip_writer::add(const std::string& name, std::span<const std::byte> bytes) {
    if (archive_ == nullptr || failed_) return;
    zip_source_t* data = zip_source_buffer(archive_, bytes.data(), bytes.size(), 0);
    const zip_int64_t index =
        data == nullptr ? -1 : zip_file_add(archive_, name.c_str(), data, ZIP_FL_ENC_UTF_8);
    if (index < 0) {
        if (data != nullptr) zip_source_free(data);
        failed_ = true;
        return;
    }
    const auto entry = static_cast<zip_uint64_t>(index);
    constexpr zip_uint16_t first_day = (1U << 5U) | 1U;  // 1 January 1980, the first that the format has
    failed_ = zip_set_file_compression(archive_, entry, ZIP_CM_STORE, 0) != 0 ||
        zip_file_set_dostime(archive_, entry, 0, first_day, 0) != 0 || !align(entry, name);
    position_ += bytes.size();
}

result<std::vector<std::byte>> zip_writer::finish() {
    if (archive_ == nullptr) return unwritable(zip_error_strerror(&error_));
    if (failed_ || zip_close(archive_) != 0)
        return unwritable({"cannot make the archive: ", zip_error_strerror(zip_get_error(archive_))});
    archive_ = nullptr;
    zip_stat_t status;
    zip_stat_init(&status);
    if (zip_source_stat(source_, &status) != 0 || zip_source_open(source_) != 0)
        return unwritable("cannot read the archive that was made");
    std::vector<std::byte> bytes(static_cast<std::size_t>(status.size));
    const zip_int64_t read = zip_source_read(source_, bytes.data(), bytes.size());
    zip_source_close(source_);
    if (read < 0 || static_cast<std::size_t>(read) != bytes.size())
        return unwritable("cannot read the archive that was made");
    return bytes;
}

bool zip_writer::align(zip_uint64_t entry, const std::string& name) {
    constexpr std::uint64_t header = 30;
    constexpr std::uint64_t field_header = 4;
    constexpr std::uint64_t alignment = 64;
    constexpr zip_uint16_t id = 0x4246;
    const std::uint64_t begin = position_ + header + name.size() + field_header;
    const std::uint64_t padding = (alignment - begin % alignment) % alignment;
    position_ = begin + padding;
    const std::string fill(static_cast<std::size_t>(padding), 'Z');
    return zip_file_extra_field_set(archive_, entry, id, ZIP_EXTRA_FIELD_NEW,
               reinterpret_cast<const zip_uint8_t*>(fill.data()), static_cast<zip_uint16_t>(padding),
               ZIP_FL_LOCAL) == 0;
}

}  // namespace headrace
