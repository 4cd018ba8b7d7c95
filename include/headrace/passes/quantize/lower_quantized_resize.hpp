// SPDX-License-Identifier: MIT
// Defines headrace::lower_quantized_resize.
#ifndef HEADRACE_PASSES_QUANTIZE_LOWER_QUANTIZED_RESIZE_HPP
#define HEADRACE_PASSES_QUANTIZE_LOWER_QUANTIZED_RESIZE_HPP

#include <headrace/passes/quantize/dequantized.hpp>
#include <headrace/passes/support/resizing.hpp>

namespace headrace {

/// Interpolation of a dequantized image as that of its codes, which RESIZE gives multiplied by the unit of
/// its weights: dq(x) resized = dq(x resized), at the scale of the codes divided by that unit. Where that is
/// read in the quantization of x, the codes are rounded at once, zero point and all.
struct lower_quantized_resize : pass {
    using targets = linear_ops;
    using produces = joined<build::resize_ops, requantize_ops, dequantize_ops, ops<tosa::sub>>;

    template <one_of<targets> Op>
    std::optional<value> operator()(Op, const args<Op>& a, auto& e) const {
        const auto x = as_dequantized(e, resized_input(a));
        if (!x || !x->parameters.is_per_tensor() || e.dtype(x->codes) != dtype::int8) return std::nullopt;
        args<Op> of_codes = a;
        if constexpr (requires { of_codes.input; })
            of_codes.input = x->codes;
        else
            of_codes.self = x->codes;
        const quantization& q = x->parameters;
        const auto [image, unit] = build::resize<Op>(e, of_codes);
        if (e.dtype(image) == dtype::int8) return dequantize(e, {image, q});  // of the same size
        if (is_read_in(e.current(), q)) {
            const value codes = build::rescale(e, image, 1 / static_cast<double>(unit), {.to = dtype::int8});
            return dequantize(e, {codes, q});
        }
        const std::int64_t zero = q.zero_point() * unit;
        const value centered =
            zero == 0 ? image : e.template make<tosa::sub>(image, e.splat(zero, dtype::int32, e.rank(image)));
        const auto reach = static_cast<std::int64_t>(q.reach()) * unit;
        return dequantize(
            e, {centered, quantization::per_tensor(q.scale() / static_cast<double>(unit), 0, -reach, reach)});
    }
};

}  // namespace headrace

#endif
