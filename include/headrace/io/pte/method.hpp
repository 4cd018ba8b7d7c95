// SPDX-License-Identifier: MIT
// Defines headrace::pte_method, a method for the writer of .pte files, and headrace::pte_method_size, the
// resources that it needs.
#ifndef HEADRACE_IO_PTE_METHOD_HPP
#define HEADRACE_IO_PTE_METHOD_HPP

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <headrace/banks/memory_map.hpp>
#include <headrace/ir/graph.hpp>
#include <headrace/ir/tensor_meta.hpp>
#include <headrace/partition/compile_spec.hpp>

namespace headrace {

/// The data that a method passes to a backend of the runtime.
struct pte_delegate {
    std::string id;  ///< the backend's name in the runtime
    /// The data for the backend; for "tosa", the part that split_tosa left (io/tosa/delegate.hpp).
    std::vector<std::byte> bytes;
    /// For "tosa", the constants that split_tosa cut out: they are stored among the host's constants.
    std::vector<std::span<const std::byte>> constants{};
    compile_specs specs{};  ///< the runtime passes them to the backend
};

/// The first value of a tensor that a method keeps from one execution to the next.
struct pte_state {
    tensor_data data;
    tensor_meta meta;
};

/// A method of a program: a graph of only the executorch and cortex_m dialects, with the buffers that the
/// latter's kernels work in (memory.alloc), and the delegates that it calls by number.
///
/// With n states, the last n inputs of the graph are the states' values when an execution begins. Its last 2n
/// outputs are the states' values when it ends, followed by those inputs once more, which therefore keep
/// their places. None of these is an input or an output of the method.
struct pte_method {
    std::string_view name;
    const graph* code = nullptr;
    std::span<const pte_delegate> delegates{};
    std::span<const pte_state> states{};
    const memory_map* banks = nullptr;  ///< of the board, each of which is a memory; null: one memory
};

/// The resources that a method needs of the runtime.
struct pte_method_size {
    std::string name;
    std::uint64_t planned_bytes = 0;        ///< size of the memory that the caller provides
    std::uint64_t lower_bound = 0;          ///< no plan needs less
    std::vector<std::uint64_t> memories{};  ///< bytes of each, in the order of their numbers
    std::size_t values = 0;
    std::size_t instructions = 0;
};

namespace pte {
struct segment_part {
    std::uint64_t offset = 0;  ///< in its segment
    std::span<const std::byte> bytes{};
};
}  // namespace pte

}  // namespace headrace

#endif
