// SPDX-License-Identifier: MIT
// Declares headrace::read_board_dump and headrace::write_board_dump, for the tensors that a board computed.
#ifndef HEADRACE_IO_BOARD_DUMP_HPP
#define HEADRACE_IO_BOARD_DUMP_HPP

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <headrace/base/result.hpp>

namespace headrace {

/// One tensor as a board had it: row-major elements, little-endian, without gaps.
struct board_record {
    std::string name{};  ///< of the value in the TOSA flatbuffer
    std::span<const std::byte> bytes{};
    std::uint64_t offset = 0;  ///< of the record in the file, for messages
};

/// The file's first eight bytes are `HRDP` and the version, 1. A record is the length of the name and the
/// number of bytes, as two numbers of 32 bits, then the name and the bytes. All numbers are little-endian.
/// The records view the file. An error names the record and its offset.
[[nodiscard]] result<std::vector<board_record>> read_board_dump(std::span<const std::byte> file);

/// Returns the file of these records.
[[nodiscard]] std::vector<std::byte> write_board_dump(std::span<const board_record> records);

/// Returns "record 2 at offset 1,234, conv2d: ", for messages; `index` counts from 1.
[[nodiscard]] std::string board_record_text(std::size_t index, const board_record& record);

}  // namespace headrace

#endif
