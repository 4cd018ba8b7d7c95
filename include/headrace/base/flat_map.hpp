// SPDX-License-Identifier: MIT
// Defines headrace::flat_map, a hash table with open addressing.
#ifndef HEADRACE_BASE_FLAT_MAP_HPP
#define HEADRACE_BASE_FLAT_MAP_HPP

#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <utility>

#include <headrace/base/pmr_vector.hpp>
#include <headrace/base/slots.hpp>

namespace headrace {

/// A hash table of small items in one array: a lookup fetches one cache line, and std::unordered_map's three.
/// Items are pointers, numbers of entries stored elsewhere, or structs of them. A free slot has an item that
/// converts to false, so numbers begin with 1.
///
/// The caller computes hashes, whose lower 32 bits must differ (base/mix.hpp), and tells which item it wants,
/// so that an item need not contain its key. Items cannot be removed, and there is no iteration: the order of
/// slots, which depends on addresses, can never influence a result.
///
///     flat_map<const node*> seen;
///     const node*& known = seen.find_or_add(hash_of_address(n), [&](const node* m) { return m == n; });
///     if (known == nullptr) known = n;  // it was not there
template <class T>
class flat_map {
public:
    explicit flat_map(std::pmr::memory_resource* memory = std::pmr::get_default_resource())
        : slots_(memory) {}

    [[nodiscard]] std::size_t size() const { return size_; }
    /// Makes room for so many items.
    void reserve(std::size_t count) {
        if (2 * count > slots_.size()) resize(2 * count);
    }

    /// Returns the item with that hash for which `is_wanted(item)` is true, or null.
    template <class IsWanted>
    [[nodiscard]] const T* find(std::uint64_t hash, IsWanted&& is_wanted) const {
        if (slots_.empty()) return nullptr;
        const slot& s = slots_[place_of(hash, is_wanted)];
        return s.item ? &s.item : nullptr;
    }
    /// Returns that item, or a false one that the caller must set before the next call. The reference is
    /// valid until then.
    template <class IsWanted>
    [[nodiscard]] T& find_or_add(std::uint64_t hash, IsWanted&& is_wanted) {
        if (2 * (size_ + 1) > slots_.size()) resize(4 * (size_ + 1));
        slot& s = slots_[place_of(hash, is_wanted)];
        if (!s.item) {
            s.hash = static_cast<std::uint32_t>(hash);
            ++size_;
        }
        return s.item;
    }

private:
    struct slot {
        T item{};
        std::uint32_t hash = 0;
    };

    // Returns the slot of the item, or the free slot where it would go.
    template <class IsWanted>
    [[nodiscard]] std::size_t place_of(std::uint64_t hash, const IsWanted& is_wanted) const {
        const auto lower = static_cast<std::uint32_t>(hash);
        return find_slot(slots_.size(), lower, [&](std::size_t at) {
            const slot& s = slots_[at];
            return !s.item || (s.hash == lower && is_wanted(s.item));
        });
    }
    void resize(std::size_t least) {
        constexpr std::size_t smallest = 16;
        pmr_vector<slot> before(
            std::bit_ceil(least < smallest ? smallest : least), slot(), slots_.resource());
        before.swap(slots_);
        for (slot& s : before) {
            if (s.item) slots_[place_of(s.hash, [](const T&) { return false; })] = std::move(s);
        }
    }

    pmr_vector<slot> slots_;  // a power of two in number, at most half in use
    std::size_t size_ = 0;
};

}  // namespace headrace

#endif
