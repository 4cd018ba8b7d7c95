// SPDX-License-Identifier: MIT
// Defines headrace::detail::vector_storage, the memory of a headrace::pmr_vector, whatever its items are.
#ifndef HEADRACE_BASE_VECTOR_STORAGE_HPP
#define HEADRACE_BASE_VECTOR_STORAGE_HPP

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory_resource>

namespace headrace {

namespace detail {

/// A pointer, the numbers of items in use and allocated, and where memory comes from.
struct vector_storage {
    void* items = nullptr;
    std::size_t size = 0;
    std::size_t capacity = 0;
    std::pmr::memory_resource* resource = std::pmr::get_default_resource();

    /// Allocates memory for `count` items; asks for the largest possible size if the product overflows.
    [[nodiscard]] void* allocate(std::size_t count, std::size_t bytes, std::size_t alignment) const {
        constexpr std::size_t most = PTRDIFF_MAX;
        return resource->allocate(count > most / bytes ? most : count * bytes, alignment);
    }
    /// Returns at least twice the capacity, so that a vector grows in linear time.
    [[nodiscard]] std::size_t next_capacity(std::size_t least) const {
        return least < 2 * capacity ? 2 * capacity : least;
    }
    /// Replaces the memory, whose items have been moved out.
    void put(void* memory, std::size_t count, std::size_t bytes, std::size_t alignment) {
        if (items != nullptr) resource->deallocate(items, capacity * bytes, alignment);
        items = memory;
        capacity = count;
    }
    /// Makes room for more items and moves the existing ones as bytes.
    void grow(std::size_t least, std::size_t bytes, std::size_t alignment) {
        const std::size_t count = next_capacity(least);
        void* const memory = allocate(count, bytes, alignment);
        if (size != 0) std::memcpy(memory, items, size * bytes);
        put(memory, count, bytes, alignment);
    }
};

}  // namespace detail

}  // namespace headrace

#endif
