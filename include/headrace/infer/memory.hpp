// SPDX-License-Identifier: MIT
// Defines the rule of the memory dialect: a buffer has the type and shape in its arguments.
#ifndef HEADRACE_INFER_MEMORY_HPP
#define HEADRACE_INFER_MEMORY_HPP

#include <headrace/dialect/memory.hpp>
#include <headrace/infer/shape_builder.hpp>

namespace headrace {

template <one_of<ops<memory::alloc>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    return add_result(out, a.dtype, a.size);
}

}  // namespace headrace

#endif
