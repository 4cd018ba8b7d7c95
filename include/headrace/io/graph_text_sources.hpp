// SPDX-License-Identifier: MIT
// Defines headrace::graph_text_sources, what is needed to read a graph's text.
#ifndef HEADRACE_IO_GRAPH_TEXT_SOURCES_HPP
#define HEADRACE_IO_GRAPH_TEXT_SOURCES_HPP

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include <headrace/base/result.hpp>
#include <headrace/op/op.hpp>

namespace headrace {

/// The op of that name, or null: `&find_op<my::dialect>` (op/op.hpp) is one.
using op_finder = const op_info* (*)(std::string_view name);

/// What is needed to read a text, apart from the text.
struct graph_text_sources {
    /// How errors call the text: "model.hr:12:5: …".
    std::string name = "text";
    /// Ops of dialects that are not Headrace's; they are looked for first.
    op_finder find_own_op = nullptr;
    /// The bytes of a constant that the text refers to, which must outlive the graph. Empty: there is no
    /// data.
    std::function<result<std::span<const std::byte>>(std::string_view key)> constant{};
};

}  // namespace headrace

#endif
