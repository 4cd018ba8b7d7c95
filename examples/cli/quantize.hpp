// SPDX-License-Identifier: MIT
// Quantization, for `quantize` and for `lower --quantize`.
#ifndef HEADRACE_EXAMPLES_CLI_QUANTIZE_HPP
#define HEADRACE_EXAMPLES_CLI_QUANTIZE_HPP

#include <headrace/lowering/quantize_model.hpp>

#include "commands.hpp"

namespace headrace::cli {

/// Reads a model and, if the options name samples, quantizes it, calibrated on these; prints warnings.
[[nodiscard]] result<program> read_and_quantize(
    const std::string& path, const size_choices& choices, const calibration_options& options);

}  // namespace headrace::cli

#endif
