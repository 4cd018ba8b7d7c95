// SPDX-License-Identifier: MIT
// Declares headrace::read_memory_map and the memory maps of well-known boards.
#ifndef HEADRACE_IO_BANKS_MEMORY_MAP_READER_HPP
#define HEADRACE_IO_BANKS_MEMORY_MAP_READER_HPP

#include <string>
#include <string_view>
#include <vector>

#include <headrace/banks/memory_map.hpp>
#include <headrace/base/result.hpp>

namespace headrace {

/// Reads a memory map from JSON:
///
///     {"stack": "4K",
///      "banks": [{"name": "dtcm", "size": "128K", "bytes_per_cycle": 8, "holds": ["arena", "stack"]},
///                {"name": "flash", "size": "2M", "bytes_per_cycle": 2, "holds": ["constants"]}]}
///
/// Sizes are numbers of bytes, or strings with K, M or G for 2^10, 2^20 or 2^30. A bank may also have
/// `alignment` (default: 16) and `latency` (cycles, default: 0). Errors name the bank and the key.
[[nodiscard]] result<memory_map> read_memory_map(std::string_view json);

/// The map of a board, of public data, as JSON.
struct memory_preset {
    std::string_view name, board, source;
    std::string_view json;
};
[[nodiscard]] const std::vector<memory_preset>& memory_presets();

/// Reads the preset of that name or, if there is none, the file. Errors begin with the path.
[[nodiscard]] result<memory_map> load_memory_map(const std::string& preset_or_path);

}  // namespace headrace

#endif
