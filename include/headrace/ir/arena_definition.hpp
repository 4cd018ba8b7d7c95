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
#include <headrace/base/huge_pages.hpp>
#include <headrace/ir/arena.hpp>
#include <headrace/ir/node.hpp>

namespace headrace {

HEADRACE_INLINE arena::~arena() {
    while (chunks_ != nullptr) {
        chunk* last = chunks_;
        chunks_ = last->next;
        upstream_->deallocate(last, last->bytes, huge_pages::alignment_of(last->bytes, alignof(chunk)));
    }
}

// Passes walk over nodes far more often than over what nodes refer to. So nodes are laid side by side from a
// chunk's begin, where the processor fetches the next ones ahead, and all else from its end: in a graph that
// no cache holds, that saves part of the time of a lowering.
HEADRACE_INLINE void* arena::do_allocate(std::size_t bytes, std::size_t alignment) {
    constexpr std::size_t least = std::size_t{16} * 1024;
    // Small machines have no memory to spare.
    constexpr std::size_t most = sizeof(void*) < 8 ? least : 2 * huge_pages::page_bytes;
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
    void* memory = upstream_->allocate(whole, huge_pages::alignment_of(whole, alignof(chunk)));
    huge_pages::ask_for(memory, whole);
    chunks_ = new (memory) chunk{chunks_, whole};
    const auto room = reinterpret_cast<std::uintptr_t>(chunks_ + 1);
    return reinterpret_cast<void*>((room + alignment - 1) / alignment * alignment);
}

}  // namespace headrace

#endif
