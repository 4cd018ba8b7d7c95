// SPDX-License-Identifier: MIT
// Defines headrace::source_location, the line of the model's source that a node comes from, and
// headrace::traced_call, what else the exporter tells of it.
#ifndef HEADRACE_IR_SOURCE_LOCATION_HPP
#define HEADRACE_IR_SOURCE_LOCATION_HPP

#include <memory_resource>
#include <string>
#include <string_view>

#include <headrace/ir/node.hpp>

namespace headrace {

/// Annotation: the innermost frame of the model's own source in the `stack_trace` metadata of a `.pt2` node,
/// as Python prints a frame: `File "model.py", line 12, in forward`, and the line of code after a line break
/// where the trace has it.
struct source_location {
    static constexpr bool inherited = true;
    std::string_view text;
};

/// Annotation: the metadata of a `.pt2` node that tell of the Python call it was traced from, each as the
/// exporter wrote it; empty where it did not.
struct traced_call {
    static constexpr bool inherited = true;
    std::string_view stack_trace{};      ///< outermost frame first
    std::string_view source_fn_stack{};  ///< "name,torch.nn.modules.linear.Linear;…", outermost call first
    std::string_view torch_fn{};         ///< "linear_1;builtin_function_or_method.linear"
    std::string_view from_node{};        ///< JSON: the nodes of the exporter's earlier graphs that it was
};

/// The innermost frame of a Python stack trace, which is its last; empty if there is none.
[[nodiscard]] inline std::string_view innermost_frame(std::string_view trace) {
    const std::size_t begin = trace.rfind("File \"");
    if (begin == std::string_view::npos) return {};
    const std::string_view frame = trace.substr(begin);
    const std::size_t end = frame.find_last_not_of(" \n\r\t");
    return frame.substr(0, end + 1);
}

/// The innermost frame that lies outside of PyTorch, whose modules are called between the model and the op;
/// the innermost of all if none does.
[[nodiscard]] std::string_view model_frame(std::string_view trace);

/// "net.py:42" of a frame, as compilers name a line; empty if the text is not a frame.
[[nodiscard]] std::pmr::string line_of_frame(std::string_view frame);

/// "net.py:42" of a node whose exporter has told it, for messages, else empty.
[[nodiscard]] std::pmr::string source_line(const node& n);

}  // namespace headrace

#ifndef HEADRACE_COMPILED
#include <headrace/ir/source_location_definition.hpp>
#endif

#endif
