// SPDX-License-Identifier: MIT
// Declares headrace::firmware::plan_banks: the memory of a C++ type over the banks of a board.
#ifndef HEADRACE_FIRMWARE_BANK_LAYOUT_HPP
#define HEADRACE_FIRMWARE_BANK_LAYOUT_HPP

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <headrace/banks/bank_plan.hpp>
#include <headrace/banks/memory_map.hpp>
#include <headrace/base/result.hpp>
#include <headrace/firmware/layers.hpp>

namespace headrace::firmware {

/// A bank, and the model's part of it.
struct bank_part {
    std::string name;
    std::uint64_t alignment = 16;
    std::int64_t arena_bytes = 0, lower_bound = 0, constant_bytes = 0;
    bool holds_states = false, holds_stack = false;
};

struct bank_layout {
    std::vector<bank_part> parts{};     ///< a bank each
    std::vector<std::size_t> arenas{};  ///< the part of each arena, by its number
    std::int64_t arena_bytes = 0;       ///< of all arenas
    std::int64_t lower_bound = 0;
};

/// Gives each buffer its arena and its offset there, and each constant an attribute that names its bank. All
/// states are in one bank, that of the model object. An error names a bank that is too small.
[[nodiscard]] result<bank_layout> plan_banks(written_layers& layers, const memory_map& map);

/// The macro of a bank, HEADRACE_BANK_DTCM for memory that is written, HEADRACE_BANK_DTCM_CONSTANTS for
/// constants: a section holds either.
[[nodiscard]] std::string bank_macro(const std::string& bank, bool of_constants);

/// Parts of a header: comments with the figures of each bank, empty macros for all that are used, and the
/// arenas.
[[nodiscard]] std::string format_banks(const bank_layout& layout);
[[nodiscard]] std::string format_bank_macros(const bank_layout& layout);
[[nodiscard]] std::string format_arenas(const bank_layout& layout);

}  // namespace headrace::firmware

#endif
