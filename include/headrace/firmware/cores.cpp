// SPDX-License-Identifier: MIT
// Lists the cores that headers are written for.
#include <algorithm>

#include <headrace/firmware/layers.hpp>

namespace headrace::firmware {

std::span<const core_description> all_cores() {
    using enum on_device::core_id;
    static constexpr core_description cores[] = {{"host", portable}, {"cortex-m0", portable},
        {"cortex-m0plus", portable}, {"cortex-m3", portable}, {"cortex-m4", dsp}, {"cortex-m7", dsp},
        {"cortex-m33", dsp}, {"cortex-m55", mve}, {"cortex-m85", mve}};
    return cores;
}

std::optional<core_description> find_core(std::string_view name) {
    const auto cores = all_cores();
    const auto found = std::ranges::find(cores, name, &core_description::name);
    return found == cores.end() ? std::nullopt : std::optional(*found);
}

}  // namespace headrace::firmware
