// SPDX-License-Identifier: MIT
// Defines headrace::arena, the memory of a graph.
#ifndef HEADRACE_IR_ARENA_HPP
#define HEADRACE_IR_ARENA_HPP

#include <cstddef>
#include <memory_resource>
#include <new>

namespace headrace {

/// Returns an array of trivially destructible values, freed only with the resource's memory.
template <class T>
[[nodiscard]] T* make_array(std::pmr::memory_resource& memory, std::size_t count) {
    if (count == 0) return nullptr;
    T* items = static_cast<T*>(memory.allocate(count * sizeof(T), alignof(T)));
    for (std::size_t i = 0; i != count; ++i) new (items + i) T();
    return items;
}
template <class T>
[[nodiscard]] T* copy_array(std::pmr::memory_resource& memory, const T* items, std::size_t count) {
    if (count == 0) return nullptr;
    T* copy = static_cast<T*>(memory.allocate(count * sizeof(T), alignof(T)));
    for (std::size_t i = 0; i != count; ++i) new (copy + i) T(items[i]);
    return copy;
}

/// A memory resource that frees everything at once, when it is destroyed. Chunks grow with the graph, up to 1
/// MiB; a large allocation gets a chunk of its own, so that constants do not make the other chunks grow, as
/// they do in std::pmr::monotonic_buffer_resource.
class arena final : public std::pmr::memory_resource {
public:
    explicit arena(std::pmr::memory_resource* upstream) : upstream_(upstream) {}
    arena(const arena&) = delete;
    arena& operator=(const arena&) = delete;
    ~arena() override;

private:
    struct alignas(64) chunk {
        chunk* next;
        std::size_t bytes;
    };

    void* do_allocate(std::size_t bytes, std::size_t alignment) override;
    void do_deallocate(void*, std::size_t, std::size_t) override {}
    [[nodiscard]] bool do_is_equal(const std::pmr::memory_resource& other) const noexcept override {
        return this == &other;
    }

    // Allocates a chunk with room for that many bytes after its header.
    void* take(std::size_t bytes, std::size_t alignment);

    std::pmr::memory_resource* upstream_;
    chunk* chunks_ = nullptr;
    void* free_ = nullptr;
    std::size_t free_bytes_ = 0;
    std::size_t shared_bytes_ = 0;  // of the chunks for small allocations
};

}  // namespace headrace

#ifndef HEADRACE_COMPILED
#include <headrace/ir/arena_definition.hpp>
#endif

#endif
