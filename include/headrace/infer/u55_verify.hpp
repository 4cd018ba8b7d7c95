// SPDX-License-Identifier: MIT
// Defines headrace::u55::restriction, what Ethos-U55 lacks of TOSA 1.0.
#ifndef HEADRACE_INFER_U55_VERIFY_HPP
#define HEADRACE_INFER_U55_VERIFY_HPP

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory_resource>
#include <span>
#include <string>
#include <string_view>

#include <headrace/infer/rules.hpp>
#include <headrace/ir/graph.hpp>
#include <headrace/op/text.hpp>
#include <headrace/op/tosa.hpp>

/// The subset of TOSA's integer profile that Ethos-U55 executes, as the report of supported operators of its
/// compiler, Vela 5.1, has it. Vela does not refuse all that it cannot compile; this does.
namespace headrace::u55 {

inline constexpr std::int64_t most_size = 65536;  ///< of an axis, where an operator has such a limit

/// Of convolutions; what is larger is split (passes/u55/expand_windows.hpp).
inline constexpr std::int64_t most_kernel_height = 64;
inline constexpr std::int64_t most_kernel_taps = 4096;
inline constexpr std::int64_t most_weight_sum = 127 * 65536;  ///< of absolute weights of a result's channel
inline constexpr std::int64_t most_bias = std::int64_t{1} << 39;

/// Of poolings.
inline constexpr std::int64_t most_pool_height = 256;
inline constexpr std::int64_t most_pool_taps = 65536;
inline constexpr std::int64_t most_padded_average = 8;  ///< side of the window of a padded AVG_POOL2D

inline constexpr std::int64_t most_stride = 3;  ///< above, only without padding and dilation
inline constexpr std::int64_t most_argmax = 127;

using unsupported_ops =
    ops<tosa::fft2d, tosa::rfft2d, tosa::bitwise_and, tosa::bitwise_or, tosa::bitwise_xor, tosa::bitwise_not,
        tosa::intdiv, tosa::logical_and, tosa::logical_or, tosa::logical_xor, tosa::logical_not,
        tosa::logical_right_shift, tosa::select, tosa::equal, tosa::greater, tosa::greater_equal,
        tosa::reduce_all, tosa::reduce_any, tosa::reduce_product, tosa::gather, tosa::scatter, tosa::custom,
        tosa::cond_if, tosa::while_loop, tosa::variable, tosa::variable_write, tosa::variable_read>;

/// The elements of a constant of whole bytes, row-major; empty if the value is computed, or has strides.
[[nodiscard]] inline std::span<const std::byte> constant_bytes(value v) {
    const tensor_data* data = nullptr;
    if (const auto* a = match<builtin::constant>(v)) data = &a->data;
    if (const auto* a = match<tosa::const_>(v)) data = &a->data;
    const tensor_meta* meta = meta_of(v);
    if (data == nullptr || meta == nullptr || !data->strides.empty()) return {};
    return {data->bytes, bytes_in_memory(*meta)};
}

/// Does a node that convolves take a window as it is, on its kernel's two last axes?
struct convolution_window {
    std::int64_t height, width;   ///< of the kernel
    sizes pad, stride, dilation;  ///< of the two axes
    bool depthwise = false;

    [[nodiscard]] bool kernel_fits() const {
        return height <= most_kernel_height && height * width <= most_kernel_taps;
    }
    [[nodiscard]] bool stride_fits() const {
        const bool is_long = std::max(stride[0], stride[1]) > most_stride;
        const bool is_plain = std::ranges::all_of(pad, [](std::int64_t n) { return n == 0; }) &&
                              dilation[0] == 1 && dilation[1] == 1;
        return !is_long || (is_plain && !depthwise);
    }
};

/// The same of a pooling.
struct pooling_window {
    sizes kernel, pad, stride;
    bool average = false;

