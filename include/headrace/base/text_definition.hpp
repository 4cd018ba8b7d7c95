// SPDX-License-Identifier: MIT
// Defines the functions of base/text.hpp.
#ifndef HEADRACE_BASE_TEXT_DEFINITION_HPP
#define HEADRACE_BASE_TEXT_DEFINITION_HPP

#include <cstdint>
#include <initializer_list>
#include <memory_resource>
#include <string>

#include <headrace/base/compiled.hpp>

namespace headrace {

HEADRACE_INLINE void text_part::append_to(std::pmr::string& out) const {
    switch (kind_) {
        case kind::text:
            out += text_;
            return;
        case kind::character:
            out += static_cast<char>(number_);
            return;
        case kind::number:
            out += number_text(number_);
            return;
        case kind::negative:
            out += number_text(static_cast<std::int64_t>(number_));
            return;
    }
}

HEADRACE_INLINE std::pmr::string text_of(std::initializer_list<text_part> parts) {
    std::pmr::string text;
    for (const text_part& part : parts) part.append_to(text);
    return text;
}

}  // namespace headrace

#endif
