// SPDX-License-Identifier: MIT
// Defines headrace::u55::violated, the restrictions of Ethos-U55 compared with TOSA 1.0, as rules that can be
// checked at compile time.
#ifndef HEADRACE_TARGET_U55_RULES_HPP
#define HEADRACE_TARGET_U55_RULES_HPP

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include <headrace/target/op_facts.hpp>

namespace headrace {

/// The reason why Ethos-U55 cannot execute an operator.
enum class u55_limit : std::uint8_t {
    none,
    op,                      ///< the operator is not supported
    booleans,                ///< not for booleans
    floats,                  ///< not for floating-point numbers
    other_than_int8,         ///< only for INT8
    other_than_int32,        ///< only for INT32
    int32,                   ///< not for INT32
    fewer_bits,              ///< a CAST cannot narrow
    int48_source,            ///< the operand of a RESCALE is INT48 only if a convolution computes it
    int16_without_rescale,   ///< all users of an INT16 convolution must be RESCALEs
    computed_weight,         ///< weights and biases must be constants
    channels,                ///< at most 65536
    kernel_window,           ///< of a convolution: at most 64 rows and 4096 elements
    kernel_depth,            ///< of CONV3D: 1
    weight_sum,              ///< the absolute weights of a channel add up to at most 127 * 65536
    bias_bits,               ///< at most 40
    stride,                  ///< at most 3 if the window is padded, dilated or depthwise
    transposed_stride,       ///< of TRANSPOSE_CONV2D: 1 or 2, the same on both axes
    pool_window,             ///< at most 256 rows and 65536 elements, 8 x 8 for a padded average
    axis_size,               ///< at most 65536
    argmax,                  ///< along at most 127 channels of one image
    resize,                  ///< nearest, of one image, by 2, 4 or 8
    transpose,               ///< must be addressable by a few axes of at most 65536
    reverse_axis,            ///< must be the height or width of an image
    sum_extent,              ///< at most 65536 elements before and after the axis
    shift_without_rounding,  ///< ARITHMETIC_RIGHT_SHIFT must round
};

/// The subset of TOSA's integer profile that Ethos-U55 executes, according to the report of supported
/// operators of its compiler, Vela 5.2. Vela accepts some operators that it cannot compile; these rules
/// refuse them.
namespace u55 {

inline constexpr std::int64_t max_size = 65536;  ///< of an axis, for operators with such a limit

/// For convolutions; larger kernels are split (passes/u55/fitting_convolution.hpp).
inline constexpr std::int64_t max_kernel_height = 64;
inline constexpr std::int64_t max_kernel_taps = 4096;
inline constexpr std::int64_t max_weight_sum = 127 * 65536;  ///< of the absolute weights of an output channel
inline constexpr std::int64_t max_bias = std::int64_t{1} << 39;

/// For poolings.
inline constexpr std::int64_t max_pool_height = 256;
inline constexpr std::int64_t max_pool_taps = 65536;
inline constexpr std::int64_t max_padded_average = 8;  ///< side of a padded AVG_POOL2D's window

inline constexpr std::int64_t max_stride = 3;  ///< a longer stride must have neither padding nor dilation
inline constexpr std::int64_t max_argmax = 127;

using unsupported_ops =
    ops<tosa::fft2d, tosa::rfft2d, tosa::bitwise_and, tosa::bitwise_or, tosa::bitwise_xor, tosa::bitwise_not,
        tosa::intdiv, tosa::logical_and, tosa::logical_or, tosa::logical_xor, tosa::logical_not,
        tosa::logical_right_shift, tosa::select, tosa::equal, tosa::greater, tosa::greater_equal,
        tosa::reduce_all, tosa::reduce_any, tosa::reduce_product, tosa::gather, tosa::scatter, tosa::custom,
        tosa::cond_if, tosa::while_loop, tosa::variable, tosa::variable_write, tosa::variable_read>;

/// The window of a convolution, on its kernel's last two axes, and its limits.
struct convolution_window {
    std::int64_t height, width;   ///< of the kernel
    sizes pad, stride, dilation;  ///< of the two axes
    bool depthwise = false;

    [[nodiscard]] constexpr bool kernel_fits() const {
        return height <= max_kernel_height && height * width <= max_kernel_taps;
    }
    [[nodiscard]] constexpr bool stride_fits() const {
        const bool is_long = std::max(stride[0], stride[1]) > max_stride;
        const bool is_plain = std::ranges::all_of(pad, [](std::int64_t n) { return n == 0; }) &&
            dilation[0] == 1 && dilation[1] == 1;
        return !is_long || (is_plain && !depthwise);
    }
};

/// The window of a pooling, and its limits.
struct pooling_window {
    sizes kernel, pad, stride;
    bool average = false;

