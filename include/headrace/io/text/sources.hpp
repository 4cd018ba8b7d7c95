// SPDX-License-Identifier: MIT
// Defines headrace::graph_text_sources and headrace::graph_text_stores: where a graph's text finds and keeps
// what it refers to.
#ifndef HEADRACE_IO_TEXT_SOURCES_HPP
#define HEADRACE_IO_TEXT_SOURCES_HPP

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include <headrace/base/result.hpp>
#include <headrace/op/op.hpp>

namespace headrace {

class graph;

/// Returns the op of that name, or null: `&find_op<my::dialect>` (op/op.hpp) is one.
using op_finder = const op_info* (*)(std::string_view name);

/// The name of a text, and the sources of what it refers to.
struct graph_text_sources {
    /// The name of the text in errors: "model.hr:12:5: …".
    std::string name = "text";
    /// Finds ops of dialects that are not Headrace's; asked first.
    op_finder find_own_op = nullptr;
    /// Returns the bytes of a constant that the text refers to, which must outlive the graph. Empty: there is
    /// no data.
    std::function<result<std::span<const std::byte>>(std::string_view key)> constant{};
    /// Fills a nested graph that the text refers to. Empty: all nested graphs are in the text.
    std::function<result<void>(std::string_view key, graph& nested)> nested{};
};

/// Stores of what a text refers to. They return keys of letters, digits and '_', which a reader passes to
/// graph_text_sources.
struct graph_text_stores {
    /// Keeps the elements of a constant, which are valid only during the call.
    std::function<std::string(std::span<const std::byte> elements)> constant;
    /// Returns the key of a nested graph that is kept elsewhere, or an empty string for one that becomes part
    /// of the text.
    std::function<std::string(const graph& nested)> nested{};
};

}  // namespace headrace

#endif
