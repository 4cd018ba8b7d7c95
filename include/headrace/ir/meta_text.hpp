// SPDX-License-Identifier: MIT
// Defines headrace::meta_text, the text of a value's type in listings and messages.
#ifndef HEADRACE_IR_META_TEXT_HPP
#define HEADRACE_IR_META_TEXT_HPP

#include <memory_resource>
#include <string>

#include <headrace/base/text.hpp>
#include <headrace/ir/tensor_meta.hpp>

namespace headrace {

/// Returns "float32[1, 16]".
[[nodiscard]] std::pmr::string meta_text(const tensor_meta& meta);
/// Returns "float32[1, 16]", or "?" if the type is unknown.
[[nodiscard]] inline std::pmr::string meta_text(const tensor_meta* meta) {
    return meta == nullptr ? "?" : meta_text(*meta);
}

}  // namespace headrace

#ifndef HEADRACE_COMPILED
#include <headrace/ir/meta_text_definition.hpp>
#endif

#endif
