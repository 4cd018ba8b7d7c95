// SPDX-License-Identifier: MIT
// Defines headrace::decompose_transposed_volumes.
#ifndef HEADRACE_PASSES_DECOMPOSE_DECOMPOSE_TRANSPOSED_VOLUMES_HPP
#define HEADRACE_PASSES_DECOMPOSE_DECOMPOSE_TRANSPOSED_VOLUMES_HPP

#include <headrace/dialect/aten.hpp>
#include <headrace/infer/aten.hpp>
#include <headrace/pass/pass.hpp>
#include <headrace/passes/properties.hpp>

namespace headrace {

/// TOSA transposes convolutions of two dimensions only (TOSA 1.0, 2.2.10). One of three is a forward
/// convolution of the input with stride - 1 zeros between its elements and dilation · (kernel - 1) - padding
/// around them, by the weight turned around in space, its channels swapped.
struct decompose_transposed_volumes : pass {
    using phase = decomposition;
    using runs_after = pass_list<canonical_convolutions>;
    using targets = ops<aten::convolution>;
    using produces = ops<aten::convolution, aten::constant_pad_nd, aten::reshape, aten::narrow, aten::flip,
                         aten::transpose_int>;

    std::optional<value> operator()(const args<aten::convolution>& a, emit<produces>& e) const {
        if (!a.transposed || e.rank(a.input) != 5 || a.groups != 1) return std::nullopt;
        value input = a.input;
        for (std::size_t i = 0; i != 3; ++i) input = spread(e, input, 2 + i, a.stride[i]);
        shape_builder around;
        for (std::size_t i = 3; i-- != 0;) {
            const std::int64_t before = a.dilation[i] * (e.shape(a.weight)[2 + i] - 1) - a.padding[i];
            around.push_back(before);
            around.push_back(before + a.output_padding[i]);
        }
        const value turned = e.make<aten::flip>({.self = a.weight, .dims = {2, 3, 4}});
        return e.make<aten::convolution>(
            {.input = e.make<aten::constant_pad_nd>({.self = input, .pad = int_list(around)}),
             .weight = e.make<aten::transpose_int>({.self = turned, .dim0 = 0, .dim1 = 1}),
             .bias = a.bias,
             .stride = {1, 1, 1},
             .padding = {0, 0, 0},
             .dilation = a.dilation,
             .transposed = false,
             .output_padding = {0, 0, 0},
             .groups = 1});
    }

private:
    // Rows of one element, padded to rows of `stride`, in one line again.
    static value spread(emit<produces>& e, value v, std::size_t axis, std::int64_t stride) {
        if (stride == 1 || !v) return v;
        const shape_builder shape(e.shape(v));
        const std::int64_t before = element_count(sizes(shape).first(axis));
        const std::int64_t after = element_count(sizes(shape).subspan(axis + 1));
        const value apart = e.make<aten::reshape>({.self = v, .shape = {before, shape[axis], 1, after}});
        const value padded = e.make<aten::constant_pad_nd>({.self = apart, .pad = {0, 0, 0, stride - 1}});
        shape_builder wide(shape);
        wide[axis] *= stride;
        const value line = e.make<aten::reshape>({.self = padded, .shape = int_list(wide)});
        return e.make<aten::narrow>({.self = line,
                                     .dim = static_cast<std::int64_t>(axis),
                                     .start = 0,
                                     .length = wide[axis] - (stride - 1)});
    }
};

}  // namespace headrace

#endif