    [[nodiscard]] bool is_padded() const {
        return std::ranges::any_of(pad, [](std::int64_t n) { return n != 0; });
    }
    [[nodiscard]] bool fits() const {
        if (is_padded() && std::max(stride[0], stride[1]) > most_stride) return false;
        if (average && is_padded()) return std::max(kernel[0], kernel[1]) <= most_padded_average;
        return kernel[0] <= most_pool_height && kernel[0] * kernel[1] <= most_pool_taps;
    }
};

/// Strides of TRANSPOSE_CONV2D: 1 or 2, the same on both axes where both are more than one element.
[[nodiscard]] inline bool transposed_stride_fits(sizes stride, sizes input, sizes kernel) {
    const auto lies = [&](std::size_t axis) { return input[1 + axis] == 1 && kernel[axis] == 1; };
    const auto is = [&](std::int64_t y, std::int64_t x) { return stride[0] == y && stride[1] == x; };
    return is(1, 1) || is(2, 2) || (is(1, 2) && lies(0)) || (is(2, 1) && lies(1));
}

/// TRANSPOSE is executed in steps that address few axes at a time. 32 bits are moved in halves, which are
/// an axis of their own.
[[nodiscard]] inline bool transpose_fits(dtype type, sizes shape) {
    const std::size_t rank = shape.size();
    if (type == dtype::int32 && rank > 4) return false;
    const std::int64_t whole = element_count(shape);
    for (std::size_t i = 0; i != rank; ++i) {
        if (shape[i] > most_size) return false;
        for (std::size_t k = i + 1; rank > 3 && k != rank; ++k) {
            if (whole / std::max<std::int64_t>(shape[i] * shape[k], 1) > most_size) return false;
        }
    }
    return true;
}

namespace detail {

class checker {
public:
    explicit checker(const node& n) : n_(n) {}

    [[nodiscard]] std::pmr::string check() const {
        if (contains(unsupported_ops{})) return "Ethos-U55 has no " + short_name();
        for (std::size_t i = 0; i != n_.operand_count; ++i) {
            if (auto fault = type(*meta_of(n_.operand(i))); !fault.empty()) return fault;
        }
        for (const result_slot& r : std::span(n_.results, n_.result_count)) {
            if (auto fault = type(*r.meta); !fault.empty()) return fault;
        }
        if (const auto* a = args_if<tosa::conv2d>(n_)) return convolution(*a, false);
        if (const auto* a = args_if<tosa::depthwise_conv2d>(n_)) return convolution(*a, true);
        if (const auto* a = args_if<tosa::conv3d>(n_)) return convolution(*a);
        if (const auto* a = args_if<tosa::transpose_conv2d>(n_)) return convolution(*a);
        if (const auto* a = args_if<tosa::avg_pool2d>(n_)) return pooling(*a, true);
        if (const auto* a = args_if<tosa::max_pool2d>(n_)) return pooling(*a, false);
        if (const auto* a = args_if<tosa::argmax>(n_)) return argmax(*a);
        if (const auto* a = args_if<tosa::matmul>(n_)) return matmul(*a);
        if (const auto* a = args_if<tosa::resize>(n_)) return resize(*a);
        if (const auto* a = args_if<tosa::transpose>(n_)) return transpose(*a);
        if (const auto* a = args_if<tosa::reverse>(n_)) return reverse(*a);
        if (const auto* a = args_if<tosa::reduce_sum>(n_)) return sum(*a);
        return elementwise();
    }

private:
    template <class... Ops>
    [[nodiscard]] bool contains(ops<Ops...>) const {
        return (is<Ops>(n_) || ...);
    }
    [[nodiscard]] std::pmr::string short_name() const { return std::pmr::string(n_.op->name.substr(5)); }
    [[nodiscard]] std::pmr::string no(std::string_view what) const {
        return "Ethos-U55 has no " + short_name() + " " + std::pmr::string(what);
    }
    [[nodiscard]] static const int_list& shape(value v) { return meta_of(v)->shape; }
    [[nodiscard]] static dtype type_of(value v) { return meta_of(v)->dtype; }
    [[nodiscard]] static bool is_constant(value v) {
        return is<builtin::constant>(*v.producer) || is<tosa::const_>(*v.producer);
    }

    [[nodiscard]] std::pmr::string type(const tensor_meta& meta) const {
        if (is_boolean(meta.dtype)) return no("of booleans");
        if (is_floating(meta.dtype)) return no("of floating-point numbers");
        return {};
    }

