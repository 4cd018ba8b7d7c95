// SPDX-License-Identifier: MIT
// Defines the functions of ir/arena.hpp.
#ifndef HEADRACE_IR_ARENA_DEFINITION_HPP
#define HEADRACE_IR_ARENA_DEFINITION_HPP

#include <bit>
#include <cstddef>
#include <cstdint>
#include <new>

#include <headrace/base/algorithms.hpp>
#include <headrace/base/compiled.hpp>
#include <headrace/ir/arena.hpp>
#include <headrace/ir/node.hpp>

#ifdef __linux__
#include <sys/mman.h>
#endif

namespace headrace {

namespace detail {

/// Chunks of this size are asked for at once; the processor's second cache holds one.
inline constexpr std::size_t populated_bytes = std::size_t{1} << 20U;

/// Has the kernel give the pages of a large block together, which takes it less time than one after the
/// other. No huge pages: where a virtual machine's host takes back what is free, the kernel clears one at 0.5
/// GB/s.
inline void populate([[maybe_unused]] void* memory, [[maybe_unused]] std::size_t bytes) {
#ifdef MADV_POPULATE_WRITE
    if (bytes < populated_bytes) return;
    constexpr std::uintptr_t page = 4096;
    const auto begin = reinterpret_cast<std::uintptr_t>(memory);
    const std::uintptr_t first = (begin + page - 1) / page * page;
    const std::uintptr_t end = (begin + bytes) / page * page;
    // If it is refused, pages come one after the other.
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

// Passes walk over nodes far more often than over what nodes refer to. So nodes are laid side by side from a
// chunk's begin, where the processor fetches the next ones ahead, and all else from its end: in a graph that
// no cache holds, that saves part of the time of a lowering.
HEADRACE_INLINE void* arena::do_allocate(std::size_t bytes, std::size_t alignment) {
    constexpr std::size_t least = std::size_t{16} * 1024;
    // Small machines have no memory to spare.
    constexpr std::size_t most = sizeof(void*) < 8 ? least : detail::populated_bytes;
    if (bytes > least / 4 || alignment > alignof(chunk)) return take(bytes + alignment, alignment);
    const bool is_node = bytes == sizeof(node) && alignment == alignof(node);
    if (free_bytes_ < bytes + alignment) {
        // As much as there is, so that chunks are few and at most half of all is taken in vain.
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
