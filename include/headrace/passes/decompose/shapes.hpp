// SPDX-License-Identifier: MIT
// Defines the views of expressions that decompositions share.
#ifndef HEADRACE_PASSES_DECOMPOSE_SHAPES_HPP
#define HEADRACE_PASSES_DECOMPOSE_SHAPES_HPP

#include <algorithm>

#include <headrace/infer/shape_builder.hpp>
#include <headrace/pass/arithmetic.hpp>

namespace headrace {

/// x in another shape.
template <reading X>
[[nodiscard]] auto viewed(const X& x, const int_list& shape) {
    return choose(x.shape() == shape, x, [&] { return call<aten::view>(x, shape); });
}

/// Views x as one axis: for channel parameters, which PyTorch accepts in any shape.
template <reading X>
[[nodiscard]] auto flat(const X& x) {
    return viewed(x, int_list{x.meta().elements()});
}

/// Views [C] as [C, 1, …, 1] of that rank: channel parameters, ready to broadcast with [C, H, W].
template <reading X>
[[nodiscard]] auto along_channels(const X& x, std::size_t rank) {
    shape_builder shape = shape_builder::filled(std::min(rank, shape_builder::capacity), 1);
    shape[0] = x.meta().elements();
    return call<aten::view>(x, shape);
}

}  // namespace headrace

#endif
