// SPDX-License-Identifier: MIT
// Defines the rules of the builtin dialect: the metadata of its nodes comes from the program.
#ifndef HEADRACE_INFER_BUILTIN_HPP
#define HEADRACE_INFER_BUILTIN_HPP

#include <memory_resource>
#include <string>

#include <headrace/dialect/builtin.hpp>
#include <headrace/infer/shape_builder.hpp>

namespace headrace {

template <one_of<ops<builtin::placeholder>> Op>
result<void> infer_results(Op, const args<Op>&, inference&) {
    return invalid("the shape of an input cannot be inferred");
}
template <one_of<ops<builtin::constant>> Op>
result<void> infer_results(Op, const args<Op>&, inference&) {
    return invalid("the shape of a constant cannot be inferred");
}
template <one_of<ops<builtin::opaque>> Op>
result<void> infer_results(Op, const args<Op>& a, inference&) {
    return invalid({"the shapes that ", a.target, " gives are not known"});
}
template <one_of<ops<builtin::output>> Op>
result<void> infer_results(Op, const args<Op>&, inference&) {
    return {};
}

}  // namespace headrace

#endif
