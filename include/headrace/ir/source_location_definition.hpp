// SPDX-License-Identifier: MIT
// Defines the functions of ir/source_location.hpp.
#ifndef HEADRACE_IR_SOURCE_LOCATION_DEFINITION_HPP
#define HEADRACE_IR_SOURCE_LOCATION_DEFINITION_HPP

#include <algorithm>
#include <cstddef>
#include <memory_resource>
#include <string>
#include <string_view>

#include <headrace/base/compiled.hpp>
#include <headrace/base/printable.hpp>
#include <headrace/base/text.hpp>

namespace headrace {

namespace detail {

struct frame_place {
    std::string_view file;
    std::string_view line;
};

// Parses `File "net.py", line 42, in forward`; the parts are empty if the text has another form.
[[nodiscard]] inline frame_place place_of_frame(std::string_view frame) {
    constexpr std::string_view opening = "File \"";
    constexpr std::string_view middle = "\", line ";
    if (!frame.starts_with(opening)) return {};
    frame.remove_prefix(opening.size());
    const std::size_t end = frame.find(middle);
    if (end == std::string_view::npos) return {};
    const std::string_view rest = frame.substr(end + middle.size());
    const std::size_t digits = std::min(rest.find_first_not_of("0123456789"), rest.size());
    if (end == 0 || digits == 0) return {};
    return {frame.substr(0, end), rest.substr(0, digits)};
}

// True for an installed PyTorch package, and for the modules and tracers of a PyTorch source tree.
[[nodiscard]] inline bool is_of_pytorch(std::string_view file) {
    for (const std::string_view part : {"-packages/torch/", "-packages\\torch\\", "/torch/nn/modules/",
             "/torch/_", "/torch/fx/", "/torch/export/"}) {
        if (file.find(part) != std::string_view::npos) return true;
    }
    return false;
}

}  // namespace detail

HEADRACE_INLINE std::string_view model_frame(std::string_view trace) {
    const std::string_view innermost = innermost_frame(trace);
    std::string_view frame = innermost;
    while (!frame.empty() && detail::is_of_pytorch(detail::place_of_frame(frame).file)) {
        trace = trace.substr(0, static_cast<std::size_t>(frame.data() - trace.data()));
        frame = innermost_frame(trace);
    }
    return frame.empty() ? innermost : frame;
}

HEADRACE_INLINE std::pmr::string line_of_frame(std::string_view frame) {
    const detail::frame_place place = detail::place_of_frame(frame);
    if (place.file.empty()) return {};
    return text_of({printable(place.file), ":", printable(place.line)});
}

HEADRACE_INLINE std::pmr::string source_line(const node& n) {
    const auto* source = n.find_annotation<source_location>();
    return source == nullptr ? std::pmr::string() : line_of_frame(source->text);
}

}  // namespace headrace

#endif
