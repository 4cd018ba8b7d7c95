// SPDX-License-Identifier: MIT
// Defines headrace::name_table, a table from names to values.
#ifndef HEADRACE_BASE_NAME_TABLE_HPP
#define HEADRACE_BASE_NAME_TABLE_HPP

#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <string_view>
#include <utility>

#include <headrace/base/flat_map.hpp>
#include <headrace/base/pmr_vector.hpp>

namespace headrace {

/// A table from names to values. It does not own the names; values are stored contiguously in insertion
/// order. In a large table, a lookup fetches three cache lines (a slot, an entry and its name's text), and
/// std::unordered_map's fetches six. Boost has such tables, but not in 1.74.
template <class T>
class name_table {
public:
    explicit name_table(std::pmr::memory_resource* memory = std::pmr::get_default_resource())
        : entries_(memory), numbers_(memory) {}

    [[nodiscard]] std::size_t size() const { return entries_.size(); }
    void reserve(std::size_t count) {
        entries_.reserve(count);
        numbers_.reserve(count);
    }

    /// Returns the value of that name, or null. The pointer is valid until another name is added.
    [[nodiscard]] T* find(std::string_view name) {
        const std::uint32_t* const number = numbers_.find(hash_of(name), has_name(name));
        return number == nullptr ? nullptr : &entries_[*number - 1].value;
    }
    [[nodiscard]] const T* find(std::string_view name) const {
        return const_cast<name_table&>(*this).find(name);
    }
    /// Returns the value of that name, and whether it was added now.
    std::pair<T*, bool> try_emplace(std::string_view name, T value = {}) {
        std::uint32_t& number = numbers_.find_or_add(hash_of(name), has_name(name));
        if (number != 0) return {&entries_[number - 1].value, false};
        entries_.emplace_back(entry{name, std::move(value)});
        number = static_cast<std::uint32_t>(entries_.size());
        return {&entries_.back().value, true};
    }

private:
    struct entry {
        std::string_view name;
        T value;
    };

    static std::uint64_t hash_of(std::string_view name) { return std::hash<std::string_view>()(name); }
    [[nodiscard]] auto has_name(std::string_view name) const {
        return [this, name](std::uint32_t number) { return entries_[number - 1].name == name; };
    }

    pmr_vector<entry> entries_;
    flat_map<std::uint32_t> numbers_;  // of entries, from 1
};

}  // namespace headrace

#endif
