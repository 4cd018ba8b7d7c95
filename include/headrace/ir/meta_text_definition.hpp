// SPDX-License-Identifier: MIT
// Defines the functions of ir/meta_text.hpp.
#ifndef HEADRACE_IR_META_TEXT_DEFINITION_HPP
#define HEADRACE_IR_META_TEXT_DEFINITION_HPP

#include <cstdint>
#include <memory_resource>
#include <string>

#include <headrace/base/compiled.hpp>
#include <headrace/base/text.hpp>
#include <headrace/ir/tensor_meta.hpp>

namespace headrace {

HEADRACE_INLINE std::pmr::string meta_text(const tensor_meta& meta) {
    std::pmr::string text(name_of(meta.dtype));
    text += '[';
    for (const std::int64_t size : meta.shape) {
        if (text.back() != '[') text += ", ";
        text += number_text(size);
    }
    return text += ']';
}

}  // namespace headrace

#endif
