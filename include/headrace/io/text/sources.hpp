// SPDX-License-Identifier: MIT
// Defines headrace::graph_text_sources, which a reader of a graph's text needs besides the text.
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
};

}  // namespace headrace

#endif
