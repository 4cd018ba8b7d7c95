// SPDX-License-Identifier: MIT
// Defines headrace::memory_use, what bytes of memory are for.
#ifndef HEADRACE_BASE_MEMORY_USE_HPP
#define HEADRACE_BASE_MEMORY_USE_HPP

#include <cstdint>
#include <initializer_list>
#include <string_view>

namespace headrace {

/// The use of bytes in memory. `constants`: weights and tables; `arena`: tensors of one inference; `state`:
/// tensors that one inference leaves to the next; `stack`: the stack of the functions that execute the model.
enum class memory_use : std::uint8_t { constants, arena, state, stack };

inline constexpr std::initializer_list<memory_use> memory_uses{
    memory_use::constants, memory_use::arena, memory_use::state, memory_use::stack};

[[nodiscard]] constexpr std::string_view name_of(memory_use use) {
    constexpr std::string_view names[] = {"constants", "arena", "state", "stack"};
    return names[static_cast<std::uint8_t>(use)];
}

}  // namespace headrace

#endif
