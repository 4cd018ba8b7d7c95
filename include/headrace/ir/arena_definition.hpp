// SPDX-License-Identifier: MIT
// Defines the functions of ir/arena.hpp.
#ifndef HEADRACE_IR_ARENA_DEFINITION_HPP
#define HEADRACE_IR_ARENA_DEFINITION_HPP

#include <cstddef>
#include <memory>

#include <headrace/base/compiled.hpp>
#include <headrace/ir/arena.hpp>

namespace headrace {

HEADRACE_INLINE arena::~arena() {
    while (chunks_ != nullptr) {
        chunk* last = chunks_;
        chunks_ = last->next;
        upstream_->deallocate(last, last->bytes, alignof(chunk));
    }
}

HEADRACE_INLINE void* arena::do_allocate(std::size_t bytes, std::size_t alignment) {
    if (bytes > chunk_bytes / 4 || alignment > alignof(chunk)) return take(bytes + alignment, alignment);
    void* at = std::align(alignment, bytes, free_, free_bytes_);
    if (at == nullptr) {
        free_ = take(chunk_bytes - sizeof(chunk), alignof(chunk));
        free_bytes_ = chunk_bytes - sizeof(chunk);
        at = std::align(alignment, bytes, free_, free_bytes_);
    }
    free_ = static_cast<std::byte*>(free_) + bytes;
    free_bytes_ -= bytes;
    return at;
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
