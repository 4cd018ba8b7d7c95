// SPDX-License-Identifier: MIT
// Defines headrace::name_table, a table from names to values.
#ifndef HEADRACE_BASE_NAME_TABLE_HPP
#define HEADRACE_BASE_NAME_TABLE_HPP

#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <string_view>
#include <utility>

#include <headrace/base/pmr_vector.hpp>
#include <headrace/base/slots.hpp>

namespace headrace {

/// A table from names to values. It does not own the names; values are stored contiguously in insertion
/// order. In a large table, a lookup fetches three cache lines (a slot, an entry and its name's text), and
/// std::unordered_map's fetches six. Boost has such tables, but not in 1.74.
template <class T>
class name_table {
public:
    explicit name_table(std::pmr::memory_resource* memory = std::pmr::get_default_resource())
        : entries_(memory), slots_(memory) {}

    [[nodiscard]] std::size_t size() const { return entries_.size(); }
    void reserve(std::size_t count) {
        entries_.reserve(count);
        if (2 * count > slots_.size()) make_slots(2 * count);
    }

    /// Returns the value of that name, or null. The pointer is valid until another name is added.
    [[nodiscard]] T* find(std::string_view name) {
        if (slots_.empty()) return nullptr;
        const slot& s = slots_[place_of(name, hash_of(name))];
        return s.number == none ? nullptr : &entries_[s.number].value;
    }
    [[nodiscard]] const T* find(std::string_view name) const {
        return const_cast<name_table&>(*this).find(name);
    }
    /// Returns the value of that name, and whether it was added now.
    std::pair<T*, bool> try_emplace(std::string_view name, T value = {}) {
        if (2 * (entries_.size() + 1) > slots_.size()) make_slots(4 * (entries_.size() + 1));
        const std::uint32_t hash = hash_of(name);
        slot& s = slots_[place_of(name, hash)];
        if (s.number != none) return {&entries_[s.number].value, false};
        s = {hash, static_cast<std::uint32_t>(entries_.size())};
        return {&entries_.emplace_back(entry{name, std::move(value)}).value, true};
    }

private:
    static constexpr std::uint32_t none = static_cast<std::uint32_t>(-1);
    struct entry {
        std::string_view name;
        T value;
    };
    struct slot {
        std::uint32_t hash = 0;
        std::uint32_t number = none;
    };

    static std::uint32_t hash_of(std::string_view name) {
        return static_cast<std::uint32_t>(std::hash<std::string_view>()(name));
    }
    // Returns the slot that has that name, or the free slot where it would go.
    [[nodiscard]] std::size_t place_of(std::string_view name, std::uint32_t hash) const {
        return find_slot(slots_.size(), hash, [&](std::size_t at) {
            const slot& s = slots_[at];
            return s.number == none || (s.hash == hash && entries_[s.number].name == name);
        });
    }
    void make_slots(std::size_t least) {
        slots_.assign(std::bit_ceil(least), slot());
        for (std::uint32_t i = 0; i != entries_.size(); ++i) {
            const std::uint32_t hash = hash_of(entries_[i].name);
            slots_[place_of(entries_[i].name, hash)] = {hash, i};
        }
    }

    pmr_vector<entry> entries_;
    pmr_vector<slot> slots_;  // a power of two in number, at most half in use
};

}  // namespace headrace

#endif
