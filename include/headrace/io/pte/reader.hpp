// SPDX-License-Identifier: MIT
// Declares headrace::read_pte, which reads a method of a .pte file into a graph of the executorch dialect.
#ifndef HEADRACE_IO_PTE_READER_HPP
#define HEADRACE_IO_PTE_READER_HPP

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <headrace/base/result.hpp>
#include <headrace/io/pte/file.hpp>
#include <headrace/ir/graph.hpp>

namespace headrace {

/// Annotation: the position in the method of the instruction that a node comes from.
struct pte_instruction {
    static constexpr bool inherited = false;
    std::uint32_t number;
};

/// Reads a method: instructions become nodes, and constants view the file. A tensor at the place of another
/// one becomes a reshape of the value that was last written there. Calls of a "tosa" delegate hold its graph;
/// kernels and backends that Headrace does not know become builtin.opaque. States have the values with which
/// the method runs for the first time; numbers that it computes are tensors without axes. Jumps become
/// higher_order.cond and higher_order.while_loop. The file may be untrusted: any file gives a graph or an
/// error, in time and memory that its size bounds.
///
/// Fails with `malformed` if the file breaks the format, and with `unsupported` on jumps into or out of
/// branches and loops, and on layouts other than row-major. Errors name the instruction.
[[nodiscard]] result<std::unique_ptr<graph>> read_pte(const pte_file& file, std::string_view method);

}  // namespace headrace

#endif
