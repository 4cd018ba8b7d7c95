// SPDX-License-Identifier: MIT
// Defines the functions of io/tosa/emitter.hpp.
#ifndef HEADRACE_IO_TOSA_EMITTER_DEFINITION_HPP
#define HEADRACE_IO_TOSA_EMITTER_DEFINITION_HPP

#include <cstddef>
#include <span>

#include <headrace/base/compiled.hpp>
#include <headrace/base/result.hpp>
#include <headrace/io/tosa/buffer.hpp>
#include <headrace/io/tosa/graph_emitter.hpp>
#include <headrace/io/tosa/size.hpp>
#include <headrace/ir/graph.hpp>

namespace headrace {

HEADRACE_INLINE result<emitted_tosa> emit_tosa(const graph& g) { return tosa_file::tosa_emitter::emit(g); }

HEADRACE_INLINE result<std::span<const std::byte>> emit_tosa(const graph& g, std::span<std::byte> buffer) {
    return tosa_file::tosa_emitter::emit(g, buffer);
}

HEADRACE_INLINE result<std::size_t> tosa_size_bound(const graph& g) { return tosa_file::file_size_bound(g); }

}  // namespace headrace

#endif
