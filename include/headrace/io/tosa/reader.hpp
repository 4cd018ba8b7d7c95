// SPDX-License-Identifier: MIT
// Declares headrace::read_tosa, which reads a TOSA 1.0 flatbuffer into a graph of the tosa dialect.
#ifndef HEADRACE_IO_TOSA_READER_HPP
#define HEADRACE_IO_TOSA_READER_HPP

#include <cstddef>
#include <memory>
#include <span>

#include <headrace/base/result.hpp>
#include <headrace/ir/graph.hpp>

namespace headrace {

/// Reads a TOSA 1.0 file, or one of a later 1.x that uses only what 1.0 has. Inputs become
/// builtin.placeholder, CONST operators tosa.CONST with a copy of their data, and values keep their names.
/// The file may be untrusted: any file gives a graph or an error, in time and memory that its size bounds.
///
/// Fails with `malformed` if the file breaks the format, names something that does not exist or uses a value
/// before it is computed, and with `unsupported` on operators and types that TOSA 1.0 lacks and on shapes
/// that are not static.
[[nodiscard]] result<std::unique_ptr<graph>> read_tosa(std::span<const std::byte> file);

/// Reads a file, as above, into an empty graph, such as the region of a delegate call.
[[nodiscard]] result<void> read_tosa(std::span<const std::byte> file, graph& into);

}  // namespace headrace

#endif
