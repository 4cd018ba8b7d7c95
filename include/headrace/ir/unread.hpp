// SPDX-License-Identifier: MIT
// Defines what a reader says of the parts of a program that it cannot take over: headrace::unread_reason and
// headrace::reading_notes.
#ifndef HEADRACE_IR_UNREAD_HPP
#define HEADRACE_IR_UNREAD_HPP

#include <string_view>

#include <headrace/base/lists.hpp>

namespace headrace {

/// Annotation of a builtin::opaque: why a reader has not made the node that the file asks for. Its results
/// may lack metadata, such as a tensor whose size is known only when the program runs.
struct unread_reason {
    static constexpr bool inherited = true;
    std::string_view text;
    bool follows = false;  ///< it only takes the result of another such node
};

/// Annotation of the output node: what a reader has left out without harm, each as a sentence for people.
struct reading_notes {
    static constexpr bool inherited = false;
    list<std::string_view> texts;
};

}  // namespace headrace

#endif
