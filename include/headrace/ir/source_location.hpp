// SPDX-License-Identifier: MIT
// Defines headrace::source_location, the line of the model's source that a node comes from, and
// headrace::traced_call, further metadata of the exporter.
#ifndef HEADRACE_IR_SOURCE_LOCATION_HPP
#define HEADRACE_IR_SOURCE_LOCATION_HPP

#include <cstddef>
#include <memory_resource>
#include <string>
#include <string_view>

#include <headrace/ir/node.hpp>

namespace headrace {

/// Annotation: the innermost frame of the model's own source in the `stack_trace` metadata of a `.pt2` node,
/// in Python's format: `File "model.py", line 12, in forward`, then a line break and the line of code if the
/// trace has it.
struct source_location {
    static constexpr bool inherited = true;
    std::string_view text;
};

/// Annotation: the metadata of a `.pt2` node about the Python call that it was traced from, as written by the
/// exporter; empty if absent.
struct traced_call {
    static constexpr bool inherited = true;
    std::string_view stack_trace{};      ///< outermost frame first
    std::string_view source_fn_stack{};  ///< "name,torch.nn.modules.linear.Linear;…", outermost call first
    std::string_view torch_fn{};         ///< "linear_1;builtin_function_or_method.linear"
    std::string_view from_node{};        ///< JSON: the node's predecessors in the exporter's earlier graphs
};

/// Returns the innermost frame of a Python stack trace, which is its last; empty if there is none.
[[nodiscard]] inline std::string_view innermost_frame(std::string_view trace) {
    const std::size_t begin = trace.rfind("File \"");
    if (begin == std::string_view::npos) return {};
    const std::string_view frame = trace.substr(begin);
    const std::size_t end = frame.find_last_not_of(" \n\r\t");
    return frame.substr(0, end + 1);
}

/// Returns the innermost frame outside of PyTorch, whose modules are called between the model and the op; the
/// innermost of all if every frame is in PyTorch.
[[nodiscard]] std::string_view model_frame(std::string_view trace);

/// Returns "net.py:42" for a frame; empty if the text is not a frame.
[[nodiscard]] std::pmr::string line_of_frame(std::string_view frame);

/// Returns "net.py:42" for a node if the exporter recorded it, for messages; else an empty string.
[[nodiscard]] std::pmr::string source_line(const node& n);

}  // namespace headrace

#ifndef HEADRACE_COMPILED
#include <headrace/ir/source_location_definition.hpp>
#endif

#endif
