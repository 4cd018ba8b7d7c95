// SPDX-License-Identifier: MIT
// Declares invariants of lowering and executing any model.
#ifndef HEADRACE_TESTS_FUZZ_LOWERING_CHECKS_HPP
#define HEADRACE_TESTS_FUZZ_LOWERING_CHECKS_HPP

#include <optional>
#include <span>
#include <string>

#include <headrace/base/target_spec.hpp>
#include <headrace/ir/graph.hpp>

#include "target.hpp"

namespace headrace::fuzz {

/// Records which ops follow which.
void saw_graph(const graph& g, std::string_view where);
/// Checks that an emitted flatbuffer can be read, is valid, and is emitted again with the same bytes.
void check_flatbuffer(std::span<const std::byte> flatbuffer, const target_spec* target);
/// Lowers a file's model twice: an error must be the file's; otherwise the bytes must be right and equal.
void check_lowering(const std::string& path, const std::optional<target_spec>& target);
/// Executes a graph, unless it is large, with zeros and with other inputs.
void check_execution(const graph& g);

}  // namespace headrace::fuzz

#endif
