// SPDX-License-Identifier: MIT
// Defines the memory dialect: buffers that a host graph names, into which out-variants write.
#ifndef HEADRACE_DIALECT_MEMORY_HPP
#define HEADRACE_DIALECT_MEMORY_HPP

#include <optional>

#include <headrace/op/op.hpp>

namespace headrace::memory {

struct dialect;

/// A buffer for a tensor of that type and shape. Once memory has been planned, `memory` says in which of the
/// program's memories it lies and `offset` at which of its bytes.
struct alloc : op<dialect, "memory.alloc", "size, dtype, memory, offset"> {
    struct args {
        int_list size;
        headrace::dtype dtype;
        std::optional<std::int64_t> memory{};
        std::optional<std::int64_t> offset{};
    };
};

struct dialect : dialect_of<"memory", alloc> {};

}  // namespace headrace::memory

#endif
