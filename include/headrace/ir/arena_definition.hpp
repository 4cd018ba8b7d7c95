// SPDX-License-Identifier: MIT
// Defines the functions of ir/arena.hpp.
#ifndef HEADRACE_IR_ARENA_DEFINITION_HPP
#define HEADRACE_IR_ARENA_DEFINITION_HPP

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>

#include <headrace/base/compiled.hpp>
#include <headrace/ir/arena.hpp>
#include <headrace/ir/node.hpp>

namespace headrace {

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
    if (bytes > chunk_bytes / 4 || alignment > alignof(chunk)) return take(bytes + alignment, alignment);
    const bool is_node = bytes == sizeof(node) && alignment <= alignof(node);
    if (free_bytes_ < bytes + alignment) {
        // Small machines have no graphs for which that pays, and no memory to spare.
        constexpr std::size_t largest_chunk_bytes = (sizeof(void*) < 8 ? 1 : 16) * chunk_bytes;
        const std::size_t before = chunks_ == nullptr ? 0 : chunks_->bytes;
        free_bytes_ = std::clamp(2 * before, chunk_bytes, largest_chunk_bytes) - sizeof(chunk);
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
    chunks_ = std::construct_at(static_cast<chunk*>(memory), chunk{chunks_, whole});
    void* room = chunks_ + 1;
    std::size_t left = bytes;
    return std::align(alignment, 1, room, left);
}

}  // namespace headrace

#endif
