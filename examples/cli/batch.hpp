// SPDX-License-Identifier: MIT
// Lowers many models at once: lower --batch.
#ifndef HEADRACE_EXAMPLES_CLI_BATCH_HPP
#define HEADRACE_EXAMPLES_CLI_BATCH_HPP

#include <optional>

#include <headrace/base/target_spec.hpp>

#include "commands.hpp"

namespace headrace::cli {

/// Lowers each .pt2 file below the folder `options.batch` to a file of the same relative path below
/// `options.output`, several at once. Returns the worst status: usage (an output that cannot be written),
/// then malformed, then unsupported.
[[nodiscard]] int lower_batch(const lower_options& options, const std::optional<target_spec>& target);

}  // namespace headrace::cli

#endif
