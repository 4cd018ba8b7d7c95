// SPDX-License-Identifier: MIT
// Models that are computed step by step, for `stream` and for `lower --stream`.
#ifndef HEADRACE_EXAMPLES_CLI_STREAM_HPP
#define HEADRACE_EXAMPLES_CLI_STREAM_HPP

#include <string>

#include <headrace/stream/stream.hpp>

#include "commands.hpp"

namespace headrace::cli {

/// Parses "x:2", or "2" for a model with one input, into the options. Returns false for other texts.
[[nodiscard]] bool parse_stream_axis(const std::string& text, stream_options& options);

/// Makes the model one of a step if the options have a step.
[[nodiscard]] result<void> stream_model(program& model, const stream_options& options);

}  // namespace headrace::cli

#endif
