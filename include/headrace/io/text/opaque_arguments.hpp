// SPDX-License-Identifier: MIT
// Defines headrace::opaque_arguments, the list of arguments of an op that no dialect knows.
#ifndef HEADRACE_IO_TEXT_OPAQUE_ARGUMENTS_HPP
#define HEADRACE_IO_TEXT_OPAQUE_ARGUMENTS_HPP

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <headrace/base/result.hpp>
#include <headrace/dialect/builtin.hpp>
#include <headrace/io/text/opaque_text.hpp>

namespace headrace {

/// One argument, or an item of a list.
struct opaque_argument {
    enum class content : unsigned char {
        tensor,
        list,
        text,  ///< a string in quotes
        word   ///< a number, true, false, none, or the name of a dtype or memory format
    };
    std::string name{};  ///< empty: the argument is positional
    content kind = content::word;
    value tensor{};
    std::string text{};
    std::vector<opaque_argument> items{};
};

namespace detail {

/// Reads the text of an opaque node with the cursor for texts of graphs.
class opaque_argument_parser {
public:
    opaque_argument_parser(graph_text::cursor& at, list<value> operands) : at_(at), operand_(at, operands) {}

    [[nodiscard]] std::vector<opaque_argument> items() {
        std::vector<opaque_argument> found;
        do {
            opaque_argument& a = found.emplace_back();
            if (const auto name = at_.accept_argument_name()) a.name = *name;
            read(a);
        } while (at_.accept(','));
        return found;
    }

private:
    void read(opaque_argument& a) {
        using content = opaque_argument::content;
        const char first = at_.peek();
        if (first == '%') {
            a.kind = content::tensor;
            a.tensor = operand_();
        } else if (first == '"') {
            a.kind = content::text;
            a.text = at_.quoted("a string");
        } else if (at_.accept('[')) {
            a.kind = content::list;
            if (!at_.accept(']')) {
                a.items = items();
                at_.expect(']', "or ',' in a list");
            }
        } else {
            a.text = at_.literal("a value, a list, a number, a word or a string");
        }
    }

    graph_text::cursor& at_;
    graph_text::operand_numbers operand_;
};

}  // namespace detail

/// Returns the arguments of a builtin::opaque; without a text they are its operands. Fails if a program gave
/// the node a text that does not have the form of arguments.
[[nodiscard]] inline result<std::vector<opaque_argument>> opaque_arguments(const args<builtin::opaque>& a) {
    std::vector<opaque_argument> found;
    if (a.arguments.empty()) {
        for (const value v : a.operands) {
            found.emplace_back();
            found.back().kind = opaque_argument::content::tensor;
            found.back().tensor = v;
        }
        return found;
    }
    if (!detail::graph_text::is_canonical(a)) return invalid("its arguments cannot be read: it has others");
    detail::graph_text::cursor at(a.arguments, {});
    return detail::opaque_argument_parser(at, a.operands).items();
}

}  // namespace headrace

#endif
