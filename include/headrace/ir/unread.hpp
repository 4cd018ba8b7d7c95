// SPDX-License-Identifier: MIT
// Defines annotations for the parts of a program that a reader cannot represent: headrace::unread_reason and
// headrace::reading_notes.
#ifndef HEADRACE_IR_UNREAD_HPP
#define HEADRACE_IR_UNREAD_HPP

#include <string_view>

#include <headrace/base/lists.hpp>

namespace headrace {

/// Annotation of a builtin::opaque: why a reader could not create the node in the file. Its results may lack
/// metadata, for example a tensor whose size is known only at run time.
struct unread_reason {
    static constexpr bool inherited = true;
    std::string_view text;
    bool follows = false;  ///< only because an operand is such a node
};

/// Annotation of the output node: the parts that a reader left out without harm, each as a sentence.
struct reading_notes {
    static constexpr bool inherited = false;
    list<std::string_view> texts;
};

}  // namespace headrace

#endif