    // What all convolutions share; the kernel's axes follow `first` in the weight's shape.
    template <class Args>
    [[nodiscard]] std::pmr::string convolution_operands(const Args& a, std::int64_t height,
                                                        std::int64_t width) const {
        if (!is_constant(a.weight) || !is_constant(a.bias)) return no("with a computed weight or bias");
        if (shape(a.input)[shape(a.input).size() - 1] > most_size) return no("of more than 65536 channels");
        if (height > most_kernel_height || height * width > most_kernel_taps) {
            return no("with a window of " + number_text(height) + " x " + number_text(width) +
                      ", but up to 64 rows and 4096 elements");
        }
        if (weight_sum(a) > most_weight_sum)
            return no("whose absolute weights add up to more than 127 * 65536");
        if (type_of(a.input) != dtype::int16) return {};
        for (const edge& use : n_.uses()) {
            if (!is<tosa::rescale>(*use.target)) return no("of INT16 that no RESCALE follows");
        }
        return bias_fits(a.bias) ? std::pmr::string() : no("with a bias of more than 40 bits");
    }
    // The largest sum of a result's channel. It is not looked for where it cannot be too large.
    template <class Args>
    [[nodiscard]] std::int64_t weight_sum(const Args& a) const {
        const std::int64_t channels = shape(a.bias)[0];
        const std::int64_t terms = element_count(shape(a.weight)) / std::max<std::int64_t>(channels, 1);
        const auto bytes = constant_bytes(a.weight);
        const auto zero = constant_bytes(a.weight_zp);
        if (terms * 255 <= most_weight_sum || type_of(a.weight) != dtype::int8 || zero.empty()) return 0;
        std::int64_t most = 0;
        std::int64_t sum = 0;
        for (std::size_t i = 0; i != bytes.size(); ++i) {
            if (i % static_cast<std::size_t>(terms) == 0) sum = 0;
            sum += std::abs(number(bytes[i]) - number(zero[0]));
            most = std::max(most, sum);
        }
        return most;
    }
    [[nodiscard]] static std::int64_t number(std::byte b) {
        return static_cast<std::int8_t>(std::to_integer<std::uint8_t>(b));
    }
    [[nodiscard]] static bool bias_fits(value bias) {
        if (type_of(bias) != dtype::int48) return true;
        const auto bytes = constant_bytes(bias);
        for (std::size_t i = 0; i + 6 <= bytes.size(); i += 6) {
            std::uint64_t bits = 0;
            std::memcpy(&bits, &bytes[i], 6);
            const auto b = static_cast<std::int64_t>(bits << 16U) >> 16U;
            if (b >= most_bias || b < -most_bias) return false;
        }
        return true;
    }

    template <class Args>
    [[nodiscard]] std::pmr::string convolution(const Args& a, bool depthwise) const {
        const std::size_t first = depthwise ? 0 : 1;
        const std::int64_t height = shape(a.weight)[first];
        const std::int64_t width = shape(a.weight)[first + 1];
        if (!convolution_window{height, width, a.pad, a.stride, a.dilation, depthwise}.stride_fits())
            return long_stride(depthwise);
        return convolution_operands(a, height, width);
    }
    [[nodiscard]] std::pmr::string long_stride(bool depthwise) const {
        return no(depthwise ? "with a stride above 3"
                            : "with a stride above 3 together with padding or dilation");
    }
    [[nodiscard]] std::pmr::string convolution(const args<tosa::conv3d>& a) const {
        const int_list& kernel = shape(a.weight);
        if (kernel[1] != 1) return no("with a window of more than one element in depth");
        const convolution_window window{kernel[2], kernel[3], sizes(a.pad).subspan(2),
                                        sizes(a.stride).subspan(1), sizes(a.dilation).subspan(1)};
        if (!window.stride_fits()) return long_stride(false);
        return convolution_operands(a, kernel[2], kernel[3]);
    }
    [[nodiscard]] std::pmr::string convolution(const args<tosa::transpose_conv2d>& a) const {
        const int_list& kernel = shape(a.weight);
        if (!transposed_stride_fits(a.stride, shape(a.input), sizes(kernel).subspan(1)))
            return no("with such strides: they are 1 or 2, the same on both axes");
        return convolution_operands(a, kernel[1], kernel[2]);
    }

    template <class Args>
    [[nodiscard]] std::pmr::string pooling(const Args& a, bool average) const {
        if (!pooling_window{a.kernel, a.pad, a.stride, average}.fits()) {
            return no("with a window of " + shape_text(a.kernel) + ", stride " + shape_text(a.stride) +
                      " and padding " + shape_text(a.pad));
        }
        const int_list& input = shape(a.input);
        if (std::max({input[1], input[2], input[3]}) > most_size) return too_long();
        return {};
    }
    [[nodiscard]] std::pmr::string too_long() const { return no("of an axis of more than 65536 elements"); }

