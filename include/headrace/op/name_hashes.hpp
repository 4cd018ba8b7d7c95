// SPDX-License-Identifier: MIT
// Defines the hash table by which a dialect finds its ops by their names.
#ifndef HEADRACE_OP_NAME_HASHES_HPP
#define HEADRACE_OP_NAME_HASHES_HPP

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include <headrace/base/fixed_string.hpp>
#include <headrace/base/slots.hpp>

namespace headrace {

namespace detail {

// A hash table of positions by name hash, with open addressing, so that the dialect's check and every lookup
// take linear time in all. A slot holds a position + 1, or 0.
template <std::size_t N>
struct hash_slots {
    std::array<std::uint16_t, std::bit_ceil(2 * N + 1)> slots{};
    bool all_different = true;

    static constexpr std::size_t size = std::bit_ceil(2 * N + 1);

    constexpr hash_slots(const std::uint64_t* hashes) {
        for (std::size_t i = 0; i != N; ++i) {
            std::uint16_t& slot = slots[slot_of(hashes, hashes[i])];
            if (slot == 0)
                slot = static_cast<std::uint16_t>(i + 1);
            else
                all_different = false;
        }
    }
    /// Returns the first position with that hash, or N.
    constexpr std::size_t find(const std::uint64_t* hashes, std::uint64_t hash) const {
        const std::uint16_t slot = slots[slot_of(hashes, hash)];
        return slot == 0 ? N : slot - 1U;
    }
    constexpr std::size_t slot_of(const std::uint64_t* hashes, std::uint64_t hash) const {
        return find_slot(
            size, hash, [&](std::size_t at) { return slots[at] == 0 || hashes[slots[at] - 1] == hash; });
    }
};

template <std::size_t N>
constexpr bool all_true(const bool (&facts)[N]) {
    for (const bool fact : facts) {
        if (!fact) return false;
    }
    return true;
}

// The names of a dialect's ops; empty if the list has a fault, so that no second error follows.
template <bool Sound, class... Ops>
struct op_names {
    static constexpr std::size_t size = sizeof...(Ops);
    static constexpr std::array<std::uint64_t, sizeof...(Ops)> hashes{hash_of(Ops::name)...};
    static constexpr std::array<std::string_view, sizeof...(Ops)> names{Ops::name...};
};
template <class... Ops>
struct op_names<false, Ops...> {
    static constexpr std::size_t size = 0;
    static constexpr std::array<std::uint64_t, 0> hashes{};
    static constexpr std::array<std::string_view, 0> names{};
};

}  // namespace detail

}  // namespace headrace

#endif
