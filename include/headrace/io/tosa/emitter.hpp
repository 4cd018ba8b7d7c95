// SPDX-License-Identifier: MIT
// Declares headrace::emit_tosa, which writes a graph of the tosa dialect as a TOSA 1.0 flatbuffer.
#ifndef HEADRACE_IO_TOSA_EMITTER_HPP
#define HEADRACE_IO_TOSA_EMITTER_HPP

#include <cstddef>
#include <span>

#include <headrace/base/result.hpp>
#include <headrace/io/tosa/buffer.hpp>
#include <headrace/ir/graph.hpp>

namespace headrace {

/// Writes a graph of the tosa and builtin dialects, whose values all have metadata, as TOSA 1.0.0. Equal
/// graphs give the same bytes everywhere.
///
/// Inputs and outputs keep the names of their values, and so do other values unless the name is taken. A
/// value without a name gets that of its exported node, or of its op. Regions of control flow become regions
/// of the file.
///
/// Fails with `unsupported` on a node or a type that TOSA 1.0 lacks, and with `invalid` if metadata is
/// missing, or if an output is an input, a constant or another output: a pass must have put a tosa.IDENTITY
/// there.
[[nodiscard]] result<emitted_tosa> emit_tosa(const graph& g);

/// Writes the file into a buffer of the caller's, with no other heap than std::pmr::get_default_resource().
/// Returns the part of the buffer that the file takes, at its end. Also fails with `invalid` if the buffer
/// has less than `tosa_size_bound(g)` bytes, to which its alignment to 16 bytes adds.
[[nodiscard]] result<std::span<const std::byte>> emit_tosa(const graph& g, std::span<std::byte> buffer);

/// Returns a number of bytes that is enough for a graph's TOSA file; mostly a third more than it takes.
[[nodiscard]] result<std::size_t> tosa_size_bound(const graph& g);

}  // namespace headrace

#ifndef HEADRACE_COMPILED
#include <headrace/io/tosa/emitter_definition.hpp>
#endif

#endif
