// SPDX-License-Identifier: MIT
// Defines headrace::type_name, the unqualified name of a type, without RTTI.
#ifndef HEADRACE_BASE_TYPE_NAME_HPP
#define HEADRACE_BASE_TYPE_NAME_HPP

#include <cstddef>
#include <string_view>

namespace headrace {

namespace detail {

template <class T>
constexpr std::string_view qualified_type_name() {
    // g++: "... [with T = a::b; std::string_view = ...]", clang: "... [T = a::b]"
    std::string_view text = __PRETTY_FUNCTION__;
    text.remove_prefix(text.find("T = ") + 4);
    int depth = 0;
    for (std::size_t i = 0; i != text.size(); ++i) {
        if (text[i] == '<') ++depth;
        if (text[i] == '>') --depth;
        if (depth == 0 && (text[i] == ';' || text[i] == ']')) return text.substr(0, i);
    }
    return text;
}

constexpr std::string_view unqualified(std::string_view name) {
    const std::size_t arguments = name.find('<');
    const std::size_t colon = name.substr(0, arguments).rfind("::");
    return colon == std::string_view::npos ? name : name.substr(colon + 2);
}

}  // namespace detail

/// "decompose_addmm" for my::passes::decompose_addmm; template arguments are kept as written.
template <class T>
inline constexpr std::string_view type_name = detail::unqualified(detail::qualified_type_name<T>());

}  // namespace headrace

#endif
