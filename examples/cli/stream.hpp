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

/// Reads a model, quantizes it if the options name samples, and makes it one of a step if they have an axis.
[[nodiscard]] result<program> read_for_lowering(const std::string& path, const lower_options& options);

}  // namespace headrace::cli

#endif
