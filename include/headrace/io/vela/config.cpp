// SPDX-License-Identifier: MIT
// Defines headrace::make_vela_config.

#include <headrace/io/vela/config.hpp>

#include <algorithm>
#include <cstddef>

#include <headrace/base/strings.hpp>

namespace headrace {

namespace {

constexpr std::string_view core_clock =
    "500e6";  // Vela's estimates in seconds depend on it, its cycles do not

std::string area_text(std::string_view area, const memory_bank& bank, double bytes_of_port, int burst) {
    const double scale = std::min(1.0, bank.bytes_per_cycle / bytes_of_port);
    return join_text(area, "_clock_scale=", shortest_text(scale), "\n", area, "_burst_length=", burst, "\n",
        area, "_read_latency=", bank.latency, "\n", area,
        "_write_latency=", bank.may_hold(memory_use::arena) ? bank.latency : 0, "\n");
}

}  // namespace

result<vela_config> make_vela_config(const memory_map& map, std::string_view accelerator) {
    const memory_bank* arena = nullptr;
    const memory_bank* constants = nullptr;
    for (const memory_bank& b : map.banks) {
        if (!b.may_hold(memory_use::arena)) continue;
        if (arena == nullptr || b.bytes_per_cycle > arena->bytes_per_cycle) arena = &b;
    }
    if (arena == nullptr) return unsupported("no bank of the memory map may hold the NPU's arena");
    for (const memory_bank& b : map.banks) {
        if (&b == arena || !b.may_hold(memory_use::constants)) continue;
        if (constants == nullptr || b.bytes > constants->bytes) constants = &b;
    }
    if (constants == nullptr && !arena->may_hold(memory_use::constants))
        return unsupported("no bank of the memory map may hold the NPU's constants");
    const bool is_u55 = accelerator.starts_with("ethos-u55");
    const double bytes_of_port = is_u55 ? 8 : 16;
    vela_config made{.text = join_text("; The banks of ", map.name, "\n[System_Config.Headrace]\ncore_clock=",
                         core_clock, "\naxi0_port=Sram\naxi1_port=OffChipFlash\n"),
        .arena_bank = arena->name,
        .arena_bytes = arena->capacity(),
        .constant_bank = (constants != nullptr ? constants : arena)->name};
    made.text += area_text("Sram", *arena, bytes_of_port, 32);
    if (constants != nullptr) made.text += area_text("OffChipFlash", *constants, bytes_of_port, 128);
    // An address has 32 bits on Ethos-U55, 40 on the others.
    const std::uint64_t addresses = std::uint64_t{1} << (is_u55 ? 32 : 40);
    made.text += join_text("[Memory_Mode.Headrace]\nconst_mem_area=", constants != nullptr ? "Axi1" : "Axi0",
        "\narena_mem_area=Axi0\ncache_mem_area=Axi0\narena_cache_size=",
        std::min(made.arena_bytes, addresses), "\n");
    return made;
}

}  // namespace headrace
