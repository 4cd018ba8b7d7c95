// SPDX-License-Identifier: MIT
// The files that `show` and `opt` write graphs to, and descriptions of graphs' inputs and outputs.
#ifndef HEADRACE_EXAMPLES_CLI_GRAPH_FILES_HPP
#define HEADRACE_EXAMPLES_CLI_GRAPH_FILES_HPP

#include <cstddef>
#include <string>

#include <headrace/base/result.hpp>
#include <headrace/io/io_description.hpp>
#include <headrace/io/pt2_program.hpp>

namespace headrace::cli {

/// By the name's end: .hr is text that can be read again, whose constants of up to `inlined` elements stand
/// in it; .tosa a flatbuffer; .dot a picture; .txt, and what is no file, the listing.
[[nodiscard]] result<void> write_graph(const std::string& path, const program& p, std::size_t inlined);

/// Bad usage if the name ends otherwise.
[[nodiscard]] int check_graph_extension(const std::string& path);

/// Annotates inputs and outputs with what a description says of them, or a file that `lower --io` wrote. An
/// error if that is about another graph.
[[nodiscard]] result<void> describe_interface(graph& g, const io_description& io);
[[nodiscard]] result<void> describe_interface(graph& g, const std::string& path);

}  // namespace headrace::cli

#endif
