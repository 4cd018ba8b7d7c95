// SPDX-License-Identifier: MIT
// Defines headrace::meta_text, how listings and messages write a value's type.
#ifndef HEADRACE_IR_META_TEXT_HPP
#define HEADRACE_IR_META_TEXT_HPP

#include <memory_resource>
#include <string>

#include <headrace/base/text.hpp>
#include <headrace/ir/tensor_meta.hpp>

namespace headrace {

/// "float32[1, 16]".
[[nodiscard]] inline std::pmr::string meta_text(const tensor_meta& meta) {
    std::pmr::string text(name_of(meta.dtype));
    text += '[';
    for (const std::int64_t size : meta.shape) {
        if (text.back() != '[') text += ", ";
        text += number_text(size);
    }
    return text += ']';
}
/// The same, or "?" for a type that is not known.
[[nodiscard]] inline std::pmr::string meta_text(const tensor_meta* meta) {
    return meta == nullptr ? "?" : meta_text(*meta);
}

}  // namespace headrace

#endif
