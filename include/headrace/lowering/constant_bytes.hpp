// SPDX-License-Identifier: MIT
// Declares headrace::least_constant_bytes, which detects early that a model is too large for a file.
#ifndef HEADRACE_LOWERING_CONSTANT_BYTES_HPP
#define HEADRACE_LOWERING_CONSTANT_BYTES_HPP

#include <cstdint>
#include <unordered_set>

#include <headrace/ir/graph.hpp>

namespace headrace {

/// Returns a lower bound for the bytes of an exported program's constants in its TOSA file: those whose
/// elements are all needed, each counted once, with at most 32 bits per element.
[[nodiscard]] std::uint64_t least_constant_bytes(const graph& g);

}  // namespace headrace

#endif
