// SPDX-License-Identifier: MIT
// Defines the memory dialect: named buffers of a host graph, into which out-variants write.
#ifndef HEADRACE_DIALECT_MEMORY_HPP
#define HEADRACE_DIALECT_MEMORY_HPP

#include <cstdint>
#include <optional>

#include <headrace/op/op.hpp>

namespace headrace::memory {

struct dialect;

/// A buffer for a tensor of that type and shape. After memory planning, `memory` is the index of the
/// program's memory that holds it, and `offset` its first byte there.
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
