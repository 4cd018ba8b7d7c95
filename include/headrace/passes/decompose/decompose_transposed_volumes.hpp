// SPDX-License-Identifier: MIT
// Defines headrace::decompose_transposed_volumes.
#ifndef HEADRACE_PASSES_DECOMPOSE_DECOMPOSE_TRANSPOSED_VOLUMES_HPP
#define HEADRACE_PASSES_DECOMPOSE_DECOMPOSE_TRANSPOSED_VOLUMES_HPP

#include <headrace/pass/arithmetic.hpp>
#include <headrace/passes/properties.hpp>
#include <headrace/passes/support/slicing.hpp>

namespace headrace {

/// Decomposes transposed convolutions over three axes; TOSA has them over two only (TOSA 1.0, 2.2.10). In the
/// equivalent forward convolution, the input has stride - 1 zeros between its elements and dilation · (kernel
/// - 1) - padding zeros around them.
struct decompose_transposed_volumes : pass {
    using phase = decomposition;
    using runs_after = pass_list<canonical_convolutions>;
    static constexpr std::string_view summary =
        "transposed conv3d as a conv3d of the spread input by the flipped weight";

    static auto rewrites() {
        return rules(on<aten::convolution> = [](auto x, auto weight, const auto& a) {
            const auto forward = [&] {
                shape_builder around;
                for (std::size_t i = 3; i-- != 0;) {
                    const std::int64_t before = a.dilation[i] * (weight.shape()[2 + i] - 1) - a.padding[i];
                    around.append(shape_builder{before, before + a.output_padding[i]});
                }
                const auto wide = spread(spread(spread(x, 2, a.stride[0]), 3, a.stride[1]), 4, a.stride[2]);
                const auto flipped = call<aten::flip>(weight, int_list{2, 3, 4});
                return call<aten::convolution>(call<aten::constant_pad_nd>(wide, around),
                    call<aten::transpose_int>(flipped, 0, 1), a.bias, int_list{1, 1, 1}, int_list{0, 0, 0},
                    a.dilation, false, int_list{0, 0, 0}, 1);
            };
            return choose(a.transposed && x.rank() == 5 && a.groups == 1, forward, unchanged);
        });
    }

private:
    // Pads rows of one element to `stride` elements, and flattens them again.
    static auto spread(const auto& x, std::size_t axis, std::int64_t stride) {
        const auto spread_out = [&] {
            const build::three_axes k = build::around(x.shape(), axis);
            const auto apart = call<aten::reshape>(x, int_list{k.before, k.size, 1, k.after});
            const auto padded = call<aten::constant_pad_nd>(apart, int_list{0, 0, 0, stride - 1});
            const auto line = call<aten::reshape>(padded, build::with_axis(x.shape(), axis, k.size * stride));
            return call<aten::narrow>(line, static_cast<std::int64_t>(axis), 0, (k.size - 1) * stride + 1);
        };
        return choose(stride == 1, x, spread_out);
    }
};
HEADRACE_COMPILED_PASS(decompose_transposed_volumes);

}  // namespace headrace

#endif
