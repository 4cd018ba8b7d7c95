// SPDX-License-Identifier: MIT
// Defines headrace::find_slot, the look-up of tables with open addressing.
#ifndef HEADRACE_BASE_SLOTS_HPP
#define HEADRACE_BASE_SLOTS_HPP

#include <cstddef>
#include <cstdint>

namespace headrace {

/// The first slot, from the one that `hash` says on, at which `ends(slot)` holds: it is free, or has what is
/// looked for. There is a power of two of slots, and one of them at least is free.
template <class Ends>
[[nodiscard]] constexpr std::size_t find_slot(std::size_t count, std::uint64_t hash, Ends&& ends) {
    std::size_t at = static_cast<std::size_t>(hash) & (count - 1);
    while (!ends(at)) at = (at + 1) & (count - 1);
    return at;
}

}  // namespace headrace

#endif
