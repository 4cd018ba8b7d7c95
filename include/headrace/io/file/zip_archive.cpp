// SPDX-License-Identifier: MIT
// Defines the functions of headrace/io/file/zip_archive.hpp.

#include <headrace/io/file/zip_archive.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <libdeflate.h>

#include <headrace/base/error.hpp>
#include <headrace/io/file/zip_records.hpp>

namespace headrace {

namespace zip {

namespace {

using byte_span = std::span<const std::byte>;

/// Returns the record at a position, if it is there.
template <class Record>
[[nodiscard]] std::optional<Record> record_at(byte_span file, std::uint64_t position) {
    if (position > file.size() || file.size() - position < sizeof(Record)) return std::nullopt;
    Record found;
    std::memcpy(&found, file.data() + position, sizeof found);
    if (found.signature.value() != Record::mark) return std::nullopt;
    return found;
}

[[nodiscard]] error broken(std::string_view what) { return malformed({"malformed zip archive: ", what}); }

struct directory {
    std::uint64_t offset = 0;
    std::uint64_t size = 0;
    std::uint64_t entries = 0;
    std::uint64_t end = 0;  // position of the record after it

    [[nodiscard]] bool fits() const { return offset <= end && size == end - offset; }
};

/// Finds the last record, whose comment ends where the file ends.
[[nodiscard]] std::optional<std::uint64_t> find_end(byte_span file) {
    constexpr std::size_t longest = sizeof(end_record) + wide_count;
    for (std::size_t size = sizeof(end_record); size <= std::min(file.size(), longest); ++size) {
        const auto found = record_at<end_record>(file, file.size() - size);
        if (found && found->comment_size.value() == size - sizeof(end_record)) return file.size() - size;
    }
    return std::nullopt;
}

// Takes the numbers of zip64, which those of 32 bits must agree with unless they are all ones.
[[nodiscard]] std::optional<directory> widened(byte_span file, const end_record& narrow,
    const wide_end_locator& locator, std::uint64_t locator_position) {
    const std::uint64_t position = locator.offset.value();
    const auto wide = record_at<wide_end_record>(file, position);
    if (!wide || locator.disk.value() != 0 || locator.disks.value() > 1) return std::nullopt;
    constexpr std::size_t counted_from = sizeof(wide->signature) + sizeof(wide->rest_size);
    if (locator_position < position + counted_from ||
        wide->rest_size.value() != locator_position - position - counted_from)
        return std::nullopt;
    const directory found{
        wide->directory_offset.value(), wide->directory_size.value(), wide->entries.value(), position};
    const auto agree = [](auto short_number, std::uint64_t number) {
        return short_number.value() == decltype(short_number.value())(~0U) || short_number.value() == number;
    };
    const bool sound = wide->disk.value() == 0 && wide->directory_disk.value() == 0 &&
        wide->entries_on_disk.value() == found.entries && agree(narrow.entries, found.entries) &&
        agree(narrow.directory_size, found.size) && agree(narrow.directory_offset, found.offset);
    return sound ? std::optional(found) : std::nullopt;
}

[[nodiscard]] result<directory> find_directory(byte_span file) {
    const auto position = find_end(file);
    if (!position) return broken("Not a zip archive");
    const end_record end = *record_at<end_record>(file, *position);
    std::optional<directory> found =
        directory{end.directory_offset.value(), end.directory_size.value(), end.entries.value(), *position};
    const std::uint64_t before = *position - std::min<std::uint64_t>(*position, sizeof(wide_end_locator));
    if (const auto locator = record_at<wide_end_locator>(file, before)) {
        found = widened(file, end, *locator, before);
    } else if (end.disk.value() != 0 || end.directory_disk.value() != 0 ||
        end.entries_on_disk.value() != end.entries.value()) {
        found.reset();
    }
    if (!found || !found->fits()) return broken("its end does not say where its directory is");
    return *found;
}

/// Returns the number of a header, or that of 64 bits in its extra fields. `wide` is what is left of those.
[[nodiscard]] std::optional<std::uint64_t> whole_number(std::uint32_t number, byte_span& wide) {
    if (number != wide_number) return number;
    little_uint64_buf_t whole;
    if (wide.size() < sizeof whole) return std::nullopt;
    std::memcpy(&whole, wide.data(), sizeof whole);
    wide = wide.subspan(sizeof whole);
    return whole.value();
}

/// Returns the extra field of numbers of 64 bits; empty if there is none.
[[nodiscard]] byte_span wide_numbers(byte_span extra) {
    extra_header header;
    while (extra.size() >= sizeof header) {
        std::memcpy(&header, extra.data(), sizeof header);
        extra = extra.subspan(sizeof header);
        const std::size_t size = std::min<std::size_t>(header.size.value(), extra.size());
        if (header.id.value() == wide_field) return extra.first(size);
        extra = extra.subspan(size);
    }
    return {};
}

[[nodiscard]] std::string_view text_of(byte_span name) {
    return {reinterpret_cast<const char*>(name.data()), name.size()};
}

/// Finds where the bytes of an entry begin. The header before them must say what the directory says.
[[nodiscard]] result<std::uint64_t> begin_of(
    byte_span file, std::uint64_t offset, const directory_header& listed, const zip_entry& entry) {
    const auto different = [&] {
        return malformed(
            {"entry ", entry.name, ": the directory of the archive and the header before it differ"});
    };
    const auto local = record_at<local_header>(file, offset);
    if (!local) return different();
    byte_span rest = file.subspan(offset + sizeof(local_header));
    const std::size_t name_size = local->entry.name_size.value();
    if (rest.size() < name_size + local->entry.extra_size.value()) return different();
    const byte_span name = rest.first(name_size);
    byte_span wide = wide_numbers(rest.subspan(name_size, local->entry.extra_size.value()));
    const auto size = whole_number(local->entry.size.value(), wide);
    const auto stored_size = whole_number(local->entry.stored_size.value(), wide);
    const bool is_written_before =
        (listed.entry.flags.value() & local->entry.flags.value() & numbers_follow) != 0 &&
        local->entry.checksum.value() == 0 && size == 0 && stored_size == 0;
    const bool has_numbers =
        local->entry.checksum.value() == entry.checksum && size == entry.size && stored_size == entry.size;
    if (text_of(name) != entry.name || local->entry.method.value() != listed.entry.method.value() ||
        local->entry.flags.value() != listed.entry.flags.value() ||
        local->entry.time.value() != listed.entry.time.value() ||
        local->entry.version.value() > listed.entry.version.value() || (!has_numbers && !is_written_before))
        return different();
    return offset + sizeof(local_header) + name_size + local->entry.extra_size.value();
}

/// Reads the entry at the beginning of `rest`, the rest of the directory, and removes it from that.
[[nodiscard]] result<zip_entry> read_entry(byte_span before_directory, byte_span& rest) {
    const auto beyond = [] { return broken("an entry reaches beyond its directory"); };
    const auto header = record_at<directory_header>(rest, 0);
    if (!header) return beyond();
    rest = rest.subspan(sizeof(directory_header));
    const std::size_t name_size = header->entry.name_size.value();
    const std::size_t extra_size = header->entry.extra_size.value();
    const std::size_t all = name_size + extra_size + header->comment_size.value();
    if (rest.size() < all) return beyond();
    zip_entry entry{.name = text_of(rest.first(name_size)), .checksum = header->entry.checksum.value()};
    byte_span wide = wide_numbers(rest.subspan(name_size, extra_size));
    rest = rest.subspan(all);
    const auto refused = [&](std::string_view what) { return malformed({"entry ", entry.name, ": ", what}); };
    if ((header->entry.flags.value() & is_encrypted) != 0) return refused("is encrypted");
    if (header->entry.method.value() != stored)
        return refused("is compressed; torch.export.save stores entries as they are");
    const auto size = whole_number(header->entry.size.value(), wide);
    const auto stored_size = whole_number(header->entry.stored_size.value(), wide);
    const auto offset = whole_number(header->offset.value(), wide);
    if (!size || !offset || stored_size != size || header->disk.value() != 0)
        return refused("its size or place is wrong");
    entry.size = *size;
    HEADRACE_TRY(begin, begin_of(before_directory, *offset, *header, entry));
    if (entry.size > before_directory.size() - begin) return refused("is truncated");
    entry.begin = begin;
    return entry;
}

/// True if an entry begins within the bytes of another: reading all of them would then take time out of
/// proportion to the file.
[[nodiscard]] bool overlap(std::vector<zip_entry> entries) {
    std::ranges::sort(entries, {}, &zip_entry::begin);
    const auto shared =
        std::ranges::adjacent_find(entries, [](const zip_entry& first, const zip_entry& second) {
            return first.size > second.begin - first.begin;
        });
    return shared != entries.end();
}

}  // namespace

}  // namespace zip

result<zip_archive> zip_archive::open(std::span<const std::byte> bytes) {
    HEADRACE_TRY(directory, zip::find_directory(bytes));
    zip_archive made(bytes);
    std::span<const std::byte> rest = bytes.subspan(directory.offset, directory.size);
    made.entries_.reserve(
        std::min<std::uint64_t>(directory.entries, rest.size() / sizeof(zip::directory_header)));
    for (std::uint64_t i = 0; i != directory.entries; ++i) {
        HEADRACE_TRY(entry, zip::read_entry(bytes.first(directory.offset), rest));
        made.entries_.push_back(entry);
    }
    if (!rest.empty()) return zip::broken("its directory has more than its entries");
    std::ranges::sort(made.entries_, {}, &zip_entry::name);
    if (std::ranges::adjacent_find(made.entries_, {}, &zip_entry::name) != made.entries_.end())
        return zip::broken("two entries have the same name");
    if (zip::overlap(made.entries_)) return zip::broken("two entries share bytes");
    return made;
}

const zip_entry* zip_archive::find(std::string_view name) const {
    const auto at = std::ranges::lower_bound(entries_, name, {}, &zip_entry::name);
    return at != entries_.end() && at->name == name ? &*at : nullptr;
}

result<std::span<const std::byte>> zip_archive::view(const zip_entry& entry) const {
    const std::span<const std::byte> found = bytes_.subspan(entry.begin, entry.size);
    if (libdeflate_crc32(0, found.data(), found.size()) != entry.checksum)
        return malformed({"entry ", entry.name, ": CRC error"});
    return found;
}

}  // namespace headrace
