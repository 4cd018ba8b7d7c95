// SPDX-License-Identifier: MIT
// Defines headrace::narrow and headrace::cat, which take parts of ATen tensors and join them.
#ifndef HEADRACE_PASSES_DECOMPOSE_JOINING_HPP
#define HEADRACE_PASSES_DECOMPOSE_JOINING_HPP

#include <span>

#include <headrace/dialect/aten.hpp>
#include <headrace/infer/aten.hpp>
#include <headrace/pass/pass.hpp>

namespace headrace {

/// `length` elements of an axis, from `start` on.
inline value narrow(emit<ops<aten::narrow>> e, value v, std::size_t axis, std::int64_t start,
                    std::int64_t length) {
    return e.make<aten::narrow>(
        {.self = v, .dim = static_cast<std::int64_t>(axis), .start = start, .length = length});
}
/// The parts one after another along an axis.
inline value cat(emit<ops<aten::cat>> e, std::span<const value> parts, std::size_t axis) {
    return e.make<aten::cat>({.tensors = parts, .dim = static_cast<std::int64_t>(axis)});
}

}  // namespace headrace

#endif
