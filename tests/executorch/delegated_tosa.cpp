// SPDX-License-Identifier: MIT
#include "delegated_tosa.hpp"

#include <cstdint>
#include <utility>

#include <headrace/io/pte/tosa_delegates.hpp>
#include <headrace/io/tosa/tosa_generated.hpp>

const char* const tosa_backend_name = headrace::tosa_backend_id.data();
const char* const tosa_constants_key = headrace::pte::shared_constants_key.data();

delegated_tosa restore_delegate(std::span<const std::byte> blob, std::span<const std::byte> constants) {
    auto restored = headrace::restore_tosa(blob, constants, std::uint64_t{1} << 31U);
    if (!restored) return {{}, 0, restored.error().message.c_str()};
    delegated_tosa made{std::move(restored).value(), 0, {}};
    const auto* const graph = headrace::tosa_fb::GetTosaGraph(made.flatbuffer.data());
    made.inputs = graph->regions()->Get(0)->blocks()->Get(0)->inputs()->size();
    return made;
}
