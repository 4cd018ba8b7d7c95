// SPDX-License-Identifier: MIT
// Defines the functions of infer/inference.hpp.
#ifndef HEADRACE_INFER_INFERENCE_DEFINITION_HPP
#define HEADRACE_INFER_INFERENCE_DEFINITION_HPP

#include <algorithm>
#include <memory_resource>
#include <span>
#include <string>

#include <headrace/base/compiled.hpp>
#include <headrace/base/printable.hpp>
#include <headrace/base/result.hpp>
#include <headrace/base/sizes.hpp>
#include <headrace/base/text.hpp>
#include <headrace/ir/nearest_named.hpp>
#include <headrace/ir/node.hpp>
#include <headrace/ir/opaque_text.hpp>
#include <headrace/ir/source_location.hpp>
#include <headrace/op/op.hpp>

namespace headrace {

HEADRACE_INLINE std::pmr::string shape_text(sizes shape) {
    std::pmr::string text = "[";
    for (const std::int64_t size : shape) {
        if (text.size() != 1) text += ", ";
        text += number_text(size);
    }
    return text += ']';
}

HEADRACE_INLINE result<void> inference::write_over(const tensor_meta& self) {
    if (results_.size() == 1 && !(results_[0].shape == self.shape)) {
        return invalid({"cannot expand ", shape_text(results_[0].shape), " to ", shape_text(self.shape)});
    }
    results_.assign(1, {self.dtype, self.shape, {}});
    return {};
}

HEADRACE_INLINE int_list inference::own(std::span<const std::int64_t> shape) {
    if (shape.size() <= int_list::inline_capacity) return int_list(shape);
    auto* copy = static_cast<std::int64_t*>(
        arena_->allocate(shape.size() * sizeof(std::int64_t), alignof(std::int64_t)));
    std::copy(shape.begin(), shape.end(), copy);
    return int_list(std::span<const std::int64_t>(copy, shape.size()));
}

HEADRACE_INLINE std::pmr::string message_prefix(const node& n) {
    const node& named = nearest_named(n);
    const auto* origin = named.find_annotation<provenance>();
    std::pmr::string text = source_line(named);
    if (!text.empty()) text += ": ";
    text += printable(origin_name(named));
    text += " (";
    text += printable(origin != nullptr ? origin->op_name : op_name(named));
    text += "): ";
    text += relation_text(n, named);
    return text;
}

}  // namespace headrace

#endif
