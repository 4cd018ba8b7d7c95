// SPDX-License-Identifier: MIT
// Defines headrace::memory_presets.

#include <headrace/io/banks/memory_map_reader.hpp>

namespace headrace {

namespace {

// The NPU's SRAM and flash as vela.ini describes Ethos_U55_High_End_Embedded: both of 64-bit AXI ports, the
// flash at an eighth of the speed. Sizes are those of the FPGA image AN552.
constexpr std::string_view corstone_300 = R"({"stack": "8K", "banks": [
 {"name": "dtcm", "size": "512K", "bytes_per_cycle": 4, "holds": ["state", "stack"]},
 {"name": "sram", "size": "2M", "bytes_per_cycle": 8, "latency": 32, "holds": ["arena", "state"]},
 {"name": "flash", "size": "8M", "bytes_per_cycle": 1, "latency": 64, "holds": ["constants"]}]})";

// The core runs at 480 MHz, the AXI bus of 64 bits at 240 MHz. The flash gives 32 bytes in 1 + 4 cycles of
// that bus, which takes 3 more to transfer them: 32 bytes in 16 cycles of the core.
constexpr std::string_view stm32h743 = R"({"stack": "8K", "banks": [
 {"name": "dtcm", "size": "128K", "bytes_per_cycle": 8, "holds": ["arena", "state", "stack", "constants"]},
 {"name": "axi_sram", "size": "512K", "bytes_per_cycle": 4,
  "holds": ["arena", "state", "stack", "constants"]},
 {"name": "flash", "size": "2M", "alignment": 32, "bytes_per_cycle": 2, "holds": ["constants"]}]})";

// Both of 32 bits at 64 MHz; the flash has two wait states without its cache.
constexpr std::string_view nrf52840 = R"({"stack": "4K", "banks": [
 {"name": "ram", "size": "256K", "bytes_per_cycle": 4, "holds": ["arena", "state", "stack", "constants"]},
 {"name": "flash", "size": "1M", "bytes_per_cycle": 1.333, "holds": ["constants"]}]})";

constexpr std::string_view one_sram = R"({"banks": [
 {"name": "sram", "size": "1G", "bytes_per_cycle": 1, "holds": ["arena", "state", "stack", "constants"]}]})";

}  // namespace

const std::vector<memory_preset>& memory_presets() {
    static const std::vector<memory_preset> all{
        {"corstone-300", "Arm Corstone-300 with an Ethos-U55",
            "Arm AN552; vela.ini of Ethos-U Vela, Ethos_U55_High_End_Embedded", corstone_300},
        {"stm32h743", "STM32H743, a Cortex-M7 at 480 MHz", "ST DS12110 and RM0433, sections 2.3 and 4.3.8",
            stm32h743},
        {"nrf52840", "nRF52840, a Cortex-M4 at 64 MHz", "Nordic nRF52840 product specification, 4.1 and 4.3",
            nrf52840},
        {"one-sram", "one bank of 1 GiB, for comparisons", "no board", one_sram}};
    return all;
}

}  // namespace headrace
