// SPDX-License-Identifier: MIT
// Defines headrace::lower_quantized_resize.
#ifndef HEADRACE_PASSES_QUANTIZE_LOWER_QUANTIZED_RESIZE_HPP
#define HEADRACE_PASSES_QUANTIZE_LOWER_QUANTIZED_RESIZE_HPP

#include <headrace/passes/quantize/quantizer.hpp>
#include <headrace/passes/support/resizing.hpp>

namespace headrace {

/// resize(dq(x)) = dq(resize(x)): RESIZE returns interpolated integers multiplied by the unit of its weights,
/// so the scale is divided by that unit. If the result is read in the quantization of x, the integers are
/// rounded at once, including the zero point.
struct lower_quantized_resize : pass {
    static constexpr std::string_view summary = "resize(dq(x)) = dq(resize(x)), of INT8 images";
    using targeted_ops = linear_ops;
    using produces =
        joined<build::resize_ops, reading_as_stored_ops, dequantize_ops, ops<tosa::rescale, tosa::sub>>;

    template <one_of<targeted_ops> Op>
    std::optional<value> operator()(Op, const args<Op>& a, emit<produces> e) const {
        const auto x = as_short_integers_per_tensor(e, resized_input(a));
        if (!x || e.dtype(x->integers) != dtype::int8) return std::nullopt;
        const auto [image, unit] = build::resize(e, {x->integers, sampling_mode_of<Op>(a), resize_scales(a)});
        return dequantize_image(e, image, static_cast<double>(unit), x->parameters);
    }

private:
    static value dequantize_image(emit<produces> e, value image, double unit, const quantization& q) {
        if (e.dtype(image) == dtype::int8) return dequantize(e, {image, q});  // size is unchanged
        if (is_read_in(e.current(), q))
            return dequantize(e, {build::rescale(e, image, 1 / unit, {.to = dtype::int8}), q});
        const auto zero = q.zero_point() * static_cast<std::int64_t>(unit);
        if (zero != 0) image = e.make<tosa::sub>(image, e.splat(zero, dtype::int32, e.rank(image)));
        const auto reach = static_cast<std::int64_t>(q.reach() * unit);
        return dequantize(e, {image, quantization::symmetric(q.scale() / unit, reach)});
    }
};

}  // namespace headrace

#endif
