// SPDX-License-Identifier: MIT
// Declares headrace::traces_of, which lowers a program of one op and records what each pass makes of it.
#ifndef HEADRACE_SHOW_OP_TRACE_HPP
#define HEADRACE_SHOW_OP_TRACE_HPP

#include <string_view>
#include <vector>

#include <headrace/op/op.hpp>
#include <headrace/show/pipeline_view.hpp>

namespace headrace {

/// A pass that changed the ops of a program, and the program's ops after it, each once, in the graph's order.
struct traced_pass {
    std::string_view pass;
    op_name_list ops;
};

/// The passes that changed a program of one op, in order.
struct op_trace {
    std::string_view elements;  ///< the class of the op's first operand, see element_classes
    std::vector<traced_pass> passes;
};

/// Lowers one program of the op for each of its classes of elements, float32 and quantized ones; a class of
/// which no drawn program can be lowered is left out.
[[nodiscard]] std::vector<op_trace> traces_of(const op_info& op);

}  // namespace headrace

#endif
