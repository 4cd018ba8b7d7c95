// SPDX-License-Identifier: MIT
// Defines headrace::exported_output_types, the types that a program's outputs had when it was exported.
#ifndef HEADRACE_IR_EXPORTED_TYPES_HPP
#define HEADRACE_IR_EXPORTED_TYPES_HPP

#include <headrace/base/dtype.hpp>
#include <headrace/base/lists.hpp>

namespace headrace {

/// Annotation of the output node: the type of each of its values in the exported program. A lowering narrows
/// some of them, such as int64.
struct exported_output_types {
    static constexpr bool inherited = false;
    list<dtype> types;
};

}  // namespace headrace

#endif
