// SPDX-License-Identifier: MIT
// Defines headrace::version.
#ifndef HEADRACE_VERSION_HPP
#define HEADRACE_VERSION_HPP

#include <string_view>

/// The only place that says the version: the build and the amalgamated header read it from this line.
#define HEADRACE_VERSION "0.1.0"

namespace headrace {

inline constexpr std::string_view version = HEADRACE_VERSION;

}  // namespace headrace

#endif
