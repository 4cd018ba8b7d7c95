// SPDX-License-Identifier: MIT
// Models that are computed step by step, for `stream` and for `lower --stream`.
#ifndef HEADRACE_EXAMPLES_CLI_STREAM_HPP
#define HEADRACE_EXAMPLES_CLI_STREAM_HPP

#include <string>
#include <vector>

#include <headrace/stream/stream.hpp>

#include "commands.hpp"

namespace headrace::cli {

/// Parses axes of inputs, each such as "x:2", or "2" for a model with one input, into the options. Returns
/// false if one is another text.
[[nodiscard]] bool parse_stream_axes(const std::vector<std::string>& texts, stream_options& options);

/// Reports an axis that cannot be parsed among the options of `lower`, and returns the status.
[[nodiscard]] int check_stream_option(const lower_options& options);

/// Reads a model, quantizes it if the options name samples, and makes it one of a step if they have an axis.
[[nodiscard]] result<program> read_for_lowering(const std::string& path, const lower_options& options);

}  // namespace headrace::cli

#endif
