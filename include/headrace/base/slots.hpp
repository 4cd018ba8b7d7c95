// SPDX-License-Identifier: MIT
// Defines headrace::find_slot, the lookup of hash tables with open addressing.
#ifndef HEADRACE_BASE_SLOTS_HPP
#define HEADRACE_BASE_SLOTS_HPP

#include <cstddef>
#include <cstdint>

namespace headrace {

/// Returns the first slot, starting at the one for `hash`, at which `ends(slot)` is true: it is free or has
/// the item that is searched for. `count` must be a power of two, and at least one slot must be free.
template <class Ends>
[[nodiscard]] constexpr std::size_t find_slot(std::size_t count, std::uint64_t hash, Ends&& ends) {
    std::size_t at = static_cast<std::size_t>(hash) & (count - 1);
    while (!ends(at)) at = (at + 1) & (count - 1);
    return at;
}

}  // namespace headrace

#endif
