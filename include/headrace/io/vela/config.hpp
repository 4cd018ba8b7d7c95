// SPDX-License-Identifier: MIT
// Declares headrace::vela_config, which describes a board's banks of memory to Vela.
#ifndef HEADRACE_IO_VELA_CONFIG_HPP
#define HEADRACE_IO_VELA_CONFIG_HPP

#include <cstdint>
#include <string>
#include <string_view>

#include <headrace/banks/memory_map.hpp>
#include <headrace/base/result.hpp>

namespace headrace {

/// A configuration file for Vela's `--config`, and the names of its sections.
struct vela_config {
    std::string text;
    std::string_view system_config = "Headrace";
    std::string_view memory_mode = "Headrace";
    std::string arena_bank;         ///< where the NPU's tensors lie
    std::uint64_t arena_bytes = 0;  ///< its capacity
    std::string constant_bank;
};

/// Describes the banks that an NPU of that name, ethos-u55-128, uses through its two AXI ports: the fastest
/// that may hold an arena, and the largest of the others that may hold constants; if there is none, the
/// first holds them, too. Vela knows no other banks. Speeds are relative to a port of 8 bytes in each cycle,
/// of 16 for Ethos-U65 and U85.
[[nodiscard]] result<vela_config> make_vela_config(const memory_map& map, std::string_view accelerator);

}  // namespace headrace

#endif
