// SPDX-License-Identifier: MIT
// Declares headrace::graph_text and headrace::parse_graph_text: graphs of any dialect as text that people
// edit and programs read back, and how such text is stored in files.
#ifndef HEADRACE_IO_TEXT_GRAPH_TEXT_HPP
#define HEADRACE_IO_TEXT_GRAPH_TEXT_HPP

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include <headrace/base/result.hpp>
#include <headrace/io/program.hpp>
#include <headrace/io/text/sources.hpp>

namespace headrace {

/// Constants of up to that many elements are written in the text, larger ones in the data file next to it.
struct graph_text_options {
    std::size_t inline_elements = 32;
    std::string heading{};  ///< comments before the graph
};

/// Returns a graph as text, all constants in it; examples/docs/text.md has the grammar. Parsing gives an
/// equal graph: the same nodes in the same order, with their arguments, metadata, names and annotations
/// (those of ir/node.hpp and ir/signature.hpp). Equal graphs give equal text. Fails if a node holds what the
/// text cannot express: an operand that is not computed before it, a constant without a type, elements in an
/// argument of an op other than builtin.constant.
[[nodiscard]] result<std::string> graph_text(const graph& g);
/// Returns a program as text, with its write-backs and the number of outputs that are the user's.
[[nodiscard]] result<std::string> graph_text(const program& p);

/// Returns a graph as text that refers to constants and nested graphs which `stores` keep.
[[nodiscard]] result<std::string> graph_text(const graph& g, const graph_text_stores& stores);

/// Reads a graph's text. The text may be untrusted: the result is a program whose values are computed before
/// they are used, or an error that begins with the name, the line and the column. headrace::verify tells
/// whether the metadata agrees with the ops.
[[nodiscard]] result<program> parse_graph_text(std::string_view text, const graph_text_sources& sources = {});

/// True if a file of these bytes holds a graph as text: apart from comments, it begins with "headrace".
[[nodiscard]] bool is_graph_text(std::span<const std::byte> bytes);

/// Writes a program as text to `path`, and each distinct large constant once to `path` + ".data", a zip
/// archive whose entries have the names that the text uses: a hash of their bytes. Files are written whole or
/// not at all, the text last; without large constants there is no data file.
[[nodiscard]] result<void> write_graph_text(
    const std::string& path, const program& p, const graph_text_options& options = {});

/// Writes a graph alone, as above.
[[nodiscard]] result<void> write_graph_text(
    const std::string& path, const graph& g, const graph_text_options& options = {});

/// Reads what write_graph_text wrote. The program's constants view the data file.
[[nodiscard]] result<program> read_graph_text(const std::string& path, op_finder find_own_op = nullptr);

}  // namespace headrace

#endif
