// SPDX-License-Identifier: MIT
// Quantization, for `quantize` and for `lower --quantize`.
#ifndef HEADRACE_EXAMPLES_CLI_QUANTIZE_HPP
#define HEADRACE_EXAMPLES_CLI_QUANTIZE_HPP

#include <headrace/lowering/quantize_model.hpp>

#include "commands.hpp"

namespace headrace::cli {

/// What the options say, with samples and observers run on all processors.
[[nodiscard]] result<quantization_options> options_of(const calibration_options& options);

/// Lines that begin with `warning: `.
[[nodiscard]] std::string warnings_text(const quantization_summary& summary);

}  // namespace headrace::cli

#endif
