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
[[nodiscard]] std::pmr::string meta_text(const tensor_meta& meta);
/// The same, or "?" for a type that is not known.
[[nodiscard]] inline std::pmr::string meta_text(const tensor_meta* meta) {
    return meta == nullptr ? "?" : meta_text(*meta);
}

}  // namespace headrace

#ifndef HEADRACE_COMPILED
#include <headrace/ir/meta_text_definition.hpp>
#endif

#endif