    [[nodiscard]] std::pmr::string argmax(const args<tosa::argmax>& a) const {
        const int_list& input = shape(a.input);
        const std::size_t last = input.size() - 1;
        if (type_of(a.input) != dtype::int8) return no("of other than INT8");
        const bool is_last = a.axis == static_cast<std::int64_t>(last);
        const bool folds = last < 3 || (last == 3 && input[0] == 1);
        if (!is_last || !folds || input[last] > most_argmax ||
            element_count(sizes(input).first(last)) > most_size)
            return no("but of up to 127 channels of one image");
        return {};
    }
    [[nodiscard]] std::pmr::string matmul(const args<tosa::matmul>& a) const {
        if (type_of(a.a) != dtype::int8) return no("of other than INT8");
        return std::max(shape(a.a)[2], shape(a.b)[2]) > most_size ? too_long() : std::pmr::string();
    }
    [[nodiscard]] std::pmr::string resize(const args<tosa::resize>& a) const {
        const auto* scale = match<tosa::const_shape>(a.scale);
        const auto* offset = match<tosa::const_shape>(a.offset);
        const bool nearest = a.mode == resize_mode::nearest && shape(a.input)[0] == 1;
        bool fits = nearest && scale != nullptr && offset != nullptr;
        for (std::size_t i = 0; fits && i != 2; ++i) {
            const std::int64_t n = scale->values[2 * i];
            const std::int64_t d = scale->values[2 * i + 1];
            const std::int64_t factor = n / d;
            fits = n % d == 0 && (factor == 2 || factor == 4 || factor == 8) &&
                   2 * offset->values[i] == d - n &&
                   n_.results[0].meta->shape[1 + i] == factor * shape(a.input)[1 + i];
        }
        return fits ? std::pmr::string() : no("but to the nearest of one image, by 2, 4 or 8");
    }
    [[nodiscard]] std::pmr::string transpose(const args<tosa::transpose>& a) const {
        return transpose_fits(type_of(a.input1), shape(a.input1))
                   ? std::pmr::string()
                   : no("of " + shape_text(shape(a.input1)) + ", which it cannot address");
    }
    [[nodiscard]] std::pmr::string reverse(const args<tosa::reverse>& a) const {
        if (type_of(a.input1) == dtype::int32) return no("of INT32");
        const auto after = static_cast<std::int64_t>(shape(a.input1).size()) - a.axis;
        const bool is_image = shape(a.input1).size() <= 4 && (after == 2 || after == 3);
        return is_image ? std::pmr::string() : no("but of an image's height or width");
    }
    [[nodiscard]] std::pmr::string sum(const args<tosa::reduce_sum>& a) const {
        const int_list& input = shape(a.input);
        const auto axis = static_cast<std::size_t>(a.axis);
        if (input[axis] > most_size) return too_long();
        if (axis + 1 == input.size()) return {};
        const bool fits = element_count(sizes(input).first(axis)) <= most_size &&
                          element_count(sizes(input).subspan(axis + 1)) <= most_size;
        return fits ? std::pmr::string() : no("with more than 65536 elements before or after the axis");
    }

    // Ops that have rules about types alone.
    [[nodiscard]] std::pmr::string elementwise() const {
        const dtype from = n_.operand_count == 0 ? dtype::unknown : type_of(n_.operand(0));
        const dtype to = n_.result_count == 0 ? dtype::unknown : n_.results[0].meta->dtype;
        if (const auto* a = args_if<tosa::arithmetic_right_shift>(n_)) {
            if (from != dtype::int32) return no("of other than INT32");
            return a->round ? std::pmr::string() : no("that does not round");
        }
        if (is<tosa::logical_left_shift>(n_) && from != dtype::int32) return no("of other than INT32");
        if (is<tosa::table>(n_) && from != dtype::int8) return no("of other than INT8");
        if (is<tosa::reduce_max>(n_) || is<tosa::reduce_min>(n_))
            return from == dtype::int32 ? no("of INT32") : std::pmr::string();
        if (is<tosa::cast>(n_) && from != dtype::unknown && traits_of(to).bits < traits_of(from).bits)
            return no("to fewer bits");
        if (is<tosa::rescale>(n_) && from == dtype::int48 && !is_accumulator(*n_.operand(0).producer))
            return no("of INT48 but behind a convolution");
        return {};
    }
    [[nodiscard]] static bool is_accumulator(const node& n) {
        return is<tosa::conv2d>(n) || is<tosa::conv3d>(n) || is<tosa::depthwise_conv2d>(n) ||
               is<tosa::transpose_conv2d>(n);
    }

    const node& n_;
};

}  // namespace detail

/// Why Ethos-U55 cannot execute a node of the tosa dialect whose metadata is complete; empty if it can.
[[nodiscard]] inline std::pmr::string restriction(const node& n) { return detail::checker(n).check(); }

}  // namespace headrace::u55

#endif
