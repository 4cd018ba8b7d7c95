// SPDX-License-Identifier: MIT
// Defines headrace::no_fault, the diagnosis of what compiles.
#ifndef HEADRACE_OP_NO_FAULT_HPP
#define HEADRACE_OP_NO_FAULT_HPP

namespace headrace {

/// The diagnosis of success. All others name the culprit in a compile error.
struct no_fault {};

}  // namespace headrace

#endif
