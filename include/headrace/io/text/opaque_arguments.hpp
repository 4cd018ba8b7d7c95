// SPDX-License-Identifier: MIT
// Declares headrace::opaque_arguments, the list of arguments of an op that no dialect knows.
#ifndef HEADRACE_IO_TEXT_OPAQUE_ARGUMENTS_HPP
#define HEADRACE_IO_TEXT_OPAQUE_ARGUMENTS_HPP

#include <string>
#include <vector>

#include <headrace/base/result.hpp>
#include <headrace/dialect/builtin.hpp>

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

/// Returns the arguments of a builtin::opaque; without a text they are its operands. Fails if a program gave
/// the node a text that does not have the form of arguments.
[[nodiscard]] result<std::vector<opaque_argument>> opaque_arguments(const args<builtin::opaque>& a);

}  // namespace headrace

#endif
