// SPDX-License-Identifier: MIT
// Declares functions that read arguments of any node by their names.
#ifndef HEADRACE_STREAM_ARGUMENTS_HPP
#define HEADRACE_STREAM_ARGUMENTS_HPP

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include <headrace/ir/graph.hpp>

namespace headrace::streams {

/// Returns an integer argument; nothing if the op has none of that name, or the node gives none.
[[nodiscard]] std::optional<std::int64_t> integer_argument(const node& n, std::string_view name);

/// Returns the integers of an argument that is an integer or a list of them; empty if there is none.
[[nodiscard]] std::vector<std::int64_t> integers_argument(const node& n, std::string_view name);

/// Returns the numbers of an argument that is a real number or a list of them; empty if there is none.
[[nodiscard]] std::vector<double> reals_argument(const node& n, std::string_view name);

/// Returns a boolean argument, or false.
[[nodiscard]] bool boolean_argument(const node& n, std::string_view name);

}  // namespace headrace::streams

#endif
