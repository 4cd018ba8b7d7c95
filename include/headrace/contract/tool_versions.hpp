// SPDX-License-Identifier: MIT
// Defines the versions of tools that read what Headrace writes, which a contract repeats as its `needs`.
#ifndef HEADRACE_CONTRACT_TOOL_VERSIONS_HPP
#define HEADRACE_CONTRACT_TOOL_VERSIONS_HPP

#include <compare>

namespace headrace {

struct tool_version {
    unsigned major = 0, minor = 0;
    friend constexpr auto operator<=>(const tool_version&, const tool_version&) = default;
};

/// All versions from one to another, both included.
struct version_range {
    tool_version oldest{}, newest{};
    [[nodiscard]] constexpr bool contains(const tool_version& v) const { return oldest <= v && v <= newest; }
};

// tests/versions.py runs files with each of these and prints the table of examples/docs/versions.md.
inline constexpr version_range tested_executorch{{1, 3}, {1, 5}};
inline constexpr version_range tested_vela{{5, 0}, {5, 2}};
inline constexpr version_range tested_tosa_tools{{2026, 2}, {2026, 8}};

/// Tools, for `runs_on`. TOSA's reference model is tosa_tools; its versions are years and months.
namespace tool {
template <unsigned Major, unsigned Minor>
struct executorch {
    static constexpr tool_version version{Major, Minor};
};
template <unsigned Major, unsigned Minor>
struct vela {
    static constexpr tool_version version{Major, Minor};
};
template <unsigned Year, unsigned Month>
struct tosa_tools {
    static constexpr tool_version version{Year, Month};
};
}  // namespace tool

}  // namespace headrace

#endif
