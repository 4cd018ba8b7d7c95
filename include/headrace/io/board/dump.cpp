// SPDX-License-Identifier: MIT
// Defines the functions of headrace/io/board/dump.hpp.

#include <headrace/io/board/dump.hpp>

#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>

#include <headrace/base/printable.hpp>
#include <headrace/base/strings.hpp>
#include <headrace/io/pte/format.hpp>

namespace headrace {

namespace {

constexpr std::string_view dump_magic = "HRDP";
constexpr std::uint32_t dump_version = 1;
constexpr std::size_t number_bytes = sizeof(std::uint32_t);
constexpr std::size_t longest_name = 4096;  // a longer one is a sign of bytes that were lost

std::uint32_t number_at(std::span<const std::byte> file, std::size_t at) {
    return pte::get_little_endian<std::uint32_t>(file.subspan(at, number_bytes));
}

void put_number(std::vector<std::byte>& to, std::size_t number) {
    std::array<std::byte, number_bytes> bytes{};
    pte::put_little_endian(static_cast<std::uint32_t>(number), bytes);
    to.insert(to.end(), bytes.begin(), bytes.end());
}

void put_text(std::vector<std::byte>& to, std::string_view text) {
    const auto bytes = std::as_bytes(std::span(text));
    to.insert(to.end(), bytes.begin(), bytes.end());
}

result<void> check_head(std::span<const std::byte> file) {
    const std::size_t head = dump_magic.size() + number_bytes;
    if (file.size() < dump_magic.size() ||
        std::memcmp(file.data(), dump_magic.data(), dump_magic.size()) != 0)
        return malformed("it is no dump of a board: its first bytes are not HRDP");
    if (file.size() < head) return malformed("the dump ends before its version");
    if (const std::uint32_t found = number_at(file, dump_magic.size()); found != dump_version)
        return unsupported(
            join_text("the dump has version ", found, ", this program reads version ", dump_version));
    return {};
}

}  // namespace

std::string board_record_text(std::size_t index, const board_record& record) {
    return join_text("record ", index, " at offset ", record.offset, record.name.empty() ? "" : ", ",
        printable(record.name), ": ");
}

result<std::vector<board_record>> read_board_dump(std::span<const std::byte> file) {
    HEADRACE_TRY(check_head(file));
    std::vector<board_record> records;
    for (std::size_t at = dump_magic.size() + number_bytes; at != file.size();) {
        board_record made{.offset = at};
        const auto fault = [&](auto... text) {
            return malformed(join_text(board_record_text(records.size() + 1, made), text...));
        };
        if (file.size() - at < 2 * number_bytes)
            return fault("the file ends in its lengths: the dump was cut off");
        const std::size_t name_length = number_at(file, at);
        const std::size_t byte_count = number_at(file, at + number_bytes);
        at += 2 * number_bytes;
        if (name_length == 0 || name_length > longest_name)
            return fault("its name would have ", name_length,
                " bytes: bytes were lost or added before it, such as line breaks by a terminal");
        if (file.size() - at < name_length) return fault("the file ends in its name: the dump was cut off");
        const auto name = file.subspan(at, name_length);
        made.name.assign(reinterpret_cast<const char*>(name.data()), name.size());
        at += name_length;
        if (file.size() - at < byte_count)
            return fault("the file has ", file.size() - at, " of its ", byte_count,
                " bytes: the dump was cut off, or bytes were lost before it");
        made.bytes = file.subspan(at, byte_count);
        at += byte_count;
        records.push_back(std::move(made));
    }
    return records;
}

std::vector<std::byte> write_board_dump(std::span<const board_record> records) {
    std::vector<std::byte> file;
    put_text(file, dump_magic);
    put_number(file, dump_version);
    for (const board_record& r : records) {
        put_number(file, r.name.size());
        put_number(file, r.bytes.size());
        put_text(file, r.name);
        file.insert(file.end(), r.bytes.begin(), r.bytes.end());
    }
    return file;
}

}  // namespace headrace
