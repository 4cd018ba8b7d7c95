// SPDX-License-Identifier: MIT
// Declares what must hold when a model is lowered or executed, whatever the model is.
#ifndef HEADRACE_TESTS_FUZZ_LOWERING_CHECKS_HPP
#define HEADRACE_TESTS_FUZZ_LOWERING_CHECKS_HPP

#include <optional>
#include <span>
#include <string>

#include <headrace/base/target_spec.hpp>
#include <headrace/ir/graph.hpp>

#include "target.hpp"

namespace headrace::fuzz {

/// Notes which ops follow which.
void saw_graph(const graph& g, std::string_view where);
/// A flatbuffer that was emitted reads back, is sound, and is emitted again as the same bytes.
void check_flatbuffer(std::span<const std::byte> flatbuffer, const target_spec* target);
/// Lowers a file's model twice: an error is the file's, or the bytes are right and the same.
void check_lowering(const std::string& path, const std::optional<target_spec>& target);
/// Executes a graph, unless it is large, with zeros and with other inputs.
void check_execution(const graph& g);

}  // namespace headrace::fuzz

#endif
