// SPDX-License-Identifier: MIT
// Quantization, for `quantize` and for `lower --quantize`.
#ifndef HEADRACE_EXAMPLES_CLI_QUANTIZE_HPP
#define HEADRACE_EXAMPLES_CLI_QUANTIZE_HPP

#include <string>
#include <vector>

#include <headrace/lowering/quantize_model.hpp>
#include <headrace/lowering/report.hpp>

#include "commands.hpp"

namespace headrace::cli {

/// Reads a model and, if the options name samples, quantizes it, calibrated on these; prints warnings.
[[nodiscard]] result<program> read_and_quantize(
    const std::string& path, const size_choices& choices, const calibration_options& options);

/// Returns "12 linear nodes became 3 layers, …"; empty if none did.
[[nodiscard]] std::string merges_text(const std::vector<merged_nodes>& merges);

}  // namespace headrace::cli

#endif
