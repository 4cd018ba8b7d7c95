// SPDX-License-Identifier: MIT
// Declares the writer and the reader of plans over banks as JSON.
#ifndef HEADRACE_IO_BANKS_BANK_PLAN_JSON_HPP
#define HEADRACE_IO_BANKS_BANK_PLAN_JSON_HPP

#include <string>
#include <string_view>
#include <vector>

#include <headrace/banks/bank_plan.hpp>
#include <headrace/base/result.hpp>
#include <headrace/io/file/json_writer.hpp>

namespace headrace {

/// Writes the plan as a JSON object: `models`, `banks` with their figures, and `tensors` with the bank, the
/// offset, the bytes, the use, the model and, in an arena, the lifetime of each.
void write_bank_plan(
    json_writer& w, const banked_models& models, const memory_map& map, const bank_plan& plan);

/// Returns JSON for a page that draws each bank over time: its figures, and [number, name, offset, bytes,
/// first step, last step, use, model] of each tensor in it, in the time that all models share.
[[nodiscard]] std::string bank_page_json(
    const banked_models& models, const memory_map& map, const bank_plan& plan);

/// Reads the places of the tensors from such JSON, which may be edited or of another planner. An error names
/// a tensor that the models do not have, or one that is missing.
[[nodiscard]] result<std::vector<bank_place>> read_bank_places(
    std::string_view json, const banked_models& models, const memory_map& map);

}  // namespace headrace

#endif