    [[nodiscard]] constexpr bool is_padded() const {
        return std::ranges::any_of(pad, [](std::int64_t n) { return n != 0; });
    }
    [[nodiscard]] constexpr bool fits() const {
        if (is_padded() && std::max(stride[0], stride[1]) > max_stride) return false;
        if (average && is_padded()) return std::max(kernel[0], kernel[1]) <= max_padded_average;
        return kernel[0] <= max_pool_height && kernel[0] * kernel[1] <= max_pool_taps;
    }
};

/// True for strides of TRANSPOSE_CONV2D that are 1 or 2, and equal if both axes have more than one element.
[[nodiscard]] constexpr bool transposed_stride_fits(sizes stride, sizes input, sizes kernel) {
    const auto is_single = [&](std::size_t axis) { return input[1 + axis] == 1 && kernel[axis] == 1; };
    const auto is = [&](std::int64_t y, std::int64_t x) { return stride[0] == y && stride[1] == x; };
    return is(1, 1) || is(2, 2) || (is(1, 2) && is_single(0)) || (is(2, 1) && is_single(1));
}

/// True if a TRANSPOSE can be executed. Its steps address few axes at a time; 32-bit elements are moved in
/// halves, which count as an axis.
[[nodiscard]] constexpr bool transpose_fits(dtype type, sizes shape) {
    const std::size_t rank = shape.size();
    if (type == dtype::int32 && rank > 4) return false;
    const std::int64_t whole = element_count(shape);
    for (std::size_t i = 0; i != rank; ++i) {
        if (shape[i] > max_size) return false;
        for (std::size_t k = i + 1; rank > 3 && k != rank; ++k) {
            if (whole / std::max<std::int64_t>(shape[i] * shape[k], 1) > max_size) return false;
        }
    }
    return true;
}

namespace detail {

template <class... Ops>
constexpr bool is_any_of(const op_facts& f, ops<Ops...>) {
    return f.is<Ops...>();
}

// Returns the height and width of a convolution's kernel, which are two axes of its weight.
constexpr sizes kernel_of(const op_facts& f) {
    const std::size_t first = f.is<tosa::depthwise_conv2d>() ? 0 : f.is<tosa::conv3d>() ? 2 : 1;
    return sizes(f.operand(1).shape).subspan(first, 2);
}

constexpr u55_limit violated_by_window(const op_facts& f) {
    const op_attributes& a = f.attributes;
    const sizes kernel = kernel_of(f);
    if (f.is<tosa::transpose_conv2d>()) {
        return transposed_stride_fits(a.stride, f.operand(0).shape, kernel) ? u55_limit::none
                                                                            : u55_limit::transposed_stride;
    }
    const bool is_volume = f.is<tosa::conv3d>();
    if (is_volume && f.operand(1).shape[1] != 1) return u55_limit::kernel_depth;
    const convolution_window window{kernel[0], kernel[1], sizes(a.pad).subspan(is_volume ? 2 : 0),
        sizes(a.stride).subspan(is_volume ? 1 : 0), sizes(a.dilation).subspan(is_volume ? 1 : 0),
        f.is<tosa::depthwise_conv2d>()};
    return window.stride_fits() ? u55_limit::none : u55_limit::stride;
}

constexpr u55_limit violated_by_convolution(const op_facts& f) {
    const op_attributes& a = f.attributes;
    if (const u55_limit window = violated_by_window(f); window != u55_limit::none) return window;
    if (!f.is_constant(1) || !f.is_constant(2)) return u55_limit::computed_weight;
    if (f.operand(0).shape.back() > max_size) return u55_limit::channels;
    const sizes kernel = kernel_of(f);
    if (!convolution_window{kernel[0], kernel[1], {}, {}, {}}.kernel_fits()) return u55_limit::kernel_window;
    if (a.weight_sum > max_weight_sum) return u55_limit::weight_sum;
    if (f.operand(0).dtype != dtype::int16) return u55_limit::none;
    if (!a.only_rescaled) return u55_limit::int16_without_rescale;
    return a.bias_fits ? u55_limit::none : u55_limit::bias_bits;
}

constexpr u55_limit violated_by_pooling(const op_facts& f) {
    const op_attributes& a = f.attributes;
    if (!pooling_window{a.kernel, a.pad, a.stride, f.is<tosa::avg_pool2d>()}.fits())
        return u55_limit::pool_window;
    const int_list& input = f.operand(0).shape;
    return std::max({input[1], input[2], input[3]}) > max_size ? u55_limit::axis_size : u55_limit::none;
}

constexpr u55_limit violated_by_argmax(const op_facts& f) {
    const int_list& input = f.operand(0).shape;
    const std::size_t last = input.size() - 1;
    if (f.operand(0).dtype != dtype::int8) return u55_limit::other_than_int8;
    const bool is_last = f.attributes.axis == static_cast<std::int64_t>(last);
    const bool folds = last < 3 || (last == 3 && input[0] == 1);
    const bool fits =
        is_last && folds && input[last] <= max_argmax && element_count(sizes(input).first(last)) <= max_size;
    return fits ? u55_limit::none : u55_limit::argmax;
}

constexpr u55_limit violated_by_matmul(const op_facts& f) {
    if (f.operand(0).dtype != dtype::int8) return u55_limit::other_than_int8;
    return std::max(f.operand(0).shape[2], f.operand(1).shape[2]) > max_size ? u55_limit::axis_size
                                                                             : u55_limit::none;
}

constexpr u55_limit violated_by_resize(const op_facts& f) {
    const op_attributes& a = f.attributes;
    const int_list& input = f.operand(0).shape;
    bool fits =
        a.mode == resize_mode::nearest && input[0] == 1 && a.scale.size() == 4 && a.offset.size() == 2;
    for (std::size_t i = 0; fits && i != 2; ++i) {
        const std::int64_t n = a.scale[2 * i];
        const std::int64_t d = a.scale[2 * i + 1];
        const std::int64_t factor = n / d;
        fits = n % d == 0 && (factor == 2 || factor == 4 || factor == 8) && 2 * a.offset[i] == d - n &&
            f.result(0).shape[1 + i] == factor * input[1 + i];
    }
    return fits ? u55_limit::none : u55_limit::resize;
}

constexpr u55_limit violated_by_reverse(const op_facts& f) {
    if (f.operand(0).dtype == dtype::int32) return u55_limit::int32;
    const std::size_t rank = f.operand(0).shape.size();
    const auto after = static_cast<std::int64_t>(rank) - f.attributes.axis;
    return rank <= 4 && (after == 2 || after == 3) ? u55_limit::none : u55_limit::reverse_axis;
}

constexpr u55_limit violated_by_sum(const op_facts& f) {
    const sizes input = f.operand(0).shape;
    const auto axis = static_cast<std::size_t>(f.attributes.axis);
    if (input[axis] > max_size) return u55_limit::axis_size;
    if (axis + 1 == input.size()) return u55_limit::none;
    const bool fits =
        element_count(input.first(axis)) <= max_size && element_count(input.subspan(axis + 1)) <= max_size;
    return fits ? u55_limit::none : u55_limit::sum_extent;
}

// Checks ops whose rules depend only on types.
constexpr u55_limit violated_by_types(const op_facts& f) {
    const dtype from = f.operand_count == 0 ? dtype::unknown : f.operand(0).dtype;
    const dtype to = f.result_count == 0 ? dtype::unknown : f.result(0).dtype;
    if (f.is<tosa::arithmetic_right_shift>()) {
        if (from != dtype::int32) return u55_limit::other_than_int32;
        return f.attributes.round ? u55_limit::none : u55_limit::shift_without_rounding;
    }
    if (f.is<tosa::logical_left_shift>() && from != dtype::int32) return u55_limit::other_than_int32;
    if (f.is<tosa::table>() && from != dtype::int8) return u55_limit::other_than_int8;
    if (f.is<tosa::reduce_max, tosa::reduce_min>() && from == dtype::int32) return u55_limit::int32;
    if (f.is<tosa::cast>() && from != dtype::unknown && traits_of(to).bits < traits_of(from).bits)
        return u55_limit::fewer_bits;
    if (f.is<tosa::rescale>() && from == dtype::int48 && !f.attributes.from_convolution)
        return u55_limit::int48_source;
    return u55_limit::none;
}

}  // namespace detail

/// Returns the first rule that an operator with known tensors violates.
[[nodiscard]] constexpr u55_limit violated(const op_facts& f) {
    if (detail::is_any_of(f, unsupported_ops{})) return u55_limit::op;
    for (std::size_t i = 0; i != f.operand_count + f.result_count; ++i) {
        if (is_boolean(f.tensors[i]->dtype)) return u55_limit::booleans;
        if (is_floating(f.tensors[i]->dtype)) return u55_limit::floats;
    }
    if (is_convolution(*f.op)) return detail::violated_by_convolution(f);
    if (f.op->has(trait::pooling)) return detail::violated_by_pooling(f);
    if (f.is<tosa::argmax>()) return detail::violated_by_argmax(f);
    if (f.is<tosa::matmul>()) return detail::violated_by_matmul(f);
    if (f.is<tosa::resize>()) return detail::violated_by_resize(f);
    if (f.is<tosa::transpose>()) {
        return transpose_fits(f.operand(0).dtype, f.operand(0).shape) ? u55_limit::none
                                                                      : u55_limit::transpose;
    }
    if (f.is<tosa::reverse>()) return detail::violated_by_reverse(f);
    if (f.is<tosa::reduce_sum>()) return detail::violated_by_sum(f);
    return detail::violated_by_types(f);
}

}  // namespace u55

}  // namespace headrace

#endif
