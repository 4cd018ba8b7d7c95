// SPDX-License-Identifier: MIT
// Defines the functions of ir/arena.hpp.
#ifndef HEADRACE_IR_ARENA_DEFINITION_HPP
#define HEADRACE_IR_ARENA_DEFINITION_HPP

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <new>

#include <headrace/base/compiled.hpp>
#include <headrace/ir/node.hpp>

#ifdef __linux__
#include <sys/mman.h>
#endif

namespace headrace {

namespace detail {

/// Chunks of this size are mapped at once; one fits in the processor's second-level cache.
inline constexpr std::size_t populated_bytes = std::size_t{1} << 20U;

/// Makes the kernel map the pages of a large block in one call, which is faster than one by one. Huge pages
/// are not used: if a virtual machine's host reclaims free memory, the kernel clears them at 0.5 GB/s.
inline void populate([[maybe_unused]] void* memory, [[maybe_unused]] std::size_t bytes) {
#ifdef MADV_POPULATE_WRITE
    if (bytes < populated_bytes) return;
    constexpr std::uintptr_t page = 4096;
    const auto begin = reinterpret_cast<std::uintptr_t>(memory);
    const std::uintptr_t first = (begin + page - 1) / page * page;
    const std::uintptr_t end = (begin + bytes) / page * page;
    // If this fails, pages are mapped one by one.
    madvise(static_cast<std::byte*>(memory) + (first - begin), end - first, MADV_POPULATE_WRITE);
#endif
}

}  // namespace detail

HEADRACE_INLINE arena::~arena() {
    while (chunks_ != nullptr) {
        chunk* last = chunks_;
        chunks_ = last->next;
        upstream_->deallocate(last, last->bytes, alignof(chunk));
    }
}

// Passes read nodes far more often than the data that nodes refer to. So nodes are stored contiguously from
// the start of a chunk, where the processor prefetches the next ones, and everything else from its end. For
// graphs larger than the caches this shortens a lowering.
HEADRACE_INLINE void* arena::do_allocate(std::size_t bytes, std::size_t alignment) {
    constexpr std::size_t least = std::size_t{16} * 1024;
    // Small machines have no memory to spare.
    constexpr std::size_t most = sizeof(void*) < 8 ? least : detail::populated_bytes;
    if (bytes > least / 4 || alignment > alignof(chunk)) return take(bytes + alignment, alignment);
    const bool is_node = bytes == sizeof(node) && alignment == alignof(node);
    if (free_bytes_ < bytes + alignment) {
        // Each new chunk is as large as all before it: chunks are few, and at most half of them is unused.
        const std::size_t whole = std::min(std::max(std::bit_floor(shared_bytes_), least), most);
        shared_bytes_ += whole;
        free_bytes_ = whole - sizeof(chunk);
        free_ = take(free_bytes_, alignof(chunk));
    }
    if (is_node) {
        void* const at = free_;
        free_ = static_cast<std::byte*>(free_) + bytes;
        free_bytes_ -= bytes;
        return at;
    }
    const auto begin = reinterpret_cast<std::uintptr_t>(free_);
    free_bytes_ = (begin + free_bytes_ - bytes) / alignment * alignment - begin;
    return static_cast<std::byte*>(free_) + free_bytes_;
}

HEADRACE_INLINE void* arena::take(std::size_t bytes, std::size_t alignment) {
    const std::size_t whole = sizeof(chunk) + bytes;
    void* memory = upstream_->allocate(whole, alignof(chunk));
    detail::populate(memory, whole);
    chunks_ = new (memory) chunk{chunks_, whole};
    const auto room = reinterpret_cast<std::uintptr_t>(chunks_ + 1);
    return reinterpret_cast<void*>((room + alignment - 1) / alignment * alignment);
}

}  // namespace headrace

#endif
