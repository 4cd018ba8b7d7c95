// SPDX-License-Identifier: MIT
// Defines headrace::pte_method, what the writer of .pte files is given, and headrace::pte_method_size, what
// it says of a method.
#ifndef HEADRACE_IO_PTE_METHOD_HPP
#define HEADRACE_IO_PTE_METHOD_HPP

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include <headrace/ir/graph.hpp>

namespace headrace {

/// A method of a program: a graph of the executorch dialect alone.
struct pte_method {
    std::string_view name;
    const graph* code = nullptr;
};

/// What a method needs of the runtime.
struct pte_method_size {
    std::string name;
    std::uint64_t planned_bytes = 0;  ///< of the memory that the caller provides
    std::uint64_t lower_bound = 0;    ///< no plan needs less
    std::size_t values = 0;
    std::size_t instructions = 0;
};

namespace detail::pte {
struct segment_part {
    std::uint64_t offset = 0;  ///< in its segment
    std::span<const std::byte> bytes{};
};
}  // namespace detail::pte

}  // namespace headrace

#endif
