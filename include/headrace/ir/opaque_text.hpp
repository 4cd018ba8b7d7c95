// SPDX-License-Identifier: MIT
// Defines the text of nodes whose op no dialect knows.
#ifndef HEADRACE_IR_OPAQUE_TEXT_HPP
#define HEADRACE_IR_OPAQUE_TEXT_HPP

#include <cstddef>
#include <memory_resource>
#include <string>
#include <string_view>

#include <headrace/dialect/builtin.hpp>
#include <headrace/ir/node.hpp>

namespace headrace {

/// Returns the name of a node's op; for an opaque node, its target.
[[nodiscard]] inline std::string_view op_name(const node& n) {
    const auto* opaque = args_if<builtin::opaque>(n);
    return opaque != nullptr ? opaque->target : n.op->name;
}

/// Returns the arguments of an opaque node, with `name(value)` for references to operands: `self=%x, n=2`.
template <class Name>
[[nodiscard]] std::pmr::string opaque_arguments(const args<builtin::opaque>& a, Name&& name) {
    std::pmr::string out;
    if (a.arguments.empty()) {
        for (const value& v : a.operands) (out += &v == a.operands.begin() ? "" : ", ") += name(v);
        return out;
    }
    bool in_quotes = false;
    const std::string_view text = a.arguments;
    for (std::size_t i = 0; i != text.size();) {
        in_quotes ^= text[i] == '"';
        if (in_quotes && text[i] == '\\' && i + 1 != text.size()) out += text[i++];
        std::size_t operand = 0;
        std::size_t end = i + 1;
        const auto is_digit = [&](std::size_t at) {
            return at < text.size() && text[at] >= '0' && text[at] <= '9';
        };
        for (; text[i] == '%' && !in_quotes && is_digit(end) && operand < a.operands.size(); ++end)
            operand = 10 * operand + static_cast<std::size_t>(text[end] - '0');
        if (end != i + 1 && operand < a.operands.size()) {
            out += name(a.operands[operand]);
            i = end;
        } else {
            out += text[i++];
        }
    }
    return out;
}

}  // namespace headrace

#endif
