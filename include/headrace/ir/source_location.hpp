// SPDX-License-Identifier: MIT
// Defines headrace::source_location, the line of the model's source that a node comes from.
#ifndef HEADRACE_IR_SOURCE_LOCATION_HPP
#define HEADRACE_IR_SOURCE_LOCATION_HPP

#include <string_view>

namespace headrace {

/// Annotation: the innermost frame of the `stack_trace` metadata of a `.pt2` node, as Python prints a frame:
/// `File "model.py", line 12, in forward`, and the line of code after a line break where the trace has it.
struct source_location {
    static constexpr bool inherited = true;
    std::string_view text;
};

/// The innermost frame of a Python stack trace, which is its last; empty if there is none.
[[nodiscard]] inline std::string_view innermost_frame(std::string_view trace) {
    const std::size_t begin = trace.rfind("File \"");
    if (begin == std::string_view::npos) return {};
    const std::string_view frame = trace.substr(begin);
    const std::size_t end = frame.find_last_not_of(" \n\r\t");
    return frame.substr(0, end + 1);
}

}  // namespace headrace

#endif
