// SPDX-License-Identifier: MIT
// Defines the functions of headrace/io/file/zip_archive.hpp.

#include <headrace/io/file/zip_archive.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <ranges>
#include <span>
#include <string>
#include <string_view>

#include <libdeflate.h>
#include <zip.h>

#include <headrace/base/error.hpp>

namespace headrace {

namespace detail {

zip_int64_t zip_window::read(void* to, std::uint64_t size) {
    if (!first_read) first_read = position;
    const std::uint64_t count = std::min<std::uint64_t>(size, bytes.size() - position);
    if (count != 0) std::memcpy(to, bytes.data() + position, count);
    position += count;
    return static_cast<zip_int64_t>(count);
}

zip_int64_t zip_window::seek(void* data, std::uint64_t size) {
    const zip_int64_t to = zip_source_seek_compute_offset(position, bytes.size(), data, size, &error);
    if (to < 0) return -1;
    position = static_cast<std::uint64_t>(to);
    return 0;
}

zip_int64_t zip_window::stat(void* data) const {
    auto* status = static_cast<zip_stat_t*>(data);
    zip_stat_init(status);
    status->valid = ZIP_STAT_SIZE;
    status->size = bytes.size();
    return sizeof(zip_stat_t);
}

zip_int64_t zip_window::callback(void* self, void* data, zip_uint64_t size, zip_source_cmd_t command) {
    auto& window = *static_cast<zip_window*>(self);
    switch (command) {
        case ZIP_SOURCE_OPEN:
            window.position = 0;
            return 0;
        case ZIP_SOURCE_READ:
            return window.read(data, size);
        case ZIP_SOURCE_CLOSE:
        case ZIP_SOURCE_FREE:
            return 0;
        case ZIP_SOURCE_STAT:
            return window.stat(data);
        case ZIP_SOURCE_ERROR:
            return zip_error_to_data(&window.error, data, size);
        case ZIP_SOURCE_SEEK:
            return window.seek(data, size);
        case ZIP_SOURCE_TELL:
            return static_cast<zip_int64_t>(window.position);
        case ZIP_SOURCE_SUPPORTS:
            return ZIP_SOURCE_SUPPORTS_SEEKABLE;
        default:
            zip_error_set(&window.error, ZIP_ER_OPNOTSUPP, 0);
            return -1;
    }
}

}  // namespace detail

result<zip_archive> zip_archive::open(std::span<const std::byte> bytes) {
    zip_archive made;
    made.window_ = std::make_unique<detail::zip_window>(detail::zip_window{.bytes = bytes});
    zip_error_t failed;
    zip_error_init(&failed);
    zip_source_t* source =
        zip_source_function_create(&detail::zip_window::callback, made.window_.get(), &failed);
    if (source != nullptr) {
        made.archive_.reset(zip_open_from_source(source, ZIP_RDONLY | ZIP_CHECKCONS, &failed));
        if (!made.archive_) zip_source_free(source);
    }
    const bool same_name = zip_error_code_zip(&failed) == ZIP_ER_EXISTS;
    const std::string why = same_name ? "two entries have the same name" : zip_error_strerror(&failed);
    zip_error_fini(&failed);
    if (!made.archive_) return malformed({"malformed zip archive: ", why});
    if (auto listed = made.list_entries(); !listed) return listed.error();
    return made;
}

const zip_entry* zip_archive::find(std::string_view name) const {
    const auto at = std::ranges::lower_bound(entries_, name, {}, &zip_entry::name);
    return at != entries_.end() && at->name == name ? &*at : nullptr;
}

result<std::span<const std::byte>> zip_archive::view(const zip_entry& entry) const {
    const std::string place = "entry " + std::string(entry.name) + ": ";
    const std::unique_ptr<zip_file_t, detail::zip_closer> file(
        zip_fopen_index(archive_.get(), entry.index, ZIP_FL_UNCHANGED));
    if (!file) return malformed(place + zip_error_strerror(zip_get_error(archive_.get())));
    if (entry.size > window_->bytes.size()) return malformed({place, "is larger than the archive"});
    if (entry.size == 0) return window_->bytes.first(0);
    return locate(*file, entry, place);
}

result<void> zip_archive::list_entries() {
    const zip_int64_t count = zip_get_num_entries(archive_.get(), ZIP_FL_UNCHANGED);
    entries_.reserve(static_cast<std::size_t>(std::max<zip_int64_t>(count, 0)));
    for (zip_int64_t i = 0; i < count; ++i) {
        zip_stat_t status;
        zip_stat_init(&status);
        constexpr zip_uint64_t needed = ZIP_STAT_NAME | ZIP_STAT_SIZE | ZIP_STAT_COMP_METHOD | ZIP_STAT_CRC;
        if (zip_stat_index(archive_.get(), static_cast<zip_uint64_t>(i), ZIP_FL_UNCHANGED, &status) != 0 ||
            (status.valid & needed) != needed) {
            return malformed({"entry ", i, " of the archive has no name, size or checksum"});
        }
        if (auto sound = check(status); !sound) return sound;
        entries_.push_back({status.name, status.size, static_cast<std::uint64_t>(i), status.crc});
    }
    std::ranges::sort(entries_, {}, &zip_entry::name);
    const auto twice = std::ranges::adjacent_find(entries_, {}, &zip_entry::name);
    if (twice == entries_.end()) return {};
    return malformed({"entry ", twice->name, ": the archive has two of that name"});
}

result<void> zip_archive::check(const zip_stat_t& status) {
    const std::string place = "entry " + std::string(status.name) + ": ";
    if ((status.valid & ZIP_STAT_ENCRYPTION_METHOD) != 0 && status.encryption_method != ZIP_EM_NONE) {
        return malformed({place, "is encrypted"});
    }
    if (status.comp_method != ZIP_CM_STORE) {
        return malformed({place, "is compressed; torch.export.save stores entries as they are"});
    }
    return {};
}

result<std::span<const std::byte>> zip_archive::locate(
    zip_file_t& file, const zip_entry& entry, const std::string& place) const {
    std::byte first{};
    window_->first_read.reset();
    const zip_int64_t count = zip_fread(&file, &first, 1);
    if (count < 0) return malformed(place + zip_error_strerror(zip_file_get_error(&file)));
    const std::uint64_t begin = window_->first_read.value_or(window_->bytes.size());
    if (count == 0 || window_->bytes.size() - begin < entry.size) return malformed({place, "is truncated"});
    const std::span<const std::byte> found = window_->bytes.subspan(begin, entry.size);
    if (libdeflate_crc32(0, found.data(), found.size()) != entry.checksum)
        return malformed({place, "CRC error"});
    return found;
}

}  // namespace headrace
