// SPDX-License-Identifier: MIT
// Declares headrace::write_memory_plan, which writes a memory plan as JSON.
#ifndef HEADRACE_IO_TEXT_MEMORY_PLAN_JSON_HPP
#define HEADRACE_IO_TEXT_MEMORY_PLAN_JSON_HPP

#include <headrace/io/file/json_writer.hpp>
#include <headrace/memory/memory_plan.hpp>

namespace headrace {

/// Writes the plan of a graph as a JSON object: each memory with its peak, the lower bound of any plan, and
/// the offset, bytes and lifetime of each tensor in it.
void write_memory_plan(json_writer& w, const graph& g, const memory_plan& plan);

}  // namespace headrace

#endif
