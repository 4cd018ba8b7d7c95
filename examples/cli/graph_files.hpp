// SPDX-License-Identifier: MIT
// Files to which `show` and `opt` write graphs, and descriptions of graphs' inputs and outputs.
#ifndef HEADRACE_EXAMPLES_CLI_GRAPH_FILES_HPP
#define HEADRACE_EXAMPLES_CLI_GRAPH_FILES_HPP

#include <cstddef>
#include <string>

#include <headrace/base/result.hpp>
#include <headrace/io/program.hpp>
#include <headrace/io/signature/io_description.hpp>

namespace headrace::cli {

/// Writes a graph in the format of the file's extension: .hr is text that can be read again, with constants
/// of up to `inlined` elements inline; .tosa is a flatbuffer; .dot a picture; .txt, or an empty path, the
/// listing.
[[nodiscard]] result<void> write_graph(const std::string& path, const program& p, std::size_t inlined);

/// Reports bad usage for any other extension.
[[nodiscard]] int check_graph_extension(const std::string& path);

/// Annotates inputs and outputs from a description, or from that of a method in a file that `lower --io`
/// wrote. Returns an error if it describes another graph.
[[nodiscard]] result<void> describe_signature(graph& g, const io_description& io);
[[nodiscard]] result<void> describe_signature(
    graph& g, const std::string& path, const std::string& method = {});

}  // namespace headrace::cli

#endif
