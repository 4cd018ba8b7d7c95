// SPDX-License-Identifier: MIT
// Defines headrace::narrow, headrace::cat and other builders that decompositions use to move elements.
#ifndef HEADRACE_PASSES_DECOMPOSE_JOINING_HPP
#define HEADRACE_PASSES_DECOMPOSE_JOINING_HPP

#include <span>

#include <headrace/dialect/aten.hpp>
#include <headrace/infer/aten.hpp>
#include <headrace/pass/pass.hpp>

namespace headrace {

/// Returns `length` elements of an axis, from `start` on.
inline value narrow(
    emit<ops<aten::narrow>> e, value v, std::size_t axis, std::int64_t start, std::int64_t length) {
    return e.make<aten::narrow>(
        {.self = v, .dim = static_cast<std::int64_t>(axis), .start = start, .length = length});
}
/// Concatenates the parts along an axis.
inline value cat(emit<ops<aten::cat>> e, std::span<const value> parts, std::size_t axis) {
    return e.make<aten::cat>({.tensors = parts, .dim = static_cast<std::int64_t>(axis)});
}

/// Reshapes a value, unless it has that shape.
inline value reshaped(emit<ops<aten::reshape>> e, value v, const int_list& shape) {
    return v && e.shape(v) != shape ? e.make<aten::reshape>({.self = v, .shape = shape}) : v;
}
/// Casts a value, unless it has that dtype.
inline value cast(emit<ops<aten::_to_copy>> e, value v, dtype type) {
    return v && e.dtype(v) != type ? e.make<aten::_to_copy>({.self = v, .dtype = type}) : v;
}

}  // namespace headrace

#endif
