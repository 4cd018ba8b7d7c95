// SPDX-License-Identifier: MIT
// The files that `show` and `opt` write graphs to.
#ifndef HEADRACE_EXAMPLES_CLI_GRAPH_FILES_HPP
#define HEADRACE_EXAMPLES_CLI_GRAPH_FILES_HPP

#include <cstddef>
#include <string>

#include <headrace/base/error.hpp>
#include <headrace/io/pt2_program.hpp>

namespace headrace::cli {

/// By the name's end: .hr is text that can be read again, whose constants of up to `inlined` elements stand
/// in it; .tosa a flatbuffer; .dot a picture; anything else the listing.
[[nodiscard]] result<void> write_graph(const std::string& path, const program& p, std::size_t inlined);

}  // namespace headrace::cli

#endif
