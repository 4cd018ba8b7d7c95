// SPDX-License-Identifier: MIT
// Headrace 0.1.0 (commit 730ae9525f62), the rest of its toolkit that needs no library but Boost, written by tests/checks/single_include.py: do not edit.
#ifndef HEADRACE_SINGLE_INCLUDE_HEADRACE_TOOLKIT_HPP
#define HEADRACE_SINGLE_INCLUDE_HEADRACE_TOOLKIT_HPP

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <initializer_list>
#include <iterator>
#include <limits>
#include <map>
#include <memory>
#include <memory_resource>
#include <numeric>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include <boost/graph/breadth_first_search.hpp>
#include <boost/graph/compressed_sparse_row_graph.hpp>
#include <boost/graph/depth_first_search.hpp>
#include <boost/graph/graph_traits.hpp>
#include <boost/graph/properties.hpp>
#include <boost/graph/reverse_graph.hpp>
#include <boost/mp11/algorithm.hpp>
#include <boost/pending/disjoint_sets.hpp>
#include <boost/property_map/property_map.hpp>

#include "headrace.hpp"

// ---- headrace/base/ceil_div.hpp ----

#ifndef HEADRACE_BASE_CEIL_DIV_HPP
#define HEADRACE_BASE_CEIL_DIV_HPP

namespace headrace {

/// Returns how many parts of `size` hold `n`; the last may be partly filled. Both must be positive.
[[nodiscard]] constexpr std::int64_t ceil_div(std::int64_t n, std::int64_t size) {
    return (n + size - 1) / size;
}

}  // namespace headrace

#endif

// ---- headrace/base/cpu_features.hpp ----

// Compiles a function and everything that it calls for AVX2 and FMA. Its results have the same bits as
// without them, unless it adds to a product: compilers fuse the two if they can. Use std::fma to fuse on
// purpose.
#if defined(__x86_64__) && defined(__GNUC__)
#define HEADRACE_FOR_AVX2 __attribute__((target("avx2,fma"), flatten))
#else
#define HEADRACE_FOR_AVX2
#endif

namespace headrace {

[[nodiscard]] inline bool cpu_has_avx2() {
#if defined(__x86_64__) && defined(__GNUC__)
    static const bool has = __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0;
    return has;
#else
    return false;
#endif
}

}  // namespace headrace

// ---- headrace/base/strings.hpp ----

namespace headrace {

namespace detail {

inline void append_part(std::string& out, std::string_view part) { out += part; }
inline void append_part(std::string& out, char part) { out += part; }
template <std::integral Number>
    requires(!std::same_as<Number, char>)
void append_part(std::string& out, Number number) {
    char digits[24];
    out.append(digits, std::to_chars(digits, digits + sizeof digits, number).ptr);
}

}  // namespace detail

/// Concatenates strings, characters and integers.
template <class... Parts>
[[nodiscard]] std::string join_text(const Parts&... parts) {
    std::string out;
    (detail::append_part(out, parts), ...);
    return out;
}

/// Returns the fewest digits that read back as the same number, which must be finite: 0.1, 12, 1e-07. There
/// is no exponent from 0.0001 up to fifteen digits.
[[nodiscard]] inline std::string shortest_text(double number) {
    char text[32];
    const char* const end =
        std::to_chars(text, text + sizeof text, number, std::chars_format::scientific).ptr;
    const std::string_view all(text, static_cast<std::size_t>(end - text));
    const std::size_t e = all.find('e');
    int exponent = 0;
    const char* const sign = text + e + 1;
    std::from_chars(*sign == '+' ? sign + 1 : sign, end, exponent);
    constexpr int lowest_plain = -4;
    constexpr int highest_plain = 14;
    if (exponent < lowest_plain || exponent > highest_plain) return std::string(all);
    return {text, std::to_chars(text, text + sizeof text, number, std::chars_format::fixed).ptr};
}

}  // namespace headrace

// ---- headrace/base/target_text.hpp ----

namespace headrace {

/// Returns `TOSA-1.0+INT+int16`, with the features in the order of target_feature_names.
[[nodiscard]] inline std::string target_text(const target_spec& target) {
    std::string text = "TOSA-1.0";
    for (const target_feature_name& n : target_feature_names) {
        if (target.has(n.feature)) (text += '+') += n.spelling;
    }
    return text;
}

}  // namespace headrace

// ---- headrace/op/op_query.hpp ----

#ifndef HEADRACE_OP_OP_QUERY_HPP
#define HEADRACE_OP_OP_QUERY_HPP

namespace headrace {

namespace detail {

// The traits of a dialect's ops, in the order of its list.
template <class List>
struct traits_of_list;
template <class... Ops>
struct traits_of_list<ops<Ops...>> {
    static constexpr std::array<std::uint64_t, sizeof...(Ops)> value{Ops::trait_bits...};
};

template <class Dialect, trait... Traits>
struct op_query {
    static constexpr const auto& traits = traits_of_list<typename Dialect::all_ops>::value;

    static constexpr bool holds(std::size_t i) { return (has_any(traits[i], Traits) && ...); }

    static constexpr std::size_t count = [] {
        std::size_t n = 0;
        for (std::size_t i = 0; i != traits.size(); ++i) n += holds(i);
        return n;
    }();
    static constexpr std::array<std::size_t, count> indices = [] {
        std::array<std::size_t, count> found{};
        std::size_t n = 0;
        for (std::size_t i = 0; i != traits.size(); ++i) {
            if (holds(i)) found[n++] = i;
        }
        return found;
    }();
    static constexpr op_set<Dialect> set = [] {
        op_set<Dialect> found;
        for (const std::size_t i : indices) found.insert_at(0, i);
        return found;
    }();

    template <std::size_t... I>
    static ops<typename type_at<indices[I], typename Dialect::all_ops>::type...> list(
        std::index_sequence<I...>);
    using type = decltype(list(std::make_index_sequence<count>{}));
};

template <class List>
struct bases_of_list;
template <class... Ops>
struct bases_of_list<ops<Ops...>> {
    using type = ops<base_of<Ops>...>;
};

}  // namespace detail

/// The ops of a dialect that have all of the traits, in the order of its list. With `a | b` an op needs only
/// one of the two:
///
///     using in_place_ops = ops_where<aten::dialect, trait::in_place>;
///     using moves = ops_where<tosa::dialect, trait::reshaping | trait::permuting | trait::slicing>;
template <class Dialect, trait... Traits>
using ops_where = typename detail::op_query<Dialect, Traits...>::type;

/// The ops with all of the traits as an op_set, which compiles faster if the types are not needed.
template <class Dialect, trait... Traits>
inline constexpr const op_set<Dialect>& set_where = detail::op_query<Dialect, Traits...>::set;

/// The base ops of the variants in a list, without duplicates.
template <class Variants>
using bases_of = typename detail::bases_of_list<Variants>::type;

}  // namespace headrace

#endif

// ---- headrace/dialect/cortex_m.hpp ----

namespace headrace::cortex_m {

/// Convolutions and poolings whose names end in _nhwc take NHWC shapes; the others take NCHW shapes in
/// channels_last memory.
struct dialect;

// clang-format off: one line for an op wherever it fits

// Quantization.

struct dequantize_per_tensor
    : op<dialect, "cortex_m.dequantize_per_tensor.default",
         "input, scale, zero_point, quant_min, quant_max, dtype"> {
    struct args {
        value input; double scale; std::int64_t zero_point, quant_min, quant_max; headrace::dtype dtype;
    };
};
struct quantize_per_tensor
    : op<dialect, "cortex_m.quantize_per_tensor.default",
         "input, scale, zero_point, quant_min, quant_max, dtype"> {
    struct args {
        value input; double scale; std::int64_t zero_point, quant_min, quant_max; headrace::dtype dtype;
    };
};

// Elementwise. A multiplier is in Q31; a shift is a power of two.

struct maximum : op<dialect, "cortex_m.maximum.default", "self, other"> {
    struct args { value self, other; };
};
struct minimum : op<dialect, "cortex_m.minimum.default", "self, other"> {
    struct args { value self, other; };
};
struct quantized_activation : op<dialect, "cortex_m.quantized_activation.default", "input, lut"> {
    struct args { value input, lut; };
};
struct quantized_add
    : op<dialect, "cortex_m.quantized_add.default",
         "self, self_zero_point, self_multiplier, self_shift, other, other_zero_point, other_multiplier, "
         "other_shift, output_zero_point, output_multiplier, output_shift, activation_min, activation_max"> {
    struct args {
        value self; std::int64_t self_zero_point, self_multiplier, self_shift; value other;
        std::int64_t other_zero_point, other_multiplier, other_shift, output_zero_point, output_multiplier;
        std::int64_t output_shift, activation_min, activation_max;
    };
};
struct quantized_div
    : op<dialect, "cortex_m.quantized_div.default",
         "self, self_zero_point, other, other_zero_point, output_zero_point, output_scale"> {
    struct args {
        value self; std::int64_t self_zero_point; value other;
        std::int64_t other_zero_point, output_zero_point; double output_scale;
    };
};
struct quantized_mul
    : op<dialect, "cortex_m.quantized_mul.default",
         "self, self_zero_point, other, other_zero_point, output_zero_point, output_multiplier, "
         "output_shift"> {
    struct args {
        value self; std::int64_t self_zero_point; value other;
        std::int64_t other_zero_point, output_zero_point, output_multiplier, output_shift;
    };
};
struct softmax
    : op<dialect, "cortex_m.softmax.default",
         "input, dim, input_zero_point, output_zero_point, input_multiplier, input_shift, diff_min"> {
    struct args {
        value input;
        std::int64_t dim, input_zero_point, output_zero_point, input_multiplier, input_shift, diff_min;
    };
};

// Matrix products.

struct quantized_batch_matmul
    : op<dialect, "cortex_m.quantized_batch_matmul.default",
         "lhs, lhs_zero_point, rhs_transposed, rhs_zero_point, output_zero_point, output_multiplier, "
         "output_shift, scratch"> {
    struct args {
        value lhs; std::int64_t lhs_zero_point; value rhs_transposed;
        std::int64_t rhs_zero_point, output_zero_point, output_multiplier, output_shift; value scratch;
    };
};
struct quantized_linear
    : op<dialect, "cortex_m.quantized_linear.default",
         "input, weights, bias, kernel_sum, input_offset, filter_offset, output_offset, "
         "requantize_multipliers, requantize_shifts, activation_max, activation_min"> {
    struct args {
        value input, weights; std::optional<value> bias, kernel_sum;
        std::int64_t input_offset, filter_offset, output_offset;
        int_list requantize_multipliers, requantize_shifts; std::int64_t activation_max, activation_min;
    };
};

// Convolution.

struct quantized_conv2d
    : op<dialect, "cortex_m.quantized_conv2d.default",
         "input, weight, bias, stride, padding, dilation, input_offset, output_offset, "
         "requantize_multipliers, requantize_shifts, activation_min, activation_max, scratch"> {
    struct args {
        value input, weight; std::optional<value> bias; int_list stride, padding, dilation;
        std::int64_t input_offset, output_offset; value requantize_multipliers, requantize_shifts;
        std::int64_t activation_min, activation_max; value scratch;
    };
};
struct quantized_conv2d_nhwc
    : op<dialect, "cortex_m.quantized_conv2d_nhwc.default",
         "input, weight, bias, stride, padding, dilation, input_offset, output_offset, "
         "requantize_multipliers, requantize_shifts, activation_min, activation_max, scratch"> {
    struct args {
        value input, weight; std::optional<value> bias; int_list stride, padding, dilation;
        std::int64_t input_offset, output_offset; value requantize_multipliers, requantize_shifts;
        std::int64_t activation_min, activation_max; value scratch;
    };
};
struct quantized_depthwise_conv2d
    : op<dialect, "cortex_m.quantized_depthwise_conv2d.default",
         "input, weight, bias, stride, padding, dilation, depth_multiplier, input_offset, output_offset, "
         "requantize_multipliers, requantize_shifts, activation_min, activation_max, scratch"> {
    struct args {
        value input, weight; std::optional<value> bias; int_list stride, padding, dilation;
        std::int64_t depth_multiplier, input_offset, output_offset;
        value requantize_multipliers, requantize_shifts; std::int64_t activation_min, activation_max;
        value scratch;
    };
};
struct quantized_depthwise_conv2d_nhwc
    : op<dialect, "cortex_m.quantized_depthwise_conv2d_nhwc.default",
         "input, weight, bias, stride, padding, dilation, depth_multiplier, input_offset, output_offset, "
         "requantize_multipliers, requantize_shifts, activation_min, activation_max, scratch"> {
    struct args {
        value input, weight; std::optional<value> bias; int_list stride, padding, dilation;
        std::int64_t depth_multiplier, input_offset, output_offset;
        value requantize_multipliers, requantize_shifts; std::int64_t activation_min, activation_max;
        value scratch;
    };
};
struct quantized_transpose_conv2d
    : op<dialect, "cortex_m.quantized_transpose_conv2d.default",
         "input, weight, bias, stride, padding, output_padding, dilation, input_offset, output_offset, "
         "requantize_multipliers, requantize_shifts, activation_min, activation_max, scratch, "
         "output_scratch"> {
    struct args {
        value input, weight; std::optional<value> bias; int_list stride, padding, output_padding, dilation;
        std::int64_t input_offset, output_offset; value requantize_multipliers, requantize_shifts;
        std::int64_t activation_min, activation_max; value scratch, output_scratch;
    };
};
struct quantized_transpose_conv2d_nhwc
    : op<dialect, "cortex_m.quantized_transpose_conv2d_nhwc.default",
         "input, weight, bias, stride, padding, output_padding, dilation, input_offset, output_offset, "
         "requantize_multipliers, requantize_shifts, activation_min, activation_max, scratch, "
         "output_scratch"> {
    struct args {
        value input, weight; std::optional<value> bias; int_list stride, padding, output_padding, dilation;
        std::int64_t input_offset, output_offset; value requantize_multipliers, requantize_shifts;
        std::int64_t activation_min, activation_max; value scratch, output_scratch;
    };
};

// Pooling.

struct quantized_avg_pool2d
    : op<dialect, "cortex_m.quantized_avg_pool2d.default",
         "input, kernel_size, stride, padding, ceil_mode, zero_point, multiplier, shift, scratch"> {
    struct args {
        value input; int_list kernel_size, stride, padding; bool ceil_mode;
        std::int64_t zero_point, multiplier, shift; value scratch;
    };
};
struct quantized_avg_pool2d_nhwc
    : op<dialect, "cortex_m.quantized_avg_pool2d_nhwc.default",
         "input, kernel_size, stride, padding, ceil_mode, zero_point, multiplier, shift, scratch"> {
    struct args {
        value input; int_list kernel_size, stride, padding; bool ceil_mode;
        std::int64_t zero_point, multiplier, shift; value scratch;
    };
};
struct quantized_max_pool2d
    : op<dialect, "cortex_m.quantized_max_pool2d.default",
         "input, kernel_size, stride, padding, dilation, ceil_mode, input_zero_point, output_zero_point, "
         "activation_min, activation_max"> {
    struct args {
        value input; int_list kernel_size, stride, padding, dilation; bool ceil_mode;
        std::int64_t input_zero_point, output_zero_point, activation_min, activation_max;
    };
};
struct quantized_max_pool2d_nhwc
    : op<dialect, "cortex_m.quantized_max_pool2d_nhwc.default",
         "input, kernel_size, stride, padding, dilation, ceil_mode, input_zero_point, output_zero_point, "
         "activation_min, activation_max"> {
    struct args {
        value input; int_list kernel_size, stride, padding, dilation; bool ceil_mode;
        std::int64_t input_zero_point, output_zero_point, activation_min, activation_max;
    };
};

// Data movement.

struct pad : op<dialect, "cortex_m.pad.default", "input, pre_pad, post_pad, pad_value"> {
    struct args { value input; int_list pre_pad, post_pad; std::int64_t pad_value; };
};
struct transpose : op<dialect, "cortex_m.transpose.default", "input, perm"> {
    struct args { value input; int_list perm; };
};

struct dialect : dialect_of<"cortex_m",
      dequantize_per_tensor, quantize_per_tensor,
      maximum, minimum, quantized_activation, quantized_add, quantized_div, quantized_mul, softmax,
      quantized_batch_matmul, quantized_linear,
      quantized_conv2d, quantized_conv2d_nhwc, quantized_depthwise_conv2d, quantized_depthwise_conv2d_nhwc,
      quantized_transpose_conv2d, quantized_transpose_conv2d_nhwc,
      quantized_avg_pool2d, quantized_avg_pool2d_nhwc, quantized_max_pool2d, quantized_max_pool2d_nhwc,
      pad, transpose> {};

// clang-format on

}  // namespace headrace::cortex_m

// ---- headrace/dialect/delegate.hpp ----

namespace headrace::delegate {

struct dialect;

/// Calls `lowered_graph`, which the backend named `backend` runs, with `operands` as its inputs. Its results
/// are the graph's.
struct call_delegate
    : op<dialect, "delegate.call_delegate", "backend, lowered_graph, operands", variadic_results> {
    struct args {
        std::string_view backend;
        graph* lowered_graph;
        list<value> operands;
    };
};

struct dialect : dialect_of<"delegate", call_delegate> {};

}  // namespace headrace::delegate

// ---- headrace/dialect/device.hpp ----

namespace headrace::device {

/// A layer holds a graph of TOSA operators that defines its result. The kernel reads `inputs`, keeps
/// intermediate values in registers, and stores the graph's one result. The graph has one operator that names
/// the layer, and elementwise operators after it; a reduction may have them before it, too. Constants are
/// inputs.
struct dialect;

// clang-format off: one line for an op wherever it fits

struct convolution : op<dialect, "device.convolution", "inputs, body"> {
    struct args {
        list<value> inputs;
        graph* body;
    };
};
struct product : op<dialect, "device.product", "inputs, body"> {
    struct args {
        list<value> inputs;
        graph* body;
    };
};
struct pooling : op<dialect, "device.pooling", "inputs, body"> {
    struct args {
        list<value> inputs;
        graph* body;
    };
};
struct reduction : op<dialect, "device.reduction", "inputs, body"> {
    struct args {
        list<value> inputs;
        graph* body;
    };
};
/// Only elementwise operators: one loop.
struct elementwise : op<dialect, "device.elementwise", "inputs, body"> {
    struct args {
        list<value> inputs;
        graph* body;
    };
};

struct dialect : dialect_of<"device", convolution, product, pooling, reduction, elementwise> {
    static constexpr bool is_pure = true;
};

// clang-format on

}  // namespace headrace::device

// ---- headrace/dialect/executorch.hpp ----

namespace headrace::executorch {

struct dialect;

/// The element types that a kernel supports. `all`: uint8, int8 to int64, bool, float16 to float64 and
/// bfloat16.
enum class kernel_types : std::uint8_t {
    all,
    numbers,       ///< all except bool
    floats,        ///< for operand and result
    wide_floats,   ///< float32 and float64
    floats_or_int64,
    real_results,  ///< any operand if the result is float32, else as `floats`
    bits           ///< integers and bool
};

namespace detail {
template <class Op>
auto functional_form() {
    if constexpr (op_variant<Op>) {
        return std::type_identity<base_of<Op>>{};
    } else {
        return std::type_identity<Op>{};
    }
}
}  // namespace detail

/// The kernel that the runtime registers as `Name`, "namespace::op.overload". It takes the arguments of `Op`.
/// All kernels of the runtime write into tensors that they are given; here, those are the results. The kernel
/// for a view is that of the view's copying variant.
template <op_tag Op, fixed_string Name, kernel_types Types = kernel_types::all>
struct kernel {
    using functional = typename decltype(detail::functional_form<Op>())::type;
    using dialect_type = dialect;
    using args = headrace::args<Op>;
    static constexpr std::string_view name = Name.view();
    static constexpr std::string_view field_list = Op::field_list;
    static constexpr int results = Op::results;
    static constexpr std::uint64_t trait_bits =
        static_cast<std::uint64_t>(trait::variant | trait::synonym) |
        (functional::trait_bits & static_cast<std::uint64_t>(trait::impure));
    static constexpr std::string_view out_name{};
    static constexpr kernel_types types = Types;
    static constexpr auto variant_base() { return std::type_identity<functional>{}; }
};

/// Gives the elements of its operand a different shape. No kernel runs: both tensors have the same memory.
using reshape = kernel<aten::view, "executorch.reshape">;

/// Calls the delegate with index `number` in the program, whose backend takes `operands`. It replaces
/// delegate.call_delegate once the delegate's own graph has been lowered.
struct call_delegate : op<dialect, "executorch.call_delegate", "number, operands", variadic_results> {
    struct args {
        std::int64_t number;
        list<value> operands;
    };
};

/// The kernels of ExecuTorch 1.5 for ops of our dialects, from its portable, optimized and quantized
/// libraries. Copies that only change the shape are not listed.
using kernels = ops<
    kernel<aten::convolution, "aten::convolution.out", kernel_types::numbers>,
    kernel<aten::_adaptive_avg_pool2d, "aten::_adaptive_avg_pool2d.out", kernel_types::floats>,
    kernel<aten::avg_pool2d, "aten::avg_pool2d.out", kernel_types::floats_or_int64>,
    kernel<aten::max_pool2d_with_indices, "aten::max_pool2d_with_indices.out", kernel_types::numbers>,
    kernel<aten::addmm, "aten::addmm.out", kernel_types::numbers>,
    kernel<aten::bmm, "aten::bmm.out", kernel_types::numbers>,
    kernel<aten::linear, "aten::linear.out", kernel_types::numbers>,
    kernel<aten::mm, "aten::mm.out", kernel_types::numbers>,
    kernel<aten::_log_softmax, "aten::_log_softmax.out", kernel_types::floats>,
    kernel<aten::_softmax, "aten::_softmax.out", kernel_types::floats>,
    kernel<aten::_native_batch_norm_legit_no_stats, "aten::_native_batch_norm_legit.no_stats_out",
           kernel_types::floats>,
    kernel<aten::_native_batch_norm_legit_no_training, "aten::_native_batch_norm_legit_no_training.out",
           kernel_types::floats>,
    kernel<aten::native_group_norm, "aten::native_group_norm.out", kernel_types::floats>,
    kernel<aten::native_layer_norm, "aten::native_layer_norm.out", kernel_types::floats>,
    kernel<aten::elu, "aten::elu.out", kernel_types::floats>,
    kernel<aten::gelu, "aten::gelu.out", kernel_types::floats>,
    kernel<aten::glu, "aten::glu.out", kernel_types::floats>,
    kernel<aten::hardtanh, "aten::hardtanh.out", kernel_types::numbers>,
    kernel<aten::leaky_relu, "aten::leaky_relu.out", kernel_types::floats>,
    kernel<aten::logit, "aten::logit.out", kernel_types::wide_floats>,
    kernel<aten::relu, "aten::relu.out", kernel_types::numbers>,
    kernel<aten::sigmoid, "aten::sigmoid.out", kernel_types::real_results>,
    kernel<aten::tanh, "aten::tanh.out", kernel_types::real_results>,
    kernel<aten::abs, "aten::abs.out", kernel_types::numbers>,
    kernel<aten::acos, "aten::acos.out", kernel_types::real_results>,
    kernel<aten::acosh, "aten::acosh.out", kernel_types::real_results>,
    kernel<aten::asin, "aten::asin.out", kernel_types::real_results>,
    kernel<aten::asinh, "aten::asinh.out", kernel_types::real_results>,
    kernel<aten::atan, "aten::atan.out", kernel_types::real_results>,
    kernel<aten::atanh, "aten::atanh.out", kernel_types::real_results>, kernel<aten::ceil, "aten::ceil.out">,
    kernel<aten::cos, "aten::cos.out", kernel_types::real_results>,
    kernel<aten::cosh, "aten::cosh.out", kernel_types::real_results>,
    kernel<aten::erf, "aten::erf.out", kernel_types::real_results>,
    kernel<aten::exp, "aten::exp.out", kernel_types::real_results>,
    kernel<aten::expm1, "aten::expm1.out", kernel_types::real_results>,
    kernel<aten::floor, "aten::floor.out">, kernel<aten::isinf, "aten::isinf.out">,
    kernel<aten::isnan, "aten::isnan.out">, kernel<aten::log, "aten::log.out", kernel_types::real_results>,
    kernel<aten::log10, "aten::log10.out", kernel_types::real_results>,
    kernel<aten::log1p, "aten::log1p.out", kernel_types::real_results>,
    kernel<aten::log2, "aten::log2.out", kernel_types::real_results>,
    kernel<aten::neg, "aten::neg.out", kernel_types::numbers>,
    kernel<aten::reciprocal, "aten::reciprocal.out", kernel_types::real_results>,
    kernel<aten::round, "aten::round.out">,
    kernel<aten::rsqrt, "aten::rsqrt.out", kernel_types::real_results>, kernel<aten::sign, "aten::sign.out">,
    kernel<aten::sin, "aten::sin.out", kernel_types::real_results>,
    kernel<aten::sinh, "aten::sinh.out", kernel_types::real_results>,
    kernel<aten::sqrt, "aten::sqrt.out", kernel_types::real_results>,
    kernel<aten::tan, "aten::tan.out", kernel_types::real_results>, kernel<aten::trunc, "aten::trunc.out">,
    kernel<aten::add_scalar, "aten::add.Scalar_out">, kernel<aten::add_tensor, "aten::add.out">,
    kernel<aten::atan2, "aten::atan2.out", kernel_types::real_results>,
    kernel<aten::div_scalar, "aten::div.Scalar_out", kernel_types::real_results>,
    kernel<aten::div_scalar_mode, "aten::div.Scalar_mode_out">,
    kernel<aten::div_tensor, "aten::div.out", kernel_types::real_results>,
    kernel<aten::div_tensor_mode, "aten::div.out_mode">, kernel<aten::floor_divide, "aten::floor_divide.out">,
    kernel<aten::fmod_scalar, "aten::fmod.Scalar_out">, kernel<aten::fmod_tensor, "aten::fmod.Tensor_out">,
    kernel<aten::maximum, "aten::maximum.out">, kernel<aten::minimum, "aten::minimum.out">,
    kernel<aten::mul_scalar, "aten::mul.Scalar_out">, kernel<aten::mul_tensor, "aten::mul.out">,
    kernel<aten::pow_scalar, "aten::pow.Scalar_out", kernel_types::numbers>,
    kernel<aten::pow_tensor_scalar, "aten::pow.Tensor_Scalar_out", kernel_types::numbers>,
    kernel<aten::pow_tensor_tensor, "aten::pow.Tensor_Tensor_out", kernel_types::numbers>,
    kernel<aten::remainder_scalar, "aten::remainder.Scalar_out">,
    kernel<aten::remainder_tensor, "aten::remainder.Tensor_out">,
    kernel<aten::rsub_scalar, "aten::rsub.Scalar_out", kernel_types::numbers>,
    kernel<aten::sub_scalar, "aten::sub.Scalar_out", kernel_types::numbers>,
    kernel<aten::sub_tensor, "aten::sub.out", kernel_types::numbers>,
    kernel<aten::clamp, "aten::clamp.out", kernel_types::numbers>,
    kernel<aten::clamp_tensor, "aten::clamp.Tensor_out">, kernel<aten::eq_scalar, "aten::eq.Scalar_out">,
    kernel<aten::eq_tensor, "aten::eq.Tensor_out">, kernel<aten::ge_scalar, "aten::ge.Scalar_out">,
    kernel<aten::ge_tensor, "aten::ge.Tensor_out">, kernel<aten::gt_scalar, "aten::gt.Scalar_out">,
    kernel<aten::gt_tensor, "aten::gt.Tensor_out">, kernel<aten::le_scalar, "aten::le.Scalar_out">,
    kernel<aten::le_tensor, "aten::le.Tensor_out">, kernel<aten::lt_scalar, "aten::lt.Scalar_out">,
    kernel<aten::lt_tensor, "aten::lt.Tensor_out">, kernel<aten::ne_scalar, "aten::ne.Scalar_out">,
    kernel<aten::ne_tensor, "aten::ne.Tensor_out">,
    kernel<aten::bitwise_and_scalar, "aten::bitwise_and.Scalar_out", kernel_types::bits>,
    kernel<aten::bitwise_and_tensor, "aten::bitwise_and.Tensor_out", kernel_types::bits>,
    kernel<aten::bitwise_left_shift_tensor, "aten::bitwise_left_shift.Tensor_out">,
    kernel<aten::bitwise_left_shift_tensor_scalar, "aten::bitwise_left_shift.Tensor_Scalar_out">,
    kernel<aten::bitwise_not, "aten::bitwise_not.out", kernel_types::bits>,
    kernel<aten::bitwise_or_scalar, "aten::bitwise_or.Scalar_out", kernel_types::bits>,
    kernel<aten::bitwise_or_tensor, "aten::bitwise_or.Tensor_out", kernel_types::bits>,
    kernel<aten::bitwise_right_shift_tensor, "aten::bitwise_right_shift.Tensor_out">,
    kernel<aten::bitwise_right_shift_tensor_scalar, "aten::bitwise_right_shift.Tensor_Scalar_out">,
    kernel<aten::bitwise_xor_scalar, "aten::bitwise_xor.Scalar_out", kernel_types::bits>,
    kernel<aten::bitwise_xor_tensor, "aten::bitwise_xor.Tensor_out", kernel_types::bits>,
    kernel<aten::logical_and, "aten::logical_and.out">, kernel<aten::logical_not, "aten::logical_not.out">,
    kernel<aten::logical_or, "aten::logical_or.out">, kernel<aten::logical_xor, "aten::logical_xor.out">,
    kernel<aten::amax, "aten::amax.out">, kernel<aten::amin, "aten::amin.out">,
    kernel<aten::any, "aten::any.all_out">, kernel<aten::any_dim, "aten::any.out">,
    kernel<aten::any_dims, "aten::any.dims_out">, kernel<aten::prod, "aten::prod.out">,
    kernel<aten::argmax, "aten::argmax.out", kernel_types::numbers>,
    kernel<aten::argmin, "aten::argmin.out", kernel_types::numbers>, kernel<aten::cumsum, "aten::cumsum.out">,
    kernel<aten::topk, "aten::topk.values", kernel_types::numbers>, kernel<aten::max, "aten::max.unary_out">,
    kernel<aten::max_dim, "aten::max.dim_max">,
    kernel<aten::mean, "aten::mean.dtype_out", kernel_types::floats>,
    kernel<aten::mean_dim, "aten::mean.out", kernel_types::floats>, kernel<aten::min, "aten::min.unary_out">,
    kernel<aten::min_dim, "aten::min.dim_min">, kernel<aten::prod_dim_int, "aten::prod.int_out">,
    kernel<aten::sum_dim_intlist, "aten::sum.IntList_out">,
    kernel<aten::var_correction, "aten::var.correction_out", kernel_types::floats>,
    kernel<aten::var_dim, "aten::var.out", kernel_types::floats>,
    kernel<aten::var_mean_correction, "aten::var_mean.correction_out", kernel_types::floats>,
    kernel<aten::expand_copy, "aten::expand_copy.out">, kernel<aten::narrow_copy, "aten::narrow_copy.out">,
    kernel<aten::permute_copy, "aten::permute_copy.out">,
    kernel<aten::select_copy_int, "aten::select_copy.int_out">,
    kernel<aten::slice_copy_tensor, "aten::slice_copy.Tensor_out">,
    kernel<aten::transpose_copy_int, "aten::transpose_copy.int_out">,
    kernel<aten::unfold_copy, "aten::unfold_copy.out">,
    kernel<aten::split_copy_tensor, "aten::split_copy.Tensor_out">,
    kernel<aten::split_with_sizes_copy, "aten::split_with_sizes_copy.out">,
    kernel<aten::unbind_copy_int, "aten::unbind_copy.int_out">, kernel<aten::cat, "aten::cat.out">,
    kernel<aten::flip, "aten::flip.out">, kernel<aten::pixel_shuffle, "aten::pixel_shuffle.out">,
    kernel<aten::pixel_unshuffle, "aten::pixel_unshuffle.out">, kernel<aten::repeat, "aten::repeat.out">,
    kernel<aten::roll, "aten::roll.out">, kernel<aten::stack, "aten::stack.out">,
    kernel<aten::tril, "aten::tril.out">, kernel<aten::constant_pad_nd, "aten::constant_pad_nd.out">,
    kernel<aten::reflection_pad1d, "aten::reflection_pad1d.out">,
    kernel<aten::reflection_pad2d, "aten::reflection_pad2d.out">,
    kernel<aten::reflection_pad3d, "aten::reflection_pad3d.out">,
    kernel<aten::replication_pad1d, "aten::replication_pad1d.out">,
    kernel<aten::replication_pad2d, "aten::replication_pad2d.out">,
    kernel<aten::replication_pad3d, "aten::replication_pad3d.out">,
    kernel<aten::embedding, "aten::embedding.out">, kernel<aten::gather, "aten::gather.out">,
    kernel<aten::index_put, "aten::index_put.out">, kernel<aten::index_select, "aten::index_select.out">,
    kernel<aten::index_tensor, "aten::index.Tensor_out">,
    kernel<aten::masked_fill_scalar, "aten::masked_fill.Scalar_out">,
    kernel<aten::scatter_add, "aten::scatter_add.out">, kernel<aten::scatter_src, "aten::scatter.src_out">,
    kernel<aten::scatter_value, "aten::scatter.value_out">,
    kernel<aten::select_scatter, "aten::select_scatter.out">,
    kernel<aten::slice_scatter, "aten::slice_scatter.out">, kernel<aten::where_self, "aten::where.self_out">,
    kernel<aten::_cdist_forward, "aten::_cdist_forward.out", kernel_types::floats>,
    kernel<aten::masked_scatter, "aten::masked_scatter.out">,
    kernel<aten::repeat_interleave_tensor, "aten::repeat_interleave.Tensor_out">,
    kernel<aten::rand, "aten::rand.out", kernel_types::floats>,
    kernel<aten::randn, "aten::randn.out", kernel_types::floats>,
    kernel<aten::grid_sampler_2d, "aten::grid_sampler_2d.out", kernel_types::floats>,
    kernel<aten::upsample_bilinear2d_vec, "aten::upsample_bilinear2d.vec_out", kernel_types::numbers>,
    kernel<aten::upsample_nearest2d_vec, "aten::upsample_nearest2d.vec_out", kernel_types::numbers>,
    kernel<aten::arange_start_step, "aten::arange.start_out">, kernel<aten::full, "aten::full.out">,
    kernel<aten::fill_scalar, "aten::fill.Scalar_out">, kernel<aten::_to_copy, "aten::_to_copy.out">,
    kernel<quantized_decomposed::quantize_per_tensor, "quantized_decomposed::quantize_per_tensor.out">,
    kernel<quantized_decomposed::dequantize_per_tensor, "quantized_decomposed::dequantize_per_tensor.out">,
    kernel<quantized_decomposed::quantize_per_tensor_tensor,
           "quantized_decomposed::quantize_per_tensor.Tensor_out">,
    kernel<quantized_decomposed::dequantize_per_tensor_tensor,
           "quantized_decomposed::dequantize_per_tensor.Tensor_out">,
    kernel<quantized_decomposed::quantize_per_token, "quantized_decomposed::quantize_per_token.out">,
    kernel<quantized_decomposed::dequantize_per_token, "quantized_decomposed::dequantize_per_token.out">,
    kernel<quantized_decomposed::choose_qparams_tensor, "quantized_decomposed::choose_qparams.Tensor_out">,
    kernel<quantized_decomposed::choose_qparams_per_token_asymmetric,
           "quantized_decomposed::choose_qparams_per_token_asymmetric.out">,
    kernel<quantized_decomposed::quantize_per_channel, "quantized_decomposed::quantize_per_channel.out">,
    kernel<quantized_decomposed::dequantize_per_channel, "quantized_decomposed::dequantize_per_channel.out">>;

namespace detail {
template <class... Kernels>
dialect_of<"executorch", reshape, Kernels..., call_delegate> dialect_with(ops<Kernels...>);
}

struct dialect : decltype(detail::dialect_with(kernels{})) {
    static constexpr bool is_pure = true;
};

namespace detail {
template <class List>
struct functional_ops_of;
template <class... Kernels>
struct functional_ops_of<ops<Kernels...>> {
    using type = ops<typename Kernels::functional...>;
    static constexpr kernel_types types[sizeof...(Kernels)] = {Kernels::types...};
    static constexpr const op_info* from[sizeof...(Kernels)] = {&info_of<typename Kernels::functional>...};
};
}  // namespace detail

/// The ops that the kernels compute, in the order of the kernels.
using kernel_ops = typename detail::functional_ops_of<kernels>::type;

struct kernel_choice {
    const op_info* kernel = nullptr;  ///< null if the runtime has no kernel
    kernel_types types = kernel_types::all;
};

/// Returns the kernel for an op.
[[nodiscard]] constexpr kernel_choice kernel_for(const op_info& op) {
    using table = detail::functional_ops_of<kernels>;
    for (std::size_t i = 0; i != kernels::size; ++i) {
        if (table::from[i] == &op) return {op_table<dialect>[i + 1], table::types[i]};
    }
    return {};
}

/// Returns the op that a kernel computes, or the op itself if it is not a kernel.
[[nodiscard]] constexpr const op_info& functional_of(const op_info& op) {
    return op.dialect == &info_of_dialect<dialect> ? op.functional() : op;
}

}  // namespace headrace::executorch

// ---- headrace/dialect/memory.hpp ----

namespace headrace::memory {

struct dialect;

/// A buffer for a tensor of that type and shape. After memory planning, `memory` is the index of the
/// program's memory that holds it, and `offset` its first byte there.
struct alloc : op<dialect, "memory.alloc", "size, dtype, memory, offset"> {
    struct args {
        int_list size;
        headrace::dtype dtype;
        std::optional<std::int64_t> memory{};
        std::optional<std::int64_t> offset{};
    };
};

struct dialect : dialect_of<"memory", alloc> {};

}  // namespace headrace::memory

// ---- headrace/ir/dead_code.hpp ----

#ifndef HEADRACE_IR_DEAD_CODE_HPP
#define HEADRACE_IR_DEAD_CODE_HPP

namespace headrace {

namespace detail {

/// Erases all nodes, including those of regions, and returns how many.
std::size_t erase_all(graph& g);

}  // namespace detail

/// Removes the nodes that neither an output nor an effect needs, and returns how many. Placeholders stay:
/// they are the program's signature. Regions are cleaned, too; a region is emptied once no node holds it, so
/// that the census does not count its ops as present. A graph without an output node is left unchanged.
std::size_t eliminate_dead_code(graph& g);

}  // namespace headrace

#endif

// ---- headrace/ir/dead_code_definition.hpp ----

#ifndef HEADRACE_IR_DEAD_CODE_DEFINITION_HPP
#define HEADRACE_IR_DEAD_CODE_DEFINITION_HPP

namespace headrace {

namespace detail {

HEADRACE_INLINE std::size_t erase_all(graph& g) {
    std::size_t erased = 0;
    for (graph& region : g.regions()) erased += erase_all(region);
    for (node* n = g.last(); n != nullptr; ++erased) {
        node* previous = n->previous;
        g.erase(*n);
        n = previous;
    }
    return erased;
}

}  // namespace detail

HEADRACE_INLINE std::size_t eliminate_dead_code(graph& g) {
    if (g.output() == nullptr) return 0;
    const auto is_dead = [](const node& n) {
        return n.first_use == nullptr && !is<builtin::placeholder>(n) && !has_effects(n);
    };
    pmr_vector<node*> dead;
    for (node& n : g.nodes_alone()) {
        if (is_dead(n)) dead.push_back(&n);
    }
    // Next come nodes that only dead nodes used. A node that one node uses twice would be found twice.
    std::size_t erased = 0;
    while (!dead.empty()) {
        node& n = *dead.back();
        dead.pop_back();
        if (n.owner == nullptr) continue;
        g.erase(n);
        ++erased;
        for (const edge& e : n.operand_edges()) {
            if (is_dead(*e.source)) dead.push_back(e.source);
        }
    }
    if (g.regions().empty()) return erased;
    pmr_vector<graph*> held = live_regions(g);
    std::sort(held.begin(), held.end(), std::less<>());
    for (graph& region : g.regions()) {
        const bool is_held = std::binary_search(held.begin(), held.end(), &region, std::less<>());
        erased += is_held ? eliminate_dead_code(region) : detail::erase_all(region);
    }
    return erased;
}

}  // namespace headrace

#endif

// ---- headrace/ir/topological_order.hpp ----

namespace headrace {

/// Returns a node's name for messages about the order: its own name, or its op and id.
[[nodiscard]] std::pmr::string node_label(const node& n);

/// True if every node comes after all of its operands.
[[nodiscard]] bool is_ordered(const graph& g);

/// Returns the nodes of a cycle, each before one of its users, the last before the first; empty if none.
[[nodiscard]] pmr_vector<node*> find_cycle(const graph& g);

/// Returns the nodes in an order in which they can be executed, with the output node last. It keeps the
/// current order as far as that is valid. The error names the nodes of a cycle.
[[nodiscard]] result<pmr_vector<node*>> topological_order(const graph& g);

/// Restores a topological order that a pass has broken; nodes in valid order keep it.
[[nodiscard]] result<void> restore_order(graph& g);

}  // namespace headrace

// ---- headrace/ir/boost_graph.hpp ----

namespace headrace {

/// Iterates over an intrusive list and returns the address of each member: descriptors are pointers here.
template <class T, T* T::*Next>
class descriptor_iterator {
public:
    using value_type = T*;
    using difference_type = std::ptrdiff_t;
    using pointer = T* const*;
    using reference = T*;
    using iterator_category = std::forward_iterator_tag;

    descriptor_iterator() = default;
    explicit descriptor_iterator(T* at) : at_(at) {}
    T* operator*() const { return at_; }
    descriptor_iterator& operator++() {
        at_ = at_->*Next;
        return *this;
    }
    descriptor_iterator operator++(int) {
        const descriptor_iterator before = *this;
        ++*this;
        return before;
    }
    friend bool operator==(const descriptor_iterator&, const descriptor_iterator&) = default;

private:
    T* at_ = nullptr;
};

/// Iterates over the operands of a node.
class operand_iterator {
public:
    using value_type = edge*;
    using difference_type = std::ptrdiff_t;
    using pointer = edge* const*;
    using reference = edge*;
    using iterator_category = std::forward_iterator_tag;

    operand_iterator() = default;
    explicit operand_iterator(edge* at) : at_(at) {}
    edge* operator*() const { return at_; }
    operand_iterator& operator++() {
        ++at_;
        return *this;
    }
    operand_iterator operator++(int) {
        const operand_iterator before = *this;
        ++*this;
        return before;
    }
    friend bool operator==(const operand_iterator&, const operand_iterator&) = default;

private:
    edge* at_ = nullptr;
};

/// Iterates over the operands of all nodes, in execution order.
class graph_edge_iterator {
public:
    using value_type = edge*;
    using difference_type = std::ptrdiff_t;
    using pointer = edge* const*;
    using reference = edge*;
    using iterator_category = std::forward_iterator_tag;

    graph_edge_iterator() = default;
    explicit graph_edge_iterator(node* first) : node_(first) { skip_ended(); }
    edge* operator*() const { return node_->operands + operand_; }
    graph_edge_iterator& operator++() {
        ++operand_;
        skip_ended();
        return *this;
    }
    graph_edge_iterator operator++(int) {
        const graph_edge_iterator before = *this;
        ++*this;
        return before;
    }
    friend bool operator==(const graph_edge_iterator&, const graph_edge_iterator&) = default;

private:
    void skip_ended() {
        while (node_ != nullptr && operand_ == node_->operand_count) {
            node_ = node_->next;
            operand_ = 0;
        }
    }

    node* node_ = nullptr;
    std::uint32_t operand_ = 0;
};

/// Property tags of edges: the operand index at the target, and the result index at the source.
struct operand_position_t {
    using kind = boost::edge_property_tag;
};
struct result_index_t {
    using kind = boost::edge_property_tag;
};
inline constexpr operand_position_t operand_position{};
inline constexpr result_index_t result_index{};

/// Property map from a node to its id, which is below graph::id_bound(). Ids of erased nodes leave gaps.
struct node_id_map {
    using key_type = node*;
    using value_type = std::uint32_t;
    using reference = std::uint32_t;
    using category = boost::readable_property_map_tag;
    std::uint32_t operator[](const node* n) const { return n->id; }
    friend std::uint32_t get(node_id_map, const node* n) { return n->id; }
};
struct operand_position_map {
    using key_type = edge*;
    using value_type = std::uint32_t;
    using reference = std::uint32_t;
    using category = boost::readable_property_map_tag;
    friend std::uint32_t get(operand_position_map, const edge* e) { return e->operand; }
};
struct result_index_map {
    using key_type = edge*;
    using value_type = std::uint32_t;
    using reference = std::uint32_t;
    using category = boost::readable_property_map_tag;
    friend std::uint32_t get(result_index_map, const edge* e) { return e->slot->result; }
};

/// A colour for each node, for the searches of Boost.Graph; sized by id_bound, since ids have gaps.
class node_colors {
public:
    using color = boost::default_color_type;
    explicit node_colors(const graph& g) : colors_(g.id_bound(), boost::white_color) {}
    [[nodiscard]] color operator[](const node* n) const { return colors_[n->id]; }
    void set(const node* n, color c) { colors_[n->id] = c; }
    [[nodiscard]] auto map() { return boost::make_iterator_property_map(colors_.begin(), node_id_map()); }

private:
    pmr_vector<color> colors_;
};

}  // namespace headrace

template <>
struct boost::graph_traits<headrace::graph> {
    struct traversal_category : bidirectional_graph_tag, vertex_list_graph_tag, edge_list_graph_tag {};
    using vertex_descriptor = headrace::node*;
    using edge_descriptor = headrace::edge*;
    using directed_category = bidirectional_tag;
    using edge_parallel_category = allow_parallel_edge_tag;
    using vertex_iterator = headrace::descriptor_iterator<headrace::node, &headrace::node::next>;
    using out_edge_iterator = headrace::descriptor_iterator<headrace::edge, &headrace::edge::next_use>;
    using in_edge_iterator = headrace::operand_iterator;
    using edge_iterator = headrace::graph_edge_iterator;
    using adjacency_iterator = void;
    using vertices_size_type = std::size_t;
    using edges_size_type = std::size_t;
    using degree_size_type = std::size_t;
    static headrace::node* null_vertex() { return nullptr; }
};

template <>
struct boost::property_map<headrace::graph, boost::vertex_index_t> {
    using type = headrace::node_id_map;
    using const_type = type;
};
template <>
struct boost::property_map<headrace::graph, headrace::operand_position_t> {
    using type = headrace::operand_position_map;
    using const_type = type;
};
template <>
struct boost::property_map<headrace::graph, headrace::result_index_t> {
    using type = headrace::result_index_map;
    using const_type = type;
};

namespace headrace {

/// Functions that Boost.Graph finds by argument-dependent lookup.
[[nodiscard]] inline auto vertices(const graph& g) {
    using iterator = boost::graph_traits<graph>::vertex_iterator;
    return std::pair(iterator(g.first()), iterator());
}
[[nodiscard]] inline std::size_t num_vertices(const graph& g) { return g.size(); }

[[nodiscard]] inline auto edges(const graph& g) {
    return std::pair(graph_edge_iterator(g.first()), graph_edge_iterator());
}
/// Counts the edges, in time linear in the number of nodes.
[[nodiscard]] inline std::size_t num_edges(const graph& g) {
    std::size_t count = 0;
    for (const node& n : g.nodes()) count += n.operand_count;
    return count;
}

[[nodiscard]] inline node* source(const edge* e, const graph&) { return e->source; }
[[nodiscard]] inline node* target(const edge* e, const graph&) { return e->target; }

[[nodiscard]] inline auto out_edges(const node* n, const graph&) {
    using iterator = boost::graph_traits<graph>::out_edge_iterator;
    return std::pair(iterator(n->first_use), iterator());
}
[[nodiscard]] inline std::size_t out_degree(const node* n, const graph&) {
    std::size_t count = 0;
    for (const edge* e = n->first_use; e != nullptr; e = e->next_use) ++count;
    return count;
}
[[nodiscard]] inline auto in_edges(const node* n, const graph&) {
    return std::pair(operand_iterator(n->operands), operand_iterator(n->operands + n->operand_count));
}
[[nodiscard]] inline std::size_t in_degree(const node* n, const graph&) { return n->operand_count; }
[[nodiscard]] inline std::size_t degree(const node* n, const graph& g) {
    return in_degree(n, g) + out_degree(n, g);
}

[[nodiscard]] inline node_id_map get(boost::vertex_index_t, const graph&) { return {}; }
[[nodiscard]] inline std::uint32_t get(boost::vertex_index_t, const graph&, const node* n) { return n->id; }
[[nodiscard]] inline operand_position_map get(operand_position_t, const graph&) { return {}; }
[[nodiscard]] inline std::uint32_t get(operand_position_t, const graph&, const edge* e) { return e->operand; }
[[nodiscard]] inline result_index_map get(result_index_t, const graph&) { return {}; }
[[nodiscard]] inline std::uint32_t get(result_index_t, const graph&, const edge* e) {
    return e->slot->result;
}

}  // namespace headrace

// ---- headrace/ir/topological_order_definition.hpp ----

namespace headrace {

namespace detail {

// The nodes in finishing order of the search, and the first cycle, each node before one of its users.
struct order_search {
    pmr_vector<node*> finished;
    pmr_vector<node*> path;
    pmr_vector<node*> cycle;
};

// Boost copies its visitors, so this one refers to what it collects.
class order_visitor : public boost::default_dfs_visitor {
public:
    explicit order_visitor(order_search& found) : found_(&found) {}

    template <class Graph>
    void discover_vertex(node* n, const Graph&) {
        found_->path.push_back(n);
    }
    template <class Graph>
    void finish_vertex(node* n, const Graph&) {
        found_->path.pop_back();
        found_->finished.push_back(n);
    }
    template <class Edge, class Graph>
    void back_edge(const Edge& e, const Graph& g) {
        if (!found_->cycle.empty()) return;
        const auto start = std::find(found_->path.begin(), found_->path.end(), target(e, g));
        found_->cycle.assign(start, found_->path.end());
        // The path leads from users to producers; reversed, it still begins where the search found it.
        std::reverse(found_->cycle.begin() + 1, found_->cycle.end());
    }

private:
    order_search* found_;
};

// The search follows operands and starts at each node in turn. A node is finished directly after its
// operands, so a valid order is kept.
[[nodiscard]] inline order_search search_order(const graph& g) {
    order_search found;
    found.finished.reserve(g.size());
    node_colors colors(g);
    boost::depth_first_search(boost::make_reverse_graph(g), order_visitor(found), colors.map());
    return found;
}

}  // namespace detail

HEADRACE_INLINE std::pmr::string node_label(const node& n) {
    if (!n.name().empty()) return std::pmr::string(n.name());
    return text_of({n.op->name, "#", n.id});
}

HEADRACE_INLINE bool is_ordered(const graph& g) {
    pmr_vector<bool> seen(g.id_bound());
    for (const node& n : g.nodes()) {
        for (const edge& e : n.operand_edges()) {
            if (e.source->owner != &g || !seen[e.source->id]) return false;
        }
        seen[n.id] = true;
    }
    return true;
}

HEADRACE_INLINE pmr_vector<node*> find_cycle(const graph& g) { return detail::search_order(g).cycle; }

HEADRACE_INLINE result<pmr_vector<node*>> topological_order(const graph& g) {
    detail::order_search found = detail::search_order(g);
    if (!found.cycle.empty()) {
        std::pmr::string message = "the graph has a cycle: ";
        for (const node* n : found.cycle) message += text_of({node_label(*n), " -> "});
        return invalid(message + node_label(*found.cycle.front()));
    }
    if (node* const out = g.output()) {
        const auto at = std::find(found.finished.begin(), found.finished.end(), out);
        std::rotate(at, at + 1, found.finished.end());
    }
    return std::move(found.finished);
}

HEADRACE_INLINE result<void> restore_order(graph& g) {
    const node* const out = g.output();
    if (is_ordered(g) && (out == nullptr || out == g.last())) return {};
    const auto order = topological_order(g);
    if (!order) return order.error();
    for (node* n : order.value()) g.move_before(*n, nullptr);
    return {};
}

}  // namespace headrace

// ---- headrace/ir/exported_types.hpp ----

namespace headrace {

/// Annotation of the output node: the type of each of its values in the exported program. A lowering narrows
/// some of them, such as int64.
struct exported_output_types {
    static constexpr bool inherited = false;
    list<dtype> types;
};

}  // namespace headrace

// ---- headrace/ir/operand_fields.hpp ----

#ifndef HEADRACE_IR_OPERAND_FIELDS_HPP
#define HEADRACE_IR_OPERAND_FIELDS_HPP

namespace headrace {

/// Returns the name of the field of each operand, in order.
[[nodiscard]] inline pmr_vector<std::string_view> operand_fields(const node& n) {
    pmr_vector<std::string_view> names;
    for (const field_info& f : *n.op) {
        detail::visit_field(f, n.arguments, [&]<class T>(const T& member) {
            if constexpr (std::is_same_v<T, value>) {
                if (member) names.push_back(f.name);
            } else if constexpr (std::is_same_v<T, std::optional<value>>) {
                if (member && *member) names.push_back(f.name);
            } else if constexpr (std::is_same_v<T, list<value>>) {
                for (const value v : member) {
                    if (v) names.push_back(f.name);
                }
            } else if constexpr (std::is_same_v<T, list<std::optional<value>>>) {
                for (const std::optional<value>& v : member) {
                    if (v && *v) names.push_back(f.name);
                }
            }
        });
    }
    if (names.size() != n.operand_count) names.assign(n.operand_count, {});
    return names;
}

}  // namespace headrace

#endif

// ---- headrace/ir/origins.hpp ----

namespace headrace {

/// Calls `f(annotations)` once for each exported node that a node descends from: first the one that messages
/// name, then those that rewrites of several nodes into one have joined. `annotations` are those of the
/// origin: read them with find_in<provenance>, find_in<source_location> or find_in<traced_call>.
template <class F>
void for_each_origin(const node& n, F&& f) {
    std::pmr::unordered_set<const provenance*> seen;
    std::pmr::unordered_set<const annotation*> visited;
    pmr_vector<const annotation*> pending{n.annotations};
    while (!pending.empty()) {
        const annotation* const origin = pending.back();
        pending.pop_back();
        if (!visited.insert(origin).second) continue;
        const auto* name = find_in<provenance>(origin);
        if (name == nullptr) continue;
        if (seen.insert(name).second) f(origin);
        for (const auto* j = find_in<joined_origin>(origin); j != nullptr; j = j->next)
            pending.push_back(j->annotations);
    }
}

}  // namespace headrace

// ---- headrace/ir/state.hpp ----

namespace headrace {

/// Annotation of a placeholder that takes the old value of a state: the state's name.
struct input_state {
    static constexpr bool inherited = false;
    std::string_view name;
};

/// Annotation of the output node: the state that each of its values updates, or an empty name.
struct output_states {
    static constexpr bool inherited = false;
    list<std::string_view> names;
};

}  // namespace headrace

// ---- headrace/ir/strided_walk.hpp ----

namespace headrace {

/// Calls `f(position)` for each index of `shape` in row-major order; the position is the sum of each
/// coordinate times its stride. `strides` has one entry per axis.
template <class F>
void for_each_position(sizes shape, sizes strides, F f) {
    for (const std::int64_t size : shape) {
        if (size == 0) return;
    }
    pmr_vector<std::int64_t> at(shape.size());
    std::int64_t position = 0;
    for (;;) {
        f(position);
        std::size_t d = shape.size();
        for (;;) {
            if (d-- == 0) return;
            position += strides[d];
            if (++at[d] != shape[d]) break;
            position -= strides[d] * shape[d];
            at[d] = 0;
        }
    }
}

}  // namespace headrace

// ---- headrace/ir/unknown_op.hpp ----

#ifndef HEADRACE_IR_UNKNOWN_OP_HPP
#define HEADRACE_IR_UNKNOWN_OP_HPP

namespace headrace {

inline constexpr std::string_view no_complex_numbers =
    "complex numbers, for which there is no lowering; compute with their real and imaginary parts";

/// True if the node has complex operands or results.
[[nodiscard]] inline bool is_of_complex_numbers(const node& n) {
    const auto is_of_complex = [](const tensor_meta* meta) {
        return meta != nullptr && is_complex(meta->dtype);
    };
    for (std::uint32_t i = 0; i != n.result_count; ++i) {
        if (is_of_complex(n.results[i].meta)) return true;
    }
    return any_of(n.operand_edges(), [&](const edge& e) { return is_of_complex(meta_of(*e.slot)); });
}

/// Returns a message that the node's op has no `lacking`, "lowering" or "kernel", and what may help.
[[nodiscard]] inline std::pmr::string unknown_op_reason(const node& n, std::string_view lacking) {
    if (is_of_complex_numbers(n)) return std::pmr::string(no_complex_numbers);
    return text_of({"unknown op; Headrace has no ", lacking,
                    " for it: exported.run_decompositions() may make others of it"});
}

}  // namespace headrace

#endif

// ---- headrace/ir/unread.hpp ----

namespace headrace {

/// Annotation of a builtin::opaque: why a reader could not create the node in the file. Its results may lack
/// metadata, for example a tensor whose size is known only at run time.
struct unread_reason {
    static constexpr bool inherited = true;
    std::string_view text;
    bool follows = false;  ///< only because an operand is such a node
};

/// Annotation of the output node: the parts that a reader left out without harm, each as a sentence.
struct reading_notes {
    static constexpr bool inherited = false;
    list<std::string_view> texts;
};

}  // namespace headrace

// ---- headrace/ir/views.hpp ----

#ifndef HEADRACE_IR_VIEWS_HPP
#define HEADRACE_IR_VIEWS_HPP

namespace headrace {

/// True if the result can share the memory of the first operand because it has the same elements in the same
/// order, as in reshapes of TOSA and PyTorch. Tensors are row-major here, so a permutation of axes is a copy.
[[nodiscard]] inline bool is_view(const node& n) {
    if (!n.op->functional().has(trait::reshaping | trait::forwarding)) return false;
    if (n.result_count != 1 || n.operand_count == 0) return false;
    const tensor_meta* const from = meta_of(n.operand(0));
    const auto& to = n.results[0].meta;
    return from != nullptr && to && from->dtype == to->dtype && from->elements() == to->elements();
}

}  // namespace headrace

#endif

// ---- headrace/infer/dispatch_cache.hpp ----

namespace headrace {

namespace detail {

/// The key of an inference, as words. Two nodes have equal words if a rule cannot tell them apart.
class dispatch_key {
public:
    /// Returns false if there is no key: the node holds a graph or a constant, or an operand has no `val`.
    bool assign(const node& n);
    [[nodiscard]] std::span<const std::uint64_t> words() const { return words_; }
    [[nodiscard]] std::uint64_t hash() const;

private:
    void put(std::uint64_t word) { words_.push_back(word); }
    void put(std::int64_t i) { put(static_cast<std::uint64_t>(i)); }
    void put(bool b) { put(std::uint64_t{b}); }
    void put(double d) { put(std::bit_cast<std::uint64_t>(d)); }
    template <class T>
        requires std::is_enum_v<T>
    void put(T e) {
        put(static_cast<std::uint64_t>(e));
    }
    void put(const scalar& s) {
        put(static_cast<std::uint64_t>(s.kind()));
        s.is_floating() ? put(s.to_double()) : put(s.to_int());
    }
    void put(std::string_view text) {
        put(std::uint64_t{text.size()});
        for (; !text.empty(); text.remove_prefix(std::min(text.size(), sizeof(std::uint64_t)))) {
            std::uint64_t word = 0;
            std::memcpy(&word, text.data(), std::min(text.size(), sizeof word));
            put(word);
        }
    }
    void put(const value& v) {
        const tensor_meta* meta = v ? meta_of(v) : nullptr;
        if (meta == nullptr) {
            sound_ = false;
            return;
        }
        put(static_cast<std::uint64_t>(meta->dtype) | std::uint64_t{meta->shape.size()} << 8U |
            std::uint64_t{meta->dim_order.size()} << 32U);
        words_.insert(words_.end(), meta->shape.begin(), meta->shape.end());
        words_.insert(words_.end(), meta->dim_order.begin(), meta->dim_order.end());
    }
    void put(graph* const&) { sound_ = false; }
    void put(const custom_member& m) {
        m.type->print(
            m.at, {this, [](void* to, std::string_view text) { static_cast<dispatch_key*>(to)->put(text); }});
    }
    void put(const tensor_data&) { sound_ = false; }
    void put(const int_list& items) { put_all(items); }
    template <class T>
    void put(const list<T>& items) {
        put_all(items);
    }
    template <class T>
    void put(const std::optional<T>& o) {
        put(o.has_value());
        if (o) put(*o);
    }
    template <class Items>
    void put_all(const Items& items) {
        put(std::uint64_t{items.size()});
        for (const auto& item : items) put(item);
    }

    pmr_vector<std::uint64_t> words_;
    bool sound_ = true;
};

}  // namespace detail

/// Remembers inferences for the ops of some dialects; those of other dialects bypass it. A rule depends only
/// on arguments and operand metadata, which form the key. Errors are not remembered.
///
///     dispatch_cache cache({&info_of_dialect<aten::dialect>});
///     {
///         const auto more = cache.extend<quantized_decomposed::dialect, tosa::dialect>();
///         …  // these dialects are remembered, too
///     }
///     cache.infer(n, out, &rules);
///
/// Use it for rules that cost more than a lookup, such as those of an interpreter written in Python.
/// Headrace's own rules are faster than a lookup (tests/bench/lowering_time.cpp measures both), so nothing
/// here uses a cache unless pass_context::use_cache asks for it.
class dispatch_cache final : public inference_cache {
public:
    explicit dispatch_cache(std::initializer_list<const dialect_info*> dialects = {}) : dialects_(dialects) {}
    dispatch_cache(const dispatch_cache&) = delete;
    dispatch_cache& operator=(const dispatch_cache&) = delete;

    /// Adds dialects for its lifetime. Scopes may end in any order; remembered results are found again by the
    /// next scope that adds their dialect.
    class [[nodiscard]] scope {
    public:
        scope(dispatch_cache& cache, std::initializer_list<const dialect_info*> dialects);
        scope(scope&& other) noexcept
            : cache_(std::exchange(other.cache_, nullptr)), dialects_(std::move(other.dialects_)) {}
        scope& operator=(scope&&) = delete;
        ~scope();

    private:
        dispatch_cache* cache_;
        pmr_vector<const dialect_info*> dialects_;
    };
    template <class... Dialects>
    scope extend() {
        return scope(*this, {&info_of_dialect<Dialects>...});
    }

    /// Returns the inference for that node, from the cache if it is known.
    [[nodiscard]] result<void> infer(const node& n, inference& out, rules rule) override;

    [[nodiscard]] std::size_t hits() const { return hits_; }
    [[nodiscard]] std::size_t misses() const { return misses_; }
    /// Counts nodes of other dialects, and those without a key: regions and constants.
    [[nodiscard]] std::size_t bypassed() const { return bypassed_; }
    [[nodiscard]] std::size_t size() const { return size_; }
    void reset_counts() { hits_ = misses_ = bypassed_ = 0; }

private:
    struct entry {
        std::uint64_t hash = 0;
        std::span<const std::uint64_t> key;  // empty: a free slot
        std::span<const tensor_meta> results;
    };

    [[nodiscard]] const entry* find(std::uint64_t hash) const;
    void insert(std::uint64_t hash, std::span<const tensor_meta> results);
    void grow();
    void place(const entry& e);
    template <class T>
    std::span<T> own(std::span<const T> items) {
        return {copy_array(arena_, items.data(), items.size()), items.size()};
    }

    pmr_vector<const dialect_info*> dialects_;
    headrace::arena arena_{std::pmr::get_default_resource()};
    pmr_vector<entry> slots_;  // the size is a power of two
    detail::dispatch_key key_;
    std::size_t size_ = 0;
    std::size_t hits_ = 0;
    std::size_t misses_ = 0;
    std::size_t bypassed_ = 0;
};

}  // namespace headrace

// ---- headrace/infer/dispatch_cache_definition.hpp ----

namespace headrace {

namespace detail {

HEADRACE_INLINE bool dispatch_key::assign(const node& n) {
    words_.clear();
    sound_ = true;
    put(std::uint64_t{reinterpret_cast<std::uintptr_t>(n.op)});
    for (const field_info& f : *n.op)
        visit_field(f, n.arguments, [this](const auto& member) { put(member); });
    return sound_;
}

HEADRACE_INLINE std::uint64_t dispatch_key::hash() const {
    std::uint64_t state = words_.size();
    for (const std::uint64_t word : words_) {
        state = (state ^ word) * 0x9e3779b97f4a7c15U;
        state ^= state >> 29;
    }
    return state;
}

}  // namespace detail

HEADRACE_INLINE dispatch_cache::scope::scope(dispatch_cache& cache,
                                             std::initializer_list<const dialect_info*> dialects)
    : cache_(&cache), dialects_(dialects) {
    cache.dialects_.insert(cache.dialects_.end(), dialects.begin(), dialects.end());
}

HEADRACE_INLINE dispatch_cache::scope::~scope() {
    if (cache_ == nullptr) return;
    for (const dialect_info* d : dialects_) {
        const auto last = std::find(cache_->dialects_.rbegin(), cache_->dialects_.rend(), d);
        cache_->dialects_.erase(std::next(last).base());
    }
}

HEADRACE_INLINE result<void> dispatch_cache::infer(const node& n, inference& out, rules rule) {
    if (std::find(dialects_.begin(), dialects_.end(), n.op->dialect) == dialects_.end() || !key_.assign(n)) {
        ++bypassed_;
        return rule(n, out);
    }
    const std::uint64_t hash = key_.hash();
    if (const entry* known = find(hash)) {
        ++hits_;
        for (const tensor_meta& meta : known->results) out.add(meta);
        return {};
    }
    ++misses_;
    const std::size_t before = out.results().size();
    result<void> done = rule(n, out);
    if (done) insert(hash, out.results().subspan(before));
    return done;
}

HEADRACE_INLINE const dispatch_cache::entry* dispatch_cache::find(std::uint64_t hash) const {
    if (slots_.empty()) return nullptr;
    const entry& e = slots_[find_slot(slots_.size(), hash, [&](std::size_t at) {
        const entry& is = slots_[at];
        return is.key.empty() || (is.hash == hash && std::ranges::equal(is.key, key_.words()));
    })];
    return e.key.empty() ? nullptr : &e;
}

HEADRACE_INLINE void dispatch_cache::insert(std::uint64_t hash, std::span<const tensor_meta> results) {
    if (2 * (size_ + 1) > slots_.size()) grow();
    const std::span<tensor_meta> kept = own(results);
    for (tensor_meta& meta : kept) {
        if (meta.shape.is_view())
            meta.shape =
                int_list(std::span<const std::int64_t>(own(std::span(meta.shape.data(), meta.shape.size()))));
        meta.dim_order = {};
    }
    place({hash, own(key_.words()), kept});
    ++size_;
}

HEADRACE_INLINE void dispatch_cache::grow() {
    pmr_vector<entry> old(std::max<std::size_t>(64, 2 * slots_.size()));
    old.swap(slots_);
    for (const entry& e : old) {
        if (!e.key.empty()) place(e);
    }
}

HEADRACE_INLINE void dispatch_cache::place(const entry& e) {
    slots_[find_slot(slots_.size(), e.hash, [&](std::size_t at) { return slots_[at].key.empty(); })] = e;
}

}  // namespace headrace

// ---- headrace/infer/executorch.hpp ----

namespace headrace::executorch {

// The checks follow the kernels' sources, version 1.5 (kernels/portable/cpu, kernels/optimized/cpu and
// kernels/quantized/cpu). A kernel whose check fails ends the method with an error, or aborts the process.

/// Infers the results of the op that a kernel computes; refuses arguments that the kernel refuses. `number`
/// is the kernel's index in `kernels`.
[[nodiscard]] result<void> infer_kernel(std::size_t number, const void* arguments, inference& out);

template <class Op, fixed_string Name, kernel_types Types>
result<void> infer_results(kernel<Op, Name, Types>, const headrace::args<Op>& a, inference& out) {
    return infer_kernel(boost::mp11::mp_find<kernels, kernel<Op, Name, Types>>::value, &a, out);
}

/// Returns the reason why the kernel for a node's op refuses it; empty if it does not. The node is of the
/// executorch dialect, or of the op that the kernel computes.
[[nodiscard]] std::pmr::string kernel_refusal(const node& n);

/// Describes how the kernel's results differ from PyTorch's for some operand values; empty if they do not.
[[nodiscard]] std::pmr::string kernel_deviation(const node& n);

}  // namespace headrace::executorch

// ---- headrace/infer/kernel_refusals.hpp ----

namespace headrace::executorch::detail {

/// The reason why a kernel refuses a node; empty if it takes it.
using reason = std::pmr::string;

[[nodiscard]] constexpr bool computes_with(kernel_types types, dtype operand, dtype result) {
    using enum kernel_types;
    switch (types) {
        case all:
            return true;
        case numbers:
            return !is_boolean(operand);
        case floats:
            return is_floating(operand) && is_floating(result);
        case wide_floats:
            return operand == dtype::float32 || operand == dtype::float64;
        case floats_or_int64:
            return is_floating(operand) || operand == dtype::int64;
        case real_results:
            return is_floating(operand) || result == dtype::float32;
        case bits:
            return is_integral(operand) || is_boolean(operand);
    }
    return false;
}

/// True if the runtime has tensors of that type and its kernels support them.
[[nodiscard]] constexpr bool is_kernel_type(dtype t) {
    return t == dtype::uint8 || t == dtype::boolean || t == dtype::bfloat16 || t == dtype::float16 ||
           t == dtype::float32 || t == dtype::float64 || t == dtype::int8 || t == dtype::int16 ||
           t == dtype::int32 || t == dtype::int64;
}

[[nodiscard]] inline reason type_refusal(const node& n, kernel_types types) {
    const auto refusal = [](dtype t) {
        return text_of({"ExecuTorch's kernel for it does not compute with ", name_of(t),
                        "; cast its operands before it"});
    };
    dtype operand = dtype::unknown;
    for (const edge& e : n.operand_edges()) {
        const tensor_meta* const meta = meta_of(*e.slot);
        if (meta == nullptr) return "the type of an operand is not known";
        if (!is_kernel_type(meta->dtype)) return refusal(meta->dtype);
        if (operand == dtype::unknown) operand = meta->dtype;
    }
    for (std::uint32_t i = 0; i != n.result_count; ++i) {
        if (!n.results[i].meta) return "the type of its result is not known";
        if (!is_kernel_type(n.results[i].meta->dtype)) return refusal(n.results[i].meta->dtype);
    }
    const dtype made = n.result_count == 0 ? dtype::unknown : n.results[0].meta->dtype;
    if (operand != dtype::unknown && !computes_with(types, operand, made)) return refusal(operand);
    return {};
}

// --- what arguments kernels take ---------------------------------------------------------------------------

[[nodiscard]] inline const tensor_meta& meta(value v) { return *meta_of(v); }

[[nodiscard]] inline reason refusal(aten::convolution, const args<aten::convolution>& a) {
    if (meta(a.input).rank() <= 4) return {};
    return "ExecuTorch's kernel for it has one or two spatial axes";
}
[[nodiscard]] inline reason refusal(aten::linear, const args<aten::linear>& a) {
    if (meta(a.input).rank() < 2) return "ExecuTorch's kernel for it takes no vector";
    if (meta(a.weight).rank() != 2) return "ExecuTorch's kernel for it takes no vector as the weight";
    return {};
}
[[nodiscard]] inline reason refusal(aten::gather, const args<aten::gather>& a) {
    if (meta(a.index).dtype == dtype::int64) return {};
    return "ExecuTorch's kernel for it takes indices of int64";
}
[[nodiscard]] inline reason refusal(aten::_adaptive_avg_pool2d, const args<aten::_adaptive_avg_pool2d>& a) {
    const bool positive = std::ranges::all_of(a.output_size, [](std::int64_t size) { return size > 0; });
    if (a.output_size.size() == 2 && positive) return {};
    return "ExecuTorch's kernel for it takes two sizes above 0";
}
template <one_of<ops<aten::_softmax, aten::_log_softmax>> Op>
[[nodiscard]] reason refusal(Op, const args<Op>& a) {
    if (!a.half_to_float) return {};
    return "ExecuTorch's kernel for it does not convert half to float";
}
[[nodiscard]] inline reason refusal(aten::_to_copy, const args<aten::_to_copy>& a) {
    if (!a.non_blocking) return {};
    return "ExecuTorch's kernel for it has no copies that do not block";
}
[[nodiscard]] inline reason refusal(aten::expand, const args<aten::expand>& a) {
    if (!a.implicit) return {};
    return "ExecuTorch's kernel for it has no implicit expansion";
}
[[nodiscard]] inline reason refusal(aten::narrow, const args<aten::narrow>& a) {
    if (a.start >= 0) return {};
    return "ExecuTorch's kernel for it does not count from the end";
}
[[nodiscard]] inline reason refusal(aten::constant_pad_nd, const args<aten::constant_pad_nd>& a) {
    if (std::ranges::all_of(a.pad, [](std::int64_t size) { return size >= 0; })) return {};
    return "ExecuTorch's kernel for it does not crop; slice the tensor instead";
}
[[nodiscard]] inline reason refusal(aten::roll, const args<aten::roll>& a) {
    if (meta(a.self).rank() != 0 && !a.dims.empty() && a.dims.size() == a.shifts.size()) return {};
    return "ExecuTorch's kernel for it takes one axis for each shift";
}
[[nodiscard]] inline reason refusal(aten::sum_dim_intlist, const args<aten::sum_dim_intlist>& a) {
    if (meta(a.self).rank() != 0 || !a.dim || a.dim->empty()) return {};
    return "ExecuTorch's kernel for it takes no axes of a tensor of rank 0";
}
template <one_of<ops<aten::scatter_add, aten::scatter_src, aten::scatter_value>> Op>
[[nodiscard]] reason refusal(Op, const args<Op>& a) {
    if (meta(a.index).dtype != dtype::int64) return "ExecuTorch's kernel for it takes indices of int64";
    if (meta(a.index).rank() == meta(a.self).rank()) return {};
    return "ExecuTorch's kernel for it takes indices with as many axes as the tensor";
}
template <one_of<ops<aten::cumsum, aten::unfold>> Op>
[[nodiscard]] reason refusal(Op, const args<Op>& a) {
    if (meta(a.self).rank() != 0) return {};
    return "ExecuTorch's kernel for it takes no tensor of rank 0";
}
[[nodiscard]] inline reason refusal(aten::grid_sampler_2d, const args<aten::grid_sampler_2d>& a) {
    if (meta(a.input).dtype == meta(a.grid).dtype) return {};
    return "ExecuTorch's kernel for it takes an image and a grid of the same type";
}
/// The optimized kernel computes only in the tensor's own type.
[[nodiscard]] inline reason refusal(aten::add_scalar, const args<aten::add_scalar>& a) {
    const dtype type = meta(a.self).dtype;
    const bool same = !a.other.is_floating() || is_floating(type);
    const bool alpha = !a.alpha.is_floating() || is_floating(type);
    if (same && alpha && !is_boolean(type)) return {};
    return "ExecuTorch's kernel for it takes a number of the tensor's type";
}
/// True if the tensor's type cannot hold the bound.
[[nodiscard]] inline bool is_outside(const std::optional<scalar>& bound, dtype type) {
    if (!bound || is_boolean(type)) return false;
    const double x = bound->to_double();
    if (std::isnan(x) || std::isinf(x)) return !is_floating(type);
    if (type == dtype::float64) return false;
    if (type == dtype::float16) return std::abs(x) > 65504;
    if (is_floating(type)) return std::abs(x) > static_cast<double>(std::numeric_limits<float>::max());
    const int bits = static_cast<int>(traits_of(type).bits);
    if (type == dtype::uint8) return x < 0 || x > 255;
    return x < -std::ldexp(1.0, bits - 1) || x >= std::ldexp(1.0, bits - 1);
}
inline constexpr std::string_view bound_outside =
    "ExecuTorch's kernel for it takes bounds that the tensor's type holds";
[[nodiscard]] inline reason refusal(aten::clamp, const args<aten::clamp>& a) {
    const dtype type = meta(a.self).dtype;
    return is_outside(a.min, type) || is_outside(a.max, type) ? reason(bound_outside) : reason();
}
[[nodiscard]] inline reason refusal(aten::hardtanh, const args<aten::hardtanh>& a) {
    const dtype type = meta(a.self).dtype;
    return is_outside(a.min_val, type) || is_outside(a.max_val, type) ? reason(bound_outside) : reason();
}

// --- quantization ------------------------------------------------------------------------------------------

[[nodiscard]] constexpr bool is_quantized_type(dtype t) {
    return t == dtype::uint8 || t == dtype::int8 || t == dtype::int16 || t == dtype::int32;
}
inline constexpr std::string_view quantized_types =
    "ExecuTorch's kernel for it takes floats, and gives uint8, int8, int16 or int32";
inline constexpr std::string_view dequantized_types =
    "ExecuTorch's kernel for it takes uint8, int8, int16 or int32 as its argument dtype says, and gives "
    "floats";
inline constexpr std::string_view parameter_types =
    "ExecuTorch's kernel for it takes scales of float64 and zero points of int64";
inline constexpr std::string_view wide_range =
    "ExecuTorch's kernel for it takes a range of numbers that the type holds";

[[nodiscard]] inline bool holds_range(dtype type, std::int64_t low, std::int64_t high) {
    const int bits = static_cast<int>(traits_of(type).bits);
    const std::int64_t half = std::int64_t{1} << (bits - 1);
    return type == dtype::uint8 ? low >= 0 && high <= 255 : low >= -half && high < half;
}
template <class Op>
[[nodiscard]] reason quantizing_refusal(const args<Op>& a) {
    if (!is_floating(meta(a.input).dtype) || !is_quantized_type(a.dtype)) return reason(quantized_types);
    if (!holds_range(a.dtype, a.quant_min, a.quant_max)) return reason(wide_range);
    if constexpr (requires { a.scales; }) {
        if (meta(a.scales).dtype != dtype::float64 || meta(a.zero_points).dtype != dtype::int64)
            return reason(parameter_types);
    } else if constexpr (!__is_same(Op, quantized_decomposed::quantize_per_tensor)) {
        if (meta(a.scale).dtype != dtype::float64 || meta(a.zero_point).dtype != dtype::int64)
            return reason(parameter_types);
    }
    return {};
}
template <
    one_of<ops<quantized_decomposed::quantize_per_tensor, quantized_decomposed::quantize_per_channel,
               quantized_decomposed::quantize_per_token, quantized_decomposed::quantize_per_tensor_tensor>>
        Op>
[[nodiscard]] reason refusal(Op, const args<Op>& a) {
    return quantizing_refusal<Op>(a);
}
template <class Op>
[[nodiscard]] reason dequantizing_refusal(const args<Op>& a, std::optional<dtype> made) {
    const dtype type = meta(a.input).dtype;
    if (!is_quantized_type(type) || type != a.dtype || (made && !is_floating(*made)))
        return reason(dequantized_types);
    if (a.quant_min > a.quant_max) return reason(wide_range);
    return {};
}
[[nodiscard]] inline reason refusal(quantized_decomposed::dequantize_per_tensor,
                                    const args<quantized_decomposed::dequantize_per_tensor>& a) {
    return dequantizing_refusal<quantized_decomposed::dequantize_per_tensor>(a, a.out_dtype);
}
[[nodiscard]] inline reason refusal(quantized_decomposed::dequantize_per_tensor_tensor,
                                    const args<quantized_decomposed::dequantize_per_tensor_tensor>& a) {
    if (meta(a.scale).dtype != dtype::float64 || meta(a.zero_point).dtype != dtype::int64)
        return reason(parameter_types);
    return dequantizing_refusal<quantized_decomposed::dequantize_per_tensor_tensor>(a, a.out_dtype);
}
[[nodiscard]] inline bool is_scale_type(value v) {
    return meta(v).dtype == dtype::float32 || meta(v).dtype == dtype::float64;
}
[[nodiscard]] inline bool is_zero_point_type(const std::optional<value>& v) {
    return !v || meta(*v).dtype == dtype::int32 || meta(*v).dtype == dtype::int64;
}
[[nodiscard]] inline reason refusal(quantized_decomposed::dequantize_per_channel,
                                    const args<quantized_decomposed::dequantize_per_channel>& a) {
    if (!is_scale_type(a.scales) || !is_zero_point_type(a.zero_points)) return reason(parameter_types);
    return dequantizing_refusal<quantized_decomposed::dequantize_per_channel>(a, a.out_dtype);
}
[[nodiscard]] inline reason refusal(quantized_decomposed::dequantize_per_token,
                                    const args<quantized_decomposed::dequantize_per_token>& a) {
    if (!is_scale_type(a.scales) || !is_zero_point_type(a.zero_points)) return reason(parameter_types);
    return dequantizing_refusal<quantized_decomposed::dequantize_per_token>(a, a.output_dtype);
}
[[nodiscard]] inline reason refusal(quantized_decomposed::choose_qparams_tensor,
                                    const args<quantized_decomposed::choose_qparams_tensor>& a) {
    if (meta(a.input).dtype == dtype::float32 && a.dtype == dtype::int8) return {};
    return "ExecuTorch's kernel for it takes float32, and chooses parameters for int8";
}
[[nodiscard]] inline reason refusal(
    quantized_decomposed::choose_qparams_per_token_asymmetric,
    const args<quantized_decomposed::choose_qparams_per_token_asymmetric>& a) {
    if (meta(a.input).dtype == dtype::float32 && a.dtype == dtype::int8) return {};
    return "ExecuTorch's kernel for it takes float32, and chooses parameters for int8";
}

}  // namespace headrace::executorch::detail

// ---- headrace/infer/kernel_deviations.hpp ----

namespace headrace::executorch::detail {

[[nodiscard]] inline bool is_whole(value v) { return !is_floating(meta(v).dtype); }
/// True for integers and for values dequantized from integers, even if rearranged since.
[[nodiscard]] inline bool never_nan(value v) {
    const auto op_of = [](value made) -> const op_info& { return made.producer->op->functional(); };
    while (op_of(v).has(trait::rearranging) && v.producer->operand_count != 0) v = v.producer->operand(0);
    return is_whole(v) || op_of(v).has(trait::dequantizing);
}

[[nodiscard]] inline reason deviation(aten::remainder_scalar, const args<aten::remainder_scalar>& a) {
    if (!is_whole(a.self) || a.other.is_floating()) return {};
    return "ExecuTorch's remainder of integers has the dividend's sign";
}
[[nodiscard]] inline reason deviation(aten::remainder_tensor, const args<aten::remainder_tensor>& a) {
    if (!is_whole(a.self) || !is_whole(a.other)) return {};
    return "ExecuTorch's remainder of integers has the dividend's sign";
}
/// The kernel swaps its operands in this case, but still scales the same one by alpha.
[[nodiscard]] inline reason deviation(aten::add_tensor, const args<aten::add_tensor>& a) {
    if (a.alpha.to_double() == 1 || meta(a.self).elements() != 1) return {};
    return "ExecuTorch's kernel for it scales the other operand if the first has one element";
}
[[nodiscard]] inline reason deviation(aten::sign, const args<aten::sign>& a) {
    return is_whole(a.self) ? reason() : reason("ExecuTorch's sign of NaN is NaN");
}
[[nodiscard]] inline reason deviation(aten::max_pool2d_with_indices,
                                      const args<aten::max_pool2d_with_indices>& a) {
    return never_nan(a.self) ? reason() : reason("ExecuTorch's kernel for it passes over NaN");
}
[[nodiscard]] inline reason deviation(aten::floor_divide, const args<aten::floor_divide>& a) {
    if (is_whole(a.self) && is_whole(a.other)) return {};
    return "ExecuTorch's quotient of 0 and 0 is infinite";
}
[[nodiscard]] inline reason deviation(aten::div_tensor_mode, const args<aten::div_tensor_mode>& a) {
    if (a.rounding_mode != "floor" || (is_whole(a.self) && is_whole(a.other))) return {};
    return "ExecuTorch's quotient of 0 and 0 is infinite";
}
[[nodiscard]] inline reason deviation(aten::div_scalar_mode, const args<aten::div_scalar_mode>& a) {
    if (a.rounding_mode != "floor" || a.other.to_double() != 0) return {};
    return "ExecuTorch's quotient of 0 and 0 is infinite";
}
/// Integer products wrap around; floating-point ones do not.
inline constexpr std::string_view powers_in_floats = "ExecuTorch's powers of integers are computed as floats";
[[nodiscard]] inline reason deviation(aten::pow_tensor_scalar, const args<aten::pow_tensor_scalar>& a) {
    if (!is_whole(a.self) || a.exponent.is_floating() || is_boolean(meta(a.self).dtype)) return {};
    return reason(powers_in_floats);
}
[[nodiscard]] inline reason deviation(aten::pow_tensor_tensor, const args<aten::pow_tensor_tensor>& a) {
    return is_whole(a.self) && is_whole(a.exponent) ? reason(powers_in_floats) : reason();
}
[[nodiscard]] inline reason deviation(aten::pow_scalar, const args<aten::pow_scalar>& a) {
    return !a.self.is_floating() && is_whole(a.exponent) ? reason(powers_in_floats) : reason();
}
/// PyTorch takes the lower limit in this case.
[[nodiscard]] inline reason deviation(aten::logit, const args<aten::logit>& a) {
    if (!a.eps || *a.eps <= 0.5) return {};
    return "ExecuTorch's kernel for it takes a margin of at most 0.5";
}
[[nodiscard]] inline reason deviation(aten::_log_softmax, const args<aten::_log_softmax>& a) {
    if (meta(a.self).rank() != 0) return {};
    return "ExecuTorch's log_softmax of one number is 0, of NaN as well";
}
[[nodiscard]] inline reason deviation(aten::leaky_relu, const args<aten::leaky_relu>& a) {
    if (std::isfinite(a.negative_slope.to_double())) return {};
    return "ExecuTorch's kernel for it takes a finite slope";
}
/// The diagonal is far outside of the tensor.
[[nodiscard]] inline reason deviation(aten::tril, const args<aten::tril>& a) {
    if (std::abs(static_cast<double>(a.diagonal)) < std::ldexp(1.0, 31)) return {};
    return "ExecuTorch's kernel for it takes a diagonal that int32 holds";
}
inline constexpr std::string_view shifts_of_undefined =
    "ExecuTorch's kernel for it shifts by less than the bits of the type";
template <one_of<ops<aten::bitwise_left_shift_tensor_scalar, aten::bitwise_right_shift_tensor_scalar>> Op>
[[nodiscard]] reason deviation(Op, const args<Op>& a) {
    const double by = a.other.to_double();
    if (by >= 0 && by < traits_of(meta(a.self).dtype).bits) return {};
    return reason(shifts_of_undefined);
}
template <class Op>
[[nodiscard]] reason freedom_deviation(const args<Op>& a, double correction) {
    const tensor_meta& t = meta(a.self);
    std::int64_t reduced = 1;
    std::vector<bool> is_reduced(t.rank(), !a.dim || a.dim->empty());
    for (std::size_t i = 0; a.dim && i != a.dim->size(); ++i) {
        const std::int64_t axis =
            (*a.dim)[i] < 0 ? (*a.dim)[i] + static_cast<std::int64_t>(t.rank()) : (*a.dim)[i];
        if (axis >= 0 && static_cast<std::size_t>(axis) < t.rank())
            is_reduced[static_cast<std::size_t>(axis)] = true;
    }
    for (std::size_t i = 0; i != t.rank(); ++i) {
        if (is_reduced[i]) reduced *= t.shape[i];
    }
    if (static_cast<double>(reduced) > correction) return {};
    return "ExecuTorch's variance of no degrees of freedom is NaN, as is then the mean";
}
template <one_of<ops<aten::var_correction, aten::var_mean_correction>> Op>
[[nodiscard]] reason deviation(Op, const args<Op>& a) {
    return freedom_deviation<Op>(a, a.correction ? a.correction->to_double() : 1);
}
[[nodiscard]] inline reason deviation(aten::var_dim, const args<aten::var_dim>& a) {
    return freedom_deviation<aten::var_dim>(a, a.unbiased ? 1 : 0);
}

}  // namespace headrace::executorch::detail

// ---- headrace/infer/executorch_definition.hpp ----

namespace headrace::executorch {

namespace detail {

// --- the tables --------------------------------------------------------------------------------------------

struct checks {
    inference_rule rule = nullptr;
    reason (*refusal)(const void* arguments) = nullptr;
    reason (*deviation)(const void* arguments) = nullptr;
};
template <class Op>
[[nodiscard]] checks checks_of() {
    checks made{headrace::detail::rule_of_op<Op>()};
    if constexpr (requires(const args<Op>& a) { refusal(Op{}, a); })
        made.refusal = [](const void* a) { return refusal(Op{}, *static_cast<const args<Op>*>(a)); };
    if constexpr (requires(const args<Op>& a) { deviation(Op{}, a); })
        made.deviation = [](const void* a) { return deviation(Op{}, *static_cast<const args<Op>*>(a)); };
    return made;
}
template <class List>
struct checks_table;
template <class... Kernels>
struct checks_table<ops<Kernels...>> {
    static inline const std::array<checks, sizeof...(Kernels)> all{
        checks_of<typename Kernels::functional>()...};
    static constexpr std::array<kernel_types, sizeof...(Kernels)> types{Kernels::types...};
    static constexpr std::array<const op_info*, sizeof...(Kernels)> from{
        &info_of<typename Kernels::functional>...};
};

/// Returns the index of the node's kernel, or the count of kernels if there is none.
[[nodiscard]] inline std::size_t kernel_number(const node& n) {
    using table = checks_table<kernels>;
    const op_info* const op = &functional_of(*n.op);
    return static_cast<std::size_t>(std::ranges::find(table::from, op) - table::from.begin());
}

}  // namespace detail

HEADRACE_INLINE result<void> infer_kernel(std::size_t number, const void* arguments, inference& out) {
    using table = detail::checks_table<kernels>;
    if (number == table::all.size())
        return infer_op<aten::view>(*static_cast<const args<aten::view>*>(arguments), out);
    const detail::checks& checks = table::all[number];
    if (checks.refusal != nullptr) {
        const std::pmr::string why = checks.refusal(arguments);
        if (!why.empty()) return unsupported(why);
    }
    return checks.rule(arguments, out);
}

HEADRACE_INLINE std::pmr::string kernel_refusal(const node& n) {
    using table = detail::checks_table<kernels>;
    const std::size_t i = detail::kernel_number(n);
    if (i == table::all.size()) return {};
    if (auto why = detail::type_refusal(n, table::types[i]); !why.empty()) return why;
    return table::all[i].refusal == nullptr ? std::pmr::string() : table::all[i].refusal(n.arguments);
}

HEADRACE_INLINE std::pmr::string kernel_deviation(const node& n) {
    using table = detail::checks_table<kernels>;
    const std::size_t i = detail::kernel_number(n);
    if (i == table::all.size() || table::all[i].deviation == nullptr) return {};
    return table::all[i].deviation(n.arguments);
}

}  // namespace headrace::executorch

// ---- headrace/infer/interval.hpp ----

namespace headrace {

/// A bound of an interval. It must represent 64-bit integers exactly.
using bound = long double;
static_assert(std::numeric_limits<bound>::digits >= 63,
              "bound: it does not hold every int64; choose a type of 63 binary digits or more");

/// All numbers from `low` to `high`, inclusive. A value with this interval may also be NaN.
struct interval {
    static constexpr bound unlimited = std::numeric_limits<bound>::infinity();

    bound low = -unlimited;
    bound high = unlimited;

    [[nodiscard]] constexpr bool contains(bound x) const { return low <= x && x <= high; }
    [[nodiscard]] constexpr bool contains(const interval& other) const {
        return low <= other.low && other.high <= high;
    }
    [[nodiscard]] constexpr bool is_number() const { return low == high; }
    [[nodiscard]] constexpr bool is_bounded() const { return -unlimited < low && high < unlimited; }
    friend constexpr bool operator==(const interval&, const interval&) = default;
};

[[nodiscard]] constexpr interval number(bound x) { return {x, x}; }

/// Returns the interval of a dtype's numbers; floats are unlimited.
[[nodiscard]] constexpr interval interval_of(dtype t) {
    if (is_boolean(t)) return {0, 1};
    if (!is_integral(t)) return {};
    bound half = 1;
    for (int i = 1; i != traits_of(t).bits; ++i) half *= 2;
    return is_signed_integral(t) ? interval{-half, half - 1} : interval{0, 2 * half - 1};
}

/// Returns the smallest interval that contains both.
[[nodiscard]] constexpr interval operator|(const interval& a, const interval& b) {
    return {std::min(a.low, b.low), std::max(a.high, b.high)};
}
/// Returns the intersection or, if it is empty, the number of `b` nearest to `a`.
[[nodiscard]] constexpr interval operator&(const interval& a, const interval& b) {
    return {std::min(std::max(a.low, b.low), b.high), std::max(std::min(a.high, b.high), b.low)};
}

[[nodiscard]] constexpr interval operator-(const interval& a) { return {-a.high, -a.low}; }

namespace detail {

// Infinity minus infinity is NaN: the bound is then unknown.
constexpr interval defined(bound low, bound high) {
    return {low == low ? low : -interval::unlimited, high == high ? high : interval::unlimited};
}
// Zero times an infinite bound is zero: the infinite bound means that the operand has no limit, not that it
// can be infinite.
constexpr bound bound_product(bound a, bound b) { return a == 0 || b == 0 ? 0 : a * b; }

/// Returns the smallest interval that contains `f` of all four pairs of bounds.
template <class F>
constexpr interval of_bounds(const interval& a, const interval& b, F f) {
    const interval first = number(f(a.low, b.low)) | number(f(a.low, b.high));
    return first | number(f(a.high, b.low)) | number(f(a.high, b.high));
}

}  // namespace detail

[[nodiscard]] constexpr interval operator+(const interval& a, const interval& b) {
    return detail::defined(a.low + b.low, a.high + b.high);
}
[[nodiscard]] constexpr interval operator-(const interval& a, const interval& b) { return a + -b; }
[[nodiscard]] constexpr interval operator*(const interval& a, const interval& b) {
    return detail::of_bounds(a, b, [](bound x, bound y) { return detail::bound_product(x, y); });
}
/// Quotients of reals; unlimited if the divisor may be 0.
[[nodiscard]] constexpr interval operator/(const interval& a, const interval& b) {
    if (b.contains(bound{0})) return {};
    const interval inverse{1 / b.high, 1 / b.low};
    if (!a.is_bounded() || !b.is_bounded()) return a * inverse;
    return detail::of_bounds(a, b, [](bound x, bound y) { return x / y; });
}

[[nodiscard]] constexpr interval minimum(const interval& a, const interval& b) {
    return {std::min(a.low, b.low), std::min(a.high, b.high)};
}
[[nodiscard]] constexpr interval maximum(const interval& a, const interval& b) {
    return {std::max(a.low, b.low), std::max(a.high, b.high)};
}
[[nodiscard]] constexpr interval magnitude(const interval& a) {
    if (a.low >= 0) return a;
    return a.high <= 0 ? -a : interval{0, std::max(-a.low, a.high)};
}

/// Applies a non-decreasing function to both bounds.
template <class F>
[[nodiscard]] constexpr interval map_bounds(const interval& a, F f) {
    return {f(a.low), f(a.high)};
}
[[nodiscard]] inline interval truncated(const interval& a) {
    return map_bounds(a, [](bound x) { return std::trunc(x); });
}

/// Sums of `count` numbers of an interval; of between `first` and `last` numbers.
[[nodiscard]] constexpr interval sum_of(const interval& a, std::int64_t count) {
    return a * number(static_cast<bound>(count));
}
[[nodiscard]] constexpr interval sum_of(const interval& a, std::int64_t first, std::int64_t last) {
    return sum_of(a, first) | sum_of(a, last);
}
/// Products of 1 to `count` numbers of an interval.
[[nodiscard]] inline interval product_of(const interval& a, std::int64_t count) {
    const bound largest = std::max(std::abs(a.low), std::abs(a.high));
    if (count == 0) return number(1);
    const bound power = largest <= 1 ? largest : std::pow(largest, static_cast<bound>(count));
    if (a.low >= 0) return {a.low >= 1 ? a.low : std::pow(a.low, static_cast<bound>(count)), power};
    return {-power, power};
}

/// Remainders of division rounded toward zero; they have the sign of `a`.
[[nodiscard]] constexpr interval remainder_toward_zero(const interval& a, const interval& b) {
    const interval divisor = magnitude(b);
    if (a.low >= 0 && a.high < divisor.low) return a;
    const bound most = divisor.high - 1;
    return {a.low >= 0 ? bound{0} : std::max(a.low, -most), a.high <= 0 ? bound{0} : std::min(a.high, most)};
}
/// Remainders of division rounded down; they have the sign of `b`.
[[nodiscard]] constexpr interval remainder_downward(const interval& a, const interval& b) {
    if (b.low > 0 && a.low >= 0 && a.high < b.low) return a;
    const bound lowest = b.low >= 0 ? bound{0} : b.low + 1;
    const bound highest = b.high <= 0 ? bound{0} : b.high - 1;
    const bound top = a.low >= 0 && b.low > 0 ? std::min(highest, a.high) : highest;
    return {lowest, top};
}

/// Returns the least 2^k - 1 that is at least `x`, which must not be negative.
[[nodiscard]] constexpr bound all_ones_from(bound x) {
    bound ones = 1;
    while (ones - 1 < x && ones < interval::unlimited) ones *= 2;
    return ones - 1;
}
/// Bounds a bitwise result of two integers: not negative if neither operand can be, else of either sign.
[[nodiscard]] constexpr interval bitwise_or(const interval& a, const interval& b) {
    const interval both = a | b;
    const bound most = all_ones_from(std::max(both.high, -both.low - 1));
    return {both.low >= 0 ? bound{0} : -most - 1, most};
}
[[nodiscard]] constexpr interval bitwise_and(const interval& a, const interval& b) {
    if (a.low >= 0 && b.low >= 0) return {0, std::min(a.high, b.high)};
    if (a.low >= 0) return {0, a.high};
    if (b.low >= 0) return {0, b.high};
    return bitwise_or(a, b);
}

}  // namespace headrace

// ---- headrace/infer/value_ranges.hpp ----

namespace headrace {

/// Whether a value reaches both ends of its interval. An interval is often too wide: `x - x` is 0, but its
/// interval is twice as wide as that of x.
enum class attainment : std::uint8_t {
    unknown,
    by_some,  ///< some element takes each end, as in a constant
    by_any    ///< any element may take them, as in the result of argmax
};

struct value_bounds {
    interval computed{};  ///< before the dtype wraps the op's results around
    interval held{};      ///< the stored elements
    attainment attained = attainment::unknown;
    bool varies = true;  ///< depends on an input, not only on constants
};

/// The intervals of a graph's values, by interval arithmetic on the facts known before the program runs:
/// constants, shapes, dtypes, positions and limits. infer/range_rules.hpp has the rule of each op. The graph
/// must be functional. A branch is evaluated for its node's operands, a loop until its bounds settle. For
/// example, relu(x) of a float32 tensor is in [0, infinity], and argmax over an axis of size 10 in [0, 9].
///
/// Casts of floats that an integer dtype cannot hold are undefined in PyTorch; they are assumed not to occur.
/// NaN is in no interval, and may be an element of any floating-point value.
class value_ranges {
public:
    /// Returns the bounds of a value, given the computed ones; the caller may know or assume tighter bounds.
    /// Values in a loop are passed once the loop's bounds have settled.
    using assumption = std::function<value_bounds(value, const value_bounds&)>;

    explicit value_ranges(const graph& g, assumption assume = {});

    [[nodiscard]] value_bounds of(value v) const;
    [[nodiscard]] interval held_by(value v) const { return of(v).held; }

private:
    using bounds_list = std::vector<value_bounds>;

    void walk(const graph& g, std::span<const value_bounds> inputs);
    void visit(const node& n);
    void keep(const node& n, std::uint32_t result, value_bounds bounds);
    [[nodiscard]] bounds_list outputs_of(const graph& g) const;
    void visit_branches(const node& n);
    void visit_loop(const node& n);
    void limit_by_condition(const graph& condition, bounds_list& carried) const;

    static constexpr int deepest_loop = 2;

    assumption assume_;
    bool settled_ = true;  // false in the first rounds of a loop
    int nesting_ = 0;      // depth of nested loops
    std::unordered_map<const node*, bounds_list> known_;
};

}  // namespace headrace

// ---- headrace/infer/held_interval.hpp ----

namespace headrace::detail {

// Returns the interval of a constant's elements, read as T. NaN is skipped.
template <class T>
interval interval_of_elements(const tensor_data& data, const tensor_meta& meta) {
    interval all{interval::unlimited, -interval::unlimited};
    const auto read = [&](std::int64_t at) {
        T x;
        std::memcpy(&x, data.bytes + at * static_cast<std::int64_t>(sizeof(T)), sizeof(T));
        all.low = std::min(all.low, static_cast<bound>(x));
        all.high = std::max(all.high, static_cast<bound>(x));
    };
    if (data.strides.empty()) {
        const std::int64_t count = meta.elements();
        for (std::int64_t i = 0; i != count; ++i) read(i);
    } else {
        for_each_position(meta.shape, data.strides, read);
    }
    return all.low <= all.high ? all : number(0);
}

// Constants of narrow dtypes get their dtype's whole range, and large floating-point constants get no bounds,
// so that weights need not be read.
[[nodiscard]] inline interval interval_of_constant(const tensor_data& data, const tensor_meta& meta) {
    constexpr std::int64_t most_floats = 1 << 16;
    if (data.bytes == nullptr) return interval_of(meta.dtype);
    switch (meta.dtype) {
        case dtype::int64:
            return interval_of_elements<std::int64_t>(data, meta);
        case dtype::int32:
            return interval_of_elements<std::int32_t>(data, meta);
        case dtype::boolean:
            return meta.elements() == 1 ? interval_of_elements<std::uint8_t>(data, meta) : interval{0, 1};
        case dtype::float32:
            if (meta.elements() <= most_floats) return interval_of_elements<float>(data, meta);
            return {};
        case dtype::float64:
            if (meta.elements() <= most_floats) return interval_of_elements<double>(data, meta);
            return {};
        default:
            return interval_of(meta.dtype);
    }
}

/// Returns the interval after its numbers have been rounded a few times to a floating-point type.
[[nodiscard]] inline interval widened(const interval& a, dtype t) {
    struct format {
        bound step, largest;
    };
    const format f = t == dtype::float64    ? format{0x1p-50L, 0x1.fffffffffffffp+1023L}
                     : t == dtype::float32  ? format{0x1p-21L, 0x1.fffffep+127L}
                     : t == dtype::float16  ? format{0x1p-9L, 65504}
                     : t == dtype::bfloat16 ? format{0x1p-6L, 0x1.fep+127L}
                                            : format{1, 100};
    const auto away = [&](bound x, bound sign) {
        if (std::isinf(x)) return x;
        const bound moved = x + sign * (std::abs(x) * f.step + f.step * 0x1p-100L);
        return moved * sign > f.largest ? sign * interval::unlimited : moved;
    };
    return {away(a.low, -1), away(a.high, 1)};
}

/// Returns the interval of computed numbers stored in a dtype.
[[nodiscard]] inline interval held_in(dtype t, const interval& computed) {
    if (is_floating(t)) return widened(computed, t);
    const interval all = interval_of(t);
    return all.contains(computed) ? computed : all;
}

// Booleans are 0 or 1; casts to integers round toward zero.
[[nodiscard]] inline interval in_category(dtype t, const interval& computed) {
    if (is_boolean(t)) return {0, 1};
    return is_integral(t) ? truncated(computed) : computed;
}

}  // namespace headrace::detail

// ---- headrace/infer/range_rules.hpp ----

namespace headrace::detail {

/// The input of a rule: a node, one of its results, and the intervals of its operands.
class range_query {
public:
    using look_up = interval (*)(const void* known, value v);

    range_query(const node& n, std::uint32_t result, look_up look, const void* known)
        : node_(&n), result_(result), look_(look), known_(known) {}

    [[nodiscard]] interval operator()(value v) const { return look_(known_, v); }
    [[nodiscard]] interval operator()(const scalar& s) const {
        const double x = s.to_double();
        if (x != x) return {};
        return number(s.is_floating() ? static_cast<bound>(x) : static_cast<bound>(s.to_int()));
    }
    [[nodiscard]] const node& of() const { return *node_; }
    [[nodiscard]] std::uint32_t result() const { return result_; }
    [[nodiscard]] interval operand(std::size_t i) const { return (*this)(node_->operand(i)); }
    [[nodiscard]] interval any_operand() const {
        interval all = operand(0);
        for (std::size_t i = 1; i < node_->operand_count; ++i) all = all | operand(i);
        return all;
    }
    [[nodiscard]] dtype type() const { return node_->results[result_].meta->dtype; }
    [[nodiscard]] bool is_integral() const { return headrace::is_integral(type()); }
    [[nodiscard]] interval anything() const { return interval_of(type()); }
    /// Returns `i` if the result holds integers. Sums of floats are rounded at each step, so they get no
    /// bound.
    [[nodiscard]] interval if_integral(const interval& i) const { return is_integral() ? i : interval(); }

    [[nodiscard]] static std::int64_t elements_of(value v) {
        const tensor_meta* const meta = meta_of(v);
        return meta == nullptr ? 0 : meta->checked_elements().value_or(INT64_MAX);
    }
    /// Returns the size of an axis, 1 for rank 0, or the number of all elements if no axis is given.
    [[nodiscard]] static std::int64_t size_of(value v, std::optional<std::int64_t> axis) {
        const tensor_meta* const meta = meta_of(v);
        if (!axis || meta == nullptr) return elements_of(v);
        const auto at = normalized_axis(*axis, meta->rank());
        return !at || meta->rank() == 0 ? 1 : meta->shape[*at];
    }
    /// Returns how many elements of an operand are reduced to one of the result.
    [[nodiscard]] std::int64_t reduced_count(value v) const {
        const std::int64_t results = node_->results[result_].meta->checked_elements().value_or(0);
        return results == 0 ? 0 : elements_of(v) / results;
    }

private:
    const node* node_;
    std::uint32_t result_;
    look_up look_;
    const void* known_;
};

/// Returns the terms of a reduction: PyTorch casts elements to the result's type before adding them.
inline interval summand(const range_query& q, value v) { return in_category(q.type(), q(v)); }

struct range_rule {
    const op_info* op;
    interval (*of)(const range_query&);
};

// `rule` is called with the query and the op's arguments.
template <op_tag Op, class Rule>
constexpr range_rule range_of(Rule) {
    return {&info_of<Op>, [](const range_query& q) { return Rule{}(q, args_of<Op>(q.of())); }};
}

/// Returns the positions along an axis of `size`.
constexpr interval positions(std::int64_t size) { return {0, static_cast<bound>(size > 0 ? size - 1 : 0)}; }

/// Integer quotients are rounded; a divisor of 0 is an error in PyTorch.
template <class Round>
interval rounded_quotient(const range_query& q, const interval& a, interval b, Round round) {
    if (q.is_integral()) {
        if (b.low == 0 && b.high > 0) b.low = 1;
        if (b.high == 0 && b.low < 0) b.high = -1;
        // The least integer divided by -1 has no quotient either.
        const interval all = b.contains(bound{0}) ? a | -a : map_bounds(a / b, round);
        return all & q.anything();
    }
    return map_bounds(a / b, round);
}
inline interval quotient(const range_query& q, const interval& a, const interval& b,
                         const std::optional<std::string_view>& mode) {
    if (!mode) return a / b;
    if (*mode == "trunc") return rounded_quotient(q, a, b, [](bound x) { return std::trunc(x); });
    return rounded_quotient(q, a, b, [](bound x) { return std::floor(x); });
}

inline interval shifted_left(const range_query& q, const interval& x, const interval& by) {
    if (by.low < 0 || by.high > 62) return q.anything();
    return x * interval{std::exp2(by.low), std::exp2(by.high)};
}
inline interval shifted_right(const interval& x, const interval& by) {
    if (by.low < 0 || by.high > 63) return {std::min(x.low, bound{-1}), std::max(x.high, bound{0})};
    return of_bounds(x, by, [](bound a, bound n) { return std::floor(a / std::exp2(n)); });
}
inline interval bitwise(const range_query& q, const interval& x) {
    return is_boolean(q.type()) ? interval{0, 1} : x;
}

inline interval power(const range_query& q, const interval& x, const scalar& exponent) {
    const bound n = static_cast<bound>(exponent.to_double());
    if (n < 0 || n != std::trunc(n)) return q.anything();
    if (n == 0) return number(1);
    const bool even = std::fmod(n, bound{2}) == 0;
    return map_bounds(even ? magnitude(x) : x, [n](bound b) { return std::pow(b, n); });
}

/// `clamp` takes numbers or tensors, either of them optional; the upper limit wins.
template <class Limit>
interval clamped(const range_query& q, interval x, const std::optional<Limit>& low,
                 const std::optional<Limit>& high) {
    if (low) x = maximum(x, q(*low));
    if (high) x = minimum(x, q(*high));
    return x;
}

template <class Args>
interval stepped(const range_query& q, const Args& a) {
    const std::int64_t count = q.elements_of({const_cast<node*>(&q.of()), 0});
    interval start = number(0);
    interval step = number(1);
    if constexpr (requires { a.start; }) start = q(a.start);
    if constexpr (requires { a.step; }) step = q(a.step);
    // Integers may be rounded before or after they are added up.
    if (q.is_integral()) {
        start = start | truncated(start);
        step = step | truncated(step);
    }
    return start | (start + sum_of(step, count > 0 ? count - 1 : 0));
}

/// Returns the interval that an op's traits imply.
inline interval range_by_traits(const range_query& q) {
    using enum trait;
    const op_info& op = q.of().op->functional();
    if (op.has(predicate)) return {0, 1};
    if (op.has(joining)) return q.any_operand();
    if (op.has(rearranging | copying | splitting | casting | gathering | aliasing | resampling) ||
        q.of().op->has(aliasing)) {
        const bool blends = op.has(resampling) && !op.has(nearest);
        return q.of().operand_count == 0 || blends ? q.anything() : q.operand(0);
    }
    if (op.has(gives_zeros)) return number(0);
    if (op.has(gives_ones)) return number(1);
    return q.anything();
}

/// The rules of ops whose interval their traits do not determine; see range_rules_definition.hpp.
[[nodiscard]] std::span<const range_rule> range_rules();

/// Returns the numbers that a result can hold before its dtype wraps them around.
[[nodiscard]] interval computed_range(const range_query& q);

}  // namespace headrace::detail

// ---- headrace/infer/range_functions.hpp ----

namespace headrace::detail::range_functions {

// Each function is called with the query and an op's arguments, whose members are named as in its schema.

inline constexpr auto as_self = [](const range_query& q, const auto& a) { return q(a.self); };
inline constexpr auto self_or_zero = [](const range_query& q, const auto& a) {
    return q(a.self) | number(0);
};
inline constexpr auto truth_value = [](const range_query&, const auto&) { return interval{0, 1}; };
inline constexpr auto unit_interval = truth_value;
inline constexpr auto within_one = [](const range_query&, const auto&) { return interval{-1, 1}; };
inline constexpr auto not_negative = [](const range_query&, const auto&) {
    return interval{0, interval::unlimited};
};
inline constexpr auto total = [](const range_query& q, const auto& a) {
    return q.if_integral(sum_of(summand(q, a.self), q.reduced_count(a.self)));
};
inline constexpr auto total_product = [](const range_query& q, const auto& a) {
    return q.if_integral(product_of(summand(q, a.self), q.reduced_count(a.self)));
};
// Result 0 has elements, result 1 their positions along an axis.
inline constexpr auto chosen = [](const range_query& q, const auto& a) {
    return q.result() == 0 ? q(a.self) : positions(q.size_of(a.self, a.dim));
};
// A count of elements.
inline constexpr auto counted = [](const range_query& q, const auto& a) {
    return interval{0, static_cast<bound>(q.elements_of(a.self))};
};
inline constexpr auto place_between = [](const range_query& q, const auto& a) {
    if constexpr (requires { a.boundaries; }) {
        return interval{0, static_cast<bound>(q.elements_of(a.boundaries))};
    } else {
        return interval{0, static_cast<bound>(q.size_of(a.sorted_sequence, -1))};
    }
};
inline constexpr auto in_triangle = [](const range_query&, const auto& a) {
    return positions(a.row > a.col ? a.row : a.col);
};
// Result 0 has elements of windows, result 1 their positions in the plane.
inline constexpr auto chosen_in_window = [](const range_query& q, const auto& a) {
    return q.result() == 0 ? q(a.self) : positions(q.elements_of(a.self));
};
inline constexpr auto position = [](const range_query& q, const auto& a) {
    return positions(q.size_of(a.self, a.dim));
};
// Elements of the last operand replace some of self.
inline constexpr auto self_or_source = [](const range_query& q, const auto& a) {
    if constexpr (requires { a.src; }) {
        return q(a.self) | q(a.src);
    } else if constexpr (requires { a.source; }) {
        return q(a.self) | q(a.source);
    } else if constexpr (requires { a.values; }) {
        return a.accumulate ? q.if_integral(interval()) : q(a.self) | q(a.values);
    } else {
        return q(a.self) | q(a.value);
    }
};
inline constexpr auto chosen_by_condition = [](const range_query& q, const auto& a) {
    return q(a.self) | q(a.other);
};
inline constexpr auto counted_up = [](const range_query& q, const auto& a) { return stepped(q, a); };
inline constexpr auto larger = [](const range_query& q, const auto& a) {
    return maximum(q(a.self), q(a.other));
};
inline constexpr auto smaller = [](const range_query& q, const auto& a) {
    return minimum(q(a.self), q(a.other));
};
// If one operand is NaN, the result is the other one.
inline constexpr auto either = [](const range_query& q, const auto& a) { return q(a.self) | q(a.other); };
inline constexpr auto sum = [](const range_query& q, const auto& a) {
    return q(a.self) + q(a.other) * q(a.alpha);
};
inline constexpr auto difference = [](const range_query& q, const auto& a) {
    return q(a.self) - q(a.other) * q(a.alpha);
};
inline constexpr auto reversed_difference = [](const range_query& q, const auto& a) {
    return q(a.other) - q(a.self) * q(a.alpha);
};
inline constexpr auto product = [](const range_query& q, const auto& a) { return q(a.self) * q(a.other); };
inline constexpr auto real_quotient = [](const range_query& q, const auto& a) {
    return q(a.self) / q(a.other);
};
inline constexpr auto quotient_by_mode = [](const range_query& q, const auto& a) {
    return quotient(q, q(a.self), q(a.other), a.rounding_mode);
};
inline constexpr auto floored_quotient = [](const range_query& q, const auto& a) {
    return quotient(q, q(a.self), q(a.other), std::string_view("floor"));
};
inline constexpr auto python_remainder = [](const range_query& q, const auto& a) {
    const interval b = q(a.other);
    return q.is_integral() ? remainder_downward(q(a.self), b) : b | number(0);
};
inline constexpr auto c_remainder = [](const range_query& q, const auto& a) {
    const interval most = magnitude(q(a.other));
    return q.is_integral() ? remainder_toward_zero(q(a.self), q(a.other)) : interval{-most.high, most.high};
};
inline constexpr auto left_shift = [](const range_query& q, const auto& a) {
    return shifted_left(q, q(a.self), q(a.other));
};
inline constexpr auto right_shift = [](const range_query& q, const auto& a) {
    return shifted_right(q(a.self), q(a.other));
};
inline constexpr auto common_bits = [](const range_query& q, const auto& a) {
    return bitwise(q, bitwise_and(q(a.self), q(a.other)));
};
inline constexpr auto either_bits = [](const range_query& q, const auto& a) {
    return bitwise(q, bitwise_or(q(a.self), q(a.other)));
};
inline constexpr auto clamped_self = [](const range_query& q, const auto& a) {
    return clamped(q, q(a.self), a.min, a.max);
};
inline constexpr auto at_least = [](const range_query& q, const auto& a) {
    return maximum(q(a.self), q(a.min));
};
inline constexpr auto at_most = [](const range_query& q, const auto& a) {
    return minimum(q(a.self), q(a.max));
};
inline constexpr auto sign_of_self = [](const range_query& q, const auto& a) {
    const interval signs =
        map_bounds(q(a.self), [](bound x) { return static_cast<bound>((x > 0) - (x < 0)); });
    return q.is_integral() ? signs : signs | number(0);  // for NaN
};
inline constexpr auto rectified = [](const range_query& q, const auto& a) {
    return maximum(q(a.self), number(0));
};
template <std::size_t First, std::size_t Second>
inline constexpr auto inner_product = [](const range_query& q, const auto&) {
    const tensor_meta* const left = meta_of(q.of().operand(First));
    if (left == nullptr || left->rank() == 0) return interval();
    const std::int64_t terms = left->shape[left->rank() - 1];
    return q.if_integral(sum_of(q.operand(First) * q.operand(Second), terms));
};
inline constexpr auto filled = [](const range_query& q, const auto& a) { return q(a.fill_value); };

}  // namespace headrace::detail::range_functions

// ---- headrace/infer/range_rules_definition.hpp ----

namespace headrace {

namespace detail {

[[nodiscard]] HEADRACE_INLINE std::span<const range_rule> range_rules() {
    using namespace aten;             // NOLINT: a table of its ops
    using namespace range_functions;  // NOLINT
    // clang-format off: a table
    static constexpr range_rule table[] = {
        // Arithmetic.
        range_of<add_tensor>(sum),
        range_of<add_scalar>(sum),
        range_of<sub_tensor>(difference),
        range_of<sub_scalar>(difference),
        range_of<rsub_tensor>(reversed_difference),
        range_of<rsub_scalar>(reversed_difference),
        range_of<mul_tensor>(product),
        range_of<mul_scalar>(product),
        range_of<div_tensor>(real_quotient),
        range_of<div_scalar>(real_quotient),
        range_of<div_tensor_mode>(quotient_by_mode),
        range_of<div_scalar_mode>(quotient_by_mode),
        range_of<floor_divide>(floored_quotient),
        range_of<floor_divide_scalar>(floored_quotient),
        range_of<remainder_tensor>(python_remainder),
        range_of<remainder_scalar>(python_remainder),
        range_of<remainder_scalar_tensor>(python_remainder),
        range_of<fmod_tensor>(c_remainder),
        range_of<fmod_scalar>(c_remainder),
        range_of<addcmul>([](const range_query& q, const auto& a) {
            return q(a.self) + q(a.tensor1) * q(a.tensor2) * in_category(q.type(), q(a.value));
        }),
        range_of<square>([](const range_query& q, const auto& a) {
            const interval x = magnitude(q(a.self));
            return x * x;
        }),
        range_of<pow_tensor_scalar>(
            [](const range_query& q, const auto& a) { return power(q, q(a.self), a.exponent); }),
        range_of<neg>([](const range_query& q, const auto& a) { return -q(a.self); }),
        range_of<aten::abs>([](const range_query& q, const auto& a) { return magnitude(q(a.self)); }),
        range_of<sgn>(sign_of_self),
        range_of<sign>(sign_of_self),
        range_of<aten::floor>([](const range_query& q, const auto& a) {
            return map_bounds(q(a.self), [](bound x) { return std::floor(x); });
        }),
        range_of<aten::ceil>([](const range_query& q, const auto& a) {
            return map_bounds(q(a.self), [](bound x) { return std::ceil(x); });
        }),
        range_of<aten::round>([](const range_query& q, const auto& a) {
            return interval{std::floor(q(a.self).low), std::ceil(q(a.self).high)};
        }),
        range_of<aten::trunc>([](const range_query& q, const auto& a) { return truncated(q(a.self)); }),

        // Limits.
        range_of<aten::maximum>(larger),
        range_of<fmax>(either),
        range_of<aten::minimum>(smaller),
        range_of<fmin>(either),
        range_of<aten::clamp>(clamped_self),
        range_of<clamp_tensor>(clamped_self),
        range_of<clamp_min>(at_least),
        range_of<clamp_min_tensor>(at_least),
        range_of<clamp_max>(at_most),
        range_of<clamp_max_tensor>(at_most),
        range_of<relu>(rectified),
        range_of<relu6>([](const range_query& q, const auto& a) {
            return q(a.self) & interval{0, 6};
        }),
        range_of<hardtanh>([](const range_query& q, const auto& a) {
            return headrace::minimum(headrace::maximum(q(a.self), q(a.min_val)), q(a.max_val));
        }),
        range_of<threshold>([](const range_query& q, const auto& a) {
            return headrace::maximum(q(a.self), q(a.threshold)) | q(a.value);
        }),

        // Functions with bounded results.
        range_of<aten::sigmoid>(unit_interval),
        range_of<hardsigmoid>(unit_interval),
        range_of<softmax_int>(unit_interval),
        range_of<_softmax>(unit_interval),
        range_of<_safe_softmax>(unit_interval),
        range_of<special_ndtr>(unit_interval),
        range_of<aten::tanh>(within_one),
        range_of<aten::erf>(within_one),
        range_of<aten::sin>(within_one),
        range_of<aten::cos>(within_one),
        range_of<aten::exp>(not_negative),
        range_of<aten::sqrt>(not_negative),
        range_of<mean>(as_self),
        range_of<mean_dim>(as_self),

        // Bits.
        range_of<bitwise_and_tensor>(common_bits),
        range_of<bitwise_and_scalar>(common_bits),
        range_of<bitwise_or_tensor>(either_bits),
        range_of<bitwise_or_scalar>(either_bits),
        range_of<bitwise_xor_tensor>(either_bits),
        range_of<bitwise_xor_scalar>(either_bits),
        range_of<bitwise_not>(
            [](const range_query& q, const auto& a) { return bitwise(q, -q(a.self) - number(1)); }),
        range_of<bitwise_left_shift_tensor>(left_shift),
        range_of<bitwise_left_shift_tensor_scalar>(left_shift),
        range_of<bitwise_right_shift_tensor>(right_shift),
        range_of<bitwise_right_shift_tensor_scalar>(right_shift),

        // Reductions and scans.
        range_of<aten::sum>(total),
        range_of<sum_dim_intlist>(total),
        range_of<nansum>(total),
        range_of<prod>(total_product),
        range_of<prod_dim_int>(total_product),
        range_of<cumsum>([](const range_query& q, const auto& a) {
            return q.if_integral(sum_of(summand(q, a.self), 1, q.size_of(a.self, a.dim)));
        }),
        range_of<cumprod>([](const range_query& q, const auto& a) {
            return q.if_integral(product_of(summand(q, a.self), q.size_of(a.self, a.dim)));
        }),
        range_of<all>(truth_value),
        range_of<all_dim>(truth_value),
        range_of<all_dims>(truth_value),
        range_of<any>(truth_value),
        range_of<any_dim>(truth_value),
        range_of<any_dims>(truth_value),
        range_of<amax>(as_self),
        range_of<amin>(as_self),
        range_of<aminmax>(as_self),
        range_of<aten::max>(as_self),
        range_of<aten::min>(as_self),
        range_of<max_dim>(chosen),
        range_of<min_dim>(chosen),
        range_of<topk>(chosen),
        range_of<sort>(chosen),
        range_of<sort_stable>(chosen),
        range_of<msort>(as_self),
        range_of<argmax>(position),
        range_of<argmin>(position),
        range_of<argsort>(position),
        range_of<argsort_stable>(position),

        range_of<kthvalue>(chosen),
        range_of<median>(as_self),
        range_of<median_dim>(chosen),
        range_of<nanmedian>(as_self),
        range_of<nanmedian_dim>(chosen),
        range_of<quantile>(as_self),
        range_of<quantile_scalar>(as_self),
        range_of<nanquantile>(as_self),
        range_of<nanquantile_scalar>(as_self),
        range_of<cummax>(chosen),
        range_of<cummin>(chosen),
        range_of<count_nonzero>(counted),
        range_of<count_nonzero_dim_intlist>(counted),
        range_of<trace>([](const range_query& q, const auto& a) {
            return q.if_integral(sum_of(q(a.self), std::min(q.size_of(a.self, 0), q.size_of(a.self, 1))));
        }),

        // Products.
        range_of<mm>(inner_product<0, 1>),
        range_of<bmm>(inner_product<0, 1>),
        range_of<matmul>(inner_product<0, 1>),
        range_of<mv>(inner_product<0, 1>),
        range_of<dot>(inner_product<0, 1>),
        range_of<outer>([](const range_query& q, const auto& a) { return q(a.self) * q(a.vec2); }),

        // Windows.
        range_of<max_pool1d>(as_self),
        range_of<max_pool2d>(as_self),
        range_of<max_pool3d>(as_self),
        range_of<max_pool1d_with_indices>(chosen_in_window),
        range_of<max_pool2d_with_indices>(chosen_in_window),
        range_of<max_pool3d_with_indices>(chosen_in_window),
        range_of<adaptive_max_pool1d>(chosen_in_window),
        range_of<adaptive_max_pool2d>(chosen_in_window),
        range_of<adaptive_max_pool3d>(chosen_in_window),

        // Conditions and indices.
        range_of<where_self>(chosen_by_condition),
        range_of<where_scalar>(chosen_by_condition),
        range_of<where_scalarother>(chosen_by_condition),
        range_of<where_scalarself>(chosen_by_condition),
        range_of<masked_fill_scalar>(self_or_source),
        range_of<masked_fill_tensor>(self_or_source),
        range_of<index_fill_int_scalar>(self_or_source),
        range_of<index_copy>(self_or_source),
        range_of<scatter_src>(self_or_source),
        range_of<scatter_value>(self_or_source),
        range_of<select_scatter>(self_or_source),
        range_of<slice_scatter>(self_or_source),
        range_of<index_put>(self_or_source),
        range_of<_unsafe_index_put>(self_or_source),
        range_of<scatter_add>([](const range_query& q, const auto& a) {
            return q.if_integral(q(a.self) + sum_of(q(a.src), 0, q.elements_of(a.src)));
        }),
        range_of<index_add>([](const range_query& q, const auto& a) {
            return q.if_integral(q(a.self) + q(a.alpha) * sum_of(q(a.source), 0, q.elements_of(a.source)));
        }),
        range_of<one_hot>(truth_value),
        range_of<masked_scatter>(self_or_source),
        range_of<diagonal_scatter>(self_or_source),
        range_of<take>(as_self),
        range_of<take_along_dim>(as_self),
        range_of<bucketize_tensor>(place_between),
        range_of<bucketize_scalar>(place_between),
        range_of<searchsorted_tensor>(place_between),
        range_of<searchsorted_scalar>(place_between),

        // Rearrangements without a trait.
        range_of<channel_shuffle>(as_self),
        range_of<pixel_shuffle>(as_self),
        range_of<pixel_unshuffle>(as_self),
        range_of<roll>(as_self),
        range_of<fft_fftshift>(as_self),
        range_of<fft_ifftshift>(as_self),
        range_of<rot90>(as_self),
        range_of<tril>(self_or_zero),
        range_of<triu>(self_or_zero),
        range_of<im2col>(self_or_zero),
        range_of<max_unpool2d>(self_or_zero),
        range_of<diag>(self_or_zero),
        range_of<diag_embed>(self_or_zero),
        range_of<diagflat>(self_or_zero),
        range_of<block_diag>([](const range_query& q, const auto&) { return q.any_operand() | number(0); }),
        range_of<cartesian_prod>([](const range_query& q, const auto&) { return q.any_operand(); }),
        range_of<atleast_1d>(as_self),
        range_of<atleast_2d>(as_self),
        range_of<atleast_3d>(as_self),
        range_of<repeat_interleave_self_tensor>(as_self),
        range_of<copy>([](const range_query& q, const auto& a) { return q(a.src); }),
        range_of<meshgrid_indexing>([](const range_query& q, const auto&) { return q.any_operand(); }),
        range_of<broadcast_tensors>([](const range_query& q, const auto&) { return q.any_operand(); }),
        range_of<constant_pad_nd>(self_or_source),
        range_of<pad>([](const range_query& q, const auto& a) {
            const bool is_constant = a.mode == "constant";
            return is_constant ? q(a.self) | q(scalar(a.value.value_or(0))) : q(a.self);
        }),
        range_of<reflection_pad1d>(as_self),
        range_of<reflection_pad2d>(as_self),
        range_of<reflection_pad3d>(as_self),
        range_of<replication_pad1d>(as_self),
        range_of<replication_pad2d>(as_self),
        range_of<replication_pad3d>(as_self),

        range_of<_to_copy>(as_self),

        // Creation.
        range_of<arange>(counted_up),
        range_of<arange_start>(counted_up),
        range_of<arange_start_step>(counted_up),
        range_of<linspace>([](const range_query& q, const auto& a) { return q(a.start) | q(a.end); }),
        range_of<bernoulli>(truth_value),
        range_of<bernoulli_p>(truth_value),
        range_of<eye>(truth_value),
        range_of<eye_m>(truth_value),
        range_of<tril_indices>(in_triangle),
        range_of<triu_indices>(in_triangle),
        range_of<full>(filled),
        range_of<full_like>(filled),
        range_of<new_full>(filled),
        range_of<scalar_tensor>([](const range_query& q, const auto& a) { return q(a.s); }),
        range_of<fill_scalar>([](const range_query& q, const auto& a) { return q(a.value); }),
        range_of<fill_tensor>([](const range_query& q, const auto& a) { return q(a.value); }),
        range_of<sym_size_int>([](const range_query& q, const auto& a) {
            return number(static_cast<bound>(q.size_of(a.self, a.dim)));
        }),
        range_of<item>(as_self),
        range_of<_local_scalar_dense>(as_self),
    };
    // clang-format on
    return table;
}

[[nodiscard]] HEADRACE_INLINE interval computed_range(const range_query& q) {
    static const auto* const by_op = [] {
        auto* rules = new std::unordered_map<const op_info*, interval (*)(const range_query&)>;
        for (const range_rule& r : range_rules()) rules->emplace(r.op, r.of);
        return rules;
    }();
    const auto rule = by_op->find(&q.of().op->functional());
    return rule != by_op->end() ? rule->second(q) : range_by_traits(q);
}

}  // namespace detail
}  // namespace headrace

// ---- headrace/infer/value_ranges_definition.hpp ----

namespace headrace {

namespace detail {

// True for ops whose result takes the ends of its interval if one operand takes the ends of its own and the
// others are numbers.
inline bool keeps_ends(const op_info& op) {
    using namespace aten;  // NOLINT: a list of its ops
    static constexpr auto exact =
        ops_in<add_tensor, add_scalar, sub_tensor, sub_scalar, rsub_tensor, rsub_scalar, mul_tensor,
               mul_scalar, neg, bitwise_left_shift_tensor, bitwise_left_shift_tensor_scalar, full, full_like,
               _to_copy, new_full, fill_scalar, scalar_tensor>;
    using enum trait;
    return exact.contains(op) || op.has(reshaping | permuting | broadcasting | repeating | reversing |
                                        forwarding | copying | casting | gives_zeros | gives_ones);
}
inline bool selects(const op_info& op) { return op.has(trait::slicing | trait::splitting); }

inline bool gives_positions(const node& n, std::uint32_t result) {
    return n.op->has(trait::locating) ||
           (result == 1 &&
            set_of<ops<aten::max_dim, aten::min_dim, aten::topk, aten::sort, aten::sort_stable>>.contains(
                *n.op));
}

}  // namespace detail

HEADRACE_INLINE value_ranges::value_ranges(const graph& g, assumption assume) : assume_(std::move(assume)) {
    walk(g, {});
}

HEADRACE_INLINE value_bounds value_ranges::of(value v) const {
    const auto at = known_.find(v.producer);
    if (at != known_.end()) return at->second[v.result];
    const tensor_meta* const meta = meta_of(v);
    const interval all = meta == nullptr ? interval() : interval_of(meta->dtype);
    return {.computed = all, .held = all};
}

HEADRACE_INLINE void value_ranges::keep(const node& n, std::uint32_t result, value_bounds bounds) {
    bounds_list& all = known_[&n];
    all.resize(n.result_count);
    const value v{const_cast<node*>(&n), result};
    value_bounds& kept = all[result];
    kept = assume_ && settled_ ? assume_(v, bounds) : bounds;
    if (kept.held != kept.computed) kept.attained = attainment::unknown;
}

HEADRACE_INLINE void value_ranges::walk(const graph& g, std::span<const value_bounds> inputs) {
    std::size_t position = 0;
    for (const node& n : g.nodes_alone()) {
        if (!is<builtin::placeholder>(n)) {
            visit(n);
        } else if (n.results[0].meta != nullptr) {
            const interval all = interval_of(n.results[0].meta->dtype);
            keep(n, 0, position < inputs.size() ? inputs[position] : value_bounds{all, all});
            ++position;
        }
    }
}

HEADRACE_INLINE void value_ranges::visit(const node& n) {
    if (is<builtin::output>(n) || n.result_count == 0) return;
    for (std::uint32_t i = 0; i != n.result_count; ++i) {
        if (n.results[i].meta == nullptr) return;
    }
    if (const auto* constant = args_if<builtin::constant>(n)) {
        const interval all = detail::interval_of_constant(constant->data, *n.results[0].meta);
        const auto attained = all.is_number() ? attainment::by_any : attainment::by_some;
        return keep(n, 0, {all, all, attained, false});
    }
    if (is<higher_order::while_loop>(n)) return visit_loop(n);
    if (holds_regions(*n.op)) return visit_branches(n);
    bool varies = n.op->has(trait::impure) || is<builtin::opaque>(n);
    attainment given = attainment::by_any;
    bool related = false;  // two operands may depend on each other
    const value_bounds* other = nullptr;
    bounds_list operands;
    operands.reserve(n.operand_count);
    for (const edge& e : n.operand_edges()) {
        const value_bounds& operand = operands.emplace_back(of(*e.slot));
        varies = varies || operand.varies;
        if (operand.held.is_number()) continue;
        related = related || (other != nullptr && operand.varies == other->varies);
        given = std::min(given, operand.attained);
        if (other != nullptr) given = std::min(given, attainment::by_some);
        // The elements of a constant combine with all values of the other operand only if each of its
        // elements can take all of them.
        if (other != nullptr && (operand.varies ? operand : *other).attained != attainment::by_any)
            related = true;
        other = &operand;
    }
    if (related) given = attainment::unknown;
    const op_info& op = n.op->functional();
    const bool known_op = !is<builtin::opaque>(n) && op.dialect == &info_of_dialect<aten::dialect>;
    for (std::uint32_t i = 0; i != n.result_count; ++i) {
        const dtype type = n.results[i].meta->dtype;
        value_bounds made{.varies = varies};
        const auto look = [](const void* self, value v) {
            return static_cast<const value_ranges*>(self)->of(v).held;
        };
        made.computed = detail::in_category(type, detail::computed_range({n, i, look, this}));
        made.held = detail::held_in(type, made.computed);
        if (detail::gives_positions(n, i) || op.has(trait::predicate)) {
            made.attained = attainment::by_any;
        } else if (known_op &&
                   (detail::keeps_ends(op) || (detail::selects(op) && given == attainment::by_any))) {
            made.attained = given;
        }
        keep(n, i, made);
    }
}

HEADRACE_INLINE value_ranges::bounds_list value_ranges::outputs_of(const graph& g) const {
    bounds_list all;
    for (const value v : g.outputs()) all.push_back(of(v));
    return all;
}

namespace detail {

inline value_bounds either_of(const value_bounds& a, const value_bounds& b) {
    return {a.computed | b.computed, a.held | b.held, attainment::unknown, a.varies || b.varies};
}

}  // namespace detail

// A node's results are those of one of its regions, run on the node's operands. If an op runs a graph more
// than once, the inputs are unknown.
HEADRACE_INLINE void value_ranges::visit_branches(const node& n) {
    const bool calls = is<higher_order::cond>(n) || is<higher_order::wrap_with_autocast>(n) ||
                       is<higher_order::wrap_with_set_grad_enabled>(n);
    bounds_list inputs;
    const std::size_t first = is<higher_order::cond>(n) ? 1 : 0;  // skips the condition
    for (std::size_t i = first; calls && i < n.operand_count; ++i) inputs.push_back(of(n.operand(i)));
    bounds_list results;
    for_each_region(n, [&](const field_info&, const graph* region) {
        if (region == nullptr) return;
        walk(*region, inputs);
        const bounds_list given = outputs_of(*region);
        if (results.empty()) results = given;
        for (std::size_t i = 0; i < std::min(results.size(), given.size()); ++i)
            results[i] = detail::either_of(results[i], given[i]);
    });
    for (std::uint32_t i = 0; i != n.result_count; ++i) {
        const interval all = interval_of(n.results[i].meta->dtype);
        keep(n, i, calls && i < results.size() ? results[i] : value_bounds{all, all});
    }
}

// Bounds grow from round to round. Bounds that still grow after a few rounds are widened to their dtype's
// range; then they are narrowed again by further rounds, so that limits from the condition hold.
HEADRACE_INLINE void value_ranges::visit_loop(const node& n) {
    const auto& loop = args_of<higher_order::while_loop>(n);
    if (loop.cond_graph == nullptr || loop.body_graph == nullptr) return;
    const std::size_t carried = loop.carried_inputs.size();
    bounds_list start;
    for (const edge& e : n.operand_edges()) {
        start.push_back(of(*e.slot));
        start.back().varies = true;
        start.back().attained = attainment::unknown;
    }
    const bool outer = std::exchange(settled_, false);
    ++nesting_;
    const auto round = [&](const bounds_list& from, bool last) {
        settled_ = outer && last;
        walk(*loop.cond_graph, from);
        bounds_list limited = from;
        limit_by_condition(*loop.cond_graph, limited);
        walk(*loop.body_graph, limited);
        bounds_list next = from;
        const bounds_list given = outputs_of(*loop.body_graph);
        for (std::size_t i = 0; i < std::min(carried, given.size()); ++i)
            next[i] = detail::either_of(start[i], given[i]);
        return next;
    };
    constexpr int rounds = 3;
    bounds_list bounds = start;
    const bool unknown = nesting_ > deepest_loop;  // rounds multiply with nesting
    for (int i = unknown ? rounds : 0;; ++i) {
        const bounds_list next = round(bounds, false);
        bool grows = false;
        for (std::size_t c = 0; c != carried; ++c) {
            const interval joined = bounds[c].held | next[c].held;
            if (joined == bounds[c].held) continue;
            grows = true;
            const tensor_meta* const meta = meta_of(n.operand(c));
            const interval all = meta == nullptr ? interval() : interval_of(meta->dtype);
            if (i >= rounds && joined.low < bounds[c].held.low) bounds[c].held.low = all.low;
            if (i >= rounds && joined.high > bounds[c].held.high) bounds[c].held.high = all.high;
            bounds[c].held = bounds[c].held | joined;
        }
        if (!grows) break;
    }
    for (int i = 0; i != rounds && !unknown; ++i) {  // narrows wide bounds: each round is sound
        const bounds_list next = round(bounds, false);
        for (std::size_t c = 0; c != carried; ++c) bounds[c].held = bounds[c].held & next[c].held;
    }
    const bounds_list last = round(bounds, true);
    settled_ = outer;
    --nesting_;
    for (std::uint32_t i = 0; i != n.result_count; ++i) keep(n, i, last[i]);
}

// In the body of `while (x < limit)`, x is less than the limit.
HEADRACE_INLINE void value_ranges::limit_by_condition(const graph& condition, bounds_list& carried) const {
    const auto outputs = condition.outputs();
    if (outputs.size() != 1) return;
    const auto place_of = [&](value v) {
        while (v.producer->op->has(trait::reshaping | trait::forwarding | trait::copying))
            v = v.producer->operand(0);
        std::size_t at = 0;
        for (const node& input : condition.inputs()) {
            if (&input == v.producer) return at;
            ++at;
        }
        return carried.size();
    };
    const auto limit = [&](value v, bound low, bound high) {
        const std::size_t at = place_of(v);
        if (at >= carried.size()) return;
        interval& held = carried[at].held;
        held = held & interval{low, high};
        carried[at].computed = held;
    };
    const auto below = [&](value small, const interval& by, bool equal) {
        const tensor_meta* const meta = meta_of(small);
        const bound step = !equal && meta != nullptr && is_integral(meta->dtype) ? 1 : 0;
        limit(small, -interval::unlimited, by.high - step);
    };
    const auto above = [&](value large, const interval& by, bool equal) {
        const tensor_meta* const meta = meta_of(large);
        const bound step = !equal && meta != nullptr && is_integral(meta->dtype) ? 1 : 0;
        limit(large, by.low + step, interval::unlimited);
    };
    std::vector<value> holds{outputs[0]};
    while (!holds.empty()) {
        const value v = holds.back();
        holds.pop_back();
        const node& n = *v.producer;
        if (n.op->has(trait::reshaping | trait::forwarding | trait::copying) || is<aten::logical_and>(n) ||
            is<aten::bitwise_and_tensor>(n)) {
            for (const edge& e : n.operand_edges()) holds.push_back(*e.slot);
        } else if (is<aten::lt_tensor>(n) || is<aten::le_tensor>(n)) {
            below(n.operand(0), held_by(n.operand(1)), is<aten::le_tensor>(n));
            above(n.operand(1), held_by(n.operand(0)), is<aten::le_tensor>(n));
        } else if (is<aten::gt_tensor>(n) || is<aten::ge_tensor>(n)) {
            above(n.operand(0), held_by(n.operand(1)), is<aten::ge_tensor>(n));
            below(n.operand(1), held_by(n.operand(0)), is<aten::ge_tensor>(n));
        } else if (const auto* lt = args_if<aten::lt_scalar>(n)) {
            below(lt->self, number(static_cast<bound>(lt->other.to_double())), false);
        } else if (const auto* le = args_if<aten::le_scalar>(n)) {
            below(le->self, number(static_cast<bound>(le->other.to_double())), true);
        } else if (const auto* gt = args_if<aten::gt_scalar>(n)) {
            above(gt->self, number(static_cast<bound>(gt->other.to_double())), false);
        } else if (const auto* ge = args_if<aten::ge_scalar>(n)) {
            above(ge->self, number(static_cast<bound>(ge->other.to_double())), true);
        }
    }
}

}  // namespace headrace

// ---- headrace/infer/integer_width.hpp ----

namespace headrace {

namespace detail {

inline constexpr interval narrow_integers = interval_of(dtype::int32);

[[nodiscard]] inline bool may_be_wide(const tensor_meta* meta) {
    return meta != nullptr && (meta->dtype == dtype::int64 || meta->dtype == dtype::int32);
}

}  // namespace detail

/// How exact an integer has to be for its users, in ascending order.
enum class integer_need : std::uint8_t {
    none,
    /// Exact modulo 2^32 suffices for an integer that selects elements: an index that PyTorch accepts is
    /// small, so sums and products that lead to it are right even if they wrap around on the way.
    modular,
    /// It is compared or cast to a float or a boolean, as in a mask.
    test,
    /// Its value is an output, or selects among other numbers.
    number,
    /// It is used in arithmetic whose result may be large.
    arithmetic
};

/// The need for each integer of a graph; see headrace::integer_need. The graph must be functional.
class integer_needs {
public:
    integer_needs(const graph& g, const value_ranges& ranges);

    [[nodiscard]] integer_need of(value v) const;
    /// Returns the need for one operand, given the needs for the node's results.
    [[nodiscard]] integer_need of_operand(const node& n, const edge& e) const;

private:
    void walk(const graph& g, integer_need of_outputs);
    void visit(const node& n);
    void visit_regions(const node& n);
    void raise(value v, integer_need to);
    [[nodiscard]] integer_need of_results(const node& n) const;

    const value_ranges& ranges_;
    std::unordered_map<const node*, std::vector<integer_need>> known_;
};

/// An integer whose value matters and may not fit in 32 bits.
struct wide_integer {
    value which{};
    dtype type = dtype::int64;
    interval computed{};
    bool certain = false;  ///< some input makes it too wide, whatever the other inputs are
};
/// An input and the interval that it holds or is assumed to hold.
struct assumed_input {
    const node* which = nullptr;
    interval held{};
    bool computed_with = false;  ///< used in arithmetic as int64: the author should know
};
struct integer_widths {
    std::vector<wide_integer> values{};
    std::vector<assumed_input> inputs{};
};

/// Returns the int32 and int64 values that may not fit in 32 bits, in execution order, assuming that the
/// inputs do. Inputs that are indices are assumed to be valid indices; inputs that are only tested are
/// assumed to hold a quarter of int32's range. A reported value counts as fitting for the values computed
/// from it. The graph must be functional; values that neither an output nor an effect needs are left out.
[[nodiscard]] integer_widths find_wide_integers(const graph& g);

/// Returns the nodes that must compute with 64 bits if inputs may hold any int64, each with a reason: the
/// node reads or computes an integer whose value matters and is not known to fit in 32 bits.
[[nodiscard]] std::unordered_map<const node*, std::string> find_host_integers(const graph& g);

}  // namespace headrace

// ---- headrace/infer/integer_width_definition.hpp ----

namespace headrace {

namespace detail {

using namespace std::string_view_literals;

/// How an op uses its integer operands.
enum class integer_use : std::uint8_t {
    arithmetic,  ///< any use that is not listed below
    moving,      ///< copied to elements of the result
    modular,     ///< terms and factors: wrapping around on the way is right modulo 2^32
    offsetting,  ///< modular, and a constant operand neither grows nor shrinks them much
    selecting,   ///< compared, and one of them is the result
    testing      ///< the result is no integer, or none computed from their values
};

[[nodiscard]] inline integer_use use_in(const node& n) {
    using namespace aten;  // NOLINT: a table of its ops
    static constexpr auto offsetting =
        ops_in<add_tensor, add_scalar, sub_tensor, sub_scalar, rsub_tensor, rsub_scalar, neg, bitwise_not>;
    static constexpr auto modular =
        ops_in<mul_tensor, mul_scalar, square, addcmul, aten::sum, sum_dim_intlist, cumsum,
               bitwise_and_tensor, bitwise_and_scalar, bitwise_or_tensor, bitwise_or_scalar,
               bitwise_xor_tensor, bitwise_xor_scalar, bitwise_left_shift_tensor,
               bitwise_left_shift_tensor_scalar, scatter_add, index_add, mm, bmm, matmul, mv, dot, outer,
               diff>;
    static constexpr auto selecting =
        ops_in<aten::abs, sgn, sign, relu, relu6, hardtanh, threshold, aten::maximum, aten::minimum, fmax,
               fmin, aten::clamp, clamp_tensor, clamp_min, clamp_min_tensor, clamp_max, clamp_max_tensor,
               amax, amin, aminmax, aten::max, aten::min, max_dim, min_dim, topk, sort, sort_stable, msort,
               aten::floor, aten::ceil, aten::round, aten::trunc, max_pool1d, max_pool1d_with_indices,
               max_pool2d, max_pool2d_with_indices, max_pool3d, max_pool3d_with_indices, adaptive_max_pool1d,
               adaptive_max_pool2d, adaptive_max_pool3d>;
    static constexpr auto replacing =
        ops_in<where_self, where_scalar, where_scalarother, where_scalarself, masked_fill_scalar,
               masked_fill_tensor, index_fill_int_scalar, index_copy, scatter_src, scatter_value,
               select_scatter, slice_scatter, index_put, _unsafe_index_put, channel_shuffle, pixel_shuffle,
               pixel_unshuffle, roll, fft_fftshift, fft_ifftshift, rot90, tril, triu, im2col,
               max_unpool2d, copy, fill_tensor, fill_scalar, meshgrid_indexing, broadcast_tensors>;
    using enum trait;
    const op_info& op = n.op->functional();
    if (n.result_count == 0) return integer_use::testing;  // an assertion
    if (offsetting.contains(op)) return integer_use::offsetting;
    if (modular.contains(op)) return integer_use::modular;
    if (selecting.contains(op)) return integer_use::selecting;
    if (op.has(predicate | locating | gives_zeros | gives_ones | gives_number)) return integer_use::testing;
    const tensor_meta* const result = n.result_count == 0 ? nullptr : n.results[0].meta;
    const bool gives_integers = result != nullptr && is_integral(result->dtype);
    if (replacing.contains(op)) return integer_use::moving;
    if (op.has(casting) || &op == &info_of<_to_copy>)
        return gives_integers ? integer_use::moving : integer_use::testing;
    if (op.has(rearranging | copying | splitting | joining | padding | gathering | aliasing))
        return integer_use::moving;
    if (op.has(reduction) && result != nullptr && !gives_integers) return integer_use::testing;  // any, all
    return integer_use::arithmetic;
}

/// True if an operand is a list of indices of elements, whose bounds PyTorch checks.
[[nodiscard]] inline bool is_index(const node& n, const edge& e) {
    const op_info& op = n.op->functional();
    if (&op == &info_of<aten::one_hot>) return true;
    for (const std::string_view name : {"index"sv, "indices"sv}) {
        const field_info* const f = op.find(name);
        if (f == nullptr || !holds_tensors(f->kind)) continue;
        const auto* const at = static_cast<const std::byte*>(n.arguments) + f->offset;
        const auto* const slot = reinterpret_cast<const std::byte*>(e.slot);
        if (f->kind == field_kind::tensor && slot >= at && slot < at + sizeof(std::optional<value>))
            return true;
        // The slots of a list are outside the argument struct; those of all other operands are inside.
        const auto* const begin = static_cast<const std::byte*>(n.arguments);
        if (f->kind != field_kind::tensor && (slot < begin || slot >= begin + op.args_size)) return true;
    }
    return false;
}

/// Returns the number of elements that an index can select from; 0 if unknown.
[[nodiscard]] inline std::int64_t indexed_size(const node& n) {
    const auto size = [](value v, std::int64_t axis) {
        const auto at = normalized_axis(axis, meta_of(v)->rank());
        return at && meta_of(v)->rank() != 0 ? meta_of(v)->shape[*at] : 0;
    };
    const op_info& op = n.op->functional();
    if (n.operand_count == 0 || meta_of(n.operand(0)) == nullptr) return 0;
    if (&op == &info_of<aten::embedding>) return size(n.operand(0), 0);
    if (&op == &info_of<aten::gather>) return size(n.operand(0), args_of<aten::gather>(n).dim);
    if (&op == &info_of<aten::index_select>) return size(n.operand(0), args_of<aten::index_select>(n).dim);
    if (&op == &info_of<aten::index_tensor> || &op == &info_of<aten::_unsafe_index_tensor>) {
        std::int64_t largest = 0;
        for (const std::int64_t extent : meta_of(n.operand(0))->shape) largest = std::max(largest, extent);
        return largest;
    }
    return 0;
}

}  // namespace detail

HEADRACE_INLINE integer_needs::integer_needs(const graph& g, const value_ranges& ranges) : ranges_(ranges) {
    walk(g, integer_need::number);
}

HEADRACE_INLINE integer_need integer_needs::of(value v) const {
    const auto at = known_.find(v.producer);
    return at == known_.end() ? integer_need::none : at->second[v.result];
}

HEADRACE_INLINE void integer_needs::raise(value v, integer_need to) {
    auto& all = known_[v.producer];
    all.resize(v.producer->result_count);
    all[v.result] = std::max(all[v.result], to);
}

HEADRACE_INLINE integer_need integer_needs::of_results(const node& n) const {
    integer_need most = integer_need::none;
    for (std::uint32_t i = 0; i != n.result_count; ++i) most = std::max(most, of({const_cast<node*>(&n), i}));
    return most;
}

HEADRACE_INLINE void integer_needs::walk(const graph& g, integer_need of_outputs) {
    for (const node* n = g.last(); n != nullptr; n = n->previous) {
        if (!is<builtin::output>(*n)) {
            visit(*n);
            continue;
        }
        for (const edge& e : n->operand_edges()) raise(*e.slot, of_outputs);
    }
}

HEADRACE_INLINE void integer_needs::visit(const node& n) {
    if (is<builtin::placeholder>(n) || is<builtin::constant>(n)) return;
    const bool acts = !is_pure(n) && !is<builtin::opaque>(n) && !holds_regions(*n.op);
    if (!acts && of_results(n) == integer_need::none) return;
    if (holds_regions(*n.op)) return visit_regions(n);
    for (const edge& e : n.operand_edges()) raise(*e.slot, of_operand(n, e));
}

HEADRACE_INLINE integer_need integer_needs::of_operand(const node& n, const edge& e) const {
    using enum integer_need;
    const integer_need wanted = of_results(n);
    if (detail::is_index(n, e)) return modular;
    const value_bounds result = n.result_count == 0 ? value_bounds() : ranges_.of({const_cast<node*>(&n), 0});
    const bool fits = detail::narrow_integers.contains(result.computed);
    // True if the other operands keep the magnitude of the number.
    const auto others_within = [&](const interval& limits, bool constant) {
        for (const edge& other : n.operand_edges()) {
            const value_bounds bounds = ranges_.of(*other.slot);
            if (&other != &e && (!limits.contains(bounds.held) || (constant && bounds.varies))) return false;
        }
        return true;
    };
    switch (detail::use_in(n)) {
        case detail::integer_use::moving:
            return wanted;
        case detail::integer_use::testing:
            return test;
        case detail::integer_use::selecting:
            return std::max(wanted, test);
        case detail::integer_use::offsetting:
            if (wanted == modular || fits) return modular;
            return others_within({-0x1p30L, 0x1p30L}, true) ? std::max(wanted, test) : arithmetic;
        case detail::integer_use::modular:
            if (wanted == modular || fits) return modular;
            return n.op->has(trait::binary) && others_within({-1, 1}, false) ? std::max(wanted, test)
                                                                             : arithmetic;
        case detail::integer_use::arithmetic:
            break;
    }
    return arithmetic;
}

// A carried value may be read in any iteration of a loop.
HEADRACE_INLINE void integer_needs::visit_regions(const node& n) {
    const bool is_cond = is<higher_order::cond>(n);
    for_each_region(n, [&](const field_info&, const graph* region) {
        if (region == nullptr) return;
        walk(*region, is_cond ? of_results(n) : integer_need::number);
        std::size_t at = is_cond ? 1 : 0;
        for (const node& input : region->inputs()) {
            if (at < n.operand_count) raise(n.operand(at), of({const_cast<node*>(&input), 0}));
            ++at;
        }
    });
    for (const edge& e : n.operand_edges()) {
        if (!is_cond) raise(*e.slot, integer_need::number);
    }
}

namespace detail {

/// Returns the bounds of inputs that are indices, by node. Ops that only move an index are looked through.
inline std::unordered_map<const node*, interval> bounds_of_indices(const graph& g) {
    std::unordered_map<const node*, interval> known;
    for (const node& n : g.nodes_alone()) {
        const std::int64_t size = indexed_size(n);
        if (size == 0 || n.first_use == nullptr) continue;
        for (const edge& e : n.operand_edges()) {
            if (!is_index(n, e)) continue;
            value v = *e.slot;
            constexpr trait whole = trait::reshaping | trait::permuting | trait::broadcasting |
                                    trait::forwarding | trait::copying | trait::casting;
            while (v.producer->op->has(whole) && v.producer->operand_count == 1) v = v.producer->operand(0);
            const interval held{-static_cast<bound>(size), static_cast<bound>(size - 1)};
            if (!is<builtin::placeholder>(*v.producer) || !may_be_wide(meta_of(v))) continue;
            const auto at = known.emplace(v.producer, held).first;
            at->second = at->second & held;
        }
    }
    return known;
}

inline bool is_input_of(const graph& g, const node& n) {
    return is<builtin::placeholder>(n) && n.owner == &g;
}

}  // namespace detail

HEADRACE_INLINE integer_widths find_wide_integers(const graph& g) {
    const auto indices = detail::bounds_of_indices(g);
    const auto bounded = [&](value v, const value_bounds& b) {
        const auto known = indices.find(v.producer);
        if (known == indices.end()) return b;
        return value_bounds{known->second, known->second, attainment::unknown, true};
    };
    const value_ranges widest(g, bounded);
    const integer_needs needs(g, widest);
    integer_widths found;
    const value_ranges narrowed(g, [&](value v, const value_bounds& b) {
        value_bounds kept = bounded(v, b);
        const tensor_meta* const meta = meta_of(v);
        const integer_need need = needs.of(v);
        if (!detail::may_be_wide(meta) || is<builtin::constant>(*v.producer) ||
            need <= integer_need::modular ||
            (detail::narrow_integers.contains(kept.computed) &&
             !(need == integer_need::test && detail::is_input_of(g, *v.producer))))
            return kept;
        const bool is_input = is<builtin::placeholder>(*v.producer);
        const interval assumed =
            is_input && need == integer_need::test ? interval{-0x1p30L, 0x1p30L} : detail::narrow_integers;
        if (!is_input) {
            found.values.push_back({v, meta->dtype, kept.computed, kept.attained != attainment::unknown});
        } else if (detail::is_input_of(g, *v.producer)) {
            found.inputs.push_back({v.producer, assumed, need == integer_need::arithmetic});
        }
        kept.held = kept.held & assumed;
        kept.computed = kept.held;
        kept.attained = attainment::unknown;
        return kept;
    });
    return found;
}

HEADRACE_INLINE std::unordered_map<const node*, std::string> find_host_integers(const graph& g) {
    const auto indices = detail::bounds_of_indices(g);
    const value_ranges ranges(g, [&](value v, const value_bounds& b) {
        const auto known = indices.find(v.producer);
        if (known == indices.end()) return b;
        return value_bounds{known->second, known->second, attainment::unknown, true};
    });
    const integer_needs needs(g, ranges);
    const auto is_wide = [&](value v) {
        return detail::may_be_wide(meta_of(v)) && !detail::narrow_integers.contains(ranges.of(v).computed);
    };
    std::unordered_map<const node*, std::string> found;
    for (const node& n : g.nodes_alone()) {
        if (is_of_dialect<builtin::dialect>(n)) continue;
        for (std::uint32_t i = 0; i != n.result_count; ++i) {
            const value v{const_cast<node*>(&n), i};
            if (is_wide(v) && needs.of(v) > integer_need::modular)
                found.emplace(&n, "its result may not fit in 32 bits, and TOSA 1.0 has no INT64");
        }
        for (const edge& e : n.operand_edges()) {
            if (is_wide(*e.slot) && needs.of(*e.slot) > integer_need::modular &&
                needs.of_operand(n, e) > integer_need::modular)
                found.emplace(&n, std::string(e.source->name()) +
                                      ", which it reads, may not fit in 32 bits, and TOSA 1.0 has no INT64");
        }
    }
    return found;
}

}  // namespace headrace

// ---- headrace/infer/verify.hpp ----

namespace headrace {

/// Options of verify, for checks beyond the structure of a graph.
struct verify_options {
    /// A function that returns the inference rule of an op, or null if there is none:
    /// `&find_rule<Dialects...>`. Without it, metadata is not compared with inference.
    inference_rule (*rule_of)(const op_info&) = nullptr;
    /// A function that checks one node by the rules of a dialect, such as TOSA's legality, after all
    /// structural checks; `&verify_by_op<Dialects...>` runs the verifiers of the ops.
    result<void> (*check_node)(const graph&, const node&) = nullptr;
    /// If true, missing metadata is an error; else it is skipped.
    bool metadata_required = false;
};

/// Checks the invariants that every pass must keep: operands belong to the graph and precede their users;
/// uses and census agree with the nodes; there is one output node, and it is last; names of inputs and of
/// outputs differ; and, if `options` ask for it, metadata equals inference. The error names the first node
/// that fails.
[[nodiscard]] result<void> verify(const graph& g, const verify_options& options = {});

/// Matches ops with a verifier of their own, for rules beyond inference: the limits of a machine, arguments
/// that exclude each other. It is declared next to the op:
///
///     result<void> verify_op(npu::conv, const args<npu::conv>& a, const node& n);
template <class Op>
concept verifiable = op_tag<Op> && requires(const args<Op>& a, const node& n) { verify_op(Op{}, a, n); };

namespace detail {

template <op_tag Op>
result<void> verify_erased(const node& n) {
    return verify_op(Op{}, *static_cast<const args<Op>*>(n.arguments), n);
}
template <class List>
struct verifiers_of;
template <class... Ops>
struct verifiers_of<ops<Ops...>> {
    using verifier = result<void> (*)(const node&);
    template <class Op>
    static constexpr verifier verifier_or_null() {
        if constexpr (verifiable<Op>) {
            return &verify_erased<Op>;
        } else {
            return nullptr;
        }
    }
    static constexpr std::array<verifier, sizeof...(Ops)> value{verifier_or_null<Ops>()...};
};

}  // namespace detail

/// Runs the verifier of a node's op, if the op is of these dialects and has one.
template <class... Dialects>
[[nodiscard]] result<void> verify_by_op(const graph&, const node& n) {
    result<void> sound;
    const auto look_in = [&]<class D>() {
        if (n.op->dialect != &info_of_dialect<D>) return;
        const auto ask = detail::verifiers_of<typename D::all_ops>::value[n.op->index];
        if (ask != nullptr) sound = ask(n);
    };
    (look_in.template operator()<Dialects>(), ...);
    if (!sound) return error{sound.error().kind, message_prefix(n) + sound.error().message};
    return sound;
}

/// Runs verify with the inference rules and verifiers of these dialects, whose headers must be included.
template <class... Dialects>
    requires(sizeof...(Dialects) != 0)
[[nodiscard]] result<void> verify(const graph& g, verify_options options = {}) {
    options.rule_of = &find_rule<Dialects...>;
    if (options.check_node == nullptr) options.check_node = &verify_by_op<Dialects...>;
    return verify(g, static_cast<const verify_options&>(options));
}

}  // namespace headrace

// ---- headrace/infer/verify_definition.hpp ----

namespace headrace {

namespace detail {

class verifier {
public:
    verifier(const graph& g, const verify_options& options) : graph_(&g), options_(&options) {}

    result<void> run() {
        HEADRACE_TRY(check_links());
        HEADRACE_TRY(check_census());
        HEADRACE_TRY(check_output());
        HEADRACE_TRY(check_edges());
        HEADRACE_TRY(check_names());
        for (const node& n : graph_->nodes()) {
            HEADRACE_TRY(check_metadata(n));
            if (options_->check_node != nullptr) {
                HEADRACE_TRY(options_->check_node(*graph_, n));
            }
            HEADRACE_TRY(check_regions(n));
        }
        return {};
    }

private:
    static error broken(const node& n, std::pmr::string what) {
        return invalid((n.name().empty() ? text_of({node_label(n), ": "}) : message_prefix(n)) +
                       std::move(what));
    }

    // Checks the list of nodes: its length, and the links in both directions.
    result<void> check_links() {
        std::size_t count = 0;
        const node* previous = nullptr;
        present_.assign(graph_->id_bound(), false);
        for (const node& n : graph_->nodes()) {
            if (++count > graph_->size()) return invalid("the graph lists more nodes than it has");
            if (n.owner != graph_) return broken(n, "lies in a graph that is not its own");
            const bool own_id = n.id < graph_->id_bound() && !present_[n.id];
            if (!own_id) return broken(n, "has an id that is not its own");
            if (n.previous != previous) return broken(n, "is not linked to the node before it");
            if (n.op->results != variadic_results &&
                n.result_count != static_cast<std::uint32_t>(n.op->results)) {
                return broken(
                    n, text_of({"has ", counted_text(n.result_count, "result"), ", its op ", n.op->results}));
            }
            present_[n.id] = true;
            previous = &n;
            ++counts_[n.op];
        }
        if (count != graph_->size() || graph_->last() != previous) {
            return invalid({"the graph lists ", counted_text(count, "node"), " but has ", graph_->size()});
        }
        return {};
    }

    result<void> check_census() const {
        std::optional<error> failure;
        const auto disagree = [&](const op_info& op, std::size_t counted, std::size_t found) {
            failure = invalid({"the census counts ", counted_text(counted, "node"), " of ", op.name,
                               ", the graph has ", found});
        };
        graph_->census().for_each([&](const op_info& op, std::size_t counted) {
            const auto found = counts_.find(&op);
            const std::size_t expected = found == counts_.end() ? 0 : found->second;
            if (counted != expected) disagree(op, counted, expected);
        });
        for (const auto& [op, expected] : counts_) {
            std::size_t listed = 0;
            for (const node& n : graph_->nodes_of(*op)) {
                if (n.op != op || ++listed > expected) break;
            }
            const bool agrees = listed == expected && graph_->census().count(*op) == expected;
            if (!agrees) disagree(*op, listed, expected);
        }
        if (failure) return *failure;
        return {};
    }

    result<void> check_output() const {
        const std::size_t outputs = graph_->census().count(info_of<builtin::output>);
        if (outputs != 1) {
            return invalid({"the graph has ", outputs, " output nodes instead of one"});
        }
        if (graph_->output() != graph_->last()) return broken(*graph_->last(), "comes after the output node");
        return {};
    }

    result<void> check_operands(const node& n) const {
        std::size_t i = 0;
        for (const edge& e : n.operand_edges()) {
            const auto which = [i] { return text_of({"operand ", i}); };
            if (e.slot->producer == nullptr) return broken(n, text_of({which(), " is empty"}));
            const node& producer = *e.slot->producer;
            if (producer.owner == nullptr) {
                return broken(
                    n, text_of({which(), " comes from ", node_label(producer), ", which has been erased"}));
            }
            if (producer.owner != graph_) return broken(n, text_of({which(), " comes from another graph"}));
            if (producer.id >= present_.size() || !present_[producer.id]) {
                return broken(
                    n, text_of({which(), " comes from ", node_label(producer), ", which has been erased"}));
            }
            if (e.slot->result >= producer.result_count) {
                return broken(n, text_of({which(), " is result ", e.slot->result, " of ",
                                          node_label(producer), ", which has ", producer.result_count}));
            }
            if (e.source != &producer || e.target != &n || e.operand != i) {
                return broken(n, text_of({which(), " was changed without graph::set_operand"}));
            }
            ++i;
        }
        return {};
    }

    // Checks that the uses of a producer are exactly its operands.
    result<void> check_edges() const {
        std::size_t used = 0;
        std::size_t operands = 0;
        const edge* too_early = nullptr;
        pmr_vector<bool> seen(graph_->id_bound());
        for (const node& n : graph_->nodes()) {
            HEADRACE_TRY(check_operands(n));
            HEADRACE_TRY(check_uses(n, used));
            operands += n.operand_count;
            for (const edge& e : n.operand_edges()) {
                if (too_early == nullptr && !seen[e.source->id]) too_early = &e;
            }
            seen[n.id] = true;
        }
        if (used != operands) {
            return invalid({"the graph has ", counted_text(operands, "operand"), " but lists ",
                            counted_text(used, "use")});
        }
        if (too_early == nullptr) return {};
        // A cycle deserves a better message than the order that it makes impossible.
        if (auto order = topological_order(*graph_); !order) return order.error();
        return broken(*too_early->target,
                      text_of({"comes before its operand ", node_label(*too_early->source)}));
    }

    result<void> check_uses(const node& n, std::size_t& used) const {
        for (const edge& e : n.uses()) {
            ++used;
            if (e.source != &n || e.target->id >= present_.size() || !present_[e.target->id])
                return broken(
                    n, text_of({"is listed as used by ", node_label(*e.target), ", which does not use it"}));
        }
        return {};
    }

    // Inputs and outputs are identified by name. A value that is returned twice may repeat its name.
    result<void> check_names() const {
        std::pmr::unordered_map<std::string_view, const node*> inputs;
        for (const node& n : graph_->inputs()) {
            if (!n.name().empty() && !inputs.emplace(n.name(), &n).second) {
                return broken(n, "another input has the same name");
            }
        }
        const node& out = *graph_->output();
        const auto* exported = out.find_annotation<output_names>();
        if (exported != nullptr && exported->names.size() != out.operand_count) {
            return invalid({"the graph has ", counted_text(out.operand_count, "output"), " but names for ",
                            exported->names.size()});
        }
        std::pmr::unordered_map<std::string_view, value> outputs;
        for (std::size_t i = 0; i != out.operand_count; ++i) {
            const value v = out.operand(i);
            const std::string_view own = v.producer->results[v.result].name;
            const std::string_view name = exported != nullptr ? exported->names[i] : own;
            if (name.empty()) continue;
            const auto [found, added] = outputs.emplace(name, v);
            if (!added && found->second != v) {
                return broken(*v.producer, text_of({"another output has the same name, ", name}));
            }
        }
        return {};
    }

    result<void> check_metadata(const node& n) const {
        for (std::uint32_t i = 0; i != n.result_count; ++i) {
            const auto& meta = n.results[i].meta;
            if (!meta && (options_->metadata_required || is<builtin::constant>(n))) {
                return broken(n, text_of({"result ", i, " has no metadata"}));
            }
            if (meta && !meta->checked_elements()) {
                return broken(n, text_of({"result ", i, " has the impossible shape ", meta_text(*meta)}));
            }
        }
        // The metadata of inputs and constants comes from the program, not from a rule.
        if (options_->rule_of == nullptr || is_of_dialect<builtin::dialect>(n)) {
            return {};
        }
        const inference_rule rule = options_->rule_of(*n.op);
        if (rule == nullptr) return {};
        for (const edge& e : n.operand_edges()) {
            if (meta_of(*e.slot) == nullptr) return {};
        }
        std::pmr::monotonic_buffer_resource arena;
        inference inferred(&arena);
        if (auto done = rule(n.arguments, inferred); !done) {
            return broken(n, text_of({"breaks the op's own rule: ", done.error().message}));
        }
        if (inferred.results().size() != n.result_count) {
            return broken(n, text_of({"has ", counted_text(n.result_count, "result"), ", inference gives ",
                                      inferred.results().size()}));
        }
        for (std::uint32_t i = 0; i != n.result_count; ++i) {
            const auto& meta = n.results[i].meta;
            const tensor_meta& expected = inferred.results()[i];
            const bool open = expected.dtype == dtype::unknown;  // the rule leaves it open
            if (meta && !open && !(*meta == expected)) {
                return broken(n, text_of({"result ", i, " is ", meta_text(*meta), ", inference gives ",
                                          meta_text(expected)}));
            }
        }
        return {};
    }

    result<void> check_regions(const node& n) const {
        result<void> sound;
        for_each_region(n, [&](const field_info& f, const graph* region) {
            if (!sound) return;
            if (region == nullptr || region->parent() != graph_) {
                sound = broken(n, text_of({f.name, " is not a region of its graph"}));
            } else if (auto done = verifier(*region, *options_).run(); !done) {
                error outer = broken(n, text_of({"in ", f.name, ": ", done.error().message}));
                outer.kind = done.error().kind;
                sound = std::move(outer);
            }
        });
        return sound;
    }

    const graph* graph_;
    const verify_options* options_;
    pmr_vector<bool> present_;  // by id
    std::pmr::unordered_map<const op_info*, std::size_t> counts_;
};

}  // namespace detail

HEADRACE_INLINE result<void> verify(const graph& g, const verify_options& options) {
    return detail::verifier(g, options).run();
}

}  // namespace headrace

// ---- headrace/infer/cortex_m.hpp ----

namespace headrace {
namespace cortex_m {

using broadcasting_ops = ops<maximum, minimum, quantized_add, quantized_div, quantized_mul>;
using same_as_input_ops = ops<quantized_activation, softmax>;
using nhwc_ops = ops<quantized_conv2d_nhwc, quantized_depthwise_conv2d_nhwc, quantized_transpose_conv2d_nhwc,
                     quantized_avg_pool2d_nhwc, quantized_max_pool2d_nhwc>;
using conv2d_ops = ops<quantized_conv2d, quantized_conv2d_nhwc>;
using depthwise_conv2d_ops = ops<quantized_depthwise_conv2d, quantized_depthwise_conv2d_nhwc>;
using transpose_conv2d_ops = ops<quantized_transpose_conv2d, quantized_transpose_conv2d_nhwc>;
using avg_pool2d_ops = ops<quantized_avg_pool2d, quantized_avg_pool2d_nhwc>;
using max_pool2d_ops = ops<quantized_max_pool2d, quantized_max_pool2d_nhwc>;

}  // namespace cortex_m

namespace detail {

/// The positions of the channels and the spatial axes of an image.
struct image_axes {
    std::size_t channels;
    std::size_t height;
};
template <class Op>
inline constexpr image_axes image_axes_of =
    listed<Op, cortex_m::nhwc_ops> ? image_axes{3, 1} : image_axes{1, 2};

inline result<void> infer_windowed_image(inference& out, const tensor_meta& input, image_axes axes,
                                         std::int64_t channels, const window_lists& lists, bool ceil_mode) {
    HEADRACE_TRY(windows, windows_of(lists, 2));
    shape_builder shape(input.shape);
    shape[axes.channels] = channels;
    for (std::size_t i = 0; i != 2; ++i) {
        std::int64_t& size = shape[axes.height + i];
        HEADRACE_TRY(positions, window_positions(size, windows[i], ceil_mode));
        size = positions;
    }
    return add_result(out, input.dtype, shape);
}

}  // namespace detail

template <one_of<ops<cortex_m::quantize_per_tensor>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    return add_result(out, a.dtype, inference::of(a.input).shape);
}
template <one_of<ops<cortex_m::dequantize_per_tensor>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    return add_result(out, dtype::float32, inference::of(a.input).shape);
}
template <one_of<cortex_m::broadcasting_ops> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    HEADRACE_TRY(shape, broadcast(self.shape, inference::of(a.other).shape));
    return add_result(out, self.dtype, shape);
}
template <one_of<cortex_m::same_as_input_ops> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    return add_result(out, inference::of(a.input));
}

template <one_of<ops<cortex_m::quantized_batch_matmul>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& lhs = inference::of(a.lhs);
    const tensor_meta& rhs = inference::of(a.rhs_transposed);
    HEADRACE_TRY(require_rank("lhs", lhs.shape, 3));
    HEADRACE_TRY(require_rank("rhs_transposed", rhs.shape, 3));
    if (lhs.shape[0] != rhs.shape[0] || lhs.shape[2] != rhs.shape[2]) {
        return invalid({"cannot multiply ", shape_text(lhs.shape), " by transposed ", shape_text(rhs.shape)});
    }
    return add_result(out, lhs.dtype, {lhs.shape[0], lhs.shape[1], rhs.shape[1]});
}
template <one_of<ops<cortex_m::quantized_linear>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& input = inference::of(a.input);
    const tensor_meta& weights = inference::of(a.weights);
    HEADRACE_TRY(require_rank("input", input.shape, 1, shape_builder::capacity));
    HEADRACE_TRY(require_rank("weights", weights.shape, 2));
    shape_builder shape(input.shape);
    shape.back() = weights.shape[0];
    return add_result(out, input.dtype, shape);
}

/// Weights are (out, height, width, in).
template <one_of<cortex_m::conv2d_ops> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& input = inference::of(a.input);
    const sizes weight(inference::of(a.weight).shape);
    HEADRACE_TRY(require_rank("input", input.shape, 4));
    HEADRACE_TRY(require_rank("weight", weight, 4));
    return detail::infer_windowed_image(out, input, detail::image_axes_of<Op>, weight[0],
                                        {weight.subspan(1, 2), a.stride, a.padding, a.dilation}, false);
}
/// Weights are (1, height, width, out).
template <one_of<cortex_m::depthwise_conv2d_ops> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& input = inference::of(a.input);
    const sizes weight(inference::of(a.weight).shape);
    HEADRACE_TRY(require_rank("input", input.shape, 4));
    HEADRACE_TRY(require_rank("weight", weight, 4));
    return detail::infer_windowed_image(out, input, detail::image_axes_of<Op>, weight[3],
                                        {weight.subspan(1, 2), a.stride, a.padding, a.dilation}, false);
}
/// Weights are (out, height, width, in).
template <one_of<cortex_m::transpose_conv2d_ops> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    constexpr detail::image_axes axes = detail::image_axes_of<Op>;
    const tensor_meta& input = inference::of(a.input);
    const sizes weight(inference::of(a.weight).shape);
    HEADRACE_TRY(require_rank("input", input.shape, 4));
    HEADRACE_TRY(require_rank("weight", weight, 4));
    HEADRACE_TRY(windows, windows_of({weight.subspan(1, 2), a.stride, a.padding, a.dilation}, 2));
    HEADRACE_TRY(extra, list_for("output_padding", a.output_padding, 2));
    shape_builder shape(input.shape);
    shape[axes.channels] = weight[0];
    for (std::size_t i = 0; i != 2; ++i) {
        std::int64_t& size = shape[axes.height + i];
        HEADRACE_TRY(grown, transposed_window_size(size, windows[i], extra[i]));
        size = grown;
    }
    return add_result(out, input.dtype, shape);
}

template <one_of<cortex_m::avg_pool2d_ops> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    constexpr detail::image_axes axes = detail::image_axes_of<Op>;
    const tensor_meta& input = inference::of(a.input);
    HEADRACE_TRY(require_rank("input", input.shape, 4));
    return detail::infer_windowed_image(out, input, axes, input.shape[axes.channels],
                                        {a.kernel_size, a.stride, a.padding, int_list{1}}, a.ceil_mode);
}
template <one_of<cortex_m::max_pool2d_ops> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    constexpr detail::image_axes axes = detail::image_axes_of<Op>;
    const tensor_meta& input = inference::of(a.input);
    HEADRACE_TRY(require_rank("input", input.shape, 4));
    return detail::infer_windowed_image(out, input, axes, input.shape[axes.channels],
                                        {a.kernel_size, a.stride, a.padding, a.dilation}, a.ceil_mode);
}

/// The lists have four dimensions; a tensor of lower rank uses the last of them.
template <one_of<ops<cortex_m::pad>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& input = inference::of(a.input);
    if (a.pre_pad.size() < input.rank() || a.post_pad.size() != a.pre_pad.size()) {
        return invalid({"padding ", shape_text(a.pre_pad), " does not fit ", shape_text(input.shape)});
    }
    const std::size_t unused = a.pre_pad.size() - input.rank();
    shape_builder shape(input.shape);
    for (std::size_t i = 0; i != shape.size(); ++i) {
        shape[i] = saturating_add(shape[i], saturating_add(a.pre_pad[unused + i], a.post_pad[unused + i]));
    }
    return add_result(out, input.dtype, shape);
}
template <one_of<ops<cortex_m::transpose>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& input = inference::of(a.input);
    HEADRACE_TRY(order, permutation_of(a.perm, input.rank()));
    shape_builder shape;
    for (const std::int64_t axis : order) shape.push_back(input.shape[static_cast<std::size_t>(axis)]);
    return add_result(out, input.dtype, shape);
}

}  // namespace headrace

// ---- headrace/infer/delegate.hpp ----

namespace headrace {

template <one_of<ops<delegate::call_delegate>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    if (a.lowered_graph == nullptr) return invalid("the call has no graph");
    std::size_t next = 0;
    for (const node& n : a.lowered_graph->inputs()) {
        if (next == a.operands.size()) return invalid("the call has fewer operands than its graph inputs");
        const tensor_meta* wanted = meta_of({const_cast<node*>(&n), 0});
        if (wanted == nullptr || !(*wanted == inference::of(a.operands[next]))) {
            return invalid({"operand ", next, " is not of the type that its graph takes"});
        }
        ++next;
    }
    if (next != a.operands.size()) return invalid("the call has more operands than its graph inputs");
    return detail::infer_region(out, a.lowered_graph);
}

}  // namespace headrace

// ---- headrace/infer/device.hpp ----

namespace headrace {

template <one_of<device::dialect::all_ops> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    if (a.body == nullptr || a.body->outputs().size() != 1 || meta_of(a.body->outputs()[0]) == nullptr)
        return invalid("a layer's graph has one result of a known type");
    return add_result(out, inference::of(a.body->outputs()[0]));
}

}  // namespace headrace

// ---- headrace/infer/memory.hpp ----

namespace headrace {

template <one_of<ops<memory::alloc>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    return add_result(out, a.dtype, a.size);
}

}  // namespace headrace

// ---- headrace/infer/multiply_accumulates.hpp ----

#ifndef HEADRACE_INFER_MULTIPLY_ACCUMULATES_HPP
#define HEADRACE_INFER_MULTIPLY_ACCUMULATES_HPP

namespace headrace {

namespace detail {

/// Returns the product of sizes, or 0 if one is negative or the product does not fit.
[[nodiscard]] inline std::uint64_t size_product(std::initializer_list<std::int64_t> sizes) {
    std::uint64_t product = 1;
    for (const std::int64_t size : sizes) {
        if (size < 0 || __builtin_mul_overflow(product, static_cast<std::uint64_t>(size), &product)) return 0;
    }
    return product;
}

}  // namespace detail

/// True if the node multiplies and accumulates but multiply_accumulates does not count it.
[[nodiscard]] inline bool has_uncounted_macs(const node& n) {
    return n.op->has(trait::recurrent) || is<aten::einsum>(n);
}

/// Returns the multiply-accumulate operations of a convolution, a matrix product or an attention, computed
/// from shapes; 0 for all other nodes, and if shapes are missing or too large. Padding counts as data.
[[nodiscard]] inline std::uint64_t multiply_accumulates(const node& n) {
    if (n.operand_count < 2 || n.result_count == 0) return 0;
    const tensor_meta* const first = meta_of(n.operand(0));
    const tensor_meta* const second = meta_of(n.operand(1));
    const tensor_meta* const out = n.results[0].meta;
    if (first == nullptr || second == nullptr || out == nullptr || second->rank() == 0) return 0;
    const std::int64_t results = out->checked_elements().value_or(0);
    const std::int64_t inputs = first->checked_elements().value_or(0);
    const std::int64_t weights = second->checked_elements().value_or(0);
    const auto per = [](std::int64_t elements, std::int64_t channels) {
        return channels > 0 ? elements / channels : 0;
    };
    if (is<tosa::depthwise_conv2d>(n)) {
        return second->rank() == 4 ? detail::size_product({results, second->shape[0], second->shape[1]}) : 0;
    }
    if (n.op->has(trait::convolving)) {
        const auto* general = args_if<aten::convolution>(n);
        if (!n.op->has(trait::transposed) && (general == nullptr || !general->transposed))
            return detail::size_product({results, per(weights, second->shape[0])});
        // Each input element is multiplied by its channel's weights; TOSA has input channels last.
        const std::int64_t channels = second->shape[is<tosa::transpose_conv2d>(n) ? second->rank() - 1 : 0];
        return detail::size_product({inputs, per(weights, channels)});
    }
    if (n.op->has(trait::matrix_product)) {  // sums over the last axis of the first factor
        const bool onto_first = is<aten::addmm>(n) || is<aten::baddbmm>(n);
        const tensor_meta& factor = onto_first ? *second : *first;
        return factor.rank() != 0 ? detail::size_product({results, factor.shape[factor.rank() - 1]}) : 0;
    }
    if (n.op->has(trait::attention) && second->rank() >= 2) {
        const std::int64_t keys = second->shape[second->rank() - 2];
        return detail::size_product({inputs, keys}) + detail::size_product({results, keys});
    }
    return 0;
}

}  // namespace headrace

#endif

// ---- headrace/target/node_facts.hpp ----

#ifndef HEADRACE_TARGET_NODE_FACTS_HPP
#define HEADRACE_TARGET_NODE_FACTS_HPP

namespace headrace {

namespace u55 {

/// Returns the elements of a constant of whole bytes, row-major; empty if it is computed or has strides.
[[nodiscard]] inline std::span<const std::byte> constant_bytes(value v) {
    const tensor_data* data = nullptr;
    if (const auto* a = match<builtin::constant>(v)) data = &a->data;
    if (const auto* a = match<tosa::const_>(v)) data = &a->data;
    const tensor_meta* meta = meta_of(v);
    if (data == nullptr || meta == nullptr || !data->strides.empty()) return {};
    return {data->bytes, bytes_in_memory(*meta)};
}

}  // namespace u55

namespace detail {

template <class T>
[[nodiscard]] const T& member_of(const node& n, const field_info& f) {
    return *reinterpret_cast<const T*>(static_cast<const std::byte*>(n.arguments) + f.offset);
}

[[nodiscard]] inline bool is_constant(value v) {
    return is<builtin::constant>(*v.producer) || is<tosa::const_>(*v.producer);
}

/// Returns the largest sum of absolute weights of an output channel, or 0 if it cannot be too large.
template <class Args>
[[nodiscard]] std::int64_t weight_sum_of(const Args& a) {
    const std::int64_t channels = meta_of(a.bias)->shape[0];
    const std::int64_t terms = element_count(meta_of(a.weight)->shape) / std::max<std::int64_t>(channels, 1);
    if (terms * 255 <= u55::max_weight_sum || meta_of(a.weight)->dtype != dtype::int8) return 0;
    const auto bytes = u55::constant_bytes(a.weight);
    const auto zero = u55::constant_bytes(a.weight_zp);
    if (zero.empty()) return 0;
    const auto number = [](std::byte b) -> std::int64_t {
        return static_cast<std::int8_t>(std::to_integer<std::uint8_t>(b));
    };
    std::int64_t largest = 0;
    std::int64_t sum = 0;
    for (std::size_t i = 0; i != bytes.size(); ++i) {
        if (i % static_cast<std::size_t>(terms) == 0) sum = 0;
        sum += std::abs(number(bytes[i]) - number(zero[0]));
        largest = std::max(largest, sum);
    }
    return largest;
}

[[nodiscard]] inline bool bias_fits_40_bits(value bias) {
    if (meta_of(bias)->dtype != dtype::int48) return true;
    const auto bytes = u55::constant_bytes(bias);
    for (std::size_t i = 0; i + 6 <= bytes.size(); i += 6) {
        std::uint64_t bits = 0;
        std::memcpy(&bits, &bytes[i], 6);
        const auto b = static_cast<std::int64_t>(bits << 16U) >> 16U;
        if (b >= u55::max_bias || b < -u55::max_bias) return false;
    }
    return true;
}

// Adds facts that need the elements of weights and biases, or neighbouring nodes.
inline void add_slow_facts(const node& n, op_facts& f) {
    if (!is_convolution(*n.op)) return;
    op_attributes& a = f.attributes;
    const auto add = [&]<op_tag Op>() {
        const auto* arguments = args_if<Op>(n);
        if (arguments == nullptr) return;
        a.weight_sum = weight_sum_of(*arguments);
        a.bias_fits = bias_fits_40_bits(arguments->bias);
        if (meta_of(arguments->input)->dtype != dtype::int16) return;
        for (const edge& use : n.uses()) a.only_rescaled = a.only_rescaled && is<tosa::rescale>(*use.target);
    };
    add.template operator()<tosa::conv2d>();
    add.template operator()<tosa::conv3d>();
    add.template operator()<tosa::depthwise_conv2d>();
    add.template operator()<tosa::transpose_conv2d>();
}

/// Returns the single element of a constant as a signed integer; 0 if the value is computed.
[[nodiscard]] inline std::int64_t single_element(value v) {
    const tensor_data* data = nullptr;
    if (const auto* a = match<builtin::constant>(v)) data = &a->data;
    if (const auto* a = match<tosa::const_>(v)) data = &a->data;
    const tensor_meta* meta = meta_of(v);
    if (data == nullptr || data->bytes == nullptr || meta == nullptr || meta->elements() != 1) return 0;
    const std::size_t size = std::min<std::size_t>(bytes_in_memory(*meta), 8);
    std::uint64_t bits = 0;
    std::memcpy(&bits, data->bytes, size);
    const unsigned unused = 64 - 8 * static_cast<unsigned>(size);
    return size == 0 ? 0 : static_cast<std::int64_t>(bits << unused) >> unused;
}

inline void add_zero_point(const node& n, const field_info& f, op_attributes& a) {
    if (!f.name.ends_with("_zp")) return;
    const std::int64_t zero = single_element(member_of<value>(n, f));
    if (f.name == "output_zp") {
        a.output_zero = zero;
    } else if (f.name == "weight_zp" || f.name == "b_zp") {
        a.second_zero = zero;
    } else {
        a.input_zero = zero;
    }
}

inline void add_attribute(const node& n, const field_info& f, op_attributes& a) {
    if (f.kind == field_kind::tensor) return add_zero_point(n, f, a);
    if (f.kind == field_kind::integers) {
        const auto& values = member_of<int_list>(n, f);
        if (f.name == "kernel") a.kernel = values;
        if (f.name == "stride") a.stride = values;
        if (f.name == "pad" || f.name == "out_pad") a.pad = values;
        if (f.name == "dilation") a.dilation = values;
    } else if (f.kind == field_kind::integer && f.name == "axis") {
        a.axis = member_of<std::int64_t>(n, f);
    } else if (f.kind == field_kind::boolean) {
        if (f.name == "round") a.round = member_of<bool>(n, f);
        if (f.name == "input_unsigned") a.input_unsigned = member_of<bool>(n, f);
        if (f.name == "output_unsigned") a.output_unsigned = member_of<bool>(n, f);
    } else if (f.kind == field_kind::element_type && (f.name == "acc_type" || f.name == "type")) {
        a.declared = member_of<dtype>(n, f);
    } else if (f.kind == field_kind::resize) {
        a.mode = member_of<resize_mode>(n, f);
    }
}

/// Returns the facts of a node that need neither the elements of its weights nor the users of its results.
[[nodiscard]] inline op_facts quick_facts_of(const node& n) {
    op_facts f;
    f.op = n.op;
    f.operand_count = std::min<std::size_t>(n.operand_count, op_facts::max_tensors);
    f.result_count = std::min<std::size_t>(n.result_count, op_facts::max_tensors);
    for (std::size_t i = 0; i != f.operand_count; ++i) {
        f.tensors[i] = meta_of(n.operand(i));
        if (is_constant(n.operand(i)) && i < 64) f.constants |= std::uint64_t{1} << i;
    }
    for (std::size_t i = 0; i != f.result_count; ++i) {
        f.tensors[f.operand_count + i] = &*n.results[i].meta;
    }
    for (const field_info& field : *n.op) {
        if (field.kind == field_kind::tensors) f.list_length = member_of<list<value>>(n, field).size();
        add_attribute(n, field, f.attributes);
    }
    if (const auto* a = args_if<tosa::resize>(n)) {
        if (const auto* scale = match<tosa::const_shape>(a->scale)) f.attributes.scale = scale->values;
        if (const auto* offset = match<tosa::const_shape>(a->offset)) f.attributes.offset = offset->values;
    }
    f.attributes.from_convolution = is<tosa::rescale>(n) && is_convolution(*n.operand(0).producer->op);
    return f;
}

}  // namespace detail

/// Returns the facts of a node of the tosa dialect whose metadata is complete. They refer to its metadata.
[[nodiscard]] inline op_facts facts_of(const node& n) {
    op_facts f = detail::quick_facts_of(n);
    detail::add_slow_facts(n, f);
    return f;
}

}  // namespace headrace

#endif

// ---- headrace/target/preferences.hpp ----

#ifndef HEADRACE_TARGET_PREFERENCES_HPP
#define HEADRACE_TARGET_PREFERENCES_HPP

namespace headrace {

/// The cheapest of several ways to compute the same numbers on a target. Passes read these instead of
/// features, so that a new target is described in one place.
struct target_preferences {
    static constexpr std::int64_t any = std::numeric_limits<std::int64_t>::max();

    /// True if a CLAMP to the whole range of its type is kept. It changes nothing, but Vela estimates fewer
    /// cycles for an Ethos-U55 if one follows a convolution.
    bool whole_clamps = true;
    /// The maximum number of axes of a TRANSPOSE; with more, axes that move together are merged.
    std::size_t transposed_axes = 4;
    /// The number of pixels that a convolution with weights of 0 and 1 moves at a time when a few planes
    /// become channels; 0 to use a TRANSPOSE.
    std::int64_t planes_by_convolution = 0;
    /// True if planes are moved before the image is cropped when they cannot be moved after it, because the
    /// number of cropped pixels does not fit.
    bool crops_after_planes = false;
    /// True if the image that windows read is cropped after its transposition, although that transposes more.
    bool crops_after_transpose = false;
    /// True if the rows of a linear layer become the width of an image, not its height.
    bool rows_are_width = false;
    /// The maximum stride of a convolution. With a longer one, each pixel of the result is computed
    /// separately, so windows that do not overlap are turned into channels first.
    std::int64_t stride = any;
    /// The maximum length of a last axis that a MAX_POOL2D over the height of an image reduces.
    std::int64_t pooled_maximum = 0;
    /// The maximum size of an image, in pixels, that is summed by a DEPTHWISE_CONV2D with weights of 1.
    std::int64_t convolved_sum = 0;
    /// True if operands of sums are widened without additional fractional bits.
    bool sums_at_unit_scale = false;
    /// True if RESCALEs directly follow convolutions, before ops that only move elements.
    bool rescales_first = false;
    /// True if convolutions that skip the last column of an image read it with a weight of zero instead.
    bool reads_last_column = false;
    /// The maximum number of channels from which a convolution with weights of 0 and 1 selects shuffled ones;
    /// 0 to move them instead.
    std::int64_t selected_channels = 0;
    /// The number of products that a convolution computes in the time of moving one element; 0 to keep groups
    /// of channels separate.
    std::int64_t products_per_move = 0;
    /// The maximum number of channels of an image that a convolution with stride 2 reads as twice as many
    /// channels of half the width.
    std::int64_t paired_channels = 0;
    /// True if reading pairs of columns only helps for an image that is computed or copied to the chip. An
    /// input image is read from slow memory in bursts, of which pairs use less.
    bool pairs_on_chip_alone = false;
    /// The taps and channels of a convolution that are multiplied in one step, and the minimum number of such
    /// steps charged per output element.
    std::int64_t taps_at_once = 1, channels_at_once = 8, output_steps = 0;
    /// The size of on-chip memory in bytes if other memory is slow; 0 if that makes no difference.
    std::int64_t on_chip_bytes = 0;
    /// The cost of a byte in slow memory, in hundredths of a cycle: for an image with few channels, and for a
    /// large result that is written and read again.
    std::int64_t slow_read = 0, slow_result = 0;
    /// True if the second matrices of a MATMUL are transposed before it, unless they come from such a
    /// TRANSPOSE.
    bool reads_matrices_transposed = false;
    /// The cost of writing an image plane by plane from a convolution, which grows with the number of planes
    /// per pixel: in hundredths, relative to a copy of the image, which has none of the weights; 0 if a copy
    /// never helps.
    std::int64_t slow_planes = 0;
};

namespace detail {

// Programs without a particular target are compiled for both Ethos-Us, so they keep a form that helps one and
// costs the other little or nothing. Without whole CLAMPs the keyword spotter takes 21 % more cycles on an
// Ethos-U55; without planes by convolution MobileNet V2 (96x96) takes 10 % more on an Ethos-U85.
inline constexpr target_preferences generic_preferences{.planes_by_convolution = 16};

// Derived from the estimates of Vela 5.1 for ethos-u55-128.
inline constexpr target_preferences u55_preferences{.transposed_axes = 2,
                                                    .crops_after_transpose = true,
                                                    .rows_are_width = true,
                                                    .stride = 3,
                                                    .pooled_maximum = 256,
                                                    .sums_at_unit_scale = true,
                                                    .rescales_first = true,
                                                    .selected_channels = 512,
                                                    .products_per_move = 128,
                                                    .paired_channels = 4};

// Derived from the estimates of Vela 5.1 for ethos-u85-256.
inline constexpr target_preferences u85_preferences{.whole_clamps = false,
                                                    .planes_by_convolution = 16,
                                                    .crops_after_planes = true,
                                                    .rows_are_width = true,
                                                    .stride = 3,
                                                    .pooled_maximum = 256,
                                                    .convolved_sum = 4096,
                                                    .sums_at_unit_scale = true,
                                                    .rescales_first = true,
                                                    .reads_last_column = true,
                                                    .selected_channels = 512,
                                                    .products_per_move = 128,
                                                    .paired_channels = 4,
                                                    .pairs_on_chip_alone = true,
                                                    .taps_at_once = 4,
                                                    .output_steps = 3,
                                                    .on_chip_bytes = 384 * 1024,
                                                    .slow_read = 244,
                                                    .slow_result = 21,
                                                    .reads_matrices_transposed = true,
                                                    .slow_planes = 11};

// A core moves elements as fast as it multiplies them, and its kernels clamp anyway.
inline constexpr target_preferences core_preferences{.whole_clamps = false};

}  // namespace detail

/// Returns the preferences of a target; for a target without a processor, forms that cost no target much.
[[nodiscard]] constexpr const target_preferences& preferences_of(const target_spec& target) {
    if (target.has(target_feature::u55)) return detail::u55_preferences;
    if (target.has(target_feature::u85)) return detail::u85_preferences;
    if (target.has(target_feature::core)) return detail::core_preferences;
    return detail::generic_preferences;
}

}  // namespace headrace

#endif

// ---- headrace/target/u55_verify.hpp ----

#ifndef HEADRACE_TARGET_U55_VERIFY_HPP
#define HEADRACE_TARGET_U55_VERIFY_HPP

namespace headrace::u55 {

namespace detail {

// Returns the text that follows "Ethos-U55 has no CONV2D".
[[nodiscard]] inline std::pmr::string clause_of(u55_limit limit, const op_facts& f) {
    const op_attributes& a = f.attributes;
    switch (limit) {
        case u55_limit::none:
        case u55_limit::op:
            return {};
        case u55_limit::booleans:
            return "of booleans";
        case u55_limit::floats:
            return "of floating-point numbers";
        case u55_limit::other_than_int8:
            return "of types other than INT8";
        case u55_limit::other_than_int32:
            return "of types other than INT32";
        case u55_limit::int32:
            return "of INT32";
        case u55_limit::fewer_bits:
            return "to fewer bits";
        case u55_limit::int48_source:
            return "of INT48 except after a convolution";
        case u55_limit::int16_without_rescale:
            return "of INT16 that no RESCALE follows";
        case u55_limit::computed_weight:
            return "with a computed weight or bias";
        case u55_limit::channels:
            return "of more than 65536 channels";
        case u55_limit::kernel_window:
            return text_of({"with a window of ", kernel_of(f)[0], " x ", kernel_of(f)[1],
                            " (at most 64 rows and 4096 elements)"});
        case u55_limit::kernel_depth:
            return "with a window of more than one element in depth";
        case u55_limit::weight_sum:
            return "whose absolute weights add up to more than 127 * 65536";
        case u55_limit::bias_bits:
            return "with a bias of more than 40 bits";
        case u55_limit::stride:
            return f.is<tosa::depthwise_conv2d>() ? "with a stride above 3"
                                                  : "with a stride above 3 together with padding or dilation";
        case u55_limit::transposed_stride:
            return "with strides other than 1 and 2, equal on both axes";
        case u55_limit::pool_window:
            return text_of({"with a window of ", shape_text(a.kernel), ", stride ", shape_text(a.stride),
                            " and padding ", shape_text(a.pad)});
        case u55_limit::axis_size:
            return "of an axis of more than 65536 elements";
        case u55_limit::argmax:
            return "except of up to 127 channels of one image";
        case u55_limit::resize:
            return "except to the nearest element of one image, by 2, 4 or 8";
        case u55_limit::transpose:
            return text_of({"of ", shape_text(f.operand(0).shape), ", which it cannot address"});
        case u55_limit::reverse_axis:
            return "except along an image's height or width";
        case u55_limit::sum_extent:
            return "with more than 65536 elements before or after the axis";
        case u55_limit::shift_without_rounding:
            return "that does not round";
    }
    return {};
}

}  // namespace detail

/// Returns why Ethos-U55 cannot execute an operator of the tosa dialect; empty if it can.
[[nodiscard]] inline std::pmr::string restriction(const op_facts& facts) {
    const u55_limit limit = violated(facts);
    if (limit == u55_limit::none) return {};
    const std::pmr::string clause = detail::clause_of(limit, facts);
    return text_of({"Ethos-U55 has no ", facts.op->name.substr(5), clause.empty() ? "" : " ", clause});
}
/// Returns why Ethos-U55 cannot execute a node whose metadata is complete; empty if it can.
[[nodiscard]] inline std::pmr::string restriction(const node& n) { return restriction(facts_of(n)); }

}  // namespace headrace::u55

#endif

// ---- headrace/target/tosa_verify.hpp ----

namespace headrace {

namespace detail {

/// Returns "(int8, int8)".
[[nodiscard]] inline std::pmr::string signature_text(std::span<const dtype> types) {
    std::pmr::string all = "(";
    for (const dtype t : types) {
        if (all.size() != 1) all += ", ";
        all += name_of(t);
    }
    return all += ')';
}

/// Returns the features that a row requires: "INT or FP", "FP and bf16".
[[nodiscard]] inline std::pmr::string features_text(std::uint16_t profiles, std::uint16_t extensions) {
    std::pmr::string text;
    for (const target_feature_name& f : target_feature_names) {
        const auto bit = static_cast<std::uint16_t>(f.feature);
        if ((profiles & bit) != 0) text += (text.empty() ? "" : " or ") + std::pmr::string(f.spelling);
    }
    std::pmr::string added;
    for (const target_feature_name& f : target_feature_names) {
        const auto bit = static_cast<std::uint16_t>(f.feature);
        if ((extensions & bit) == 0) continue;
        text += (text.empty() ? "" : " and ") + std::pmr::string(f.spelling);
        added += "+" + std::pmr::string(f.spelling);
    }
    if (!added.empty()) text += "; add " + added + " to it";
    return text;
}

[[nodiscard]] inline result<void> verify_tosa_types(const node& n, const op_facts& facts,
                                                    const target_spec& target) {
    const type_fault fault = type_fault_of(facts, target);
    const auto signature = [&] { return signature_text(tosa_signature(facts).types()); };
    switch (fault.limit) {
        case type_limit::none:
            return {};
        case type_limit::control_flow:
            return unsupported({message_prefix(n), "control flow needs the target to have cf"});
        case type_limit::types:
            return unsupported(
                {message_prefix(n), "TOSA 1.0 has no ", n.op->name.substr(5), " of ", signature()});
        case type_limit::profile:
            return unsupported({message_prefix(n), signature(), " needs the target to have ",
                                features_text(fault.row->profiles, fault.row->extensions)});
        case type_limit::computed_operand:
            return unsupported({message_prefix(n), fault.operand, " must be a constant"});
    }
    return {};
}

/// Refuses zero points and signs that values of these types cannot have.
[[nodiscard]] inline result<void> verify_tosa_integers(const node& n, const op_facts& facts) {
    if (const zero_fault fault = zero_fault_of(facts)) {
        return unsupported({message_prefix(n), fault.operand, " is ", fault.zero, ", but values of ",
                            name_of(fault.type), " have the zero point 0 in TOSA; only int8 has others"});
    }
    const dtype type = sign_fault_of(facts);
    if (type == dtype::unknown) return {};
    return unsupported({message_prefix(n), "RESCALE takes unsigned integers neither from nor to ",
                        name_of(type)});
}

/// Refuses sizes above level 8K's limits.
[[nodiscard]] inline result<void> verify_tosa_level(const node& n, const op_facts& facts) {
    const level_fault fault = level_fault_of(facts);
    if (!fault) return {};
    if (fault.limit == level_limit::empty_tensor) {
        return unsupported(
            {message_prefix(n), "TOSA has no empty tensors, such as ", shape_text(fault.tensor->shape)});
    }
    return unsupported({message_prefix(n), name_of(fault.limit), ' ', fault.size,
                        " is above level 8K's limit of ", fault.max});
}

/// Returns why the target has no tensors of that type; empty if it has.
[[nodiscard]] inline std::pmr::string missing_type_text(dtype type, const target_spec& target) {
    const tosa::legality_row* row = tosa::find_row(info_of<tosa::const_>, std::span(&type, 1));
    if (row == nullptr) return " does not exist in TOSA 1.0";
    if (row->allowed_on(target)) return {};
    return text_of({" needs the target to have ", features_text(row->profiles, row->extensions)});
}

/// Checks an input's rank and type. An input is a tensor of the flatbuffer even if no operator reads it; the
/// operators that do are checked against the target.
[[nodiscard]] inline result<void> verify_tosa_input(const node& n) {
    const tensor_meta& meta = *n.results[0].meta;
    const auto rank = static_cast<std::int64_t>(meta.rank());
    if (rank > tosa::level_8k::max_rank) {
        return unsupported({message_prefix(n), "an input of rank ", rank, " is above level 8K's limit of ",
                            tosa::level_8k::max_rank});
    }
    if (tosa::find_row(info_of<tosa::const_>, std::span(&meta.dtype, 1)) != nullptr) return {};
    return unsupported(
        {message_prefix(n), "an input of ", name_of(meta.dtype), ", which TOSA 1.0 does not have"});
}

[[nodiscard]] inline result<void> verify_tosa_shapes(const node& n) {
    const inference_rule rule = find_rule<tosa::dialect>(*n.op);
    if (rule == nullptr) return {};
    std::array<std::byte, 1024> room;
    std::pmr::monotonic_buffer_resource arena(room.data(), room.size());
    inference out(&arena);
    if (auto inferred = rule(n.arguments, out); !inferred) {
        return error{inferred.error().kind, message_prefix(n) + inferred.error().message};
    }
    if (out.results().size() != n.result_count) {
        return invalid({message_prefix(n), "has ", counted_text(n.result_count, "result"), " instead of ",
                        out.results().size()});
    }
    for (std::size_t i = 0; i != n.result_count; ++i) {
        const tensor_meta& wanted = out.results()[i];
        const tensor_meta& given = *n.results[i].meta;
        if (given == wanted) continue;
        return invalid({message_prefix(n), "its metadata says ", name_of(given.dtype), ' ',
                        shape_text(given.shape), ", but it gives ", name_of(wanted.dtype), ' ',
                        shape_text(wanted.shape)});
    }
    return {};
}

// True if the values have the types and shapes of `wanted`, in order.
template <class Values>
[[nodiscard]] bool has_metas_of(const Values& given, const list<value>& wanted) {
    std::size_t i = 0;
    for (const value v : given) {
        const tensor_meta* a = meta_of(v);
        const tensor_meta* b = i < wanted.size() ? meta_of(wanted[i]) : nullptr;
        if (a == nullptr || b == nullptr || !(*a == *b)) return false;
        ++i;
    }
    return i == wanted.size();
}
[[nodiscard]] inline bool takes_metas_of(const graph& region, const list<value>& wanted) {
    pmr_vector<value> inputs;
    for (node& n : const_cast<graph&>(region).inputs()) inputs.push_back(n.result());
    return has_metas_of(inputs, wanted);
}
[[nodiscard]] inline bool is_one_truth(value v) {
    const tensor_meta* meta = meta_of(v);
    return meta != nullptr && is_boolean(meta->dtype) && meta->elements() == 1;
}

/// Checks the values that go into regions and come out of them (TOSA 1.0, 2.15).
[[nodiscard]] inline result<void> verify_tosa_regions(const node& n) {
    const auto wrong = [&](std::string_view what) -> result<void> {
        return invalid({message_prefix(n), what});
    };
    if (const auto* a = args_if<tosa::cond_if>(n)) {
        if (!is_one_truth(a->condition)) return wrong("the condition must be one boolean");
        if (!takes_metas_of(*a->then_graph, a->inputs) || !takes_metas_of(*a->else_graph, a->inputs))
            return wrong("a branch takes other types or shapes than the inputs");
    }
    if (const auto* a = args_if<tosa::while_loop>(n)) {
        if (a->cond_graph == nullptr || a->body_graph == nullptr) return wrong("a region is missing");
        if (!takes_metas_of(*a->cond_graph, a->inputs) || !takes_metas_of(*a->body_graph, a->inputs))
            return wrong("a region takes other types or shapes than the inputs");
        if (!has_metas_of(a->body_graph->outputs(), a->inputs))
            return wrong("the body gives other types or shapes than it takes");
        const list<value> goes_on = a->cond_graph->outputs();
        if (goes_on.size() != 1 || !is_one_truth(goes_on[0]))
            return wrong("the condition must give one boolean");
    }
    return {};
}

[[nodiscard]] inline result<void> verify_u55(const node& n, const op_facts& facts) {
    const std::pmr::string fault = u55::restriction(facts);
    if (fault.empty()) return {};
    return unsupported({message_prefix(n), fault, "; drop u55 from the target"});
}

}  // namespace detail

/// Checks whether a target takes a node: TOSA 1.0 has the op for these types, the target has the features
/// that they need, zero points are allowed, sizes are within level 8K, metadata matches the op and, for a
/// target with u55, Ethos-U55 executes it. Nodes of the builtin dialect are refused if they are inputs of too
/// high a rank or of a type that TOSA does not have, constants of a type that the target does not have, or
/// opaque. Regions are not entered.
///
/// Fails with `unsupported` if another target or a smaller model would do, and with `invalid` if the graph is
/// wrong.
[[nodiscard]] inline result<void> verify_tosa(const node& n, const target_spec& target) {
    if (is<builtin::output>(n)) return {};
    for (std::size_t i = 0; i != n.operand_count; ++i) {
        if (meta_of(n.operand(i)) == nullptr)
            return invalid({message_prefix(n), "an operand has no metadata"});
    }
    for (const result_slot& r : std::span(n.results, n.result_count)) {
        if (!r.meta) return invalid({message_prefix(n), "a result has no metadata"});
    }
    if (is<builtin::placeholder>(n)) return detail::verify_tosa_input(n);
    if (is<builtin::constant>(n)) {
        const dtype type = n.results[0].meta->dtype;
        const std::pmr::string missing = detail::missing_type_text(type, target);
        if (missing.empty()) return {};
        return unsupported({message_prefix(n), "a constant of ", name_of(type), missing});
    }
    if (!is_of_dialect<tosa::dialect>(n)) {
        return unsupported({message_prefix(n), "is not an operator of TOSA"});
    }
    HEADRACE_TRY(detail::verify_tosa_shapes(n));
    op_facts facts = detail::quick_facts_of(n);
    HEADRACE_TRY(detail::verify_tosa_types(n, facts, target));
    HEADRACE_TRY(detail::verify_tosa_integers(n, facts));
    HEADRACE_TRY(detail::verify_tosa_regions(n));
    HEADRACE_TRY(detail::verify_tosa_level(n, facts));
    if (!target.has(target_feature::u55)) return {};
    detail::add_slow_facts(n, facts);
    return detail::verify_u55(n, facts);
}

/// Returns the first failure among all nodes of a graph and its control-flow regions.
[[nodiscard]] inline result<void> verify_tosa(const graph& g, const target_spec& target) {
    for (const node& n : g.nodes()) {
        HEADRACE_TRY(verify_tosa(n, target));
        for (const field_info& f : *n.op) {
            if (f.kind != field_kind::region) continue;
            const std::byte* at = static_cast<const std::byte*>(n.arguments) + f.offset;
            if (const graph* region = *reinterpret_cast<graph* const*>(at)) {
                HEADRACE_TRY(verify_tosa(*region, target));
            }
        }
    }
    return {};
}

}  // namespace headrace

// ---- headrace/pass/export_pass.hpp ----

namespace headrace {

/// The metadata of the node that a hook handles, other than `val`: its origin, its module stack, and
/// annotations of the exporter or a user. Nodes that a hook creates with it inherit it.
class node_metadata {
public:
    explicit node_metadata(const node& n) : source_(&n) {}

    /// Returns an annotation by its type, such as headrace::module_stack, or null.
    template <class T>
    [[nodiscard]] const T* find() const {
        return source_->find_annotation<T>();
    }
    /// Returns the exported program's name of the node's origin.
    [[nodiscard]] std::string_view origin() const { return origin_name(*source_); }
    /// Returns nn_module_stack as written by the exporter, or an empty string.
    [[nodiscard]] std::string_view stack() const {
        const auto* found = find<module_stack>();
        return found == nullptr ? std::string_view() : found->text;
    }
    [[nodiscard]] const node& source() const { return *source_; }

private:
    const node* source_;
};

/// An operator whose op is known only at run time: the argument of a call_operator for all ops. It has a copy
/// of the arguments, which a hook may change before making a node.
class operator_call {
public:
    explicit operator_call(const node& n) : op_(n.op), source_(&n), arguments_(copy_of(*n.op, n.arguments)) {}

    [[nodiscard]] const op_info& op() const { return *op_; }
    template <op_tag Op>
    [[nodiscard]] bool is() const {
        return op_ == &info_of<Op>;
    }
    /// Returns the arguments if it is of that op, else null.
    template <op_tag Op>
    [[nodiscard]] const args<Op>* args_if() const {
        return is<Op>() ? static_cast<const args<Op>*>(arguments()) : nullptr;
    }
    [[nodiscard]] const void* arguments() const { return arguments_.data(); }

    /// Returns the argument of that name if it is a T, the member's type with its std::optional, else null.
    template <class T>
    [[nodiscard]] const T* find(std::string_view name) const {
        const field_info* f = op_->find(name);
        constexpr field_kind kind = kind_of<typename unwrap_optional<T>::type>;
        if (f == nullptr || f->kind != kind || f->optional != is_optional<T>) return nullptr;
        return reinterpret_cast<const T*>(arguments_.data() + f->offset);
    }
    /// Sets an argument; returns false if the op has no argument of that name and type.
    template <class T>
    bool set(std::string_view name, const T& to) {
        const T* at = find<T>(name);
        if (at == nullptr) return false;
        *const_cast<T*>(at) = to;
        changed_ = true;
        return true;
    }
    /// Changes the op: arguments of the same name and type are kept, others get the new op's defaults.
    void set_op(const op_info& op) {
        bytes to = copy_of(op, op.default_args);
        for (const field_info& f : op) {
            const field_info* known = op_->find(f.name);
            if (known == nullptr || known->kind != f.kind || known->optional != f.optional ||
                known->custom != f.custom)
                continue;
            headrace::detail::visit_field(f, to.data(), [&]<class T>(const T& member) {
                const auto* from = reinterpret_cast<const std::byte*>(arguments_.data()) + known->offset;
                if constexpr (std::is_same_v<T, custom_member>) {
                    std::memcpy(member.at, from, f.custom->size);
                } else {
                    const_cast<T&>(member) = *reinterpret_cast<const T*>(from);
                }
            });
        }
        op_ = &op;
        arguments_ = std::move(to);
        changed_ = true;
    }

    [[nodiscard]] bool changed() const { return changed_; }
    [[nodiscard]] const node& source() const { return *source_; }

private:
    using bytes = pmr_vector<std::byte>;  // aligned for any args by operator new

    static bytes copy_of(const op_info& op, const void* from) {
        const auto* const first = static_cast<const std::byte*>(from);
        return {first, first + op.args_size};
    }

    const op_info* op_;
    const node* source_;
    bytes arguments_;
    bool changed_ = false;
};

/// The return type of `super()` in hooks of an export_pass: the interpreter's default behaviour, which
/// creates a node and returns its value. It is also an emitter: `splat` and `constant` create tensors,
/// `unsupported` refuses the node.
class export_interpreter : public emitter {
public:
    explicit export_interpreter(emitter e, detail::retracing_run* run = nullptr) : emitter(e), run_(run) {}

    /// Creates a node of that op with inferred `val` and the metadata `meta`; if the arguments are those of
    /// the visited node, it is a copy of that node. Returns a value for ops with one result, else a
    /// value_list.
    template <op_tag Op>
    auto call_operator(const args<Op>& a, const node_metadata& meta) {
        node* n = nullptr;
        if (&a == current_node()->arguments && headrace::is<Op>(*current_node())) {
            n = &copy_of_current();
        } else {
            n = with_metadata(meta, [&] { return this->template add<Op>(a); });
        }
        if constexpr (Op::results == 1) {
            return n == nullptr ? value{} : n->result();
        } else {
            return results_of(n);
        }
    }
    /// Creates a node of an op known at run time; its `val` is inferred by the context's rules.
    value_list call_operator(const operator_call& call, const node_metadata& meta) {
        if (!call.changed() && &call.source() == current_node()) return results_of(&copy_of_current());
        const std::size_t count = call.op().results == variadic_results
                                      ? current_node()->result_count
                                      : static_cast<std::size_t>(call.op().results);
        return results_of(with_metadata(meta, [&] { return this->add(call.op(), call.arguments(), count); }));
    }

    /// Creates an input of the graph.
    value placeholder(std::string_view name, const tensor_meta& val, const node_metadata& meta) {
        return made(owner().create<builtin::placeholder>({}, current_node()), name, val, meta);
    }
    /// Creates a tensor that is known before the program runs.
    value get_attr(std::string_view name, const tensor_data& data, const tensor_meta& val,
                   const node_metadata& meta) {
        return made(owner().create<builtin::constant>({.data = data}, current_node()), name, val, meta);
    }
    /// Creates the outputs of the graph.
    void output(std::span<const value> values, const node_metadata& meta) {
        for (const value v : values) {
            if (!v) return;  // a failure, already reported
        }
        node& n = owner().create<builtin::output>({.values = list<value>(values)}, current_node());
        n.annotations = meta.source().annotations;
        has_output_ = true;
    }
    /// Runs this pass on a region.
    void submodule(graph& region) {
        if (run_ != nullptr && status_) status_ = detail::retrace_region(*run_, region);
    }

    /// Gives a value created by the hook a `val` other than the inferred one. Values that depend on the
    /// visited node's `val` are inferred again.
    value set_val(value v, const tensor_meta& val) {
        if (v) owner().set_meta(changed(v), val);
        return v;
    }
    /// Adds metadata to the node of a value created by the hook.
    template <class T>
    value annotate(value v, const T& data) {
        if (v) owner().annotate(*changed(v).producer, data);
        return v;
    }

    /// True if these are the results of an unused copy of the visited node, which can then stay in its place.
    [[nodiscard]] bool is_unchanged(const value_list& results) const {
        if (copy_ == nullptr || copy_->first_use != nullptr || results.size() != copy_->result_count)
            return false;
        for (std::uint32_t i = 0; i != copy_->result_count; ++i) {
            if (!(results[i] == copy_->result(i))) return false;
        }
        return true;
    }
    [[nodiscard]] bool has_output() const { return has_output_; }
    [[nodiscard]] result<void>& status() { return status_; }

private:
    template <class Add>
    node* with_metadata(const node_metadata& meta, Add&& add_node) {
        node* const visited = std::exchange(current_node(), const_cast<node*>(&meta.source()));
        node* const n = add_node();
        current_node() = visited;
        return n;
    }
    value made(node& n, std::string_view name, const tensor_meta& val, const node_metadata& meta) {
        owner().set_meta(n.result(), val);
        owner().set_name(n.result(), name);
        n.annotations = meta.source().annotations;
        return n.result();
    }
    // Always creates a new node, so that nodes which the hook creates later come after it.
    node& copy_of_current() {
        node& n = *current_node();
        copy_ = &owner().create(*n.op, n.arguments, n.result_count, &n);
        std::copy_n(n.results, n.result_count, copy_->results);
        owner().inherit_annotations(*copy_, n);
        return *copy_;
    }
    value changed(value v) {
        if (v.producer == copy_) copy_ = nullptr;
        return v;
    }

    node* copy_ = nullptr;
    detail::retracing_run* run_;
    result<void> status_;
    bool has_output_ = false;
};

/// Names a pass whose hook before the traversal has the wrong signature, in the compile error.
template <class Pass>
struct hook_not_called {};

template <class Diagnosis>
inline constexpr bool hooks_are_called = false;
template <>
inline constexpr bool hooks_are_called<no_fault> = true;

namespace detail {

template <class D, class Op>
concept calls_args = requires(D& d, const args<Op>& a, const node_metadata& m) { d.call_operator(a, m); };
template <class D, class Op>
concept calls_tag =
    requires(D& d, const args<Op>& a, const node_metadata& m) { d.call_operator(Op{}, a, m); };
template <class D>
concept calls_any = requires(D& d, const operator_call& c, const node_metadata& m) { d.call_operator(c, m); };
template <class D>
concept hooks_placeholder = requires(D& d, std::string_view n, const tensor_meta& v, const node_metadata& m) {
    { d.placeholder(n, v, m) } -> std::same_as<value>;
};
template <class D>
concept hooks_get_attr =
    requires(D& d, std::string_view n, const tensor_data& t, const tensor_meta& v, const node_metadata& m) {
        { d.get_attr(n, t, v, m) } -> std::same_as<value>;
    };
template <class D>
concept hooks_output = requires(D& d, std::span<const value> v, const node_metadata& m) { d.output(v, m); };
template <class D>
concept hooks_call = requires(D& d, graph& g, pass_context& c) {
    { d.call(g, c) } -> std::same_as<result<void>>;
};
template <class D>
concept names_call = requires { &D::call; };
template <class D>
concept hooks_submodule = requires(D& d, graph& g, const node_metadata& m) { d.submodule(g, m); };

// Detects a member of that name, overloaded or not: the name is then ambiguous in a class that also derives
// from this one.
struct has_call_operator {
    int call_operator;
};
template <class D>
struct call_operator_probe : D, has_call_operator {};
template <class D>
concept names_call_operator = !requires { &call_operator_probe<D>::call_operator; };

/// Adapts the hooks of an interpreter to the drivers' handlers.
template <class D>
struct export_hooks {
    using targets = typename listed_targets<D>::type;

    /// Calls `hook(D&)` with an interpreter that `super()` returns.
    template <class Hook>
    static auto with_super(const void* pass, export_interpreter& e, Hook&& hook) {
        auto& self = *const_cast<D*>(static_cast<const D*>(pass));
        return self.with_super(e, [&] { return hook(self); });
    }
    template <class Returned>
    static outcome_kind give(const export_interpreter& e, const Returned& returned, value_list& with) {
        append(with, returned);
        if (e.failed()) return outcome_kind::failed;
        return e.is_unchanged(with) ? outcome_kind::kept : outcome_kind::replaced;
    }

    template <class Op>
    static outcome_kind call(const void* pass, emitter any, value_list& with) {
        export_interpreter e(any);
        const node& n = e.current();
        const node_metadata meta(n);
        return give(e,
                    with_super(pass, e,
                               [&](D& self) {
                                   if constexpr (calls_args<D, Op>) {
                                       return self.call_operator(args_of<Op>(n), meta);
                                   } else if constexpr (calls_tag<D, Op>) {
                                       return self.call_operator(Op{}, args_of<Op>(n), meta);
                                   } else if constexpr (calls_any<D>) {
                                       return self.call_operator(operator_call(n), meta);
                                   } else {
                                       return value_list{};  // run() has refused it
                                   }
                               }),
                    with);
    }
    static outcome_kind call_fallback(const void* pass, emitter any, value_list& with) {
        export_interpreter e(any);
        const node& n = e.current();
        return give(
            e,
            with_super(pass, e,
                       [&](D& self) { return self.call_operator(operator_call(n), node_metadata(n)); }),
            with);
    }
    static outcome_kind call_placeholder(const void* pass, emitter any, value_list& with) {
        export_interpreter e(any);
        const node& n = e.current();
        return give(e,
                    with_super(pass, e,
                               [&](D& self) {
                                   return self.placeholder(n.name(), e.result_meta(), node_metadata(n));
                               }),
                    with);
    }
    static outcome_kind call_get_attr(const void* pass, emitter any, value_list& with) {
        export_interpreter e(any);
        const node& n = e.current();
        return give(e,
                    with_super(pass, e,
                               [&](D& self) {
                                   return self.get_attr(n.name(), args_of<builtin::constant>(n).data,
                                                        e.result_meta(), node_metadata(n));
                               }),
                    with);
    }
    // A hook that does not call super().output leaves the outputs unchanged.
    static outcome_kind call_output(const void* pass, emitter any, value_list&) {
        export_interpreter e(any);
        const node& n = e.current();
        const list<value> values = args_of<builtin::output>(n).values;
        with_super(pass, e,
                   [&](D& self) { self.output(std::span(values.data(), values.size()), node_metadata(n)); });
        if (e.failed()) return outcome_kind::failed;
        return e.has_output() ? outcome_kind::replaced : outcome_kind::kept;
    }
    static result<void> call_submodule(const void* pass, retracing_run& run, graph& region, node& holder,
                                       pass_context& context) {
        emission made(*holder.owner, &holder, &holder, context);
        export_interpreter e(emitter(made), &run);
        if constexpr (hooks_submodule<D>) {
            with_super(pass, e, [&](D& self) { self.submodule(region, node_metadata(holder)); });
        } else {
            e.submodule(region);
        }
        return std::move(e.status());
    }

    template <class Op>
    static constexpr bool is_called = calls_args<D, Op> || calls_tag<D, Op> || calls_any<D>;

    template <class... Ops>
    static auto find_missing(ops<Ops...>) {
        constexpr bool called[] = {is_called<Ops>..., false};
        constexpr std::size_t at = [&] {
            std::size_t i = 0;
            while (called[i]) ++i;
            return i;
        }();
        if constexpr (at == sizeof...(Ops)) {
            return no_fault{};
        } else {
            return no_handler<D, typename type_at<at, ops<Ops...>>::type>{};
        }
    }
    using missing = decltype(find_missing(targets{}));
    using wrong_call = std::conditional_t<names_call<D> && !hooks_call<D>, hook_not_called<D>, no_fault>;
    using uncalled = std::conditional_t<names_call_operator<D> && targets::size == 0 && !calls_any<D>,
                                        no_targets<D>, no_fault>;

    template <class... Ops>
    static constexpr auto handlers_for(ops<Ops...>) {
        constexpr std::size_t interface =
            std::size_t{hooks_placeholder<D>} + hooks_get_attr<D> + hooks_output<D>;
        std::array<handler, sizeof...(Ops) + interface> all{{{&info_of<Ops>, &call<Ops>}...}};
        [[maybe_unused]] std::size_t next = sizeof...(Ops);
        if constexpr (hooks_placeholder<D>) all[next++] = {&info_of<builtin::placeholder>, &call_placeholder};
        if constexpr (hooks_get_attr<D>) all[next++] = {&info_of<builtin::constant>, &call_get_attr};
        if constexpr (hooks_output<D>) all[next++] = {&info_of<builtin::output>, &call_output};
        return all;
    }
    static constexpr auto fallback_or_none() {
        if constexpr (calls_any<D> && targets::size == 0) {
            return handler{nullptr, &call_fallback};
        } else {
            return handler{};
        }
    }
};

}  // namespace detail

/// Base of an interpreter: a pass that visits the graph in execution order and decides what becomes of each
/// node.
///
///     struct replace_add : export_pass<replace_add> {
///         using targets = ops<aten::add_tensor>;
///         value call_operator(const args<aten::add_tensor>& a, const node_metadata& meta) {
///             const value product = super().call_operator<aten::mul_tensor>({a.self, a.other}, meta);
///             return super().call_operator<aten::sub_tensor>({product, a.other}, meta);
///         }
///     };
///     replace_add()(graph, context);
///
/// All hooks are optional; `super()` has the interpreter's own version of each:
///
/// - for each op of `targets`, `value call_operator(const args<Op>& a, const node_metadata& meta)`, or for a
///   family of them a template `value call_operator(Op, const args<Op>& a, const node_metadata& meta)`;
/// - for ops by run time, `value_list call_operator(const operator_call& call, const node_metadata& meta)`;
/// - `value placeholder(std::string_view name, const tensor_meta& val, const node_metadata& meta)`;
/// - `value get_attr(std::string_view name, const tensor_data& data, const tensor_meta& val,
///   const node_metadata& meta)`;
/// - `void output(std::span<const value> values, const node_metadata& meta)`;
/// - `void submodule(graph& region, const node_metadata& meta)`;
/// - `result<void> require(const graph&) const` and `result<void> ensure(const graph&) const`;
/// - `result<void> call(graph& g, pass_context& context)`, which edits the graph before the traversal: nodes
///   that it adds without `val` are dispatched in full;
/// - `bool should_run(const graph&) const` or `bool should_run(const graph&, bool has_targets) const`, see
///   headrace::is_due: if it returns false, the pass is only checked, not run.
///
/// The call_operator for ops known at run time handles the `targets` without another one; in a pass without
/// targets it handles every operator. Nodes that are not targets are copied, unless their `val` is missing or
/// depends on one that a hook changed: those are inferred again by the context's rules. So a pass may change
/// types, including shapes.
///
/// Hooks may change members. A constant pass is copied for the run and does not keep such changes.
template <class Derived>
class export_pass : public pass {
public:
    using checks_itself = void;

    /// Runs the pass without asking should_run.
    result<node_counts> run(graph& g, pass_context& context) const {
        Derived copy(static_cast<const Derived&>(*this));
        return static_cast<export_pass&>(copy).run(g,
                                                   context);  // a pass may have a `run` that calls this one
    }
    // Both overloads repeat the assertions: another call level would add three lines to the error.
    result<node_counts> run(graph& g, pass_context& context) {
        using hooks = detail::export_hooks<Derived>;
        static_assert(handlers_complete<typename hooks::missing>,
                      "export_pass: a target has no call_operator; see no_handler<Pass, Op>, add one");
        static_assert(
            hooks_are_called<typename hooks::uncalled>,
            "export_pass: nothing would call its call_operator; see no_targets<Pass>, list its ops there");
        static_assert(hooks_are_called<typename hooks::wrong_call>,
                      "export_pass: its hook `call` has the wrong signature; see hook_not_called<Pass>, "
                      "take graph& and pass_context&");
        return interpret(g, context);
    }
    result<std::size_t> operator()(graph& g, pass_context& context) {
        using hooks = detail::export_hooks<Derived>;
        static_assert(handlers_complete<typename hooks::missing>,
                      "export_pass: a target has no call_operator; see no_handler<Pass, Op>, add one");
        static_assert(
            hooks_are_called<typename hooks::uncalled>,
            "export_pass: nothing would call its call_operator; see no_targets<Pass>, list its ops there");
        static_assert(hooks_are_called<typename hooks::wrong_call>,
                      "export_pass: its hook `call` has the wrong signature; see hook_not_called<Pass>, "
                      "take graph& and pass_context&");
        const auto& self = static_cast<const Derived&>(*this);
        if (!is_due(self, g, context)) return rewritten(detail::run_checks_alone(self, g));
        return rewritten(interpret(g, context));
    }
    result<std::size_t> operator()(graph& g, pass_context& context) const {
        const auto& self = static_cast<const Derived&>(*this);
        if (!is_due(self, g, context)) return rewritten(detail::run_checks_alone(self, g));
        return rewritten(export_pass::run(g, context));
    }

protected:
    /// Returns the interpreter. Only hooks may call it.
    [[nodiscard]] export_interpreter& super() const { return *super_; }

private:
    friend struct detail::export_hooks<Derived>;
    using handler = detail::handler;

    result<node_counts> interpret(graph& g, pass_context& context) {
        using hooks = detail::export_hooks<Derived>;
        static constexpr auto handlers = hooks::handlers_for(typename hooks::targets{});
        static constexpr handler fallback = hooks::fallback_or_none();
        const detail::erased_pass erased{.object = static_cast<Derived*>(this),
                                         .name = pass_name<Derived>(),
                                         .handlers = handlers,
                                         .in_execution_order = true,
                                         .fallback = fallback.call == nullptr ? nullptr : &fallback,
                                         .changes_metadata = true,
                                         .submodule = &hooks::call_submodule};
        return detail::run_checked(static_cast<const Derived&>(*this), g, [&]() -> result<node_counts> {
            if constexpr (detail::hooks_call<Derived>) {
                HEADRACE_TRY(static_cast<Derived*>(this)->call(g, context));
            }
            return detail::run_handlers(erased, g, context, driver_kind::retracing);
        });
    }

    template <class Hook>
    auto with_super(export_interpreter& e, Hook&& hook) {
        struct restore {
            export_pass& self;
            export_interpreter* outer;
            ~restore() { self.super_ = outer; }
        } const at_end{*this, std::exchange(super_, &e)};
        return hook();
    }
    static result<std::size_t> rewritten(const result<node_counts>& counts) {
        if (!counts) return counts.error();
        return counts.value().rewritten;
    }

    export_interpreter* super_ = nullptr;
};

}  // namespace headrace

// ---- headrace/pass/fused_sweeps.hpp ----

namespace headrace {

namespace detail {

// True if each rewrite of a pass is a rule of one op, which reads only arguments and types of operands.
template <class List>
inline constexpr bool only_rules_of_one_op = false;
template <class... Rules>
inline constexpr bool only_rules_of_one_op<rule_list<Rules...>> =
    sizeof...(Rules) != 0 && (is_of_one_op<Rules> && ...);

template <class P>
inline constexpr bool looks_at_its_node_alone = [] {
    if constexpr (requires { P::looks_at_its_node_alone; }) {
        return P::looks_at_its_node_alone;
    } else {
        return only_rules_of_one_op<rules_of<P>> &&
               listed_targets<P>::type::size == list_facts<rules_of<P>>::targets::size;
    }
}();

}  // namespace detail

/// Matches passes that can share a sweep: their effect on a node depends only on that node and the types of
/// its operands. This is assumed for passes of rules. `static constexpr bool looks_at_its_node_alone`
/// overrides it: false for a rule that reads the producer of an operand, true for handlers that read only
/// their node.
template <class P>
concept shares_sweeps = pass_type<P> && effects_of<P>::sound && !graph_pass<P> && !decides_itself<P> &&
                        !has_requirement<P> && !has_guarantee<P> && std::is_empty_v<P> &&
                        targets_of<P>::size != 0 && detail::looks_at_its_node_alone<P> &&
                        !effects_of<P>::target_set.template contains<builtin::placeholder>();

/// The statistics of a run. The record of a pass that shared an earlier pass's sweep has no node counts.
struct fused_statistics {
    run_statistics passes{};
    std::size_t sweeps = 0;  ///< of handlers over the graph
};

/// Runs a static pipeline with the retracing driver, with several passes in one sweep if the compiler has
/// found that they do not interact: no pass makes or targets an op that a later one targets, and all of them
/// satisfy shares_sweeps. Nodes that none of them targets are copied once. The result is the same graph as
/// that of Pipeline::run_unchecked.
///
/// For example, passes that rewrite silu and addmm share a sweep unless the first makes an op that the second
/// targets. This is for interpreters, whose sweeps dispatch every node, as without fast copies. Here a copied
/// node costs a few nanoseconds, and all sweeps of a pipeline a few percent of its time.
template <class Pipeline>
class fused_sweeps {
    static constexpr std::size_t size = Pipeline::size;
    static constexpr std::size_t words = (size + 63) / 64;
    using mask = std::array<std::uint64_t, words == 0 ? 1 : words>;
    using set_type = std::remove_cvref_t<decltype(Pipeline::ops_before(0))>;

    // Plain words, because the compiler evaluates every operation on ten thousand pairs.
    struct pass_effects {
        std::uint64_t targets[set_type::word_count] = {};
        std::uint64_t made_or_targeted[set_type::word_count] = {};
    };
    template <class P>
    static constexpr pass_effects effects_of_pass() {
        const detail::effect_sets<set_type> sets = detail::effects_over<set_type, P>();
        pass_effects found;
        for (std::size_t w = 0; w != set_type::word_count; ++w) {
            found.targets[w] = sets.targets.words()[w];
            found.made_or_targeted[w] = sets.targets.words()[w] | sets.produced.words()[w];
        }
        return found;
    }
    template <class... Ps>
    static constexpr std::array<pass_effects, sizeof...(Ps)> effects_of_all(pass_list<Ps...>) {
        return {effects_of_pass<Ps>()...};
    }
    static constexpr bool has(const mask& m, std::size_t i) { return (m[i / 64] >> i % 64 & 1) != 0; }

public:
    /// For each pass, the earlier passes with which it interacts.
    static constexpr std::array<mask, size> conflicts = [] {
        std::array<mask, size> found{};
        const auto all = effects_of_all(typename Pipeline::passes{});
        for (std::size_t k = 0; k != size; ++k) {
            const pass_effects& later = all[k];
            for (std::size_t i = 0; i != k; ++i) {
                const pass_effects& earlier = all[i];
                std::uint64_t common = 0;
                for (std::size_t w = 0; w != set_type::word_count; ++w)
                    common |= later.targets[w] & earlier.made_or_targeted[w];
                if (common != 0) found[k][i / 64] |= std::uint64_t{1} << i % 64;
            }
        }
        return found;
    }();
    [[nodiscard]] static constexpr bool interact(std::size_t earlier, std::size_t later) {
        return has(conflicts[later], earlier);
    }

    /// Runs the passes like Pipeline::run_unchecked with the retracing driver. `options.driver` and
    /// `after_pass` have no effect.
    [[nodiscard]] static result<fused_statistics> run(graph& g, pass_context& context,
                                                      const run_options& options = {}) {
        fused_sweeps sweeps(g, context, options);
        return sweeps.run_all(typename Pipeline::passes{}, std::make_index_sequence<size>{});
    }

private:
    fused_sweeps(graph& g, pass_context& context, const run_options& options)
        : g_(g), context_(context), options_(options) {
        done_.passes.resize(size);
    }

    template <class... Ps, std::size_t... I>
    result<fused_statistics> run_all(pass_list<Ps...>, std::index_sequence<I...>) {
        result<void> status;
        static_cast<void>((((status = step<I, Ps>()), status.has_value()) && ...));
        if (status) status = flush();
        if (!status) return std::move(status).error();
        return std::move(done_);
    }

    template <std::size_t I, class P>
    result<void> step() {
        pass_record& record = done_.passes[I];
        record.name = Pipeline::pass_names[I];
        if constexpr (Pipeline::can_fire(I)) {
            // Whether the pass has work is known only after the passes that it interacts with.
            if (effects_of<P>::always_runs || decides_itself<P> || meets_pending<I>()) {
                HEADRACE_TRY(flush());
            }
            constexpr pipeline_steps all = Pipeline::steps();
            record.status = all.decide(all.steps[I], g_, context_, options_);
            if (record.status != pass_status::ran) return {};
            if constexpr (shares_sweeps<P>) {
                join<I, P>();
            } else {
                HEADRACE_TRY(flush());
                HEADRACE_TRY(counts, pass_code<P>::run(P{}, g_, context_, driver_kind::retracing));
                record.nodes = counts;
                if constexpr (!graph_pass<P>) ++done_.sweeps;
            }
        }
        return {};
    }
    template <std::size_t I>
    [[nodiscard]] bool meets_pending() const {
        for (std::size_t w = 0; w != pending_.size(); ++w) {
            if ((pending_[w] & conflicts[I][w]) != 0) return true;
        }
        return false;
    }
    template <std::size_t I, class P>
    void join() {
        if (handlers_.empty()) first_ = I;
        pending_[I / 64] |= std::uint64_t{1} << I % 64;
        const auto& own = detail::handlers_in<P, targets_of<P>>::value;
        handlers_.insert(handlers_.end(), own.begin(), own.end());
    }

    // Runs one sweep for all pending passes.
    result<void> flush() {
        if (handlers_.empty()) return {};
        // Passes without members need no object.
        const detail::erased_pass all{this, Pipeline::pass_names[first_], handlers_, true};
        HEADRACE_TRY(counts, detail::run_handlers(all, g_, context_, driver_kind::retracing));
        done_.passes[first_].nodes = counts;
        ++done_.sweeps;
        handlers_.clear();
        pending_ = {};
        return {};
    }

    graph& g_;
    pass_context& context_;
    const run_options& options_;
    fused_statistics done_;
    pmr_vector<detail::handler> handlers_;
    mask pending_{};
    std::size_t first_ = 0;
};

}  // namespace headrace

// ---- headrace/pass/op_map.hpp ----

#ifndef HEADRACE_PASS_OP_MAP_HPP
#define HEADRACE_PASS_OP_MAP_HPP

namespace headrace {

/// One entry of an op_map.
template <op_tag From, op_tag To>
struct becomes {};

/// `using table = op_map<becomes<aten::exp, tosa::exp>, …>; using targets = table::keys; … table::at<Op>`
template <class... Entries>
struct op_map;
template <class... From, class... To>
struct op_map<becomes<From, To>...> {
    // Overload resolution finds the entry of a key: there is one base class per entry.
    struct entries : std::type_identity<becomes<From, To>>... {};
    template <class Key, class Mapped>
    static Mapped find(const std::type_identity<becomes<Key, Mapped>>&);

    using keys = ops<From...>;
    using values = joined<ops<To...>>;  // without duplicates
    template <class Key>
    using at = decltype(find<Key>(entries{}));
};

}  // namespace headrace

#endif

// ---- headrace/pass/pass_manager.hpp ----

namespace headrace {

namespace detail {

/// The ops of one dialect that a pass targets, as bits.
struct target_mask {
    const dialect_info* dialect;
    std::span<const std::uint64_t> words;
};

template <class P, class Set>
struct target_masks;
template <class P, class... Ds>
struct target_masks<P, op_set<Ds...>> {
    static constexpr std::array<target_mask, sizeof...(Ds)> value{
        {{&info_of_dialect<Ds>,
          {effects_of<P>::target_set.words().data() +
               op_set<Ds...>::first_word(op_set<Ds...>::template position_of<Ds>()),
           words_for(Ds::size)}}...}};
};

template <class List>
struct names_of_passes;
template <class... Ps>
struct names_of_passes<pass_list<Ps...>> {
    static constexpr std::array<std::string_view, sizeof...(Ps)> value{pass_name<Ps>()...};
};
// True if a pass has no members: it needs no object, and is created where it runs. A declared pass may be
// incomplete.
template <class P>
inline constexpr bool has_no_state = [] {
    if constexpr (is_declared<P>) {
        return !declared_pass<P>::has_options;
    } else {
        return std::is_empty_v<P> && std::is_default_constructible_v<P>;
    }
}();
template <class P>
inline constexpr bool can_be_made = [] {
    if constexpr (has_no_state<P>) {
        return true;
    } else {
        return std::is_default_constructible_v<P>;
    }
}();

template <class P>
result<node_counts> run_erased(const void* object, graph& g, pass_context& context, driver_kind driver) {
    if constexpr (has_no_state<P>) {
        return pass_code<P>::run_default(g, context, driver);
    } else {
        return pass_code<P>::run(*static_cast<const P*>(object), g, context, driver);
    }
}
// The caller has already checked for targets, unless the pass replaces that test.
template <class P>
bool should_run_erased(const void* object, const graph& g) {
    const bool has_targets =
        !replaces_skip_test<P> || targets_of<P>::size == 0 || has_any_of(g, infos_in<targets_of<P>>::value);
    if constexpr (has_no_state<P>) {
        return pass_code<P>::should_run(g, has_targets);
    } else if constexpr (replaces_skip_test<P>) {
        return static_cast<const P*>(object)->should_run(g, has_targets);
    } else {
        return static_cast<const P*>(object)->should_run(g);
    }
}
template <class P>
constexpr auto should_run_or_null() -> bool (*)(const void*, const graph&) {
    if constexpr (decides_itself<P>) {
        return &should_run_erased<P>;
    } else {
        return nullptr;
    }
}

}  // namespace detail

/// A pass at run time: the facts of its type, as data. `object` is null for passes without state.
struct pass_info {
    std::string_view name;
    std::string_view summary;
    bool always_runs;  ///< it has no targets, or does not depend on them
    bool whole_graph;
    bool stateless;
    std::span<const detail::target_mask> targets;
    std::span<const std::string_view> requires_before;
    std::span<const std::string_view> requires_after;
    std::span<const std::string_view> ensures;
    result<node_counts> (*run)(const void* object, graph& g, pass_context& context, driver_kind driver);
    bool (*should_run)(const void* object, const graph& g);  ///< null if only its targets decide
};

template <pass_type P>
inline constexpr pass_info info_of_pass = [] {
    static_assert(is_a_pass<pass_fault<P>>,
                  "pass: a type is not one; see not_a_pass<T>, derive it from headrace::pass");
    static_assert(
        lists_are_lists<pass_fault<P>>,
        "pass: one of its lists is none; see not_a_list<Pass, Member, T>, write ops<…> or pass_list<…>");
    static_assert(rewrites_are_rules<pass_fault<P>>,
                  "pass: rewrites() gives no rules; see no_rules<Pass, Result>, return rules(…), from a "
                  "static function");
    static_assert(rule_takes_operands<pass_fault<P>>,
                  "rule: its callable does not take the operands; see not_callable_with<Op>, list them in "
                  "order");
    static_assert(calls_fit<pass_fault<P>>,
                  "rule: a call or a pattern's node does not fit its op; see the diagnosis, fix that");
    static_assert(node_is_in_pattern<pass_fault<P>>,
                  "match: the pattern has no node of that name; see not_in_pattern<Name, Names>, name one");
    static_assert(rule_gives_results<pass_fault<P>>,
                  "rule: it does not return an expression for each result; see the diagnosis, return those");
    static_assert(handlers_complete<pass_fault<P>>,
                  "pass: a target has no handler; see no_handler<Pass, Op>, add one");
    static_assert(handlers_are_const<pass_fault<P>>,
                  "pass: a handler is not const; see handler_not_const<Pass, Op>, make it const");
    static_assert(
        handlers_fit<pass_fault<P>>,
        "pass: a handler has the wrong parameters; see wrong_handler<Pass, Op, Handler>, take const "
        "args<Op>&, emit<…>&");
    static_assert(handlers_have_targets<pass_fault<P>>,
                  "pass: it has handlers but no targets; see no_targets<Pass>, list them in `targeted_ops`");
    static_assert(
        is_defined<code_fault_of<P>>,
        "pass: its code is not here; see only_declared<Pass>, include passes/definitions.hpp or its header");
    static_assert(
        results_are_values<faulty_handler_of<P>>,
        "pass: a handler's result cannot replace a node; see wrong_result<Pass, Op, Result>, return values");
    static_assert(results_are_inferred<inference_fault_of<P>>,
                  "emit: an op has no infer_results; see no_inference<Op>, declare it beside the op");
    return pass_info{
        pass_name<P>(),
        pass_summary<P>(),
        effects_of<P>::always_runs,
        graph_pass<P>,
        detail::has_no_state<P>,
        detail::target_masks<P, std::remove_const_t<decltype(effects_of<P>::target_set)>>::value,
        detail::names_of_passes<detail::order_list_of<P, detail::order_list::requires_before>>::value,
        detail::names_of_passes<detail::order_list_of<P, detail::order_list::requires_after>>::value,
        detail::names_of_passes<detail::order_list_of<P, detail::order_list::ensures>>::value,
        &detail::run_erased<P>,
        detail::should_run_or_null<P>()};
}();

/// Matches functions that can be used as a pass: `result<std::size_t>(graph&, pass_context&)`.
template <class F>
concept graph_function =
    !pass_type<F> && std::is_invocable_r_v<result<std::size_t>, const F&, graph&, pass_context&>;

/// Any pass of a static pipeline, or a named function over a graph, as a value. Copies share the pass.
class any_pass {
public:
    template <pass_type P>
    any_pass(P p) : any_pass(info_of_pass<P>) {  // implicit, so that passes convert
        if constexpr (!detail::has_no_state<P>) object_ = std::make_shared<const P>(std::move(p));
    }
    /// For a pass without state.
    explicit any_pass(const pass_info& info) : info_(&info), name_(info.name) {}
    /// With a name other than its type's, needed for two passes of one type.
    template <pass_type P>
    any_pass(std::pmr::string name, P p) : any_pass(std::move(p)) {
        name_ = std::move(name);
    }
    /// `f` returns the number of rewritten nodes.
    template <graph_function F>
    any_pass(std::pmr::string name, F f) : any_pass(function_pass{std::move(f)}) {
        name_ = std::move(name);
    }

    [[nodiscard]] std::string_view name() const { return name_; }
    [[nodiscard]] const pass_info& info() const { return *info_; }

    /// True if it has the wanted name or ensures the wanted property.
    [[nodiscard]] bool provides(std::string_view wanted) const {
        return name_ == wanted ||
               std::find(info_->ensures.begin(), info_->ensures.end(), wanted) != info_->ensures.end();
    }

    /// The skip test: true if the graph, including nested regions, has a target of the pass.
    [[nodiscard]] bool has_targets(const graph& g) const {
        for (const detail::target_mask& mask : info_->targets) {
            const auto present = g.census().present(*mask.dialect);
            for (std::size_t w = 0; w != present.size(); ++w) {
                if ((mask.words[w] & present[w]) != 0) return true;
            }
        }
        return false;
    }
    [[nodiscard]] pass_status decide(const graph& g) const {
        if (!info_->always_runs && !has_targets(g)) return pass_status::no_target;
        if (info_->should_run != nullptr && !info_->should_run(object_.get(), g))
            return pass_status::declined;
        return pass_status::ran;
    }
    [[nodiscard]] result<node_counts> run(graph& g, pass_context& context,
                                          driver_kind driver = driver_kind::in_place) const {
        return info_->run(object_.get(), g, context, driver);
    }

private:
    struct function_pass : pass {
        explicit function_pass(std::function<result<std::size_t>(graph&, pass_context&)> f)
            : function(std::move(f)) {}
        result<std::size_t> operator()(graph& g, pass_context& c) const { return function(g, c); }
        std::function<result<std::size_t>(graph&, pass_context&)> function;
    };

    const pass_info* info_;
    std::shared_ptr<const void> object_;
    std::pmr::string name_;
};

/// Passes that can be chosen by name. Names are unique: a pass that a pipeline runs twice is listed once.
class pass_registry {
public:
    pass_registry() = default;
    /// All passes of a list, such as that of a pipeline: `pass_registry(standard_lowering<E>::passes{})`.
    template <pass_type... Ps>
    explicit pass_registry(pass_list<Ps...>) {
        static_assert((detail::can_be_made<Ps> && ...),
                      "pass_registry: a pass in the list cannot be default-constructed; add an object");
        const auto make = [this]<class P>() {
            if constexpr (detail::has_no_state<P>) {
                add(any_pass(info_of_pass<P>));
            } else if constexpr (detail::can_be_made<P>) {
                add(P{});
            }
        };
        static_cast<void>(make);
        (make.template operator()<Ps>(), ...);
    }

    /// Returns false if there is already a pass of that name, which stays.
    bool add(any_pass p) {
        if (find(p.name()) != nullptr) return false;
        passes_.push_back(std::move(p));
        return true;
    }
    [[nodiscard]] const any_pass* find(std::string_view name) const {
        for (const any_pass& p : passes_) {
            if (p.name() == name) return &p;
        }
        return nullptr;
    }
    [[nodiscard]] std::span<const any_pass> passes() const { return passes_; }

    /// Returns the names most similar to `name`, best first.
    [[nodiscard]] pmr_vector<std::string_view> closest(std::string_view name, std::size_t count = 3) const;

    /// Returns the passes of a list like "a,b,c". For an unknown name, the error suggests the closest names.
    [[nodiscard]] result<pmr_vector<any_pass>> select(std::string_view names) const {
        pmr_vector<any_pass> chosen;
        while (!names.empty()) {
            const std::string_view name = names.substr(0, names.find(','));
            names.remove_prefix(std::min(names.size(), name.size() + 1));
            if (name.empty()) continue;
            const any_pass* found = find(name);
            if (found == nullptr) return unknown(name);
            chosen.push_back(*found);
        }
        return chosen;
    }

private:
    [[nodiscard]] error unknown(std::string_view name) const {
        std::pmr::string text = text_of({"no pass is called '", name, "'"});
        const char* separator = "; did you mean ";
        for (const std::string_view near : closest(name)) {
            text += separator + std::pmr::string(near);
            separator = ", ";
        }
        return invalid(std::move(text));
    }

    pmr_vector<any_pass> passes_;
};

namespace detail {

/// Returns the number of letters to insert, remove or change to turn one word into the other.
[[nodiscard]] inline std::size_t edit_distance(std::string_view a, std::string_view b) {
    pmr_vector<std::size_t> row(b.size() + 1);
    std::iota(row.begin(), row.end(), std::size_t{0});
    for (std::size_t i = 0; i != a.size(); ++i) {
        std::size_t diagonal = row[0]++;
        for (std::size_t k = 0; k != b.size(); ++k) {
            const std::size_t changed = diagonal + (a[i] == b[k] ? 0 : 1);
            diagonal = row[k + 1];
            row[k + 1] = std::min({changed, row[k] + 1, row[k + 1] + 1});
        }
    }
    return row[b.size()];
}

/// Orders passes by their constraints, and otherwise keeps the given order: the next pass is always the first
/// that may run. For example, if b requires a before it, the list "b, c, a" becomes "c, a, b". A requirement
/// may be met by any of several passes, so it is not an edge of a graph: a pass waits until one of its
/// providers has run.
class pass_order {
public:
    using constraint =
        std::pair<std::pmr::string, std::pmr::string>;  ///< every pass of that name before every other

    pass_order(std::span<const any_pass> passes, std::span<const constraint> constraints)
        : passes_(passes), constraints_(constraints), placed_(passes.size(), false) {}

    [[nodiscard]] result<pmr_vector<std::size_t>> solve() {
        HEADRACE_TRY(check_provided());
        pmr_vector<std::size_t> order;
        while (order.size() != passes_.size()) {
            std::size_t next = 0;
            while (next != passes_.size() && (placed_[next] || blocker_of(next))) ++next;
            if (next == passes_.size()) return cycle();
            placed_[next] = true;
            order.push_back(next);
        }
        return order;
    }

private:
    [[nodiscard]] bool provided(std::string_view wanted, std::size_t except) const {
        for (std::size_t i = 0; i != passes_.size(); ++i) {
            if (i != except && passes_[i].provides(wanted)) return true;
        }
        return false;
    }
    [[nodiscard]] result<void> check_provided() const {
        for (std::size_t i = 0; i != passes_.size(); ++i) {
            const pass_info& info = passes_[i].info();
            for (const auto& names : {info.requires_before, info.requires_after}) {
                for (const std::string_view wanted : names) {
                    if (!provided(wanted, i)) {
                        return invalid({"pass ", passes_[i].name(), " requires ", wanted,
                                        ", which no pass in the list ensures"});
                    }
                }
            }
        }
        return {};
    }

    /// Returns a pass that must run before that one and has not been placed yet.
    [[nodiscard]] std::optional<std::size_t> blocker_of(std::size_t i) const {
        for (const std::string_view wanted : passes_[i].info().requires_before) {
            if (const auto missing = missing_provider(wanted, i)) return missing;
        }
        for (std::size_t k = 0; k != passes_.size(); ++k) {
            if (placed_[k] || k == i) continue;
            if (is_last_for(i, k)) return k;
            for (const auto& [first, second] : constraints_) {
                if (passes_[k].name() == first && passes_[i].name() == second) return k;
            }
        }
        return std::nullopt;
    }
    [[nodiscard]] std::optional<std::size_t> missing_provider(std::string_view wanted, std::size_t i) const {
        std::optional<std::size_t> missing;
        for (std::size_t k = 0; k != passes_.size(); ++k) {
            if (k == i || !passes_[k].provides(wanted)) continue;
            if (placed_[k]) return std::nullopt;
            if (!missing) missing = k;
        }
        return missing;
    }
    /// True if `i` is the only remaining pass that provides a requirement of `k` for later passes.
    [[nodiscard]] bool is_last_for(std::size_t i, std::size_t k) const {
        for (const std::string_view wanted : passes_[k].info().requires_after) {
            if (!passes_[i].provides(wanted)) continue;
            bool other = false;
            for (std::size_t j = 0; j != passes_.size(); ++j)
                other = other || (!placed_[j] && j != i && j != k && passes_[j].provides(wanted));
            if (!other) return true;
        }
        return false;
    }

    /// Every remaining pass has a blocker, so following blockers leads to a cycle.
    [[nodiscard]] error cycle() const {
        pmr_vector<std::size_t> path;
        std::size_t at =
            static_cast<std::size_t>(std::find(placed_.begin(), placed_.end(), false) - placed_.begin());
        while (std::find(path.begin(), path.end(), at) == path.end()) {
            path.push_back(at);
            at = *blocker_of(at);
        }
        path.erase(path.begin(), std::find(path.begin(), path.end(), at));
        std::pmr::string text = text_of({"the passes cannot be put in order: ", passes_[at].name()});
        while (!path.empty()) {
            text += text_of({" must run before ", passes_[path.back()].name()});
            if (path.size() != 1) text += ", which";
            path.pop_back();
        }
        return invalid(std::move(text));
    }

    std::span<const any_pass> passes_;
    std::span<const constraint> constraints_;
    pmr_vector<bool> placed_;
};

}  // namespace detail

inline pmr_vector<std::string_view> pass_registry::closest(std::string_view name, std::size_t count) const {
    pmr_vector<std::pair<std::size_t, std::string_view>> ranked;
    const std::size_t most = std::max<std::size_t>(3, name.size() / 2);
    for (const any_pass& p : passes_) {
        const bool part = !name.empty() && p.name().find(name) != std::string_view::npos;
        const std::size_t distance = part ? 0 : detail::edit_distance(name, p.name());
        if (distance <= most) ranked.emplace_back(distance, p.name());
    }
    std::stable_sort(ranked.begin(), ranked.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    if (ranked.size() > count) ranked.resize(count);
    pmr_vector<std::string_view> names;
    for (const auto& [distance, near] : ranked) names.push_back(near);
    return names;
}

/// Options of a pass manager.
struct pass_manager_options {
    bool run_checks_after_each_pass = false;  ///< if false, once after all passes
    bool suppress_check_failures = false;     ///< failed checks are recorded and do not stop the run
    std::size_t steps = 1;                    ///< how often the whole list runs
    run_options run{};                        ///< as for static pipelines
};

/// A pipeline whose passes are chosen at run time. It takes the passes of static pipelines, but the compiler
/// proves nothing about it (such as that every op is lowered), so checks state what must hold. Order
/// constraints are solved before the first run.
class pass_manager {
public:
    using check = std::function<result<void>(const graph& g)>;

    explicit pass_manager(pmr_vector<any_pass> passes = {}, const pass_manager_options& options = {})
        : passes_(std::move(passes)), options_(options) {}

    void add_pass(any_pass p) {
        passes_.push_back(std::move(p));
        solved_ = false;
    }
    /// Adds a check that the graph must pass.
    void add_checks(check c) { checks_.push_back(std::move(c)); }
    /// Replaces all checks by this one.
    void set_checks(check c) {
        checks_.clear();
        add_checks(std::move(c));
    }
    /// Requires that every pass named `first` runs before every pass named `second`, if both are in the list.
    void add_constraint(std::pmr::string first, std::pmr::string second) {
        constraints_.emplace_back(std::move(first), std::move(second));
        solved_ = false;
    }

    /// Returns the passes, in the given order or, once constraints are solved, in running order.
    [[nodiscard]] std::span<const any_pass> passes() const { return passes_; }

    /// Reorders passes as little as their requires_before, requires_after, ensures and the constraints allow.
    /// The error names the missing pass, or the cycle.
    [[nodiscard]] result<void> solve_constraints() {
        if (solved_) return {};
        HEADRACE_TRY(order, detail::pass_order(passes_, constraints_).solve());
        pmr_vector<any_pass> sorted;
        sorted.reserve(order.size());
        for (const std::size_t i : order) sorted.push_back(passes_[i]);
        passes_ = std::move(sorted);
        solved_ = true;
        return {};
    }

    /// Runs the passes. There is one record per pass and step; records refer to names of passes in this
    /// manager. An error names the pass or check that failed, and the pass before it; refused nodes are in
    /// the context's diagnostics.
    [[nodiscard]] result<run_statistics> operator()(graph& g, pass_context& context) {
        HEADRACE_TRY(solve_constraints());
        suppressed_.clear();
        run_statistics statistics;
        statistics.reserve(passes_.size() * options_.steps);
        for (std::size_t step = 0; step != options_.steps; ++step) {
            for (const any_pass& p : passes_) {
                HEADRACE_TRY(run_pass(p, g, context, statistics.emplace_back()));
            }
        }
        if (!options_.run_checks_after_each_pass) {
            HEADRACE_TRY(run_checks(g, passes_.empty() ? "" : passes_.back().name()));
        }
        return statistics;
    }

    /// Returns the failures of checks in the last run, if failures are suppressed.
    [[nodiscard]] std::span<const error> suppressed_failures() const { return suppressed_; }

private:
    result<void> run_pass(const any_pass& p, graph& g, pass_context& context, pass_record& record) {
        const run_options& options = options_.run;
        record.name = p.name();
        const bool forced = !options.skip || context.forces_passes();
        record.status = forced ? pass_status::ran : p.decide(g);
        if (record.status != pass_status::ran) return {};
        const std::uint64_t begin = options.clock == nullptr ? 0 : options.clock();
        result<node_counts> counts = p.run(g, context, options.driver);
        if (!counts) return located(p, std::move(counts).error());
        record.nodes = counts.value();
        g.tidy();
        if (options.clock != nullptr) record.nanoseconds = options.clock() - begin;
        if (options_.run_checks_after_each_pass) {
            HEADRACE_TRY(run_checks(g, p.name()));
        }
        if (options.after_pass == nullptr) return {};
        return options.after_pass(options.observer, record, g);
    }

    result<void> run_checks(const graph& g, std::string_view after) {
        for (const check& c : checks_) {
            result<void> status = c(g);
            if (status) continue;
            error e = status.error().in(text_of({"check after ", after}));
            if (!options_.suppress_check_failures) return e;
            suppressed_.push_back(std::move(e));
        }
        return {};
    }

    [[nodiscard]] error located(const any_pass& p, error e) const {
        const auto position = static_cast<std::size_t>(&p - passes_.data());
        if (e.message.find(p.name()) != std::pmr::string::npos && position == 0) return e;
        std::pmr::string text = text_of({"pass ", p.name()});
        if (position != 0) text += text_of({", after ", passes_[position - 1].name()});
        return {e.kind, text_of({text, ": ", std::move(e.message)})};
    }

    pmr_vector<any_pass> passes_;
    pmr_vector<detail::pass_order::constraint> constraints_;
    pmr_vector<check> checks_;
    pass_manager_options options_;
    pmr_vector<error> suppressed_;
    bool solved_ = false;
};

}  // namespace headrace

// ---- headrace/pass/reordering.hpp ----

namespace headrace {

/// The reason why a pipeline in another order would not compile.
enum class reordering_fault : std::uint8_t { none, unmet, misordered, invalidated, too_early, survives };

/// The passes of a pipeline as data that can be reordered. It runs the functions that prove the pipeline's
/// own order, so a test can try every swap in one program.
template <class Pipeline>
class reordering {
    using set_type = std::remove_cvref_t<decltype(Pipeline::ops_after())>;

public:
    static constexpr std::size_t size = Pipeline::size;
    using order_type = std::array<std::size_t, size>;

    [[nodiscard]] static constexpr order_type as_listed() {
        order_type order{};
        for (std::size_t i = 0; i != size; ++i) order[i] = i;
        return order;
    }
    [[nodiscard]] static constexpr order_type with_swapped(std::size_t a, std::size_t b) {
        order_type order = as_listed();
        std::swap(order[a], order[b]);
        return order;
    }

    /// Returns the first fault of an order of the passes, given by their positions in the pipeline.
    [[nodiscard]] static constexpr reordering_fault check(const order_type& order) {
        return check(order, size);
    }
    /// Returns the first fault of the pipeline without the pass at a position.
    [[nodiscard]] static constexpr reordering_fault check_without(std::size_t i) {
        return check(as_listed(), i);
    }

    /// Returns the order constraints of the pass at a position.
    [[nodiscard]] static constexpr const order_facts& facts_of(std::size_t i) { return *facts_[i + 1]; }
    /// True if the pass at `a` can emit an op that the pass at `b` targets.
    [[nodiscard]] static constexpr bool feeds(std::size_t a, std::size_t b) {
        return !(effects_[a].produced & effects_[b].targets).empty();
    }
    /// True if the pass at `a` can emit an op that the pass at `b` always removes.
    [[nodiscard]] static constexpr bool feeds_removal(std::size_t a, std::size_t b) {
        return !(effects_[a].produced & effects_[b].removed).empty();
    }

private:
    static constexpr reordering_fault check(const order_type& order, std::size_t left_out) {
        std::array<const order_facts*, size + 2> facts = facts_;
        std::array<detail::effect_sets<set_type>, size> effects{};
        for (std::size_t i = 0; i != size; ++i) {
            facts[i + 1] = i == left_out ? &nothing_ : facts_[order[i] + 1];
            if (i != left_out) effects[i] = effects_[order[i]];
        }
        switch (detail::order_check<detail::count_wanted(facts_)>(facts).first().kind) {
            case detail::order_fault_kind::unmet:
                return reordering_fault::unmet;
            case detail::order_fault_kind::misordered:
                return reordering_fault::misordered;
            case detail::order_fault_kind::invalidated:
                return reordering_fault::invalidated;
            case detail::order_fault_kind::none:
                break;
        }
        const auto flow = detail::fold_effects<set_type, size>(effects, Pipeline::ops_before(0), legal_);
        if (detail::find_too_early(effects, flow) != size) return reordering_fault::too_early;
        return flow.ops[size] <= legal_ ? reordering_fault::none : reordering_fault::survives;
    }

    static constexpr order_facts nothing_{&detail::identity_of<no_pass>};  // of an omitted pass
    static constexpr set_type legal_ =
        detail::boundary<typename Pipeline::legal>::set.over(typename set_type::dialect_list{});

    template <class... Ps>
    static constexpr auto collect_effects(pass_list<Ps...>) {
        return std::array<detail::effect_sets<set_type>, size>{detail::effects_over<set_type, Ps>()...};
    }
    template <class... Ps>
    static constexpr auto collect_facts(pass_list<Ps...>) {
        using start = detail::start_facts<typename detail::properties_in<typename Pipeline::source>::type>;
        using end = detail::end_facts<typename detail::properties_in<typename Pipeline::legal>::type>;
        return std::array<const order_facts*, size + 2>{&order_facts_of<start>, &order_facts_of<Ps>...,
                                                        &order_facts_of<end>};
    }
    static constexpr auto effects_ = collect_effects(typename Pipeline::passes{});
    static constexpr auto facts_ = collect_facts(typename Pipeline::passes{});
};

}  // namespace headrace

// ---- headrace/match/execution_span.hpp ----

namespace headrace::detail {

/// The part of the execution order from the first to the last of some nodes of one graph. Constants do not
/// count, since they depend on nothing. Every path between two of the nodes stays in this part, so paths are
/// found in time independent of the graph's size.
class execution_span {
public:
    explicit execution_span(std::span<node* const> nodes) {
        for (node* n : nodes) {
            if (!is<builtin::constant>(*n) && inside_.insert(n).second) first_ = last_ = n;
        }
        if (first_ != nullptr) find_ends();
    }

    [[nodiscard]] node* first() const { return first_; }
    [[nodiscard]] node* last() const { return last_; }

    /// True if no path leaves the nodes and comes back.
    [[nodiscard]] bool convex() const { return scan(nullptr); }
    /// Returns the other nodes of the span that use results of the nodes, directly or not.
    [[nodiscard]] pmr_vector<node*> users_between() const {
        pmr_vector<node*> users;
        scan(&users);
        return users;
    }

private:
    void find_ends() {
        // Search both directions at once, from any node: neither end is further away than the span is long.
        node* back = first_;
        node* ahead = first_;
        for (std::size_t missing = inside_.size() - 1; missing != 0;) {
            if (back != nullptr && (back = back->previous) != nullptr && inside_.contains(back)) {
                first_ = back;
                --missing;
            }
            if (missing != 0 && ahead != nullptr && (ahead = ahead->next) != nullptr &&
                inside_.contains(ahead)) {
                last_ = ahead;
                --missing;
            }
            if (back == nullptr && ahead == nullptr) break;  // the nodes are in different graphs
        }
    }
    // Returns false if one of the nodes depends on another through a node outside.
    bool scan(pmr_vector<node*>* users) const {
        std::pmr::unordered_set<const node*> dependent;
        for (node* n = first_; n != nullptr; n = n->next) {
            const bool is_inside = inside_.contains(n);
            for (const edge& e : n->operand_edges()) {
                if (is_inside && dependent.contains(e.source)) return false;
                if (!is_inside && (inside_.contains(e.source) || dependent.contains(e.source))) {
                    if (dependent.insert(n).second && users != nullptr) users->push_back(n);
                }
            }
            if (n == last_) break;
        }
        return true;
    }

    std::pmr::unordered_set<const node*> inside_;
    node* first_ = nullptr;
    node* last_ = nullptr;
};

}  // namespace headrace::detail

// ---- headrace/match/pattern_checks.hpp ----

namespace headrace {

/// Diagnoses of patterns, for compile errors, in addition to those of calls (pass/call_checks.hpp).
template <class Op, std::size_t Result>
struct no_such_result {};
/// A placeholder without a use; `Op` is that of the first value that the pattern returns.
template <std::size_t Index, class Op>
struct unused_placeholder {};
/// A placeholder used both as an operand and as a literal, or as two kinds of literals.
template <std::size_t Index, class Op>
struct mixed_placeholder {};
template <class Expression>
struct no_call {};
template <std::size_t Given, std::size_t Wanted>
struct other_inputs {};
template <std::size_t Given, std::size_t Wanted>
struct other_outputs {};

template <class Op, std::size_t Result>
inline constexpr bool arguments_fit<no_such_result<Op, Result>> = false;
template <std::size_t Index, class Op>
inline constexpr bool arguments_fit<mixed_placeholder<Index, Op>> = false;
template <class Diagnosis>
inline constexpr bool placeholders_used = true;
template <std::size_t Index, class Op>
inline constexpr bool placeholders_used<unused_placeholder<Index, Op>> = false;
template <class Diagnosis>
inline constexpr bool returns_calls = true;
template <class Expression>
inline constexpr bool returns_calls<no_call<Expression>> = false;
template <class Diagnosis>
inline constexpr bool replacement_fits = true;
template <std::size_t Given, std::size_t Wanted>
inline constexpr bool replacement_fits<other_inputs<Given, Wanted>> = false;
template <std::size_t Given, std::size_t Wanted>
inline constexpr bool replacement_fits<other_outputs<Given, Wanted>> = false;
/// True if none of these diagnoses applies.
template <class Diagnosis>
inline constexpr bool sound_expression = false;
template <>
inline constexpr bool sound_expression<no_fault> = true;

namespace detail {

enum class expression_side : bool { pattern, replacement };

/// The uses of a placeholder.
struct placeholder_use {
    bool as_operand = false;
    bool as_literal = false;
    bool mixed = false;
    field_kind kind = field_kind::tensor;
    bool optional = false;

    constexpr void note(field_kind k, bool is_optional_field) {
        if (holds_tensors(k)) {
            mixed |= as_literal;
            as_operand = true;
        } else {
            mixed |= as_operand || (as_literal && (kind != k || optional != is_optional_field));
            as_literal = true;
            kind = k;
            optional = is_optional_field;
        }
    }
    [[nodiscard]] constexpr bool used() const { return as_operand || as_literal; }
};
using placeholder_uses = std::array<placeholder_use, max_wildcards>;

template <class T>
inline constexpr bool is_operand = false;
template <std::size_t I>
inline constexpr bool is_operand<wildcard<I>> = true;
template <class Op, class M, class... Ts>
inline constexpr bool is_operand<call_expression<Op, M, Ts...>> = true;
template <std::size_t I, class Call>
inline constexpr bool is_operand<result_expression<I, Call>> = true;
template <>
inline constexpr bool is_operand<filled_constant> = true;
template <>
inline constexpr bool is_operand<any_constant_type> = true;

template <class T>
inline constexpr bool is_wildcard = false;
template <std::size_t I>
inline constexpr bool is_wildcard<wildcard<I>> = true;

template <class T>
inline constexpr bool is_tensor_list = false;
template <class... Ts>
inline constexpr bool is_tensor_list<tensors_expression<Ts...>> = (is_operand<Ts> && ...);
template <class T>
inline constexpr bool is_optional_tensor_list = false;
template <class... Ts>
inline constexpr bool is_optional_tensor_list<tensors_expression<Ts...>> =
    ((is_operand<Ts> || std::is_same_v<Ts, std::nullopt_t>)&&...);

/// True if a C++ value of type T can be a literal of that kind.
template <class T>
constexpr bool is_literal_of(field_kind kind) {
    constexpr bool integral = std::is_integral_v<T> && !std::is_same_v<T, bool>;
    switch (kind) {
        case field_kind::integer:
            return integral;
        case field_kind::floating:
            return integral || std::is_floating_point_v<T>;
        case field_kind::number:
            return std::is_arithmetic_v<T> || std::is_same_v<T, scalar>;
        case field_kind::boolean:
            return std::is_same_v<T, bool>;
        case field_kind::integers:
            return std::is_same_v<T, int_list>;
        case field_kind::floatings:
            return std::is_same_v<T, list<double>>;
        case field_kind::text:
            return std::is_convertible_v<const T&, std::string_view>;
        case field_kind::element_type:
            return std::is_same_v<T, dtype>;
        case field_kind::format:
            return std::is_same_v<T, memory_format>;
        case field_kind::resize:
            return std::is_same_v<T, resize_mode>;
        case field_kind::nan:
            return std::is_same_v<T, nan_mode>;
        case field_kind::rounding:
            return std::is_same_v<T, rounding_mode>;
        default:
            return false;
    }
}
template <expression_side Side, class T>
constexpr bool fits(const field_info& f) {
    if (std::is_same_v<T, std::nullopt_t>) return f.optional;
    if (f.kind == field_kind::tensor) return is_operand<T>;
    if (f.kind == field_kind::tensors) return is_tensor_list<T>;
    if (f.kind == field_kind::optional_tensors) return is_optional_tensor_list<T>;
    if (is_wildcard<T>) return f.kind != field_kind::region && f.kind != field_kind::data;
    if (std::is_same_v<T, any_literal_type>) return Side == expression_side::pattern;
    return is_literal_of<T>(f.kind);
}

/// An argument of a call, by position or by name.
template <class T>
struct argument_traits {
    using type = T;
    static constexpr bool by_name = false;
    static constexpr std::string_view name{};
};
template <class Label, class T>
struct argument_traits<named_argument<Label, T>> {
    using type = T;
    static constexpr bool by_name = true;
    static constexpr std::string_view name = Label::text;
};
template <class T>
using argument_type = typename argument_traits<T>::type;

template <class Op, class... Ts>
constexpr std::array<std::size_t, sizeof...(Ts) + 1> place_arguments() {
    constexpr bool by_name[] = {argument_traits<Ts>::by_name..., false};
    constexpr std::string_view names[] = {argument_traits<Ts>::name..., {}};
    std::array<std::size_t, sizeof...(Ts) + 1> places{};
    std::size_t next = 0;
    for (std::size_t i = 0; i != sizeof...(Ts); ++i) {
        if (by_name[i]) {
            places[i] = 0;
            while (places[i] != field_names<Op>.size() && field_names<Op>[places[i]] != names[i]) ++places[i];
        } else {
            places[i] = next++;
        }
    }
    places[sizeof...(Ts)] = next;  // the number of positional arguments
    return places;
}

// True if all operands without a default are given.
template <class Op, std::size_t N>
constexpr bool operands_given(const std::array<std::size_t, N>& places) {
    for (std::size_t k = 0; k != field_names<Op>.size(); ++k) {
        const field_info& f = fields_of<Op>[k];
        if (f.optional || (f.kind != field_kind::tensor && f.kind != field_kind::tensors)) continue;
        bool given = k < places[N - 1];
        for (std::size_t i = 0; i + 1 != N; ++i) given |= places[i] == k;
        if (!given) return false;
    }
    return true;
}

template <expression_side Side, class... Ts, std::size_t N, std::size_t F>
constexpr std::size_t first_misfit(const std::array<std::size_t, N>& places,
                                   const std::array<field_info, F>& fields) {
    std::size_t i = 0;
    const auto sound = [&]<class T>() {
        if (places[i] >= F || !fits<Side, argument_type<T>>(fields[places[i]])) return false;
        ++i;
        return true;
    };
    static_cast<void>(sound);
    static_cast<void>((sound.template operator()<Ts>() && ...));
    return i;
}

// Diagnoses an argument that does not fit the field at `Place`, or that has no field.
template <class Op, std::size_t Place, class T>
auto misfit_at() {
    if constexpr (Place < field_names<Op>.size()) {
        return argument_fault<Op, Place, argument_type<T>>{};
    } else {
        constexpr std::string_view name = argument_traits<T>::name;
        return no_such_field<Op, fixed_string<name.size() + 1>(name)>{};
    }
}

/// The facts of a part of an expression: the ops that it calls, its fault, and the uses of its placeholders.
/// Literals have no fault of their own; the call compares them with its fields.
template <expression_side Side, class E>
struct expression_facts {
    using called = ops<>;
    using fault = no_fault;
    static constexpr void note(placeholder_uses&) {}
};
template <>
struct expression_facts<expression_side::replacement, any_constant_type>
    : expression_facts<expression_side::replacement, void> {
    using fault = no_call<any_constant_type>;
};
template <expression_side Side, std::size_t I>
struct expression_facts<Side, wildcard<I>> : expression_facts<Side, void> {
    static constexpr void note(placeholder_uses& uses) { uses[I].note(field_kind::tensor, false); }
};
template <expression_side Side, class Label, class T>
struct expression_facts<Side, named_argument<Label, T>> : expression_facts<Side, T> {};

template <expression_side Side, class... Es>
struct facts_of_all {
    using called = joined<typename expression_facts<Side, Es>::called...>;
    using fault = decltype(first_fault<typename expression_facts<Side, Es>::fault...>());
    static constexpr void note(placeholder_uses& uses) { (expression_facts<Side, Es>::note(uses), ...); }
};
template <expression_side Side, class... Es>
struct expression_facts<Side, tensors_expression<Es...>> : facts_of_all<Side, Es...> {};
template <expression_side Side, class... Es>
struct expression_facts<Side, returned_values<Es...>> : facts_of_all<Side, Es...> {};

template <expression_side Side, std::size_t I, class E>
struct expression_facts<Side, result_expression<I, E>> : expression_facts<Side, E> {
    using fault = no_call<E>;
};
template <expression_side Side, std::size_t I, class Op, class M, class... Ts>
struct expression_facts<Side, result_expression<I, call_expression<Op, M, Ts...>>>
    : expression_facts<Side, call_expression<Op, M, Ts...>> {
    using call_facts = expression_facts<Side, call_expression<Op, M, Ts...>>;
    static auto diagnose() {
        if constexpr (!std::is_same_v<typename call_facts::fault, no_fault>) {
            return typename call_facts::fault{};
        } else if constexpr (Op::results != variadic_results && I >= std::size_t{Op::results}) {
            return no_such_result<Op, I>{};
        } else {
            return no_fault{};
        }
    }
    using fault = decltype(diagnose());
};

template <expression_side Side, class Op, class M, class... Ts>
struct expression_facts<Side, call_expression<Op, M, Ts...>> {
    using arguments = facts_of_all<Side, Ts...>;
    using called = joined<ops<Op>, typename arguments::called>;

    // Inner faults come first, because they cause the outer ones.
    static auto diagnose() {
        if constexpr (!std::is_same_v<typename arguments::fault, no_fault>) {
            return typename arguments::fault{};
        } else if constexpr (!is_known_op<Op>()) {
            return unknown_op<Op>{};
        } else {
            constexpr auto places = place_arguments<Op, Ts...>();
            constexpr std::size_t takes = field_names<Op>.size();
            if constexpr (places[sizeof...(Ts)] > takes || !operands_given<Op>(places)) {
                return wrong_arity<Op, places[sizeof...(Ts)], takes>{};
            } else {
                constexpr std::size_t at = first_misfit<Side, Ts...>(places, fields_of<Op>);
                if constexpr (at != sizeof...(Ts)) {
                    return misfit_at<Op, places[at], typename type_at<at, ops<Ts...>>::type>();
                } else {
                    return no_fault{};
                }
            }
        }
    }
    using fault = decltype(diagnose());

    static constexpr void note(placeholder_uses& uses) {
        if constexpr (std::is_same_v<fault, no_fault>) {
            constexpr auto places = place_arguments<Op, Ts...>();
            std::size_t i = 0;
            (note_argument(uses, std::type_identity<argument_type<Ts>>{}, fields_of<Op>[places[i++]]), ...);
            static_cast<void>(i);
        }
    }

private:
    template <class T>
    static constexpr void note_argument(placeholder_uses& uses, std::type_identity<T>, const field_info&) {
        expression_facts<Side, T>::note(uses);
    }
    template <std::size_t I>
    static constexpr void note_argument(placeholder_uses& uses, std::type_identity<wildcard<I>>,
                                        const field_info& f) {
        uses[I].note(f.kind, f.optional);
    }
};

template <class E>
struct root_op {
    using type = void;
};
template <class Op, class M, class... Ts>
struct root_op<call_expression<Op, M, Ts...>> {
    using type = Op;
};
template <std::size_t I, class E>
struct root_op<result_expression<I, E>> : root_op<E> {};
template <class E, class... Es>
struct root_op<returned_values<E, Es...>> : root_op<E> {};

template <class E>
struct first_without_call {
    using type = std::conditional_t<std::is_void_v<typename root_op<E>::type>, no_call<E>, no_fault>;
};
template <class... Es>
struct first_without_call<returned_values<Es...>> {
    using type = decltype(first_fault<typename first_without_call<Es>::type...>());
};

template <class E>
inline constexpr std::size_t output_count = 1;
template <class... Es>
inline constexpr std::size_t output_count<returned_values<Es...>> = sizeof...(Es);

template <class E>
constexpr placeholder_uses uses_in() {
    placeholder_uses uses{};
    expression_facts<expression_side::pattern, E>::note(uses);
    return uses;
}
template <std::size_t Inputs>
constexpr std::size_t first_unused(const placeholder_uses& uses) {
    std::size_t i = 0;
    while (i != Inputs && uses[i].used()) ++i;
    return i;
}
template <std::size_t Inputs>
constexpr std::size_t first_mixed(const placeholder_uses& uses) {
    std::size_t i = 0;
    while (i != Inputs && !uses[i].mixed) ++i;
    return i;
}

/// The facts of a pattern's callable; `fault` is its first fault.
template <class F>
struct pattern_facts {
    static constexpr std::size_t inputs = input_count<F>;
    using expression = decltype(expression_of(std::declval<const F&>()));
    using facts = expression_facts<expression_side::pattern, expression>;
    using root = typename root_op<expression>::type;
    using called = typename facts::called;
    static constexpr std::size_t outputs = output_count<expression>;

    static auto diagnose() {
        using without_call = typename first_without_call<expression>::type;
        if constexpr (!std::is_same_v<typename facts::fault, no_fault>) {
            return typename facts::fault{};
        } else if constexpr (!std::is_same_v<without_call, no_fault>) {
            return without_call{};
        } else {
            constexpr placeholder_uses uses = uses_in<expression>();
            constexpr std::size_t unused = first_unused<inputs>(uses);
            constexpr std::size_t mixed = first_mixed<inputs>(uses);
            if constexpr (unused != inputs) {
                return unused_placeholder<unused, root>{};
            } else if constexpr (mixed != inputs) {
                return mixed_placeholder<mixed, root>{};
            } else {
                return no_fault{};
            }
        }
    }
    using fault = decltype(diagnose());
    static constexpr bool sound = std::is_same_v<fault, no_fault>;
};

// Returns the first placeholder that a replacement uses differently than the pattern, or `Inputs`.
template <std::size_t Inputs>
constexpr std::size_t first_changed(const placeholder_uses& pattern, const placeholder_uses& replacement) {
    std::size_t i = 0;
    for (; i != Inputs; ++i) {
        const placeholder_use& p = pattern[i];
        const placeholder_use& r = replacement[i];
        if (!r.used()) continue;
        if (r.mixed || r.as_operand != p.as_operand || r.kind != p.kind || (p.optional && !r.optional)) break;
    }
    return i;
}

/// The facts of a replacement's callable, checked against its pattern.
template <class F, class Pattern>
struct replacement_facts {
    static constexpr std::size_t inputs = input_count<F>;
    using expression = decltype(expression_of(std::declval<const F&>()));
    using facts = expression_facts<expression_side::replacement, expression>;
    using called = typename facts::called;
    static constexpr std::size_t outputs = output_count<expression>;

    static auto diagnose() {
        using pattern = pattern_facts<Pattern>;
        if constexpr (!pattern::sound) {
            return no_fault{};  // one error is enough
        } else if constexpr (!std::is_same_v<typename facts::fault, no_fault>) {
            return typename facts::fault{};
        } else if constexpr (inputs != pattern::inputs) {
            return other_inputs<inputs, pattern::inputs>{};
        } else if constexpr (outputs != pattern::outputs) {
            return other_outputs<outputs, pattern::outputs>{};
        } else {
            constexpr std::size_t changed =
                first_changed<inputs>(uses_in<typename pattern::expression>(), uses_in<expression>());
            if constexpr (changed != inputs) {
                return mixed_placeholder<changed, typename pattern::root>{};
            } else {
                return no_fault{};
            }
        }
    }
    using fault = decltype(diagnose());
    static constexpr bool sound = std::is_same_v<fault, no_fault>;
};

}  // namespace detail
}  // namespace headrace

// ---- headrace/match/subgraph_match.hpp ----

namespace headrace {

/// A literal argument that is a placeholder of the pattern.
struct literal_binding {
    std::uint32_t field = 0;        ///< index of the op's field
    std::uint32_t placeholder = 0;  ///< index of the pattern's input
};

/// Annotation of a node in a pattern: how it may differ from the node that it matches. Without it, op and
/// literals must be equal, and operands in the same order.
struct matching_rule {
    static constexpr bool inherited = false;
    bool commutative = false;             ///< the first two operands may be swapped
    std::uint64_t free_fields = 0;        ///< bit i: argument i is a wildcard, if it is not a tensor
    std::optional<scalar> filled_with{};  ///< for a constant: each of its elements is this number
    list<literal_binding> literals{};     ///< arguments that are placeholders
    std::string_view name{};              ///< by which subgraph_match finds the node
};

/// The matched node of each node of the pattern, in the pattern's execution order.
class node_map {
public:
    using value_type = std::pair<const node*, node*>;

    [[nodiscard]] node* find(const node& pattern) const {
        for (const auto& [from, to] : items_) {
            if (from == &pattern) return to;
        }
        return nullptr;
    }
    [[nodiscard]] bool contains(const node& pattern) const { return find(pattern) != nullptr; }
    void insert(const node& pattern, node& matched) { items_.emplace_back(&pattern, &matched); }
    void replace(const node* matched, node* by) {
        for (auto& item : items_) {
            if (item.second == matched) item.second = by;
        }
    }
    [[nodiscard]] std::size_t size() const { return items_.size(); }
    [[nodiscard]] bool empty() const { return items_.empty(); }
    [[nodiscard]] auto begin() const { return items_.begin(); }
    [[nodiscard]] auto end() const { return items_.end(); }

private:
    pmr_vector<value_type> items_;
};

/// A literal in the graph: one argument of one node.
struct literal {
    const field_info* field = nullptr;
    const void* arguments = nullptr;  ///< of the node that has the argument

    explicit operator bool() const { return field != nullptr; }
    /// The literal as `T`, the member's own type.
    template <class T>
    [[nodiscard]] const T& as() const {
        return *reinterpret_cast<const T*>(static_cast<const std::byte*>(arguments) + field->offset);
    }
};

/// A match of a pattern. It refers to the pattern's nodes, so the pattern must outlive it.
struct subgraph_match {
    /// The nodes from which the match was found: one for each node of the pattern that only its output uses.
    pmr_vector<node*> anchors;
    node_map nodes_map;
    /// The node that matches each input of the pattern, in order; null if the input matches a literal.
    pmr_vector<node*> placeholder_nodes;
    /// The nodes that match the pattern's outputs, in order.
    pmr_vector<node*> returning_nodes;

    /// The values that match inputs and outputs, since nodes may have several results.
    pmr_vector<value> placeholder_values;
    pmr_vector<value> returning_values;
    /// The literal that matches each input of the pattern, for inputs that match literals.
    pmr_vector<literal> literals;

    /// Returns the node that matches the pattern's node of that name (named<"...">, or the name of its first
    /// result), or null.
    [[nodiscard]] node* operator[](std::string_view name) const {
        for (const auto& [from, to] : nodes_map) {
            const auto* rule = from->find_annotation<matching_rule>();
            if ((rule != nullptr && !rule->name.empty() ? rule->name : from->name()) == name) return to;
        }
        return nullptr;
    }
    /// Returns the nodes of the match, without those that match placeholders and the output.
    [[nodiscard]] pmr_vector<node*> nodes() const {
        pmr_vector<node*> inside;
        for (const auto& [from, to] : nodes_map) {
            if (!is<builtin::placeholder>(*from) && !is<builtin::output>(*from)) inside.push_back(to);
        }
        return inside;
    }
};

}  // namespace headrace

// ---- headrace/match/subgraph_search.hpp ----

namespace headrace {

/// How a pattern is compared with a graph.
struct matcher_options {
    bool match_output = false;               ///< the pattern's outputs must be all of the graph's outputs
    bool match_placeholder = false;          ///< placeholders match only placeholders
    bool remove_overlapping_matches = true;  ///< of matches that share a node, return only the first
    bool ignore_literals = false;            ///< arguments that are not tensors match anything
    bool distinct_placeholders = true;       ///< two placeholders never match the same value
    bool match_constants = false;            ///< constants must have equal elements
    /// Ops whose first two operands may be swapped anywhere in the pattern.
    pmr_vector<const op_info*> commutative_ops{};
};

namespace detail {

/// Returns the address of element `i`, in row-major order, of a constant; for dtypes of whole bytes.
[[nodiscard]] inline const std::byte* element_of(const tensor_data& data, const tensor_meta& meta,
                                                 std::int64_t i) {
    const std::int64_t size = traits_of(meta.dtype).bits / 8;
    if (data.strides.empty()) return data.bytes + i * size;
    std::int64_t offset = 0;
    for (std::size_t axis = meta.rank(); axis-- != 0; i /= meta.shape[axis])
        offset += i % meta.shape[axis] * data.strides[axis];
    return data.bytes + offset * size;
}

/// True if each element of a constant is that number, as stored in its dtype.
[[nodiscard]] inline bool is_filled_with(const node& constant, scalar number) {
    const auto& meta = constant.results[0].meta;
    std::byte wanted[8]{};
    if (!meta || traits_of(meta->dtype).bits > 64 || !store_element(number, meta->dtype, wanted))
        return false;
    const tensor_data& data = args_of<builtin::constant>(constant).data;
    const std::size_t size = traits_of(meta->dtype).bits / 8U;
    for (std::int64_t i = 0; i != meta->elements(); ++i) {
        if (std::memcmp(element_of(data, *meta, i), wanted, size) != 0) return false;
    }
    return true;
}

/// True if two constants have the same type, shape and elements.
[[nodiscard]] inline bool same_elements(const node& a, const node& b) {
    const auto& meta = a.results[0].meta;
    if (meta == nullptr || !same_meta(meta, b.results[0].meta)) return false;
    const tensor_data& da = args_of<builtin::constant>(a).data;
    const tensor_data& db = args_of<builtin::constant>(b).data;
    if (da.strides.empty() && db.strides.empty()) {
        return std::memcmp(da.bytes, db.bytes, bytes_in_memory(*meta)) == 0;
    }
    const std::size_t size = traits_of(meta->dtype).bits / 8U;
    for (std::int64_t i = 0; i != meta->elements(); ++i) {
        if (std::memcmp(element_of(da, *meta, i), element_of(db, *meta, i), size) != 0) return false;
    }
    return true;
}

/// True if two literals are equal, even of different ops.
[[nodiscard]] inline bool equal_literals(const literal& a, const literal& b) {
    if (a.field->kind != b.field->kind || a.field->optional != b.field->optional) return false;
    // equal_field reads both at the offset of its field.
    const field_info at_start{a.field->name, a.field->kind, a.field->optional, 0};
    return equal_field(at_start, static_cast<const std::byte*>(a.arguments) + a.field->offset,
                       static_cast<const std::byte*>(b.arguments) + b.field->offset);
}

/// Matches the nodes of a pattern with those of a graph, starting from pairs of anchors. Pairs still to be
/// matched are in a list of goals, and the search backtracks only at commutative ops. For example, mul(add(x,
/// y), y) starts with the pair of muls, whose operands become the next two goals; if add is commutative, its
/// operands are tried in both orders.
class subgraph_search {
public:
    subgraph_search(const graph& pattern, const matcher_options& options)
        : pattern_(pattern), options_(options) {}

    /// True if the first anchors match these nodes.
    bool run(const pmr_vector<const node*>& anchors, const pmr_vector<node*>& chosen) {
        state_ = {};
        state_.nodes.resize(pattern_.id_bound());
        state_.values.resize(pattern_.id_bound());
        state_.literals.resize(pattern_.id_bound());
        for (std::size_t i = 0; i != chosen.size(); ++i)
            state_.goals.push_back({const_cast<node*>(anchors[i]), chosen[i], {}, {}});
        // The goals are popped in the order of the anchors, each with all its operands before the next.
        std::reverse(state_.goals.begin(), state_.goals.end());
        return solve();
    }

    /// Returns the match that run() found, without anchors.
    [[nodiscard]] subgraph_match collect() const {
        subgraph_match m;
        for (const node& n : pattern_.nodes()) {
            if (node* found = state_.nodes[n.id]) m.nodes_map.insert(n, *found);
        }
        for (const node& n : pattern_.inputs()) {
            m.placeholder_nodes.push_back(state_.nodes[n.id]);
            m.placeholder_values.push_back(state_.values[n.id]);
            m.literals.push_back(state_.literals[n.id]);
        }
        for (const value v : pattern_.outputs()) {
            node* found = state_.nodes[v.producer->id];
            m.returning_nodes.push_back(found);
            m.returning_values.push_back({found, v.result});
        }
        return m;
    }

private:
    // A pair of nodes, or of values.
    struct goal {
        node* pattern_node = nullptr;
        node* graph_node = nullptr;
        value pattern_value{};
        value graph_value{};
    };
    struct state {
        pmr_vector<goal> goals;
        pmr_vector<node*> nodes;  // by the id of the pattern's node
        pmr_vector<value> values;
        pmr_vector<literal> literals;
        pmr_vector<const node*> used;    // matched nodes, without those of placeholders
        pmr_vector<value> placeholders;  // matched by placeholders
    };

    bool solve() {
        while (!state_.goals.empty()) {
            const goal g = state_.goals.back();
            state_.goals.pop_back();
            if (g.pattern_node != nullptr) {
                if (!pair_nodes(*g.pattern_node, *g.graph_node)) return false;
                continue;
            }
            node& p = *g.pattern_value.producer;
            if (is<builtin::placeholder>(p)) {
                if (!bind(p, g.graph_value)) return false;
                continue;
            }
            node& n = *g.graph_value.producer;
            if (g.pattern_value.result != g.graph_value.result) return false;
            if (state_.nodes[p.id] == &n) continue;
            if (!can_pair(p, n)) return false;
            if (!is_commutative(p)) {
                if (!pair_operands(p, n, false)) return false;
                continue;
            }
            const state before = state_;
            if (pair_operands(p, n, false) && solve()) return true;
            state_ = before;
            if (!pair_operands(p, n, true)) return false;
        }
        return no_placeholder_inside();
    }

    bool pair_nodes(node& p, node& n) {
        if (state_.nodes[p.id] == &n) return true;
        if (!can_pair(p, n)) return false;
        // An anchor is not reached through an operand; a goal for its value makes the search try both orders
        // of its operands.
        if (!is_commutative(p)) return pair_operands(p, n, false);
        state_.nodes[p.id] = nullptr;
        state_.used.pop_back();
        state_.goals.push_back({nullptr, nullptr, {&p, 0}, {&n, 0}});
        return true;
    }

    // Pairs the nodes unless something other than operands and literals already differs.
    bool can_pair(node& p, node& n) {
        if (p.op != n.op || state_.nodes[p.id] != nullptr) return false;
        if (std::find(state_.used.begin(), state_.used.end(), &n) != state_.used.end()) return false;
        if (p.op->results != variadic_results && p.result_count != n.result_count) return false;
        state_.nodes[p.id] = &n;
        state_.used.push_back(&n);
        return true;
    }

    bool bind(node& placeholder, value v) {
        if (state_.values[placeholder.id]) return state_.values[placeholder.id] == v;
        if (options_.match_placeholder && !is<builtin::placeholder>(*v.producer)) return false;
        if (options_.distinct_placeholders &&
            std::find(state_.placeholders.begin(), state_.placeholders.end(), v) != state_.placeholders.end())
            return false;
        state_.nodes[placeholder.id] = v.producer;
        state_.values[placeholder.id] = v;
        state_.placeholders.push_back(v);
        return true;
    }

    // A placeholder must match a value from outside, because the match itself will be removed.
    [[nodiscard]] bool no_placeholder_inside() const {
        return std::none_of(state_.placeholders.begin(), state_.placeholders.end(), [&](value v) {
            return std::find(state_.used.begin(), state_.used.end(), v.producer) != state_.used.end();
        });
    }

    [[nodiscard]] bool is_commutative(const node& p) const {
        const auto* rule = p.find_annotation<matching_rule>();
        const auto& ops = options_.commutative_ops;
        return p.operand_count >= 2 && p.op->field_count >= 2 && p.op->fields[0].kind == field_kind::tensor &&
               p.op->fields[1].kind == field_kind::tensor &&
               ((rule != nullptr && rule->commutative) ||
                std::find(ops.begin(), ops.end(), p.op) != ops.end());
    }

    // Compares literals, and adds goals for the operands.
    bool pair_operands(const node& p, const node& n, bool swapped) {
        const auto* rule = p.find_annotation<matching_rule>();
        if (is<builtin::constant>(p)) return constants_match(p, n, rule);
        std::size_t next_p = 0, next_n = 0;
        const std::size_t first = state_.goals.size();
        const auto pair = [&] {
            state_.goals.push_back({nullptr, nullptr, p.operand(next_p++), n.operand(next_n++)});
        };
        std::uint32_t index = 0;
        for (const field_info& f : *p.op) {
            const bool free =
                options_.ignore_literals ||
                (rule != nullptr && (rule->free_fields >> std::min<std::uint32_t>(index, 63) & 1U) != 0);
            const std::uint32_t field = index++;
            if (!holds_tensors(f.kind)) {
                if (!literal_matches(f, field, p, n, rule, free)) return false;
                continue;
            }
            if (f.kind == field_kind::tensor && !f.optional) {
                pair();
                continue;
            }
            const pmr_vector<bool> in_p = presence(f, p.arguments);
            const pmr_vector<bool> in_n = presence(f, n.arguments);
            if (in_p.size() != in_n.size()) return false;
            for (std::size_t i = 0; i != in_p.size(); ++i) {
                if (in_p[i] && in_n[i]) {
                    pair();
                } else if (in_n[i] && free) {
                    ++next_n;  // an absent operand counts as a literal
                } else if (in_p[i] || in_n[i]) {
                    return false;
                }
            }
        }
        if (swapped && state_.goals.size() >= first + 2)
            std::swap(state_.goals[first].graph_value, state_.goals[first + 1].graph_value);
        // The first operand becomes the next goal.
        std::reverse(state_.goals.begin() + static_cast<std::ptrdiff_t>(first), state_.goals.end());
        return true;
    }

    bool literal_matches(const field_info& f, std::uint32_t field, const node& p, const node& n,
                         const matching_rule* rule, bool free) {
        if (rule != nullptr) {
            for (const literal_binding& b : rule->literals) {
                if (b.field == field) return bind_literal(b.placeholder, {&n.op->fields[field], n.arguments});
            }
        }
        return free || equal_field(f, p.arguments, n.arguments);
    }
    bool bind_literal(std::uint32_t placeholder, const literal& found) {
        const node* input = &*std::next(pattern_.inputs().begin(), placeholder);
        literal& bound = state_.literals[input->id];
        if (bound) return equal_literals(bound, found);
        bound = found;
        return !options_.match_placeholder;
    }

    [[nodiscard]] bool constants_match(const node& p, const node& n, const matching_rule* rule) const {
        if (rule != nullptr && rule->filled_with) return is_filled_with(n, *rule->filled_with);
        return !options_.match_constants || same_elements(p, n);
    }

    // Returns which of a member's tensors are present.
    static pmr_vector<bool> presence(const field_info& f, const void* arguments) {
        pmr_vector<bool> present;
        const std::byte* at = static_cast<const std::byte*>(arguments) + f.offset;
        if (f.kind == field_kind::tensor) {
            present.push_back(!f.optional || reinterpret_cast<const std::optional<value>*>(at)->has_value());
        } else if (f.kind == field_kind::tensors) {
            present.assign(reinterpret_cast<const list<value>*>(at)->size(), true);
        } else {
            for (const auto& v : *reinterpret_cast<const list<std::optional<value>>*>(at))
                present.push_back(v.has_value());
        }
        return present;
    }

    const graph& pattern_;
    const matcher_options& options_;
    state state_;
};

}  // namespace detail
}  // namespace headrace

// ---- headrace/match/subgraph_matcher.hpp ----

namespace headrace {

/// Finds the matches of a pattern: a graph whose placeholders match any value, and whose other nodes match
/// nodes of the same op with the same literals. A match could be replaced by one node: nodes outside use only
/// the results that it returns, and no path leaves it and comes back.
///
/// The search starts at the pattern's sinks, the anchors, and follows operands, because a value has many
/// users but only one producer. The pattern must outlive the matcher.
///
///     graph pattern;  // x -> relu -> output
///     const subgraph_matcher matcher(pattern);
///     HEADRACE_TRY(matches, matcher.match(g));
///     for (const subgraph_match& m : matches) use(m.anchors, m.nodes_map, m.placeholder_nodes);
class subgraph_matcher {
public:
    explicit subgraph_matcher(const graph& pattern, matcher_options options = {})
        : pattern_(&pattern), options_(std::move(options)) {
        fault_ = examine();
    }

    [[nodiscard]] const graph& pattern() const { return *pattern_; }
    [[nodiscard]] const matcher_options& options() const { return options_; }
    /// Returns the sinks of the pattern, as nodes of the pattern.
    [[nodiscard]] const pmr_vector<const node*>& pattern_anchors() const { return anchors_; }
    /// Returns why the pattern cannot match anything; empty if it can.
    [[nodiscard]] const std::pmr::string& fault() const { return fault_; }

    /// Returns the matches in a graph, without nested regions, in the execution order of their anchors. An
    /// error describes a fault of the pattern.
    [[nodiscard]] result<pmr_vector<subgraph_match>> match(const graph& g) const {
        if (!fault_.empty()) return invalid({"pattern: ", fault_});
        pmr_vector<subgraph_match> found;
        if (!has_enough_nodes(g)) return found;
        const pmr_vector<pmr_vector<node*>> candidates = find_candidates(g);
        pmr_vector<node*> chosen;
        extend(candidates, chosen, found);
        if (options_.remove_overlapping_matches) remove_overlapping(found);
        return found;
    }

    /// Returns the match whose only anchor is that node, for patterns with one anchor.
    [[nodiscard]] std::optional<subgraph_match> match_at(node& anchor) const {
        if (!fault_.empty() || anchors_.size() != 1) return std::nullopt;
        return match_from({&anchor});
    }

    /// Keeps the first of several matches that share a node; constants may be shared.
    /// `remove_overlapping_matches` does this, too; call it directly to drop other matches first.
    static void remove_overlapping(pmr_vector<subgraph_match>& matches) {
        std::pmr::unordered_set<const node*> taken;
        const auto overlaps = [&](const subgraph_match& m) {
            pmr_vector<node*> inside = m.nodes();
            erase_if(inside, [](const node* n) { return is<builtin::constant>(*n); });
            const auto is_taken = [&](const node* n) { return taken.contains(n); };
            if (std::any_of(inside.begin(), inside.end(), is_taken)) return true;
            taken.insert(inside.begin(), inside.end());
            return false;
        };
        erase_if(matches, overlaps);
    }

private:
    std::pmr::string examine() {
        const node* out = pattern_->output();
        if (out == nullptr || out->operand_count == 0) return "it has no output";
        pmr_vector<bool> is_bound(pattern_->id_bound());
        pmr_vector<node*> inputs;
        for (node& n : pattern_->inputs()) inputs.push_back(&n);
        for (const node& n : pattern_->nodes()) {
            const auto* rule = n.find_annotation<matching_rule>();
            if (rule == nullptr) continue;
            for (const literal_binding& b : rule->literals) {
                if (b.placeholder >= inputs.size()) return "a literal is bound to no placeholder";
                is_bound[inputs[b.placeholder]->id] = true;
            }
        }
        for (const node& n : pattern_->nodes()) {
            if (is<builtin::output>(n) || n.first_use != nullptr || is_bound[n.id]) continue;
            const std::pmr::string name(n.name().empty() ? text_of({"#", n.id}) : std::pmr::string(n.name()));
            if (is<builtin::placeholder>(n)) return text_of({"its placeholder ", name, " is not used"});
            return text_of({"its node ", name, " (", n.op->name, ") leads to no output"});
        }
        for (const edge& e : out->operand_edges()) {
            if (is<builtin::placeholder>(*e.source)) {
                return text_of({"it returns its placeholder ", e.source->name()});
            }
        }
        find_anchors(out);
        return {};
    }
    void find_anchors(const node* out) {
        if (options_.match_output) {
            anchors_ = {out};
            return;
        }
        for (const edge& e : out->operand_edges()) {
            const auto uses = e.source->uses();
            const bool sink =
                std::all_of(uses.begin(), uses.end(), [&](const edge& u) { return u.target == out; });
            if (sink && std::find(anchors_.begin(), anchors_.end(), e.source) == anchors_.end())
                anchors_.push_back(e.source);
        }
    }

    // The census rules out most graphs for most patterns at once.
    [[nodiscard]] bool has_enough_nodes(const graph& g) const {
        bool enough = true;
        pattern_->census().for_each([&](const op_info& op, std::size_t needed) {
            const bool counts = &op != &info_of<builtin::placeholder> && &op != &info_of<builtin::output>;
            if (counts && g.census().count(op) < needed) enough = false;
        });
        return enough;
    }

    [[nodiscard]] pmr_vector<pmr_vector<node*>> find_candidates(const graph& g) const {
        pmr_vector<pmr_vector<node*>> candidates;
        for (const node* anchor : anchors_) {
            auto& nodes = candidates.emplace_back();
            for (node& n : g.nodes_of(*anchor->op)) nodes.push_back(&n);
        }
        if (std::all_of(candidates.begin(), candidates.end(), [](const auto& c) { return c.size() < 2; }))
            return candidates;
        // The census lists nodes in order of creation; matches must come in execution order.
        pmr_vector<std::size_t> position(g.id_bound());
        std::size_t at = 0;
        for (const node& n : g.nodes()) position[n.id] = at++;
        for (auto& nodes : candidates) {
            std::sort(nodes.begin(), nodes.end(),
                      [&](const node* a, const node* b) { return position[a->id] < position[b->id]; });
        }
        return candidates;
    }

    // Chooses a node for each anchor in turn, and gives up a choice as soon as the chosen ones cannot match.
    void extend(const pmr_vector<pmr_vector<node*>>& candidates, pmr_vector<node*>& chosen,
                pmr_vector<subgraph_match>& found) const {
        const std::size_t next = chosen.size();
        for (node* candidate : candidates[next]) {
            chosen.push_back(candidate);
            if (next + 1 == candidates.size()) {
                if (auto m = match_from(chosen)) found.push_back(std::move(*m));
            } else if (detail::subgraph_search(*pattern_, options_).run(anchors_, chosen)) {
                extend(candidates, chosen, found);
            }
            chosen.pop_back();
        }
    }

    [[nodiscard]] std::optional<subgraph_match> match_from(const pmr_vector<node*>& chosen) const {
        detail::subgraph_search search(*pattern_, options_);
        if (!search.run(anchors_, chosen)) return std::nullopt;
        subgraph_match m = search.collect();
        m.anchors = chosen;
        for (const value v : m.returning_values) {
            if (v.result >= v.producer->result_count) return std::nullopt;
        }
        if (!is_contained(m) || !is_convex(m)) return std::nullopt;
        return m;
    }

    // True if nodes outside use only results that the match returns. Constants are kept: they may have users.
    [[nodiscard]] bool is_contained(const subgraph_match& m) const {
        const list<value> returned = pattern_->outputs();
        const pmr_vector<node*> inside = m.nodes();
        for (const auto& [from, to] : m.nodes_map) {
            if (is<builtin::placeholder>(*from) || is<builtin::output>(*from) || is<builtin::constant>(*to))
                continue;
            for (const edge& e : to->uses()) {
                const value used{const_cast<node*>(from), e.slot->result};
                const bool may_leave = (options_.match_output && is<builtin::output>(*e.target)) ||
                                       std::find(returned.begin(), returned.end(), used) != returned.end();
                if (!may_leave && std::find(inside.begin(), inside.end(), e.target) == inside.end())
                    return false;
            }
        }
        return true;
    }

    // A match that returns only results of its one anchor is always convex: each path that leaves it starts
    // there, at its last node.
    [[nodiscard]] bool is_convex(const subgraph_match& m) const {
        const list<value> returned = pattern_->outputs();
        const bool single = anchors_.size() == 1 && !options_.match_output &&
                            std::all_of(returned.begin(), returned.end(),
                                        [&](const value& v) { return v.producer == anchors_[0]; });
        return single || detail::execution_span(m.nodes()).convex();
    }

    const graph* pattern_;
    matcher_options options_;
    pmr_vector<const node*> anchors_;
    std::pmr::string fault_;
};

}  // namespace headrace

// ---- headrace/match/pattern.hpp ----

namespace headrace {

namespace detail {

/// Writes an expression as a graph. Equal calls become one node.
class expression_writer {
public:
    expression_writer(graph& g, std::size_t inputs) : graph_(g) {
        for (std::size_t i = 0; i != inputs; ++i) {
            inputs_.push_back(g.create<builtin::placeholder>({}).result());
            g.set_name(inputs_.back(), text_of({"input_", i}));
        }
    }

    template <class E>
    void write_outputs(const E& e) {
        const value v = write(e);
        graph_.create<builtin::output>({.values = {&v, 1}});
    }
    template <class... Es>
    void write_outputs(const returned_values<Es...>& e) {
        pmr_vector<value> values;
        std::apply([&](const Es&... items) { (values.push_back(write(items)), ...); }, e.items);
        graph_.create<builtin::output>({.values = values});
    }

private:
    template <std::size_t I>
    value write(const wildcard<I>&) {
        return inputs_[I];
    }
    template <std::size_t I, class Call>
    value write(const result_expression<I, Call>& e) {
        return {write(e.call).producer, I};
    }
    value write(const filled_constant& c) {
        return find_or_create(info_of<builtin::constant>, &default_args<builtin::constant>, 1,
                              {.filled_with = c.number});
    }
    value write(const any_constant_type&) {
        return graph_.create<builtin::constant>({}).result();  // each one is a separate constant
    }
    template <class Op, bool Commutative, bool AnyLiterals, class Label, class... Ts>
    value write(const call_expression<Op, call_modifiers<Commutative, AnyLiterals, Label>, Ts...>& e) {
        args<Op> a = default_args<Op>;
        matching_rule rule{.commutative = Commutative, .name = Label::text};
        pmr_vector<literal_binding> bindings;
        constexpr auto places = place_arguments<Op, Ts...>();
        std::uint64_t given = 0;
        const auto put = [&](std::size_t field, const auto& argument) {
            given |= std::uint64_t{1} << field;
            write_argument(fields_of<Op>[field], static_cast<std::uint32_t>(field),
                           reinterpret_cast<std::byte*>(&a), argument, rule, bindings);
        };
        std::size_t i = 0;
        std::apply([&](const Ts&... items) { (put(places[i++], items), ...); }, e.arguments);
        static_cast<void>(i);
        for (std::size_t k = 0; k != fields_of<Op>.size(); ++k) {
            if (AnyLiterals && (given >> k & 1U) == 0 && !holds_tensors(fields_of<Op>[k].kind))
                rule.free_fields |= std::uint64_t{1} << k;
        }
        rule.literals = bindings;
        // The number of results of a variadic op depends on the matched node.
        constexpr std::size_t results = Op::results == variadic_results ? 16 : std::size_t{Op::results};
        return find_or_create(info_of<Op>, &a, results, rule);
    }

    template <class Label, class T>
    void write_argument(const field_info& f, std::uint32_t field, std::byte* a,
                        const named_argument<Label, T>& argument, matching_rule& rule,
                        pmr_vector<literal_binding>& bindings) {
        write_argument(f, field, a, argument.item, rule, bindings);
    }
    template <class T>
    void write_argument(const field_info& f, std::uint32_t field, std::byte* a, const T& argument,
                        matching_rule& rule, pmr_vector<literal_binding>& bindings) {
        if constexpr (std::is_same_v<T, any_literal_type>) {
            rule.free_fields |= std::uint64_t{1} << field;
        } else if constexpr (std::is_same_v<T, std::nullopt_t>) {
            // None is the default of every optional argument.
        } else if constexpr (is_operand<T>) {
            if (f.kind == field_kind::tensor) {
                store(f, a, write(argument));
            } else if constexpr (is_wildcard<T>) {
                bindings.push_back({field, position_of(argument)});
            }
        } else {
            write_literal(f, a, argument);
        }
    }
    template <class... Ts>
    void write_argument(const field_info& f, std::uint32_t, std::byte* a,
                        const tensors_expression<Ts...>& argument, matching_rule&,
                        pmr_vector<literal_binding>&) {
        if (f.kind == field_kind::tensors) {
            auto& items = lists_.emplace_back();
            std::apply(
                [&](const Ts&... each) { (items.push_back(write_or_none(each).value_or(value{})), ...); },
                argument.items);
            store(f, a, list<value>(items));
        } else {
            auto& items = optional_lists_.emplace_back();
            std::apply([&](const Ts&... each) { (items.push_back(write_or_none(each)), ...); },
                       argument.items);
            store(f, a, list<std::optional<value>>(items));
        }
    }
    template <class T>
    std::optional<value> write_or_none(const T& item) {
        if constexpr (std::is_same_v<T, std::nullopt_t>) {
            return std::nullopt;
        } else {
            return write(item);
        }
    }
    template <std::size_t I>
    static constexpr std::uint32_t position_of(const wildcard<I>&) {
        return I;
    }

    template <class T>
    static void store(const field_info& f, std::byte* a, const T& item) {
        if (f.optional) {
            *reinterpret_cast<std::optional<T>*>(a + f.offset) = item;
        } else {
            *reinterpret_cast<T*>(a + f.offset) = item;
        }
    }
    template <class T>
    static void write_literal(const field_info& f, std::byte* a, const T& item) {
        if constexpr (std::is_arithmetic_v<T>) {
            if (f.kind == field_kind::integer) return store(f, a, static_cast<std::int64_t>(item));
            if (f.kind == field_kind::floating) return store(f, a, static_cast<double>(item));
            if (f.kind == field_kind::boolean) return store(f, a, item != T{});
            if constexpr (std::is_same_v<T, bool>) {
                store(f, a, scalar(item));
            } else if constexpr (std::is_integral_v<T>) {
                store(f, a, scalar(static_cast<std::int64_t>(item)));
            } else {
                store(f, a, scalar(static_cast<double>(item)));
            }
        } else if constexpr (std::is_convertible_v<const T&, std::string_view>) {
            store(f, a, std::string_view(item));
        } else {
            store(f, a, item);
        }
    }

    static bool same_rule(const matching_rule& a, const matching_rule& b) {
        const auto same_binding = [](const literal_binding& x, const literal_binding& y) {
            return x.field == y.field && x.placeholder == y.placeholder;
        };
        return a.commutative == b.commutative && a.free_fields == b.free_fields &&
               a.filled_with == b.filled_with && a.name == b.name &&
               std::equal(a.literals.begin(), a.literals.end(), b.literals.begin(), b.literals.end(),
                          same_binding);
    }
    value find_or_create(const op_info& op, const void* arguments, std::size_t results,
                         const matching_rule& rule) {
        for (node& n : graph_.nodes_of(op)) {
            const auto* other = n.find_annotation<matching_rule>();
            if (other != nullptr && same_rule(rule, *other) && equal_arguments(op, arguments, n.arguments))
                return n.result();
        }
        node& n = graph_.create(op, arguments, results);
        matching_rule owned = rule;
        owned.literals = graph_.own(rule.literals);
        owned.name = graph_.own(rule.name);
        graph_.annotate(n, owned);
        return n.result();
    }

    graph& graph_;
    pmr_vector<value> inputs_;
    std::pmr::deque<pmr_vector<value>> lists_;  // stable addresses until their node has copied them
    std::pmr::deque<pmr_vector<std::optional<value>>> optional_lists_;
};

template <class F>
void write_expression(graph& g, const F& f) {
    expression_writer(g, input_count<F>).write_outputs(expression_of(f));
}

/// Returns the graph of an expression, created at the first call.
template <class F>
const graph& graph_of() {
    struct written : graph {
        written() { write_expression(*this, F{}); }
    };
    static const written g;
    return g;
}

}  // namespace detail

/// A pattern as a type, made from the type of a stateless callable that takes wildcards and returns an
/// expression:
///
///     struct add_then_mul {
///         constexpr auto operator()(auto x, auto y) const {
///             return call<aten::mul_tensor>(call<aten::add_tensor>(x, y), y);
///         }
///     };
///     using p = pattern<add_then_mul>;  // or pattern<decltype([](auto x, auto y) { ... })>
///
/// It does not compile if a call names something other than an op, the number of operands is wrong, an
/// argument is of the wrong kind, or a placeholder is unused.
template <pattern_function F>
class pattern {
    using facts = detail::pattern_facts<F>;
    using fault = typename facts::fault;
    static_assert(
        calls_known_ops<fault>,
        "pattern: it calls something that is not an op; see unknown_op<T>, call an op of a dialect");
    static_assert(arity_fits<fault>,
                  "pattern: a call has too many or too few arguments; see wrong_arity<Op, Given, Takes>");
    static_assert(
        arguments_fit<fault>,
        "pattern: an op does not take such an argument; see wrong_argument<Op, Field, Given, Takes>");
    static_assert(placeholders_used<fault>,
                  "pattern: a placeholder is not used; see unused_placeholder<Index, Op>, drop it");
    static_assert(returns_calls<fault>,
                  "pattern: it returns something that no call makes; see no_call<Expression>, return a call");

public:
    using function = F;
    /// The ops that it calls; first that of the first returned value.
    using called = typename facts::called;
    static constexpr std::size_t inputs = facts::inputs;
    static constexpr std::size_t outputs = facts::outputs;

    /// Returns the pattern as a graph, created at the first call.
    [[nodiscard]] static const graph& as_graph() { return detail::graph_of<F>(); }
    [[nodiscard]] static subgraph_matcher matcher(matcher_options options = {}) {
        return subgraph_matcher(as_graph(), std::move(options));
    }
};

/// Returns a pattern's graph, from a callable that may hold values, such as literals known only at run time.
template <pattern_function F>
[[nodiscard]] std::unique_ptr<graph> make_pattern(const F& f) {
    static_assert(sound_expression<typename detail::pattern_facts<F>::fault>,
                  "pattern: its expression is ill-formed; see the diagnosis, which pattern<F> explains");
    auto g = std::make_unique<graph>();
    if constexpr (detail::pattern_facts<F>::sound) detail::write_expression(*g, f);
    return g;
}

}  // namespace headrace

// ---- headrace/match/replacement.hpp ----

namespace headrace {

namespace detail {

/// The place of a replacement: before `before`, or at the end of the graph, on behalf of `current`.
struct replacement_site {
    graph& g;
    node& current;
    node* before;
    pass_context& context;
};

/// A copy of a node's arguments with other operands, not attached to a node.
class remapped_arguments {
public:
    template <class Map>
    remapped_arguments(const node& n, Map&& map) : bytes_(n.op->args_size / sizeof(std::max_align_t) + 1) {
        std::memcpy(data(), n.arguments, n.op->args_size);
        for (const field_info& f : *n.op) {
            if (f.kind == field_kind::tensor && !f.optional) {
                at<value>(f) = map(at<value>(f));
            } else if (f.kind == field_kind::tensor) {
                if (auto& v = at<std::optional<value>>(f)) v = map(*v);
            } else if (f.kind == field_kind::tensors) {
                auto& items = lists_.emplace_back();
                for (const value v : at<list<value>>(f)) items.push_back(map(v));
                at<list<value>>(f) = items;
            } else if (f.kind == field_kind::optional_tensors) {
                auto& items = optional_lists_.emplace_back();
                for (const auto& v : at<list<std::optional<value>>>(f))
                    items.push_back(v ? std::optional(map(*v)) : std::nullopt);
                at<list<std::optional<value>>>(f) = items;
            }
        }
    }

    [[nodiscard]] void* data() { return bytes_.data(); }
    /// Sets a member to the literal of another node, which must be of the same kind.
    void set(const field_info& f, const literal& from) {
        visit_field(*from.field, from.arguments, [&]<class T>(const T& item) {
            if constexpr (std::is_same_v<T, custom_member>) {
                if (f.custom == item.type) std::memcpy(&at<std::byte>(f), item.at, f.custom->size);
            } else {
                if constexpr (!is_optional<T>) {
                    if (f.optional) {
                        at<std::optional<T>>(f) = item;
                        return;
                    }
                }
                at<T>(f) = item;
            }
        });
    }

private:
    template <class T>
    T& at(const field_info& f) {
        return *reinterpret_cast<T*>(reinterpret_cast<std::byte*>(bytes_.data()) + f.offset);
    }

    pmr_vector<std::max_align_t> bytes_;
    std::pmr::deque<pmr_vector<value>> lists_;
    std::pmr::deque<pmr_vector<std::optional<value>>> optional_lists_;
};

/// Copies a replacement graph to the place of a match.
class replacement_copy {
public:
    replacement_copy(const graph& from, pass_context::node_inference rules, const subgraph_match& m,
                     const replacement_site& site)
        : from_(from), rules_(rules), match_(m), site_(site), made_(from.id_bound()) {}

    outcome_kind run(value_list& with) {
        const node* out = from_.output();
        if (out == nullptr) return fail("the replacement has no output", error_kind::invalid);
        std::size_t input = 0;
        for (const node& n : from_.inputs()) {
            if (input == match_.placeholder_values.size())
                return fail("the replacement has more inputs than the pattern", error_kind::invalid);
            made_[n.id] = {match_.placeholder_values[input++]};
        }
        for (const node& n : from_.nodes()) {
            if (is<builtin::placeholder>(n) || is<builtin::output>(n)) continue;
            if (const outcome_kind outcome = copy(n); outcome != outcome_kind::replaced) return outcome;
        }
        for (const edge& e : out->operand_edges()) with.push_back(mapped(*e.slot));
        return outcome_kind::replaced;
    }

private:
    outcome_kind fail(std::pmr::string reason, error_kind kind) {
        site_.context.report(site_.current, std::move(reason), kind);
        return outcome_kind::failed;
    }
    [[nodiscard]] value mapped(value v) const {
        const auto& results = made_[v.producer->id];
        return v.result < results.size() ? results[v.result] : value{};
    }

    outcome_kind copy(const node& n) {
        const auto* rule = n.find_annotation<matching_rule>();
        if (is<builtin::constant>(n)) return copy_constant(n, rule);
        const std::pmr::string op(n.op->name);
        if (holds_regions(*n.op))
            return fail(text_of({"the replacement has a nested graph, in ", op}), error_kind::invalid);

        remapped_arguments arguments(n, [&](value v) { return mapped(v); });
        if (rule != nullptr) {
            for (const literal_binding& b : rule->literals)
                arguments.set(n.op->fields[b.field], match_.literals[b.placeholder]);
        }
        inference inferred(site_.g.arena());
        if (const result<void> status = infer(*n.op, arguments, inferred); !status)
            return fail(text_of({"cannot make ", op, ": ", status.error().message}), status.error().kind);
        node& copied = site_.g.create(*n.op, arguments.data(), inferred.results().size(), site_.before);
        std::uint32_t i = 0;
        for (const tensor_meta& meta : inferred.results()) site_.g.set_meta(copied.result(i++), meta);
        remember(n, copied);
        return outcome_kind::replaced;
    }
    result<void> infer(const op_info& op, remapped_arguments& arguments, inference& out) const {
        value unknown;
        const bool known = all_operands(op, arguments.data(), [&](value v) {
            unknown = v;
            return v && meta_of(v) != nullptr;
        });
        if (!known) {
            const std::pmr::string which(unknown ? unknown.producer->name() : std::string_view("(none)"));
            return invalid({"operand ", which, " has no `val`"});
        }
        node probe;  // inference only needs an op and its arguments
        probe.op = &op;
        probe.arguments = arguments.data();
        return rules_ != nullptr ? rules_(probe, out) : site_.context.infer(probe, out);
    }
    outcome_kind copy_constant(const node& n, const matching_rule* rule) {
        if (rule != nullptr && rule->filled_with) {
            emission made(site_.g, &site_.current, site_.before, site_.context);
            emitter e(made);
            const tensor_meta& like = e.meta(match_.returning_values[0]);
            const value v = e.splat(*rule->filled_with, like.dtype, like.rank());
            if (!v) return outcome_kind::failed;
            remember(n, *v.producer);
            return outcome_kind::replaced;
        }
        const auto& meta = n.results[0].meta;
        const tensor_data& data = args_of<builtin::constant>(n).data;
        if (!meta || data.bytes == nullptr)
            return fail("the replacement has a constant without `val` or data", error_kind::invalid);
        const std::size_t size = traits_of(meta->dtype).bits / 8U;
        const value v = create_constant(site_.g, *meta, site_.before, [&](std::span<std::byte> to) {
            if (data.strides.empty()) {
                if (!to.empty()) std::memcpy(to.data(), data.bytes, to.size());
            } else {
                for (std::int64_t i = 0; i != meta->elements(); ++i)
                    std::memcpy(&to[static_cast<std::size_t>(i) * size], element_of(data, *meta, i), size);
            }
        });
        remember(n, *v.producer);
        return outcome_kind::replaced;
    }
    void remember(const node& n, node& copied) {
        for (std::uint32_t i = 0; i != copied.result_count; ++i) made_[n.id].push_back(copied.result(i));
    }

    const graph& from_;
    pass_context::node_inference rules_;
    const subgraph_match& match_;
    const replacement_site& site_;
    pmr_vector<pmr_vector<value>> made_;  // results, by the id of the replacement's node
};

/// The inference rules of the ops in a replacement.
template <class List>
struct rules_among;
template <class... Ops>
struct rules_among<ops<Ops...>> {
    static result<void> infer(const node& n, inference& out) {
        inference_rule rule = nullptr;
        ((n.op == &info_of<Ops> ? void(rule = rule_of_op<Ops>()) : void()), ...);
        if (rule == nullptr) return invalid({"no inference for ", n.op->name});
        return rule(n.arguments, out);
    }
};

// The ops that a callable that makes nodes declares to produce, and its return type.
template <class Member>
struct emitting_signature;
template <class F, class R, class Produces>
struct emitting_signature<R (F::*)(const subgraph_match&, emit<Produces>&) const> {
    using produces = Produces;
    using returned = R;
};
template <class F>
using emitting_signature_of = emitting_signature<decltype(&F::operator())>;

}  // namespace detail

/// Matches callables that make the nodes of a replacement themselves: a const call operator that takes `const
/// subgraph_match&` and `emit<ops<...>>&`, and returns the same types as a pass's handler.
template <class F>
concept emitting_function = requires { typename detail::emitting_signature_of<F>::produces; };

/// Matches callables that return a replacement graph for each match.
template <class F>
concept graph_callback =
    !pattern_function<F> && std::is_invocable_r_v<result<std::shared_ptr<const graph>>, const F&,
                                                  const subgraph_match&, const graph&, const graph&>;

/// The replacement of a match. It has the inputs of the pattern, in order, and returns one value for each
/// that the pattern returns. It is made from
///
/// - a graph, or a callable that returns an expression, like a pattern: copied for each match;
/// - a callable `(match, original, pattern) -> result<std::shared_ptr<const graph>>`: one graph per match;
/// - a callable `(const subgraph_match&, emit<ops<...>>&)`, which makes nodes like a pass's handler, and may
///   decline like one.
///
/// Nodes that come from a graph get metadata by the context's inference rules, all others by the rules of
/// their ops.
class replacement {
public:
    /// The graph must outlive this object.
    replacement(const graph& g) : make_(from_graph(&g, nullptr)) {}
    template <pattern_function F>
    replacement(const F& f) {
        using expression = decltype(expression_of(f));
        using facts = detail::expression_facts<detail::expression_side::replacement, expression>;
        static_assert(sound_expression<typename facts::fault>,
                      "replacement: its expression is ill-formed; see the diagnosis, fix that call");
        static_assert(
            results_are_inferred<decltype(detail::find_not_inferred(typename facts::called{}))>,
            "emit: an op has no infer_results; see no_inference<Op>, declare it beside the op");
        if constexpr (std::is_same_v<typename facts::fault, no_fault>) {
            auto g = std::make_shared<graph>();
            detail::write_expression(*g, f);
            make_ = [copy = from_graph(g.get(), &detail::rules_among<typename facts::called>::infer), g](
                        const subgraph_match& m, const graph& p, const detail::replacement_site& site,
                        value_list& with) { return copy(m, p, site, with); };
        }
    }
    template <graph_callback F>
    replacement(F f) {
        make_ = [f = std::move(f)](const subgraph_match& m, const graph& pattern,
                                   const detail::replacement_site& site, value_list& with) {
            const result<std::shared_ptr<const graph>> made = f(m, std::as_const(site.g), pattern);
            if (!made) {
                site.context.report(site.current, made.error().message, made.error().kind);
                return detail::outcome_kind::failed;
            }
            if (made.value() == nullptr) return detail::outcome_kind::declined;
            return detail::replacement_copy(*made.value(), nullptr, m, site).run(with);
        };
    }
    template <emitting_function F>
    replacement(F f) {
        make_ = [f = std::move(f)](const subgraph_match& m, const graph&,
                                   const detail::replacement_site& site, value_list& with) {
            using produces = typename detail::emitting_signature_of<F>::produces;
            emission made(site.g, &site.current, site.before, site.context);
            emit<produces> e(made);
            auto returned = f(m, e);
            if (e.failed()) return detail::outcome_kind::failed;
            if constexpr (is_optional<decltype(returned)>) {
                if (!returned) return detail::outcome_kind::declined;
                detail::append(with, *returned);
            } else {
                detail::append(with, returned);
            }
            return detail::outcome_kind::replaced;
        };
    }

    /// Makes the replacement of one match; `with` receives the values that replace the returned ones.
    detail::outcome_kind operator()(const subgraph_match& m, const graph& pattern,
                                    const detail::replacement_site& site, value_list& with) const {
        return make_ ? make_(m, pattern, site, with) : detail::outcome_kind::declined;
    }

private:
    using make_function = std::function<detail::outcome_kind(const subgraph_match&, const graph& pattern,
                                                             const detail::replacement_site&, value_list&)>;

    static make_function from_graph(const graph* g, pass_context::node_inference rules) {
        return
            [g, rules](const subgraph_match& m, const graph&, const detail::replacement_site& site,
                       value_list& with) { return detail::replacement_copy(*g, rules, m, site).run(with); };
    }

    make_function make_;
};

}  // namespace headrace

// ---- headrace/match/rewriter.hpp ----

namespace headrace {

/// The result of one replaced match.
struct replaced_pattern {
    node* anchor = nullptr;          ///< the match was found from it; may be erased
    node_map nodes_map;              ///< the pattern's nodes, and the matched ones
    pmr_vector<node*> replacements;  ///< the nodes that were added
    /// The pattern whose nodes are in nodes_map, if it was given as an expression.
    std::shared_ptr<const graph> pattern{};
};

/// Decides whether a match is replaced: `(match, original graph, pattern graph)`. All filters must agree.
using match_filter = std::function<bool(const subgraph_match&, const graph&, const graph&)>;

/// Options of a replacement. In `matching`, `match_output` and `remove_overlapping_matches` are ignored: the
/// output is never replaced, and of overlapping matches the first that passes the filters counts.
struct rewrite_options {
    matcher_options matching{};
    std::string_view name = "pattern";  ///< for messages
};

namespace detail {

/// Replaces all matches of a pattern in a graph.
class pattern_rewrite {
public:
    pattern_rewrite(graph& g, const graph& pattern, const replacement& with,
                    std::span<const match_filter> filters, pass_context& context,
                    const rewrite_options& options)
        : graph_(g), pattern_(pattern), with_(with), filters_(filters), context_(context), options_(options) {
        options_.matching.match_output = false;
        options_.matching.remove_overlapping_matches = false;
    }

    result<pmr_vector<replaced_pattern>> run() {
        const subgraph_matcher matcher(pattern_, options_.matching);
        auto matches = matcher.match(graph_);
        if (!matches) return fault(matches.error().message);
        erase_if(matches.value(), [&](const subgraph_match& m) {
            return !std::all_of(filters_.begin(), filters_.end(),
                                [&](const match_filter& f) { return f(m, std::as_const(graph_), pattern_); });
        });
        subgraph_matcher::remove_overlapping(matches.value());
        pmr_vector<replaced_pattern> replaced;
        for (subgraph_match& m : matches.value()) {
            if (auto status = replace(m, replaced); !status) return std::move(status).error();
        }
        return replaced;
    }

private:
    [[nodiscard]] error fault(const std::pmr::string& reason) const {
        return invalid({options_.name, ": ", reason});
    }

    result<void> replace(subgraph_match& m, pmr_vector<replaced_pattern>& replaced) {
        follow_changes(m);
        const pmr_vector<node*> nodes = m.nodes();
        if (!all_alive(m, nodes)) return {};
        // Earlier replacements may have closed a path that leaves this match and comes back.
        const execution_span span(nodes);
        if (!span.convex()) return {};
        node& last = span.last() != nullptr ? *span.last() : *m.anchors[0];
        node* const behind = last.next;
        const pmr_vector<node*> users = span.users_between();

        value_list with;
        const replacement_site site{graph_, *m.anchors[0], behind, context_};
        const outcome_kind outcome = with_(m, pattern_, site, with);
        pmr_vector<node*> made;
        for (node* n = last.next; n != behind; n = n->next) made.push_back(n);
        if (outcome != outcome_kind::replaced) {
            erase_unused(made);
            return {};
        }
        if (std::pmr::string reason = misfit(m, with); !reason.empty())
            return fault(message_prefix(*m.anchors[0]) + reason);

        for (node* n : made) {
            for (const node* from : m.returning_nodes) graph_.inherit_annotations(*n, *from);
            for (const node* from : nodes) graph_.inherit_annotations(*n, *from);
        }
        put_in_place(m, with, made);
        // Users of new results move after them, in their old order.
        for (node* n : users) graph_.move_before(*n, behind);
        erase_unused(made);
        std::for_each(nodes.rbegin(), nodes.rend(), [&](node* n) { erase_dead(graph_, *n); });
        erase_if(made, [](const node* n) { return n->owner == nullptr; });
        replaced.push_back({m.anchors[0], m.nodes_map, std::move(made), {}});
        return {};
    }

    void put_in_place(const subgraph_match& m, const value_list& with, const pmr_vector<node*>& made) {
        for (std::size_t i = 0; i != with.size(); ++i) {
            const value from = m.returning_values[i];
            if (!with[i]) continue;
            hand_over_name(from.producer->results[from.result], with[i]);
            redirect(from, with[i], made);
            changes_.emplace_back(from, with[i]);
        }
    }

    // An input of this match may have been replaced by an earlier match.
    void follow_changes(subgraph_match& m) const {
        for (std::size_t i = 0; i != m.placeholder_values.size(); ++i) {
            value& v = m.placeholder_values[i];
            const node* const before = v.producer;
            for (bool changed = true; changed && v;) {
                const auto found = std::find_if(changes_.rbegin(), changes_.rend(),
                                                [&](const auto& change) { return change.first == v; });
                changed = found != changes_.rend();
                if (changed) v = found->second;
            }
            if (v.producer == before) continue;
            m.placeholder_nodes[i] = v.producer;
            m.nodes_map.replace(before, v.producer);
        }
    }
    // Dead nodes were erased with the match that made them dead, even if they belong to another.
    [[nodiscard]] static bool all_alive(const subgraph_match& m, const pmr_vector<node*>& nodes) {
        return std::all_of(nodes.begin(), nodes.end(), [](const node* n) { return n->owner != nullptr; }) &&
               std::all_of(m.placeholder_values.begin(), m.placeholder_values.end(),
                           [](value v) { return !v || v.producer->owner != nullptr; });
    }
    [[nodiscard]] std::pmr::string misfit(const subgraph_match& m, const value_list& with) const {
        if (with.size() != m.returning_values.size()) {
            return text_of(
                {"the replacement gives ", with.size(), " values for ", m.returning_values.size()});
        }
        for (std::size_t i = 0; i != with.size(); ++i) {
            const value from = m.returning_values[i];
            const std::pmr::string which = text_of({"result ", i});
            if (!with[i]) {
                if (use_count(from) != 0) return text_of({"the replacement gives nothing for ", which});
                continue;
            }
            const tensor_meta* before = meta_of(from);
            const tensor_meta* after = meta_of(with[i]);
            if (before != nullptr && after != nullptr && !(before->shape == after->shape))
                return text_of({"the replacement changes the shape of ", which});
        }
        return {};
    }
    // A replacement may use the value that it replaces.
    void redirect(value from, value to, const pmr_vector<node*>& made) {
        for (edge* e = from.producer->first_use; e != nullptr;) {
            edge* const next = e->next_use;
            if (e->slot->result == from.result &&
                std::find(made.begin(), made.end(), e->target) == made.end())
                graph_.set_operand(*e, to);
            e = next;
        }
    }
    void erase_unused(const pmr_vector<node*>& made) {
        std::for_each(made.rbegin(), made.rend(), [&](node* n) {
            if (n->first_use == nullptr) graph_.erase(*n);
        });
    }

    graph& graph_;
    const graph& pattern_;
    const replacement& with_;
    std::span<const match_filter> filters_;
    pass_context& context_;
    rewrite_options options_;
    pmr_vector<std::pair<value, value>> changes_;
};

}  // namespace detail

/// Replaces each match of the pattern, of overlapping ones the first, and returns the results. Nested regions
/// are skipped. New nodes get inferred metadata and the annotations of the nodes that they replace. A match
/// whose replacement fails or declines is kept; the context's diagnostics give the reason. An error, prefixed
/// by the options' name, is a fault of the pattern or of the replacement: too few outputs, or another shape.
[[nodiscard]] inline result<pmr_vector<replaced_pattern>> replace_pattern_with_filters(
    graph& g, const graph& pattern, const replacement& with, std::span<const match_filter> filters,
    pass_context& context, const rewrite_options& options = {}) {
    return detail::pattern_rewrite(g, pattern, with, filters, context, options).run();
}
[[nodiscard]] inline result<pmr_vector<replaced_pattern>> replace_pattern(
    graph& g, const graph& pattern, const replacement& with, pass_context& context,
    const rewrite_options& options = {}) {
    return replace_pattern_with_filters(g, pattern, with, {}, context, options);
}

namespace detail {

template <pattern_function F>
result<pmr_vector<replaced_pattern>> replace_written(graph& g, const F& f, const replacement& with,
                                                     std::span<const match_filter> filters,
                                                     pass_context& context, const rewrite_options& options) {
    const auto written = std::make_shared<graph>();
    write_expression(*written, f);
    auto replaced = replace_pattern_with_filters(g, *written, with, filters, context, options);
    if (replaced) {
        for (replaced_pattern& r : replaced.value()) r.pattern = written;
    }
    return replaced;
}

}  // namespace detail

/// Replaces matches of a pattern that is given as an expression.
template <pattern_function F>
[[nodiscard]] result<pmr_vector<replaced_pattern>> replace_pattern_with_filters(
    graph& g, const F& f, const replacement& with, std::span<const match_filter> filters,
    pass_context& context, const rewrite_options& options = {}) {
    static_assert(sound_expression<typename detail::pattern_facts<F>::fault>,
                  "pattern: its expression is ill-formed; see the diagnosis, which pattern<F> explains");
    if constexpr (detail::pattern_facts<F>::sound) {
        return detail::replace_written(g, f, with, filters, context, options);
    } else {
        return invalid("ill-formed");
    }
}
template <pattern_function F>
[[nodiscard]] result<pmr_vector<replaced_pattern>> replace_pattern(graph& g, const F& f,
                                                                   const replacement& with,
                                                                   pass_context& context,
                                                                   const rewrite_options& options = {}) {
    static_assert(sound_expression<typename detail::pattern_facts<F>::fault>,
                  "pattern: its expression is ill-formed; see the diagnosis, which pattern<F> explains");
    if constexpr (detail::pattern_facts<F>::sound) {
        return detail::replace_written(g, f, with, {}, context, options);
    } else {
        return invalid("ill-formed");
    }
}

/// A named rewrite, for rewrite_to_fixed_point.
struct rewrite_rule {
    std::pmr::string name;
    std::shared_ptr<const graph> pattern;
    replacement with;
    pmr_vector<match_filter> filters{};
    matcher_options matching{};
};
template <pattern_function F>
[[nodiscard]] rewrite_rule make_rule(std::pmr::string name, const F& f, replacement with,
                                     pmr_vector<match_filter> filters = {}, matcher_options matching = {}) {
    static_assert(sound_expression<typename detail::pattern_facts<F>::fault>,
                  "pattern: its expression is ill-formed; see the diagnosis, which pattern<F> explains");
    auto written = std::make_shared<graph>();
    if constexpr (detail::pattern_facts<F>::sound) detail::write_expression(*written, f);
    return {std::move(name), std::move(written), std::move(with), std::move(filters), std::move(matching)};
}

/// Returns the number of rewrites after which a run on a graph of that size is considered endless.
[[nodiscard]] constexpr std::size_t default_rewrite_limit(std::size_t nodes) { return 16 * nodes + 256; }

namespace detail {

/// Runs steps in turn, each `result<std::size_t>(graph&)`, until none rewrites anything.
template <class Step, class Name>
result<std::size_t> repeat_to_fixed_point(graph& g, std::size_t steps, Step&& step, Name&& name,
                                          std::size_t limit) {
    if (limit == 0) limit = default_rewrite_limit(g.size());
    std::size_t total = 0;
    for (bool changed = true; changed;) {
        changed = false;
        std::pmr::string active;
        for (std::size_t i = 0; i != steps; ++i) {
            const result<std::size_t> rewritten = step(i);
            if (!rewritten) return rewritten.error();
            if (rewritten.value() == 0) continue;
            changed = true;
            total += rewritten.value();
            active += (active.empty() ? "" : ", ") + std::pmr::string(name(i));
            if (total > limit) {
                return invalid({active, ": no fixed point after ", total,
                                " rewrites; the patterns match what they made"});
            }
        }
    }
    return total;
}

}  // namespace detail

/// Applies the rules in turn until none matches, and returns the number of replaced matches. After more than
/// `limit` rewrites (0: in proportion to the graph's size) it fails; the error names the patterns that still
/// match.
[[nodiscard]] inline result<std::size_t> rewrite_to_fixed_point(graph& g, std::span<const rewrite_rule> rules,
                                                                pass_context& context,
                                                                std::size_t limit = 0) {
    const auto step = [&](std::size_t i) -> result<std::size_t> {
        const rewrite_rule& r = rules[i];
        HEADRACE_TRY(replaced, replace_pattern_with_filters(g, *r.pattern, r.with, r.filters, context,
                                                            {.matching = r.matching, .name = r.name}));
        return replaced.size();
    };
    const auto name = [&](std::size_t i) { return std::string_view(rules[i].name); };
    return detail::repeat_to_fixed_point(g, rules.size(), step, name, limit);
}

}  // namespace headrace

// ---- headrace/match/pattern_pass.hpp ----

namespace headrace {

/// Names a type that cannot be a replacement: neither an expression nor a callable that emits.
template <class T>
struct not_a_replacement {};
template <class Diagnosis>
inline constexpr bool can_replace = true;
template <class T>
inline constexpr bool can_replace<not_a_replacement<T>> = false;
template <class Diagnosis>
inline constexpr bool sound_replacement =
    sound_expression<Diagnosis> || !can_replace<Diagnosis> || !replacement_fits<Diagnosis>;

namespace detail {

template <class T>
inline constexpr bool matches_anything = std::is_same_v<T, any_literal_type> || is_wildcard<T>;

template <class... Ts>
constexpr bool wildcards_differ() {
    // There are as many placeholders as wildcards, so none occurs twice.
    constexpr std::size_t wildcards = (std::size_t{is_wildcard<argument_type<Ts>>} + ... + 0);
    placeholder_uses uses{};
    (expression_facts<expression_side::pattern, argument_type<Ts>>::note(uses), ...);
    std::size_t used = 0;
    for (const placeholder_use& u : uses) used += u.used();
    return used == wildcards;
}

/// True if a pattern matches every node of its op: it is one call of an op with one result, whose arguments
/// are distinct wildcards, none of them optional or a list.
template <class E>
inline constexpr bool matches_every_node = false;
template <class Op, bool C, bool AnyLiterals, class L, class... Ts>
inline constexpr bool matches_every_node<call_expression<Op, call_modifiers<C, AnyLiterals, L>, Ts...>> = [] {
    if constexpr (Op::results != 1 || !(matches_anything<argument_type<Ts>> && ...)) {
        return false;
    } else {
        constexpr auto places = place_arguments<Op, Ts...>();
        for (std::size_t k = 0; k != field_names<Op>.size(); ++k) {
            const field_info& f = fields_of<Op>[k];
            bool given = AnyLiterals && !holds_tensors(f.kind);
            for (std::size_t i = 0; i != sizeof...(Ts); ++i) given |= places[i] == k;
            if (!given || (holds_tensors(f.kind) && (f.optional || f.kind != field_kind::tensor)))
                return false;
        }
        return wildcards_differ<Ts...>();
    }
}();

// The facts of a replacement that a pass needs.
template <class R, class Pattern>
struct replacement_traits {
    using produces = ops<>;
    using made_by_expressions = ops<>;
    using fault = not_a_replacement<R>;
    static constexpr bool sound = false;
    static constexpr bool may_decline = true;
};
template <pattern_function R, class Pattern>
struct replacement_traits<R, Pattern> : replacement_facts<R, Pattern> {
    using produces = typename replacement_facts<R, Pattern>::called;
    using made_by_expressions = produces;
    static constexpr bool may_decline = false;
};
template <emitting_function R, class Pattern>
struct replacement_traits<R, Pattern> {
    using produces = typename emitting_signature_of<R>::produces;
    using made_by_expressions = ops<>;
    using fault = no_fault;
    static constexpr bool sound = true;
    static constexpr bool may_decline = is_optional<typename emitting_signature_of<R>::returned>;
};

}  // namespace detail

/// A rewrite of a pattern as a pass. It replaces each match of `Pattern`, a stateless callable that returns
/// an expression, by `Replacement`, another such callable or one that emits, if all `Filters` agree.
///
///     struct fuse_to_sub : pattern_pass<add_then_mul, just_sub> {};
///
/// It processes the whole graph including nested regions, because a match must see all users of its nodes, so
/// its result is the same for both drivers. It targets the op of the first returned value, without which
/// there is no match. It removes that op if the pattern is one call that matches every node of it, and
/// nothing otherwise. Unlike replace_pattern, it lets two placeholders match the same value.
///
/// Messages use `static constexpr std::string_view name` of `Pattern` as its name.
template <pattern_function Pattern, class Replacement, class... Filters>
struct pattern_pass : pass {
private:
    using facts = detail::pattern_facts<Pattern>;
    using traits = detail::replacement_traits<Replacement, Pattern>;
    static_assert(sound_expression<typename facts::fault>,
                  "pattern: its expression is ill-formed; see the diagnosis, which pattern<F> explains");
    static_assert(
        can_replace<typename traits::fault>,
        "replacement: it is not an expression and emits nothing; see not_a_replacement<T>, make it callable");
    static_assert(replacement_fits<typename traits::fault>,
                  "replacement: its inputs or outputs differ from the pattern's; give it the same signature");
    static_assert(sound_replacement<typename traits::fault>,
                  "replacement: its expression is ill-formed; see the diagnosis, fix that call");
    static constexpr bool sound = facts::sound && traits::sound;
    static constexpr bool always = [] {
        if constexpr (sound) {
            return sizeof...(Filters) == 0 && !traits::may_decline &&
                   detail::matches_every_node<typename facts::expression>;
        } else {
            return false;
        }
    }();
    template <bool Sound, class Root>
    struct root_list {
        using type = ops<>;
    };
    template <class Root>
    struct root_list<true, Root> {
        using type = ops<Root>;
    };

public:
    using targets = typename root_list<sound, typename facts::root>::type;
    using produces = std::conditional_t<sound, typename traits::produces, ops<>>;
    using removes = std::conditional_t<always, targets, ops<>>;
    /// The ops that must have inference when the pass runs.
    using made_by_expressions = std::conditional_t<sound, typename traits::made_by_expressions, ops<>>;

    /// Returns the pattern's name for messages.
    static constexpr std::string_view pattern_name() {
        if constexpr (requires {
                          { Pattern::name } -> std::convertible_to<std::string_view>;
                      }) {
            return Pattern::name;
        } else {
            return type_name<Pattern>;
        }
    }

    result<std::size_t> operator()(graph& g, pass_context& context) const {
        std::size_t count = 0;
        constexpr bool is_inferred =
            std::is_same_v<decltype(detail::find_not_inferred(made_by_expressions{})), no_fault>;
        if constexpr (sound && is_inferred) {
            const replacement with(Replacement{});
            const pmr_vector<match_filter> filters{match_filter(Filters{})...};
            rewrite_options options;
            options.matching.distinct_placeholders = false;
            options.name = pattern_name();
            error fault;
            bool failed = false;
            for_each_graph(g, [&](graph& sub) {
                if (failed) return;
                auto replaced = replace_pattern_with_filters(sub, detail::graph_of<Pattern>(), with, filters,
                                                             context, options);
                failed = !replaced;
                if (failed) {
                    fault = std::move(replaced).error();
                } else {
                    count += replaced.value().size();
                }
            });
            if (failed) return fault;
        }
        return count;
    }
};

/// A pass that repeats pattern passes in turn until none of them matches. If they match their own results
/// without end, the run stops with an error that names the patterns.
///
///     struct fold_negations : to_fixed_point<fuse_double_negation, sink_negation> {};
template <pass_type... Passes>
struct to_fixed_point : pass {
    using targets = joined<targets_of<Passes>...>;
    using produces = joined<produces_of<Passes>...>;
    using made_by_expressions = joined<typename Passes::made_by_expressions...>;

    result<std::size_t> operator()(graph& g, pass_context& context) const {
        using run_function = result<std::size_t> (*)(graph&, pass_context&);
        static constexpr std::array<run_function, sizeof...(Passes)> run{
            [](graph& to, pass_context& c) { return Passes{}(to, c); }...};
        static constexpr std::array<std::string_view, sizeof...(Passes)> names{Passes::pattern_name()...};
        return detail::repeat_to_fixed_point(
            g, run.size(), [&](std::size_t i) { return run[i](g, context); },
            [&](std::size_t i) { return names[i]; }, 0);
    }
};

}  // namespace headrace

// ---- headrace/memory/liveness.hpp ----

namespace headrace {

/// Returns the buffers that a node writes its results into, one for each; empty if it has none.
[[nodiscard]] list<value> out_buffers(const node& n);

/// A tensor with memory of its own, and its lifetime in steps. A step is the execution of one node; both
/// bounds are inclusive.
struct live_tensor {
    value tensor{};  ///< the value that it was made for; others may be views of it
    std::uint32_t first = 0;
    std::uint32_t last = 0;
    std::uint32_t memory = 0;  ///< 0: the graph's; each delegate has its own
    bool is_input = false;
    bool is_output = false;
};

/// The lifetimes of all tensors of a graph, in execution order, including nested graphs.
///
/// Inputs live from the beginning, outputs until the end. Constants are not counted: they stay in the file. A
/// view (headrace::is_view) shares the memory of its operand; a result of an out-variant shares the memory of
/// its buffer.
///
/// The nodes of a nested graph have steps between the first and the last step of the node that holds it. The
/// inputs of a nested graph are the operands of that node, which therefore live until its last step. Its
/// outputs are copied into the results, which live from the first step, because a loop keeps its carried
/// values there. The nested graphs of a node run one after the other, so only one of them needs memory at a
/// time. A delegate's tensors are in the memory of its backend.
class liveness {
public:
    explicit liveness(const graph& g);

    [[nodiscard]] std::span<const live_tensor> tensors() const { return tensors_; }
    /// Returns the graph of each memory: memory 0 is for the whole graph, the others are for delegates.
    [[nodiscard]] std::span<const graph* const> memories() const { return memories_; }
    /// Returns the number of steps; step 0 is when inputs are given.
    [[nodiscard]] std::uint32_t step_count() const { return step_ + 1; }

    /// Returns the index in `tensors()` of the tensor that holds a value; nothing for constants, for inputs
    /// of nested graphs, and for views of these.
    [[nodiscard]] std::optional<std::size_t> tensor_of(value v) const;
    [[nodiscard]] const live_tensor* find(value v) const;
    /// Returns the last step of a node, when its results are complete; nothing if it is not executed.
    [[nodiscard]] std::optional<std::uint32_t> step_of(const node& n) const;

private:
    static constexpr std::size_t none = static_cast<std::size_t>(-1);

    void analyze(const graph& g, std::uint32_t memory);

    // True for constants, and for the shape operands of TOSA's ops.
    [[nodiscard]] static bool is_known_before(const node& n);

    void execute(const node& n, std::uint32_t memory);

    void enter(const graph& region, std::uint32_t memory, bool is_delegate);

    void use(value v, const node& by);
    void touch(std::optional<std::size_t> position);
    live_tensor& add(const node& n, std::uint32_t result, std::uint32_t first, std::uint32_t memory);
    void share(const node& n, std::uint32_t result, std::optional<std::size_t> with);
    void set(const node& n, std::uint32_t result, std::size_t position);

    pmr_vector<live_tensor> tensors_;
    pmr_vector<const graph*> memories_;
    std::pmr::unordered_map<const node*, pmr_vector<std::size_t>> positions_;  // index in tensors_, by result
    std::pmr::unordered_map<const node*, std::uint32_t> steps_;
    std::pmr::unordered_map<const graph*, std::pair<std::size_t, std::size_t>> regions_;  // their tensors
    pmr_vector<value> captured_;  // values of outer graphs that nested graphs use
    std::uint32_t step_ = 0;
};

}  // namespace headrace

// ---- headrace/memory/liveness_definition.hpp ----

namespace headrace {

HEADRACE_INLINE list<value> out_buffers(const node& n) {
    if (!n.op->has(trait::writes_out)) return {};
    const field_info& last = n.op->fields[n.op->field_count - 1];
    const std::byte* const at = static_cast<const std::byte*>(n.arguments) + last.offset;
    if (last.kind == field_kind::tensor && !last.optional)
        return {reinterpret_cast<const value*>(at), std::size_t{1}};
    if (last.kind == field_kind::tensors) return *reinterpret_cast<const list<value>*>(at);
    return {};
}

HEADRACE_INLINE liveness::liveness(const graph& g) {
    memories_.push_back(&g);
    analyze(g, 0);
}

HEADRACE_INLINE std::optional<std::size_t> liveness::tensor_of(value v) const {
    const auto known = positions_.find(v.producer);
    if (known == positions_.end() || v.result >= known->second.size()) return std::nullopt;
    const std::size_t position = known->second[v.result];
    return position == none ? std::nullopt : std::optional(position);
}

HEADRACE_INLINE const live_tensor* liveness::find(value v) const {
    const auto position = tensor_of(v);
    return position ? &tensors_[*position] : nullptr;
}

HEADRACE_INLINE std::optional<std::uint32_t> liveness::step_of(const node& n) const {
    const auto known = steps_.find(&n);
    return known == steps_.end() ? std::nullopt : std::optional(known->second);
}

HEADRACE_INLINE void liveness::analyze(const graph& g, std::uint32_t memory) {
    const bool nested = step_ != 0;
    if (!nested) {
        for (const node& n : g.inputs()) {
            for (std::uint32_t i = 0; i != n.result_count; ++i) add(n, i, 0, memory).is_input = true;
        }
    }
    for (const node& n : g.nodes()) {
        if (is<builtin::placeholder>(n) || is_known_before(n)) continue;
        if (is<memory::alloc>(n)) {
            add(n, 0, step_ + 1, memory);
        } else {
            execute(n, memory);
        }
    }
    if (nested || g.output() == nullptr) return;
    for (const value v : g.outputs()) {
        if (const auto position = tensor_of(v)) tensors_[*position].is_output = true;
    }
}

HEADRACE_INLINE bool liveness::is_known_before(const node& n) {
    if (is<builtin::constant>(n) || is<tosa::const_>(n)) return true;
    const auto is_shape = [](const result_slot& r) { return r.meta && r.meta->dtype == dtype::shape; };
    return n.result_count != 0 && std::all_of(n.results, n.results + n.result_count, is_shape);
}

HEADRACE_INLINE void liveness::execute(const node& n, std::uint32_t memory) {
    const std::uint32_t begin = ++step_;
    if (const auto buffers = out_buffers(n); !buffers.empty()) {
        for (std::uint32_t i = 0; i != n.result_count && i < buffers.size(); ++i)
            share(n, i, tensor_of(buffers[i]));
    } else if (is_view(n)) {
        share(n, 0, tensor_of(n.operand(0)));
    } else {
        for (std::uint32_t i = 0; i != n.result_count; ++i) {
            if (n.results[i].meta || use_count({const_cast<node*>(&n), i}) != 0) add(n, i, begin, memory);
        }
    }
    const std::size_t outer_uses = captured_.size();
    for_each_region(n, [&](const field_info&, const graph* region) {
        if (region != nullptr) enter(*region, memory, is<delegate::call_delegate>(n));
    });
    if (step_ != begin) ++step_;  // the nested graphs have finished
    steps_[&n] = step_;
    for (const edge& e : n.operand_edges()) use(*e.slot, n);
    for (std::uint32_t i = 0; i != n.result_count; ++i) touch(tensor_of({const_cast<node*>(&n), i}));
    // A nested graph may run again, so the outer values that it uses must outlive the node that holds it.
    for (std::size_t i = outer_uses; i != captured_.size(); ++i) touch(tensor_of(captured_[i]));
    const auto is_own = [&](value v) { return v.producer->owner == n.owner; };
    captured_.erase(
        std::remove_if(captured_.begin() + static_cast<std::ptrdiff_t>(outer_uses), captured_.end(), is_own),
        captured_.end());
}

HEADRACE_INLINE void liveness::enter(const graph& region, std::uint32_t memory, bool is_delegate) {
    const auto [known, is_new] = regions_.try_emplace(&region, tensors_.size(), std::size_t{0});
    if (!is_new) {  // another node holds it, too: its tensors keep their memory until then
        ++step_;
        for (std::size_t i = known->second.first; i != known->second.second; ++i) touch(i);
        return;
    }
    if (is_delegate) {
        memory = static_cast<std::uint32_t>(memories_.size());
        memories_.push_back(&region);
    }
    analyze(region, memory);
    regions_[&region].second = tensors_.size();
}

HEADRACE_INLINE void liveness::use(value v, const node& by) {
    touch(tensor_of(v));
    if (v.producer->owner != by.owner) captured_.push_back(v);
}

HEADRACE_INLINE void liveness::touch(std::optional<std::size_t> position) {
    if (position) tensors_[*position].last = std::max(tensors_[*position].last, step_);
}

HEADRACE_INLINE live_tensor& liveness::add(const node& n, std::uint32_t result, std::uint32_t first,
                                           std::uint32_t memory) {
    set(n, result, tensors_.size());
    tensors_.push_back(
        {.tensor = {const_cast<node*>(&n), result}, .first = first, .last = first, .memory = memory});
    return tensors_.back();
}

HEADRACE_INLINE void liveness::share(const node& n, std::uint32_t result, std::optional<std::size_t> with) {
    set(n, result, with.value_or(none));
}

HEADRACE_INLINE void liveness::set(const node& n, std::uint32_t result, std::size_t position) {
    auto& of_node = positions_[&n];
    if (of_node.empty()) of_node.assign(n.result_count, none);
    of_node[result] = position;
}

}  // namespace headrace

// ---- headrace/memory/memory_plan.hpp ----

namespace headrace {

/// The gap between placed tensors that the next tensor gets. `greedy`: the first that is large enough, from
/// offset 0. `best_fit`: the smallest that is large enough.
enum class planning_algorithm : std::uint8_t { greedy, best_fit };

[[nodiscard]] constexpr std::string_view name_of(planning_algorithm a) {
    return a == planning_algorithm::greedy ? "greedy" : "best_fit";
}

struct planning_options {
    planning_algorithm algorithm = planning_algorithm::greedy;
    std::uint64_t alignment = 16;  ///< of each tensor, a power of two
    bool place_inputs = true;      ///< if false, the caller provides the memory of the graph's inputs
    bool place_outputs = true;     ///< if false, the caller provides that of its outputs
    std::uint64_t (*bytes_of)(const tensor_meta& meta) = &packed_bytes;
};

struct planned_tensor : live_tensor {
    std::uint64_t bytes = 0;
    std::uint64_t offset = 0;
    bool is_placed = true;  ///< false for inputs and outputs that the caller provides
};

struct planned_memory {
    const graph* owner = nullptr;   ///< the whole graph, or a delegate's
    std::uint64_t bytes = 0;        ///< the peak: the highest end of a tensor
    std::uint64_t lower_bound = 0;  ///< the largest sum of tensors that are live at one step
    std::uint32_t fullest_step = 0;
};

/// An offset for each tensor, such that tensors share bytes only if their lifetimes do not overlap.
struct memory_plan {
    planning_options options{};
    liveness lifetimes;
    pmr_vector<planned_tensor> tensors{};  ///< parallel to `lifetimes.tensors()`
    pmr_vector<planned_memory> memories{};

    /// Returns the tensor that holds a value, or null if the plan has no memory for it.
    [[nodiscard]] const planned_tensor* find(value v) const {
        const auto position = lifetimes.tensor_of(v);
        return position && tensors[*position].is_placed ? &tensors[*position] : nullptr;
    }
};

namespace detail {

/// Returns a tensor and its place in memory, for messages.
[[nodiscard]] std::pmr::string tensor_text(const planned_tensor& t);

}  // namespace detail

/// Plans memory for every tensor that is not a constant. Fails if the type of a tensor is unknown.
[[nodiscard]] result<memory_plan> make_memory_plan(const graph& g, const planning_options& options = {});

/// Checks the plan against the current graph; lifetimes are computed again. The error names the misplaced
/// tensor, or the two that overlap.
[[nodiscard]] result<void> verify_plan(const graph& g, const memory_plan& plan);

}  // namespace headrace

// ---- headrace/memory/block_packer.hpp ----

namespace headrace {

namespace detail {

struct memory_block {
    std::uint64_t bytes = 0;  // up to the next aligned address
    std::uint32_t first = 0;
    std::uint32_t last = 0;

    [[nodiscard]] std::uint64_t length() const { return std::uint64_t{last} - first + 1; }
};

/// Assigns an offset to each block such that blocks that are live at the same time do not overlap, and the
/// peak, the highest end of a block, is low. Example: A has 64 bytes and lives in steps 0 to 2, B has 32 (1
/// to 3) and C has 64 (3 to 4). With A at 0, B at 64 and C at 0 the peak is 96 bytes, which is the lower
/// bound: the largest sum of blocks live in one step.
///
/// Blocks are placed one by one in several orders, and the best result is kept. No order suits all graphs; if
/// none reaches the lower bound, a local search improves the best one.
class block_packer {
public:
    block_packer(pmr_vector<memory_block> blocks, planning_algorithm algorithm)
        : blocks_(std::move(blocks)), algorithm_(algorithm) {
        find_neighbours();
        find_bound();
    }

    [[nodiscard]] std::uint64_t bound() const { return bound_; }

    [[nodiscard]] pmr_vector<std::uint64_t> pack() {
        for (const order_type& order : {by_size(), by_area(), by_breadth(), by_length(), by_start()}) {
            if (attempt(order) == bound_) return best_;
        }
        advance_top();
        exchange_turns();
        return best_;
    }

private:
    using order_type = pmr_vector<std::size_t>;

    // Finds the blocks that are live at the same time; a sweep over starts visits each pair once.
    void find_neighbours() {
        neighbours_.resize(blocks_.size());
        order_type active;
        for (const std::size_t i : sorted([&](std::size_t k) { return std::array{blocks_[k].first}; })) {
            if (blocks_[i].bytes == 0) continue;
            erase_if(active, [&](std::size_t k) { return blocks_[k].last < blocks_[i].first; });
            for (const std::size_t k : active) {
                neighbours_[i].push_back(k);
                neighbours_[k].push_back(i);
            }
            active.push_back(i);
        }
    }
    void find_bound() {
        std::uint32_t steps = 0;
        for (const memory_block& b : blocks_) steps = std::max(steps, b.last + 1);
        pmr_vector<std::uint64_t> change(steps + std::size_t{1});  // modulo 2^64: the sums are right
        for (const memory_block& b : blocks_) {
            change[b.first] += b.bytes;
            change[b.last + std::size_t{1}] -= b.bytes;
        }
        std::partial_sum(change.begin(), change.end(), change.begin());
        live_ = std::move(change);
        bound_ = *std::max_element(live_.begin(), live_.end());
    }

    // --- orders ------------------------------------------------------------------------

    // Sorts in ascending order of key, and by index for equal keys.
    template <class Key>
    [[nodiscard]] order_type sorted(Key&& key) const {
        order_type order(blocks_.size());
        std::iota(order.begin(), order.end(), std::size_t{0});
        pmr_vector<decltype(key(0))> keys;
        for (const std::size_t i : order) keys.push_back(key(i));
        std::stable_sort(order.begin(), order.end(),
                         [&](std::size_t a, std::size_t b) { return keys[a] < keys[b]; });
        return order;
    }
    [[nodiscard]] order_type by_size() const {
        return sorted([&](std::size_t i) { return std::array{~blocks_[i].bytes, ~blocks_[i].length()}; });
    }
    [[nodiscard]] order_type by_area() const {
        const auto area = [](const memory_block& b) {
            return static_cast<double>(b.bytes) * static_cast<double>(b.length());
        };
        return sorted([&](std::size_t i) { return -area(blocks_[i]); });
    }
    [[nodiscard]] order_type by_length() const {
        return sorted([&](std::size_t i) { return std::array{~blocks_[i].length(), ~blocks_[i].bytes}; });
    }
    [[nodiscard]] order_type by_start() const {
        return sorted([&](std::size_t i) {
            return std::array{std::uint64_t{blocks_[i].first}, ~blocks_[i].bytes};
        });
    }
    // Blocks that are live at the fullest step come first.
    [[nodiscard]] order_type by_breadth() const {
        return sorted([&](std::size_t i) {
            const auto from = live_.begin() + blocks_[i].first;
            const auto to = live_.begin() + blocks_[i].last + 1;
            return std::array{~*std::max_element(from, to), ~blocks_[i].bytes};
        });
    }

    // --- placing -----------------------------------------------------------------------

    // Places all blocks in that order. Returns the peak.
    std::uint64_t attempt(const order_type& order) {
        offsets_.assign(blocks_.size(), unplaced);
        std::uint64_t peak = 0;
        for (const std::size_t i : order) {
            offsets_[i] = place_for(i);
            peak = std::max(peak, offsets_[i] + blocks_[i].bytes);
        }
        if (best_order_.empty() || peak < best_peak_) {
            best_peak_ = peak;
            best_ = offsets_;
            best_order_ = order;
        }
        return peak;
    }
    [[nodiscard]] std::uint64_t place_for(std::size_t i) {
        taken_.clear();
        for (const std::size_t k : neighbours_[i]) {
            if (offsets_[k] != unplaced) taken_.emplace_back(offsets_[k], offsets_[k] + blocks_[k].bytes);
        }
        std::sort(taken_.begin(), taken_.end());
        std::uint64_t end = 0;  // highest end of the blocks so far
        std::uint64_t best = unplaced;
        std::uint64_t smallest = unplaced;
        for (const auto& [from, to] : taken_) {
            const std::uint64_t gap = from > end ? from - end : 0;
            if (gap >= blocks_[i].bytes && gap != 0 && gap < smallest) {
                best = end;
                smallest = algorithm_ == planning_algorithm::greedy ? 0 : gap;
            }
            end = std::max(end, to);
        }
        return best == unplaced ? end : best;
    }

    // Starting from the best order, moves the block that ends at the peak before the first block that is live
    // with it, so that it may get that block's offset.
    void advance_top() {
        constexpr int max_rounds = 48;
        order_type order = best_order_;
        for (int round = 0; round != max_rounds && best_peak_ != bound_; ++round) {
            const std::uint64_t peak = attempt(order);
            const auto top = std::find(order.begin(), order.end(), ending_at(offsets_, peak).front());
            const auto first = std::find_if(order.begin(), top, [&](std::size_t i) {
                return std::find(neighbours_[*top].begin(), neighbours_[*top].end(), i) !=
                       neighbours_[*top].end();
            });
            std::rotate(first, top, top + 1);
        }
    }
    // Starting from the best order, swaps two blocks at a time: one that ends at the peak, or a neighbour of
    // one, and a neighbour of it. A swap is kept unless it raises the peak, to cross plateaus.
    void exchange_turns() {
        order_type order = best_order_;
        order_type turns(order.size());
        for (std::size_t turn = 0; turn != order.size(); ++turn) turns[order[turn]] = turn;
        std::uint64_t current = best_peak_;
        order_type at_top = ending_at(best_, current);
        for (std::size_t round = rounds(); round != 0 && best_peak_ != bound_; --round) {
            std::size_t one = at_top[next_random() % at_top.size()];
            if (neighbours_[one].empty()) return;
            if (next_random() % 2 == 0) one = any_neighbour(one);
            const std::size_t other = any_neighbour(one);
            const auto exchange = [&] {
                std::swap(order[turns[one]], order[turns[other]]);
                std::swap(turns[one], turns[other]);
            };
            exchange();
            const std::uint64_t peak = attempt(order);
            if (peak > current) {
                exchange();
            } else {
                current = peak;
                at_top = ending_at(offsets_, peak);
            }
        }
    }
    // Returns the number of rounds: fewer for large graphs, so that the time is about the same for all.
    [[nodiscard]] std::size_t rounds() const {
        constexpr std::size_t budget = 500'000;
        std::size_t visits = blocks_.size();
        for (const order_type& n : neighbours_) visits += n.size();
        return std::clamp<std::size_t>(budget / (visits + 1), 8, 4000);
    }
    [[nodiscard]] order_type ending_at(const pmr_vector<std::uint64_t>& offsets,
                                       std::uint64_t end) const {
        order_type found;
        for (std::size_t i = 0; i != blocks_.size(); ++i) {
            if (offsets[i] + blocks_[i].bytes == end) found.push_back(i);
        }
        return found;
    }
    [[nodiscard]] std::size_t any_neighbour(std::size_t i) {
        return neighbours_[i][next_random() % neighbours_[i].size()];
    }
    // Xorshift with a fixed seed, so that a graph gets the same plan on every machine.
    std::size_t next_random() {
        state_ ^= state_ << 13U;
        state_ ^= state_ >> 7U;
        state_ ^= state_ << 17U;
        return static_cast<std::size_t>(state_ >> 16U);
    }

    static constexpr std::uint64_t unplaced = ~std::uint64_t{0};

    pmr_vector<memory_block> blocks_;
    planning_algorithm algorithm_;
    pmr_vector<order_type> neighbours_;
    pmr_vector<std::uint64_t> live_;  // bytes at each step
    std::uint64_t bound_ = 0;
    pmr_vector<std::uint64_t> offsets_;
    pmr_vector<std::pair<std::uint64_t, std::uint64_t>> taken_;
    pmr_vector<std::uint64_t> best_;
    order_type best_order_;
    std::uint64_t best_peak_ = 0;
    std::uint64_t state_ = 0x9E3779B97F4A7C15U;
};

}  // namespace detail

}  // namespace headrace

// ---- headrace/memory/memory_plan_definition.hpp ----

namespace headrace {

namespace detail {

HEADRACE_INLINE std::pmr::string tensor_text(const planned_tensor& t) {
    const node& n = *t.tensor.producer;
    std::pmr::string name(n.results[t.tensor.result].name);
    if (name.empty()) name = text_of({"result ", t.tensor.result, " of node ", n.id});
    return text_of({"'", name, "' of ", n.op->name, " at bytes ", t.offset, " to ", t.offset + t.bytes,
                    ", steps ", t.first, " to ", t.last});
}

/// Computes the sizes of all tensors.
[[nodiscard]] inline result<pmr_vector<planned_tensor>> measure(const liveness& lifetimes,
                                                                const planning_options& options) {
    constexpr std::int64_t max_elements = std::int64_t{1} << 48;
    pmr_vector<planned_tensor> tensors;
    for (const live_tensor& live : lifetimes.tensors()) {
        const node& n = *live.tensor.producer;
        const tensor_meta* const meta = meta_of(live.tensor);
        if (meta == nullptr || meta->dtype == dtype::unknown)
            return invalid(
                {message_prefix(n), "a tensor of unknown type has no size; infer its metadata first"});
        if (meta->checked_elements().value_or(max_elements) >= max_elements)
            return unsupported({message_prefix(n), "the tensor is too large: ", meta_text(*meta)});
        const bool is_placed =
            (options.place_inputs || !live.is_input) && (options.place_outputs || !live.is_output);
        tensors.push_back({live, options.bytes_of(*meta), 0, is_placed});
    }
    return tensors;
}

// Computes the largest sum of live bytes of all steps, and the first step that has it.
inline void measure_bound(std::span<const planned_tensor> tensors, std::uint32_t memory, std::uint32_t steps,
                          planned_memory& m) {
    pmr_vector<std::uint64_t> live(steps + std::size_t{1});
    for (const planned_tensor& t : tensors) {
        if (t.memory != memory || !t.is_placed) continue;
        live[t.first] += t.bytes;
        live[t.last + std::size_t{1}] -= t.bytes;
    }
    std::partial_sum(live.begin(), live.end(), live.begin());
    const auto fullest = std::max_element(live.begin(), live.end());
    m.lower_bound = *fullest;
    m.fullest_step = static_cast<std::uint32_t>(fullest - live.begin());
}

}  // namespace detail

HEADRACE_INLINE result<memory_plan> make_memory_plan(const graph& g, const planning_options& options) {
    const std::uint64_t alignment = options.alignment;
    if (alignment == 0 || (alignment & (alignment - 1)) != 0)
        return invalid({"the alignment of tensors must be a power of two, not ", alignment});
    memory_plan plan{.options = options, .lifetimes = liveness(g)};
    HEADRACE_TRY(measured, detail::measure(plan.lifetimes, options));
    plan.tensors = std::move(measured);
    for (const graph* owner : plan.lifetimes.memories()) {
        const auto memory = static_cast<std::uint32_t>(plan.memories.size());
        planned_memory m{.owner = owner};
        pmr_vector<detail::memory_block> blocks;
        pmr_vector<planned_tensor*> placed;
        for (planned_tensor& t : plan.tensors) {
            if (t.memory != memory || !t.is_placed) continue;
            blocks.push_back({(t.bytes + alignment - 1) & ~(alignment - 1), t.first, t.last});
            placed.push_back(&t);
        }
        if (!blocks.empty()) {
            const auto offsets = detail::block_packer(std::move(blocks), options.algorithm).pack();
            for (std::size_t i = 0; i != placed.size(); ++i) {
                placed[i]->offset = offsets[i];
                m.bytes = std::max(m.bytes, offsets[i] + placed[i]->bytes);
            }
        }
        detail::measure_bound(plan.tensors, memory, plan.lifetimes.step_count(), m);
        plan.memories.push_back(m);
    }
    return plan;
}

HEADRACE_INLINE result<void> verify_plan(const graph& g, const memory_plan& plan) {
    const liveness now(g);
    if (now.tensors().size() != plan.tensors.size())
        return invalid({"the graph has ", now.tensors().size(), " tensors, the plan ", plan.tensors.size()});
    pmr_vector<const planned_tensor*> by_start;
    for (std::size_t i = 0; i != plan.tensors.size(); ++i) {
        const planned_tensor& t = plan.tensors[i];
        const live_tensor& live = now.tensors()[i];
        if (t.tensor != live.tensor || t.first != live.first || t.last != live.last ||
            t.memory != live.memory)
            return invalid(
                {"the graph has changed since it was planned, at tensor ", detail::tensor_text(t)});
        const tensor_meta* const meta = meta_of(t.tensor);
        if (meta == nullptr || plan.options.bytes_of(*meta) != t.bytes)
            return invalid({"the plan has another size for tensor ", detail::tensor_text(t)});
        if (!t.is_placed || t.bytes == 0) continue;
        if (t.offset % plan.options.alignment != 0)
            return invalid({"the plan does not align tensor ", detail::tensor_text(t)});
        if (t.memory >= plan.memories.size() || t.offset > plan.memories[t.memory].bytes ||
            t.bytes > plan.memories[t.memory].bytes - t.offset)
            return invalid({"the plan's memory does not hold tensor ", detail::tensor_text(t)});
        by_start.push_back(&t);
    }
    std::stable_sort(by_start.begin(), by_start.end(),
                     [](const auto* a, const auto* b) { return a->first < b->first; });
    pmr_vector<const planned_tensor*> active;
    for (const planned_tensor* t : by_start) {
        erase_if(active, [&](const planned_tensor* other) { return other->last < t->first; });
        for (const planned_tensor* other : active) {
            const bool overlap = t->memory == other->memory && t->offset < other->offset + other->bytes &&
                                 other->offset < t->offset + t->bytes;
            if (overlap)
                return invalid({"two tensors that live at the same time overlap: ",
                                detail::tensor_text(*other), ", and ", detail::tensor_text(*t)});
        }
        active.push_back(t);
    }
    return {};
}

}  // namespace headrace

// ---- headrace/memory/out_variant.hpp ----

namespace headrace::out {

struct dialect;

namespace detail {

using namespace headrace::detail;

// torchgen's rule: "default" becomes "out", another overload gets the suffix. TOSA has no overloads.
template <op_tag Op>
struct regular_name {
    static constexpr std::size_t dots = static_cast<std::size_t>(std::ranges::count(Op::name, '.'));
    static constexpr bool is_default = Op::name.ends_with(".default");
    static constexpr std::string_view stem =
        is_default ? Op::name.substr(0, Op::name.size() - 8) : std::string_view(Op::name);
    static constexpr std::string_view suffix = is_default || dots == 1 ? ".out" : "_out";
    static constexpr auto text = [] {
        std::array<char, stem.size() + suffix.size()> joined{};
        std::ranges::copy(suffix, std::ranges::copy(stem, joined.begin()).out);
        return joined;
    }();
};
template <op_tag Op>
constexpr std::string_view name_of_variant() {
    if constexpr (!Op::out_name.empty()) {
        return Op::out_name;
    } else {
        return {regular_name<Op>::text.data(), regular_name<Op>::text.size()};
    }
}

template <class... Lists>
struct joined;
template <class... Ops>
struct joined<ops<Ops...>> {
    using type = ops<Ops...>;
};
template <class... As, class... Bs, class... Lists>
struct joined<ops<As...>, ops<Bs...>, Lists...> : joined<ops<As..., Bs...>, Lists...> {};

}  // namespace detail

/// Every functional op with an out-variant (trait::has_out), in the order of the dialects. For ATen these are
/// the ops with an out-variant in PyTorch, except composite ops such as conv2d; for TOSA all ops that
/// compute, except RESHAPE, which is a view.
using functional_ops = typename detail::joined<
    ops_where<aten::dialect, trait::has_out>, ops_where<quantized_decomposed::dialect, trait::has_out>,
    ops_where<dim_order_ops::dialect, trait::has_out>, ops_where<tosa::dialect, trait::has_out>>::type;

/// The op `Op` with an additional argument `out`: one buffer for each result, which it overwrites. Its
/// results are the contents of those buffers. PyTorch has a separate argument for each buffer; here they are
/// one list.
///
///     out::variant<aten::add_tensor>     aten.add.out(%x, %y, out=%buffer)
template <op_tag Op>
struct variant {
    using functional = Op;
    using dialect_type = dialect;
    using buffers = std::conditional_t<Op::results == 1, value, list<value>>;
    struct args {
        typename Op::args functional;
        buffers out;
    };
    static constexpr std::string_view name = detail::name_of_variant<Op>();
    static constexpr int results = Op::results;
    static constexpr std::uint64_t trait_bits = static_cast<std::uint64_t>(trait::writes_out);
};

namespace detail {
template <class... Ops>
dialect_of<"out", variant<Ops>...> dialect_of_variants(ops<Ops...>);
}

struct dialect : decltype(detail::dialect_of_variants(functional_ops{})) {};

}  // namespace headrace::out

namespace headrace {

// The functional op's arguments come first, so kernels and inference rules that take a pointer to them also
// accept a pointer to the variant's.
template <op_tag Op>
inline constexpr auto fields_of<out::variant<Op>> = [] {
    using variant_args = args<out::variant<Op>>;
    static_assert(std::is_standard_layout_v<variant_args>,
                  "out_variant: arguments that lie in several bases; give the op one struct of arguments");
    std::array<field_info, fields_of<Op>.size() + 1> fields{};
    std::ranges::copy(fields_of<Op>, fields.begin());
    fields.back() = {"out", kind_of<typename out::variant<Op>::buffers>, false,
                     static_cast<std::uint16_t>(offsetof(variant_args, out))};
    return fields;
}();

namespace out {

inline constexpr const auto& functional_table = headrace::detail::op_table_of<functional_ops>::value;

/// Returns the functional op of an out-variant, or the op itself if it is not one.
[[nodiscard]] constexpr const op_info& functional_of(const op_info& op) {
    return op.dialect == &info_of_dialect<dialect> ? *functional_table[op.index] : op;
}

/// Returns the out-variant of a functional op, or null if there is none.
[[nodiscard]] constexpr const op_info* variant_of(const op_info& op) {
    for (std::size_t i = 0; i != functional_table.size(); ++i) {
        if (functional_table[i] == &op) return op_table<dialect>[i];
    }
    return nullptr;
}

}  // namespace out

}  // namespace headrace

// ---- headrace/memory/plan_memory.hpp ----

namespace headrace {

/// The place of a tensor: the index of the program's memory, and the first byte there.
struct memory_place {
    std::int64_t memory = -1;  ///< negative: it has no memory of its own
    std::int64_t offset = 0;
    std::int64_t bytes = 0;

    friend constexpr bool operator==(const memory_place&, const memory_place&) = default;
};

/// Annotation: the place of each result of a node.
struct memory_places {
    static constexpr bool inherited = false;
    list<memory_place> of_results;
};

/// Annotation of a graph's output node: the size of each memory, and a lower bound for any plan.
struct memory_sizes {
    static constexpr bool inherited = false;
    list<std::int64_t> bytes;
    list<std::int64_t> lower_bounds;
};

/// Returns the place of a planned value; nothing for constants and for memory that the caller provides.
[[nodiscard]] inline std::optional<memory_place> place_of(value v) {
    const auto* places = v.producer->find_annotation<memory_places>();
    if (places == nullptr || places->of_results[v.result].memory < 0) return std::nullopt;
    return places->of_results[v.result];
}

/// Plans memory for every tensor of the graph and its nested graphs (memory/memory_plan.hpp), verifies the
/// plan, and stores it in the graph; this is ExecuTorch's MemoryPlanningPass. Each memory.alloc gets its
/// place as arguments, every node as an annotation. It must be the last pass: any later change of the graph
/// invalidates the plan.
struct plan_memory : pass_base<plan_memory> {
    static constexpr std::string_view summary =
        "gives each tensor a place in memory, shared where lifetimes allow";
    planning_options options{};

    result<std::size_t> call(graph& g, pass_context&) const {
        HEADRACE_TRY(plan, make_memory_plan(g, options));
        HEADRACE_TRY(verify_plan(g, plan));
        std::size_t placed = 0;
        record(g, plan, placed);
        record_sizes(g, plan);
        return placed;
    }

private:
    static memory_place place_in(const memory_plan& plan, value v) {
        const planned_tensor* const t = plan.find(v);
        if (t == nullptr) return {};
        return {static_cast<std::int64_t>(t->memory), static_cast<std::int64_t>(t->offset),
                static_cast<std::int64_t>(t->bytes)};
    }
    static void record(graph& g, const memory_plan& plan, std::size_t& placed) {
        for (node* n = g.first(); n != nullptr;) {
            node& current = *n;
            n = n->next;
            std::vector<memory_place> places;
            bool any = false;
            for (std::uint32_t i = 0; i != current.result_count; ++i) {
                places.push_back(place_in(plan, current.result(i)));
                any = any || places.back().memory >= 0;
                const planned_tensor* const t = plan.find(current.result(i));
                placed += t != nullptr && t->tensor == current.result(i);
            }
            for_each_region(current, [&](const field_info&, graph* region) {
                if (region != nullptr) record(*region, plan, placed);
            });
            if (!any) continue;
            node& keeps = is<memory::alloc>(current) ? with_place(current, places[0]) : current;
            g.annotate(keeps, memory_places{g.own(list<memory_place>(places))});
        }
    }
    // Arguments are immutable, so another node replaces it.
    static node& with_place(node& alloc, const memory_place& place) {
        graph& g = *alloc.owner;
        args<memory::alloc> a = args_of<memory::alloc>(alloc);
        a.memory = place.memory;
        a.offset = place.offset;
        node& made = g.create<memory::alloc>(a, &alloc);
        made.results[0] = alloc.results[0];
        g.inherit_annotations(made, alloc);
        g.replace_all_uses(alloc.result(), made.result());
        g.erase(alloc);
        return made;
    }
    static void record_sizes(graph& g, const memory_plan& plan) {
        node* const output = g.output();
        if (output == nullptr) return;
        std::vector<std::int64_t> bytes;
        std::vector<std::int64_t> bounds;
        for (const planned_memory& m : plan.memories) {
            bytes.push_back(static_cast<std::int64_t>(m.bytes));
            bounds.push_back(static_cast<std::int64_t>(m.lower_bound));
        }
        g.annotate(*output,
                   memory_sizes{g.own(list<std::int64_t>(bytes)), g.own(list<std::int64_t>(bounds))});
    }
};

}  // namespace headrace

// ---- headrace/memory/to_out_variants.hpp ----

namespace headrace {

/// Makes each op write its results into named buffers of the graph, so that a memory plan can place them;
/// this is ExecuTorch's ToOutVarPass.
///
///     %y: float32[2, 3] = aten.add.Tensor(%x, %x)
///
/// becomes
///
///     %alloc: float32[2, 3] = memory.alloc(size=[2, 3], dtype=float32)
///     %y: float32[2, 3] = aten.add.out(%x, %x, out=%alloc)
///
/// Left unchanged: PyTorch's views, which create no tensor; ops that write in place; delegates and their
/// graphs, which belong to the backend; and ops that hold graphs, whose nodes are converted. Any other op
/// without an out-variant is an error, which names all such ops and is reported before anything is changed.
struct to_out_variants : pass_base<to_out_variants> {
    static constexpr std::string_view summary =
        "replaces ops with their out-variants, with storage to write to";
    bool ignore_missing = false;  ///< leave ops without an out-variant unchanged instead of failing

    result<std::size_t> call(graph& g, pass_context&) const {
        std::vector<graph*> graphs;
        collect(g, graphs);
        std::vector<node*> found;
        std::vector<std::string_view> missing;
        for (graph* const sub : graphs) {
            for (node& n : sub->nodes()) {
                if (is_left(n)) continue;
                if (out::variant_of(*n.op) != nullptr) {
                    found.push_back(&n);
                } else if (std::find(missing.begin(), missing.end(), n.op->name) == missing.end()) {
                    missing.push_back(n.op->name);
                }
            }
        }
        if (!missing.empty() && !ignore_missing) return missing_variants(missing);
        for (const node* const n : found) {
            for (std::uint32_t i = 0; i != n->result_count; ++i) {
                if (!n->results[i].meta)
                    return invalid({message_prefix(*n), "without metadata its buffer has no size"});
            }
        }
        for (node* const n : found) convert(*n);
        return found.size();
    }

private:
    static void collect(graph& g, std::vector<graph*>& graphs) {
        if (std::find(graphs.begin(), graphs.end(), &g) != graphs.end()) return;
        graphs.push_back(&g);
        for (const node& n : g.nodes()) {
            if (is<delegate::call_delegate>(n)) continue;
            for_each_region(n, [&](const field_info&, graph* region) {
                if (region != nullptr) collect(*region, graphs);
            });
        }
    }

    static bool is_left(const node& n) {
        static constexpr auto of_graphs = every_op<higher_order::dialect> | every_op<delegate::dialect> |
                                          every_op<memory::dialect> | every_op<out::dialect>;
        static constexpr auto with_own_memory =
            ops_in<builtin::placeholder, builtin::constant, builtin::output, tosa::const_, tosa::const_shape,
                   tosa::cond_if, tosa::while_loop, tosa::variable_read>;
        const auto without_buffer =
            trait::aliasing | trait::in_place | trait::host_number | trait::no_results;
        return n.result_count == 0 || n.op->has(without_buffer) || of_graphs.contains(*n.op) ||
               with_own_memory.contains(*n.op);
    }
    static error missing_variants(const std::vector<std::string_view>& missing) {
        std::string text = "no out-variant is known for ";
        for (const std::string_view name : missing) {
            if (name != missing.front()) text += ", ";
            text += name;
        }
        return unsupported({text, "; decompose them, or leave them to allocate their results themselves"});
    }

    static void convert(node& n) {
        graph& g = *n.owner;
        const op_info& variant = *out::variant_of(*n.op);
        std::vector<value> buffers;
        for (std::uint32_t i = 0; i != n.result_count; ++i) {
            const tensor_meta meta = *n.results[i].meta;
            node& buffer = g.create<memory::alloc>({.size = meta.shape, .dtype = meta.dtype}, &n);
            g.set_meta(buffer.result(), meta);
            g.inherit_annotations(buffer, n);
            buffers.push_back(buffer.result());
        }
        // The arguments of the functional op, followed by the buffers.
        std::vector<std::max_align_t> storage(variant.args_size / sizeof(std::max_align_t) + 1);
        std::byte* const arguments = reinterpret_cast<std::byte*>(storage.data());
        std::memcpy(arguments, variant.default_args, variant.args_size);
        std::memcpy(arguments, n.arguments, n.op->args_size);
        const field_info& out = variant.fields[variant.field_count - 1];
        if (out.kind == field_kind::tensor) {
            *reinterpret_cast<value*>(arguments + out.offset) = buffers.front();
        } else {
            *reinterpret_cast<list<value>*>(arguments + out.offset) = list<value>(buffers);
        }
        replace_node(n, variant, arguments);
    }
};

}  // namespace headrace

// ---- headrace/partition/contraction.hpp ----

namespace headrace {

/// Nodes to be fused to one. Groups do not overlap.
using node_group = pmr_vector<node*>;

namespace detail {

inline constexpr std::uint32_t no_group = UINT32_MAX;

// Returns each node's group, by node id.
[[nodiscard]] inline pmr_vector<std::uint32_t> group_numbers(const graph& g,
                                                                   std::span<const node_group> groups) {
    pmr_vector<std::uint32_t> numbers(g.id_bound(), no_group);
    std::uint32_t number = 0;
    for (const node_group& group : groups) {
        for (const node* n : group) numbers[n->id] = number;
        ++number;
    }
    return numbers;
}

// A queue for breadth_first_visit that becomes empty as soon as the answer is known.
struct stoppable_queue {
    pmr_vector<node*> items;
    std::size_t next = 0;
    bool stopped = false;

    void push(node* n) { items.push_back(n); }
    [[nodiscard]] node* top() const { return items[next]; }
    void pop() { ++next; }
    [[nodiscard]] bool empty() const { return stopped || next == items.size(); }
};

// Visits the users of a group. On reaching a node of another group, it visits that whole group.
class reentry_visitor : public boost::default_bfs_visitor {
public:
    reentry_visitor(const pmr_vector<bool>& inside, std::span<const node_group> others,
                    const pmr_vector<std::uint32_t>& other_of, node_colors& colors,
                    stoppable_queue& pending)
        : inside_(&inside), others_(others), other_of_(&other_of), colors_(&colors), pending_(&pending) {}

    void examine_edge(const edge* e, const graph&) {
        if ((*inside_)[e->target->id]) pending_->stopped = true;
    }
    void discover_vertex(const node* n, const graph&) {
        if (other_of_->empty() || (*other_of_)[n->id] == no_group) return;
        for (node* mate : others_[(*other_of_)[n->id]]) {
            if ((*colors_)[mate] != boost::white_color) continue;
            colors_->set(mate, boost::gray_color);
            pending_->push(mate);
        }
    }

private:
    const pmr_vector<bool>* inside_;
    std::span<const node_group> others_;
    const pmr_vector<std::uint32_t>* other_of_;
    node_colors* colors_;
    stoppable_queue* pending_;
};

// The graph with one vertex per group.
using contracted_graph = boost::compressed_sparse_row_graph<boost::directedS>;

struct back_edge_visitor : boost::default_dfs_visitor {
    explicit back_edge_visitor(bool& found) : found_(&found) {}
    template <class Edge, class Graph>
    void back_edge(const Edge&, const Graph&) {
        *found_ = true;
    }
    bool* found_;
};

}  // namespace detail

/// True if fusing the nodes of `group` would make the fused node depend on itself: a path leaves the group
/// and comes back. `others` are disjoint groups that count as fused. All nodes must be in execution order:
/// without `others`, the search ends at the group's last node.
[[nodiscard]] inline bool would_form_cycle(const graph& g, std::span<node* const> group,
                                           std::span<const node_group> others = {}) {
    pmr_vector<bool> inside(g.id_bound());
    for (const node* n : group) inside[n->id] = true;

    node_colors colors(g);
    if (others.empty()) {
        // Nodes after the last node of the group never lead back to it.
        for (const node* n = g.last(); n != nullptr && !inside[n->id]; n = n->previous) {
            colors.set(n, boost::black_color);
        }
    }
    pmr_vector<node*> leaving;
    for (node* n : group) {
        colors.set(n, boost::black_color);
        for (const edge& e : n->uses()) {
            if (inside[e.target->id] || colors[e.target] != boost::white_color) continue;
            colors.set(e.target, boost::gray_color);
            leaving.push_back(e.target);
        }
    }
    const auto other_of =
        others.empty() ? pmr_vector<std::uint32_t>() : detail::group_numbers(g, others);
    detail::stoppable_queue pending;
    boost::breadth_first_visit(g, leaving.begin(), leaving.end(), pending,
                               detail::reentry_visitor(inside, others, other_of, colors, pending),
                               colors.map());
    return pending.stopped;
}

/// True if the graph has no cycle once each group is fused; without groups, if the graph itself has none.
[[nodiscard]] inline bool is_acyclic(const graph& g, std::span<const node_group> groups = {}) {
    const pmr_vector<std::uint32_t> group_of = detail::group_numbers(g, groups);
    // Vertices of the contracted graph: first the groups, then all ids; unused ids are isolated.
    const auto vertex_of = [&](const node* n) {
        return group_of[n->id] != detail::no_group ? std::size_t{group_of[n->id]} : groups.size() + n->id;
    };
    pmr_vector<std::pair<std::size_t, std::size_t>> edges;
    for (const node& n : g.nodes()) {
        for (const edge& e : n.operand_edges()) {
            const std::pair joined(vertex_of(e.source), vertex_of(&n));
            if (joined.first != joined.second || e.source == &n) edges.push_back(joined);
        }
    }
    const detail::contracted_graph contracted(boost::edges_are_unsorted_multi_pass, edges.begin(),
                                              edges.end(), groups.size() + g.id_bound());
    bool cyclic = false;
    boost::depth_first_search(contracted, boost::visitor(detail::back_edge_visitor(cyclic)));
    return !cyclic;
}

/// Splits nodes into connected components. `joins(const edge& e) -> bool` is called once for each operand
/// edge between two of the nodes and tells whether it connects them. Components, and the nodes in each, are
/// in the order of `nodes`.
template <class Joins>
[[nodiscard]] inline pmr_vector<node_group> connected_components(const graph& g,
                                                                       std::span<node* const> nodes,
                                                                       Joins&& joins) {
    pmr_vector<bool> inside(g.id_bound());
    for (const node* n : nodes) inside[n->id] = true;

    pmr_vector<std::uint32_t> ranks(g.id_bound());
    pmr_vector<std::uint32_t> parents(g.id_bound());
    // Plain pointers do not work: whether Boost finds get() for them depends on the order of its headers.
    const auto by_id = [](pmr_vector<std::uint32_t>& items) {
        return boost::make_iterator_property_map(items.begin(), boost::identity_property_map());
    };
    boost::disjoint_sets sets(by_id(ranks), by_id(parents));
    for (const node* n : nodes) sets.make_set(n->id);
    for (const node* n : nodes) {
        for (const edge& e : n->operand_edges()) {
            if (inside[e.source->id] && joins(e)) sets.union_set(n->id, e.source->id);
        }
    }
    pmr_vector<node_group> components;
    pmr_vector<std::uint32_t> component_of(g.id_bound(), detail::no_group);
    for (node* n : nodes) {
        std::uint32_t& component = component_of[sets.find_set(n->id)];
        if (component == detail::no_group) {
            component = static_cast<std::uint32_t>(components.size());
            components.emplace_back();
        }
        components[component].push_back(n);
    }
    return components;
}

/// Splits nodes into components that any edges connect.
[[nodiscard]] inline pmr_vector<node_group> connected_components(const graph& g,
                                                                       std::span<node* const> nodes) {
    return connected_components(g, nodes, [](const edge&) { return true; });
}

}  // namespace headrace

// ---- headrace/partition/extract.hpp ----

namespace headrace {

/// Appends copies of all nodes of `from` to `to`, including nested graphs. Constants and annotations still
/// refer to the original's memory, which must outlive the copy.
inline void copy_graph(const graph& from, graph& to);

namespace detail {

struct value_hash {
    std::size_t operator()(const value& v) const {
        return std::hash<const node*>()(v.producer) * 31 + v.result;
    }
};

// Copies nodes into a graph; the copies of a node's operands must be defined first.
class node_copier {
public:
    explicit node_copier(graph& to) : to_(to) {}

    [[nodiscard]] bool knows(value v) const { return copies_.contains(v); }
    [[nodiscard]] value at(value v) const { return copies_.at(v); }
    void define(value old, value made) { copies_.emplace(old, made); }

    node& copy(node& n) {
        node& made = to_.create(*n.op, n.arguments, n.result_count);
        for (edge& e : std::span(made.operands, made.operand_count)) to_.set_operand(e, copies_.at(*e.slot));
        for (std::uint32_t i = 0; i != n.result_count; ++i) {
            if (n.results[i].meta) to_.set_meta(made.result(i), *n.results[i].meta);
            to_.set_name(made.result(i), n.results[i].name);
            define(n.result(i), made.result(i));
        }
        made.annotations = n.annotations;
        copy_regions(made);
        return made;
    }

private:
    void copy_regions(node& made) {
        for (const field_info& field : *made.op) {
            if (field.kind != field_kind::region) continue;
            std::byte* const at = static_cast<std::byte*>(made.arguments) + field.offset;
            if (field.optional) {
                auto& region = *reinterpret_cast<std::optional<graph*>*>(at);
                if (region) region = copy_of(*region);
            } else {
                graph*& region = *reinterpret_cast<graph**>(at);
                region = copy_of(region);
            }
        }
    }
    graph* copy_of(const graph* region) {
        if (region == nullptr) return nullptr;
        graph& made = to_.create_region();
        copy_graph(*region, made);
        return &made;
    }

    graph& to_;
    std::unordered_map<value, value, value_hash> copies_;
};

}  // namespace detail

inline void copy_graph(const graph& from, graph& to) {
    detail::node_copier copier(to);
    for (node& n : from.inputs()) copier.copy(n);
    for (node& n : from.nodes()) {
        if (!is<builtin::placeholder>(n)) copier.copy(n);
    }
}

/// The operands and results with which an extracted graph replaces its nodes.
struct extraction {
    std::vector<value> operands;  ///< values of the original graph, one per input
    std::vector<value> results;   ///< of the original graph, one per output
};

/// Copies nodes of a graph, given in execution order, into an empty graph. Values from outside become its
/// inputs, in order of first use; constants are copied; results used outside become its outputs. The
/// original's memory must outlive the copy, as for copy_graph.
inline extraction extract_nodes(std::span<node* const> nodes, graph& to) {
    extraction border;
    detail::node_copier copier(to);
    for (node* n : nodes) {
        for (const edge& e : n->operand_edges()) {
            const value v = *e.slot;
            const bool from_here = copier.knows(v);
            if (from_here || is<builtin::constant>(*e.source)) continue;
            node& input = to.create<builtin::placeholder>({});
            if (const tensor_meta* meta = meta_of(v)) to.set_meta(input.result(), *meta);
            to.set_name(input.result(), v.producer->results[v.result].name);
            copier.define(v, input.result());
            border.operands.push_back(v);
        }
        for (const edge& e : n->operand_edges()) {
            if (!copier.knows(*e.slot)) copier.copy(*e.source);
        }
        copier.copy(*n);
    }
    const std::unordered_set<const node*> inside(nodes.begin(), nodes.end());
    std::vector<value> outputs;
    for (node* n : nodes) {
        std::vector<bool> used(n->result_count);
        for (const edge& e : n->uses()) {
            if (!inside.contains(e.target)) used[e.slot->result] = true;
        }
        for (std::uint32_t i = 0; i != n->result_count; ++i) {
            if (!used[i]) continue;
            border.results.push_back(n->result(i));
            outputs.push_back(copier.at(n->result(i)));
        }
    }
    to.create<builtin::output>({.values = outputs});
    return border;
}

}  // namespace headrace

// ---- headrace/partition/operator_support.hpp ----

namespace headrace {

/// Matches types that tell whether a node is supported: `bool is_node_supported(const node&) const`.
template <class T>
concept supports_nodes = requires(const T& support, const node& n) {
    { support.is_node_supported(n) } -> std::convertible_to<bool>;
};

/// Any type that tells whether a node is supported, by value:
///
///     struct add_mul_support {
///         bool is_node_supported(const node& n) const { return is<aten::add_tensor>(n) ||
///         is<aten::mul_tensor>(n); }
///     };
///     const operator_support support = chain(add_mul_support{}, of_rank_at_most(4));
class operator_support {
public:
    template <supports_nodes T>
        requires(!std::same_as<T, operator_support>)
    operator_support(T support)
        : ask_([held = std::make_shared<const T>(std::move(support))](const node& n) {
              return static_cast<bool>(held->is_node_supported(n));
          }) {}

    [[nodiscard]] bool is_node_supported(const node& n) const { return ask_(n); }

private:
    std::function<bool(const node&)> ask_;
};

/// Support from a function.
template <std::predicate<const node&> Predicate>
[[nodiscard]] operator_support create_op_support(Predicate supported) {
    struct by_function {
        Predicate ask;
        bool is_node_supported(const node& n) const { return ask(n); }
    };
    return by_function{std::move(supported)};
}

/// Support for ops: `create_op_support<aten::add_tensor, aten::mul_tensor>()`.
template <op_tag... Ops>
    requires(sizeof...(Ops) != 0)
[[nodiscard]] operator_support create_op_support() {
    return create_op_support([](const node& n) { return (is<Ops>(n) || ...); });
}

/// Supports the nodes that all of them support.
template <std::convertible_to<operator_support>... Supports>
[[nodiscard]] operator_support chain(Supports... supports) {
    return create_op_support([all = std::vector<operator_support>{std::move(supports)...}](const node& n) {
        return std::all_of(all.begin(), all.end(), [&](const auto& s) { return s.is_node_supported(n); });
    });
}

/// Supports the nodes that any of them supports.
template <std::convertible_to<operator_support>... Supports>
[[nodiscard]] operator_support any_chain(Supports... supports) {
    return create_op_support([all = std::vector<operator_support>{std::move(supports)...}](const node& n) {
        return std::any_of(all.begin(), all.end(), [&](const auto& s) { return s.is_node_supported(n); });
    });
}

// --- derived from a static pipeline ------------------------------------------------------

namespace detail {

/// True if the op of a node is in the set, and all ops in the graphs that it holds are, too.
template <class Set>
[[nodiscard]] bool all_ops_in(const Set& set, const node& n) {
    if (!set.contains(*n.op)) return false;
    bool all = true;
    for_each_region(n, [&](const field_info&, const graph* region) {
        if (region == nullptr) return;
        for (const node& inner : region->nodes()) {
            const bool always = is_of_dialect<builtin::dialect>(inner);
            all = all && (always ? !is<builtin::opaque>(inner) : all_ops_in(set, inner));
        }
    });
    return all;
}

}  // namespace detail

/// Supports the nodes whose op the pipeline provably lowers: its `supported` set, derived from its passes.
template <class Pipeline>
[[nodiscard]] operator_support supported_by() {
    return create_op_support([](const node& n) { return detail::all_ops_in(Pipeline::supported, n); });
}

// --- run-time predicates: beyond a set of ops ----------------------------------------------

/// Supports nodes for which `legal(const tensor_meta&)` is true for each operand and each result. A value
/// without metadata is not legal.
template <std::predicate<const tensor_meta&> Predicate>
[[nodiscard]] operator_support of_types(Predicate legal) {
    return create_op_support([legal = std::move(legal)](const node& n) {
        const auto takes = [&](const tensor_meta* meta) { return meta != nullptr && legal(*meta); };
        const auto edges = n.operand_edges();
        return std::all_of(edges.begin(), edges.end(),
                           [&](const edge& e) { return takes(meta_of(*e.slot)); }) &&
               std::all_of(n.results, n.results + n.result_count,
                           [&](const result_slot& r) { return takes(r.meta); });
    });
}

/// Supports nodes whose operands and results all have one of these dtypes.
[[nodiscard]] inline operator_support of_dtypes(std::initializer_list<dtype> types) {
    return of_types([types = std::vector<dtype>(types)](const tensor_meta& meta) {
        return std::find(types.begin(), types.end(), meta.dtype) != types.end();
    });
}

/// Supports nodes whose operands and results all have at most that rank.
[[nodiscard]] inline operator_support of_rank_at_most(std::size_t rank) {
    return of_types([rank](const tensor_meta& meta) { return meta.rank() <= rank; });
}

}  // namespace headrace

// ---- headrace/partition/capability_partitioner.hpp ----

namespace headrace {

/// A list of ops, chosen at run time.
using op_list = std::vector<const op_info*>;
template <op_tag... Ops>
[[nodiscard]] op_list op_list_of() {
    return {&info_of<Ops>...};
}

struct partitioner_options {
    /// True if a partition with a single computing node is worth a call. One with none never is.
    bool allows_single_node_partition = false;
    /// Ops that compute nothing, such as views: a partition needs other ops as well.
    op_list non_compute_ops{};
    /// Ops of which a single one is worth a call.
    op_list allowed_single_node_partition_ops{};
};

/// Finds partitions: disjoint sets of supported nodes that can all be fused to one node each without a cycle.
/// Fewer partitions mean fewer calls of the backend.
///
/// A node's level is the largest number of times that a path to it leaves a supported node for an unsupported
/// one. Nodes of one level never reach one another through an unsupported node, so each level can be a
/// partition. Each level is also needed: two nodes with an unsupported one on a path between them cannot
/// share a partition. So the number of partitions is minimal, and they are found in time linear in the size
/// of the graph. The nodes of a partition need not be connected.
///
/// Example: c and the unsupported u use a, and b uses u and c. The levels are 0 for a and c, and 1 for b; the
/// partitions are {a, c} and {b}.
class capability_based_partitioner {
public:
    capability_based_partitioner(graph& g, operator_support support, partitioner_options options = {})
        : graph_(g), support_(std::move(support)), options_(std::move(options)) {}

    /// Returns the partitions in an order in which they can run, each with its nodes in execution order.
    /// Nodes that depend on no input are copied if several partitions, or a partition and the host, use them.
    [[nodiscard]] std::vector<node_group> propose_partitions() {
        find_levels();
        sink_components();
        std::vector<node_group> partitions(level_count_);
        for (node& n : graph_.nodes()) {
            if (supported_[n.id]) partitions[level_[n.id]].push_back(&n);
        }
        erase_if(partitions, [&](const node_group& p) { return !is_worth_a_call(p); });
        return partitions;
    }

    /// Removes non-computing ops from the ends of partitions: those that depend on no computing op of their
    /// partition, or on which none depends. Partitions that become empty are removed.
    void remove_bookend_non_compute_ops(std::vector<node_group>& partitions) const {
        for (node_group& p : partitions) remove_bookends(p);
        erase_if(partitions, [](const node_group& p) { return p.empty(); });
    }

    /// See headrace::fuse_partitions.
    [[nodiscard]] result<std::vector<node*>> fuse_partitions(std::span<const node_group> partitions,
                                                             std::string_view backend = "") const;

private:
    [[nodiscard]] static bool is_listed(const op_list& ops, const node& n) {
        return std::find(ops.begin(), ops.end(), n.op) != ops.end();
    }
    [[nodiscard]] bool computes(const node& n) const { return !is_listed(options_.non_compute_ops, n); }

    // Inputs, outputs and constants belong to no partition.
    [[nodiscard]] static bool is_border(const node& n) {
        return is<builtin::placeholder>(n) || is<builtin::constant>(n) || is<builtin::output>(n);
    }

    void find_supported() {
        supported_.assign(graph_.id_bound(), false);
        varies_.assign(graph_.id_bound(), false);
        for (const node& n : graph_.nodes()) {
            const auto edges = n.operand_edges();
            supported_[n.id] = !is_border(n) && support_.is_node_supported(n);
            varies_[n.id] =
                is<builtin::placeholder>(n) || holds_regions(*n.op) ||
                std::any_of(edges.begin(), edges.end(), [&](const edge& e) { return varies_[e.source->id]; });
        }
    }

    // Moves nodes that depend on no input, such as the dequantize of a weight, to their users, in the host or
    // in a partition; if there are several places, each gets a copy. `place(user)` returns the number of a
    // user's place. The node itself goes to the smallest number; `move(node, number)` records each place.
    // Users are visited first.
    template <class Place, class Move>
    void copy_invariants(Place&& place, Move&& move) {
        for (node* n = graph_.last(); n != nullptr; n = n->previous) {
            if (varies_[n->id] || !supported_[n->id]) continue;
            std::map<std::uint32_t, std::vector<edge*>> uses;
            for (edge& e : n->uses()) {
                if (!is<builtin::output>(*e.target)) uses[place(*e.target)].push_back(&e);
            }
            bool first = true;
            for (const auto& [where, edges] : uses) {
                node& held = first ? *n : copy_for(*n, edges);
                move(held, where);
                first = false;
            }
        }
    }
    node& copy_for(node& n, const std::vector<edge*>& uses) {
        node& made = graph_.create(*n.op, n.arguments, n.result_count, n.next);
        made.annotations = n.annotations;
        for (std::uint32_t i = 0; i != n.result_count; ++i) {
            if (n.results[i].meta) graph_.set_meta(made.result(i), *n.results[i].meta);
        }
        for (edge* e : uses) graph_.set_operand(*e, made.result(e->slot->result));
        supported_.push_back(true);
        varies_.push_back(false);
        level_.push_back(0);
        return made;
    }

    void find_levels() {
        find_supported();
        level_.assign(graph_.id_bound(), 0);  // for an unsupported node: the minimum for its users
        copy_invariants([&](const node& user) { return supported_[user.id] ? 1U : 0U; },
                        [&](const node& n, std::uint32_t where) { supported_[n.id] = where != 0; });
        level_count_ = 0;
        for (const node& n : graph_.nodes()) {
            std::uint32_t level = 0;
            for (const edge& e : n.operand_edges()) {
                const bool leaves = supported_[e.source->id] && !supported_[n.id];
                level = std::max(level, level_[e.source->id] + (leaves ? 1U : 0U));
            }
            level_[n.id] = level;
            if (supported_[n.id]) level_count_ = std::max(level_count_, std::size_t{level} + 1);
        }
        copy_invariants([&](const node& user) { return level_[user.id]; },
                        [&](const node& n, std::uint32_t where) { level_[n.id] = where; });
    }

    // Moves a connected component of a level to the level of its first users, so that its results need not
    // cross the host. A component never moves into a level that is still to be processed, so the components
    // of all levels are found at once: one search per level would visit the whole graph each time.
    void sink_components() {
        std::vector<node_group> levels(level_count_);
        for (node& n : graph_.nodes()) {
            if (supported_[n.id]) levels[level_[n.id]].push_back(&n);
        }
        node_group last_level_first;
        for (std::size_t level = level_count_; level-- != 0;) {
            last_level_first.insert(last_level_first.end(), levels[level].begin(), levels[level].end());
        }
        const auto components = connected_components(graph_, last_level_first, [&](const edge& e) {
            return level_[e.source->id] == level_[e.target->id];
        });
        for (const node_group& component : components) {
            const std::uint32_t lowest = level_of_users(component, level_[component.front()->id]);
            for (const node* n : component) level_[n->id] = lowest;
        }
    }
    [[nodiscard]] std::uint32_t level_of_users(const node_group& component, std::uint32_t level) const {
        std::uint32_t lowest = UINT32_MAX;
        for (const node* n : component) {
            for (const edge& e : n->uses()) {
                const bool inside = supported_[e.target->id] && level_[e.target->id] == level;
                if (inside) continue;
                if (!supported_[e.target->id]) return level;  // the host waits for the result
                lowest = std::min(lowest, level_[e.target->id]);
            }
        }
        return lowest == UINT32_MAX ? level : lowest;
    }

    [[nodiscard]] bool is_worth_a_call(const node_group& p) const {
        const auto computing = std::count_if(p.begin(), p.end(), [&](const node* n) { return computes(*n); });
        if (computing == 0) return false;
        return computing > 1 || options_.allows_single_node_partition ||
               std::any_of(p.begin(), p.end(), [&](const node* n) {
                   return is_listed(options_.allowed_single_node_partition_ops, *n);
               });
    }

    void remove_bookends(node_group& p) const {
        std::unordered_set<const node*> inside(p.begin(), p.end());
        // Start at the front, so that the producers of a node are decided before it.
        for (const node* n : p) {
            const auto edges = n->operand_edges();
            const bool first = std::none_of(edges.begin(), edges.end(),
                                            [&](const edge& e) { return inside.contains(e.source); });
            if (first && !computes(*n)) inside.erase(n);
        }
        for (std::size_t i = p.size(); i-- != 0;) {
            bool last = true;
            for (const edge& e : p[i]->uses()) last = last && !inside.contains(e.target);
            if (last && !computes(*p[i])) inside.erase(p[i]);
        }
        erase_if(p, [&](const node* n) { return !inside.contains(n); });
    }

    graph& graph_;
    operator_support support_;
    partitioner_options options_;
    std::vector<bool> supported_;       // by id
    std::vector<bool> varies_;          // by id: depends on an input
    std::vector<std::uint32_t> level_;  // by id
    std::size_t level_count_ = 0;
};

namespace detail {

/// Replaces one partition by a call. The call's graph is a region with copies of the partition's nodes.
inline node& fuse_partition(graph& g, std::span<node* const> nodes, std::string_view backend) {
    graph& region = g.create_region();
    const extraction border = extract_nodes(nodes, region);
    const args<delegate::call_delegate> arguments{backend, &region, border.operands};
    node& call = g.create<delegate::call_delegate>(arguments, border.results.size(), nodes.back()->next);
    for (std::uint32_t i = 0; i != call.result_count; ++i) {
        const value old = border.results[i];
        if (const tensor_meta* meta = meta_of(old)) g.set_meta(call.result(i), *meta);
        g.set_name(call.result(i), old.producer->results[old.result].name);
        g.replace_all_uses(old, call.result(i));
    }
    for (std::size_t i = nodes.size(); i-- != 0;) {
        node& n = *nodes[i];
        std::vector<node*> constants;
        for (const edge& e : n.operand_edges()) {
            if (is<builtin::constant>(*e.source)) constants.push_back(e.source);
        }
        g.erase(n);
        // The copied node has its own copies of the graphs that it holds.
        for_each_region(n, [](const field_info&, graph* held) {
            if (held != nullptr) erase_all(*held);
        });
        for (node* c : constants) {
            if (c->owner != nullptr && c->first_use == nullptr) g.erase(*c);
        }
    }
    return call;
}

}  // namespace detail

/// Replaces each partition by a delegate.call_delegate, which holds the partition's nodes in a separate graph
/// that run_graph executes. Returns the calls, in the order of the partitions. Fails, with the graph
/// unchanged, if the partitions overlap or depend on one another in a cycle.
[[nodiscard]] inline result<std::vector<node*>> fuse_partitions(graph& g,
                                                                std::span<const node_group> partitions,
                                                                std::string_view backend = "") {
    std::unordered_set<const node*> taken;
    for (std::size_t i = 0; i != partitions.size(); ++i) {
        const std::pmr::string which = text_of({"partition ", i});
        if (partitions[i].empty()) return invalid({which, " is empty"});
        for (const node* n : partitions[i]) {
            if (n->owner != &g) return invalid({which, " has a node that is not in the graph"});
            if (!taken.insert(n).second) return invalid({which, " has ", node_label(*n), ", which is taken"});
        }
    }
    if (!is_acyclic(g, partitions)) return invalid("the partitions depend on one another in a cycle");
    std::vector<std::size_t> position(g.id_bound());
    std::size_t next = 0;
    for (const node& n : g.nodes()) position[n.id] = next++;
    std::vector<node*> calls;
    for (const node_group& p : partitions) {
        node_group nodes = p;
        std::sort(nodes.begin(), nodes.end(),
                  [&](const node* a, const node* b) { return position[a->id] < position[b->id]; });
        calls.push_back(&detail::fuse_partition(g, nodes, backend));
    }
    HEADRACE_TRY(restore_order(g));
    return calls;
}

inline result<std::vector<node*>> capability_based_partitioner::fuse_partitions(
    std::span<const node_group> partitions, std::string_view backend) const {
    return headrace::fuse_partitions(graph_, partitions, backend);
}

}  // namespace headrace

// ---- headrace/partition/named_data_store.hpp ----

namespace headrace {

/// Returns a hash of bytes that is the same in each run and on all machines of the same byte order.
[[nodiscard]] inline std::uint64_t hash_of_bytes(std::span<const std::byte> bytes) {
    detail::hasher hash;
    hash.add(std::uint64_t{bytes.size()});
    std::size_t at = 0;
    for (; bytes.size() - at >= 8; at += 8) {
        std::uint64_t eight = 0;
        std::memcpy(&eight, &bytes[at], 8);
        hash.add(eight);
    }
    std::uint64_t rest = 0;
    if (at != bytes.size()) std::memcpy(&rest, &bytes[at], bytes.size() - at);
    hash.add(rest);
    return hash.state();
}

/// Content under one or more keys.
struct named_data_buffer {
    std::vector<std::byte> bytes;
    std::size_t alignment = 1;  ///< satisfies all of its keys
};

/// The contents of a store: buffers, and the buffer of each key. Keys without a tag belong in the program
/// itself; keys with a tag belong in an external file of that name.
struct named_data_store_output {
    std::vector<std::shared_ptr<const named_data_buffer>> buffers;
    std::map<std::string, std::size_t, std::less<>> keys;
    std::map<std::string, std::map<std::string, std::size_t, std::less<>>, std::less<>> external;  ///< by tag
};

/// Data by key. Each key has one content; keys with equal content share a buffer.
class named_data_store {
public:
    /// Adds data. Adding a key again is not an error if content and tag are the same.
    [[nodiscard]] result<void> add_named_data(std::string_view key, std::span<const std::byte> data,
                                              std::size_t alignment = 1, std::string_view external_tag = {}) {
        if (alignment == 0) return invalid({"named data '", key, "': an alignment of 0"});
        const auto known = keys_.find(key);
        if (known == keys_.end()) {
            const std::size_t buffer = buffer_of(data, alignment);
            keys_.emplace(std::string(key), entry{buffer, std::string(external_tag)});
            return {};
        }
        if (!equal(buffers_[known->second.buffer]->bytes, data)) {
            return invalid({"named data '", key, "' already exists with different content"});
        }
        if (known->second.tag != external_tag) {
            return invalid({"named data '", key, "' already exists with a different tag"});
        }
        align(known->second.buffer, alignment);
        return {};
    }

    /// Adds all data of another store.
    [[nodiscard]] result<void> merge(const named_data_store_output& other) {
        for (const auto& [key, buffer] : other.keys) {
            HEADRACE_TRY(add_named_data(key, other.buffers[buffer]->bytes, other.buffers[buffer]->alignment));
        }
        for (const auto& [tag, keys] : other.external) {
            for (const auto& [key, buffer] : keys) {
                HEADRACE_TRY(
                    add_named_data(key, other.buffers[buffer]->bytes, other.buffers[buffer]->alignment, tag));
            }
        }
        return {};
    }

    /// Returns the index of a key's buffer, or the number of buffers if there is no such key.
    [[nodiscard]] std::size_t find(std::string_view key) const {
        const auto known = keys_.find(key);
        return known == keys_.end() ? buffers_.size() : known->second.buffer;
    }
    [[nodiscard]] std::size_t size() const { return buffers_.size(); }

    [[nodiscard]] named_data_store_output output() const {
        named_data_store_output out;
        for (const auto& buffer : buffers_) out.buffers.push_back(buffer);
        for (const auto& [key, e] : keys_)
            (e.tag.empty() ? out.keys : out.external[e.tag]).emplace(key, e.buffer);
        return out;
    }

private:
    struct entry {
        std::size_t buffer;
        std::string tag;
    };

    [[nodiscard]] static bool equal(std::span<const std::byte> a, std::span<const std::byte> b) {
        return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size()) == 0);
    }
    std::size_t buffer_of(std::span<const std::byte> data, std::size_t alignment) {
        const std::uint64_t hash = hash_of_bytes(data);
        const auto [first, last] = by_content_.equal_range(hash);
        for (auto at = first; at != last; ++at) {
            if (!equal(buffers_[at->second]->bytes, data)) continue;
            align(at->second, alignment);
            return at->second;
        }
        by_content_.emplace(hash, buffers_.size());
        buffers_.push_back(std::make_shared<named_data_buffer>(
            named_data_buffer{std::vector<std::byte>(data.begin(), data.end()), alignment}));
        return buffers_.size() - 1;
    }
    // Raises the alignment to a multiple of both. Buffers that were handed out keep theirs.
    void align(std::size_t buffer, std::size_t alignment) {
        auto& held = buffers_[buffer];
        if (held->alignment % alignment == 0) return;
        held = std::make_shared<named_data_buffer>(
            named_data_buffer{held->bytes, std::lcm(held->alignment, alignment)});
    }

    std::vector<std::shared_ptr<const named_data_buffer>> buffers_;
    std::unordered_multimap<std::uint64_t, std::size_t> by_content_;
    std::map<std::string, entry, std::less<>> keys_;
};

}  // namespace headrace

// ---- headrace/partition/backend.hpp ----

namespace headrace {

// --- delegations -------------------------------------------------------------------------

/// An option of a backend.
struct compile_spec {
    std::string key;
    std::string value;

    friend bool operator==(const compile_spec&, const compile_spec&) = default;
};
using compile_specs = std::vector<compile_spec>;

/// The backend of a partition, and its options.
struct delegation_spec {
    std::string backend;
    compile_specs specs{};
};

struct delegated_partition {
    node_group nodes;
    delegation_spec delegation;
};

/// The result of a partitioner for one method: partitions, or the whole method, with its inputs and outputs,
/// for one backend.
struct partition_result {
    std::vector<delegated_partition> partitions{};
    std::optional<delegation_spec> whole{};
};

/// A partitioner, by value: any type with `result<partition_result> partition(graph&) const`.
class partitioner {
public:
    template <class T>
        requires(!std::same_as<T, partitioner> &&
                 requires(const T& p, graph& g) {
                     { p.partition(g) } -> std::same_as<result<partition_result>>;
                 })
    partitioner(T p)
        : partition_(
              [held = std::make_shared<const T>(std::move(p))](graph& g) { return held->partition(g); }) {}

    [[nodiscard]] result<partition_result> partition(graph& g) const { return partition_(g); }

private:
    std::function<result<partition_result>(graph&)> partition_;
};

/// Delegates a whole method to one backend.
struct whole_program_partitioner {
    delegation_spec delegation;
    [[nodiscard]] result<partition_result> partition(graph&) const {
        return partition_result{.whole = delegation};
    }
};

/// Delegates the nodes that the support takes to one backend.
struct support_partitioner {
    operator_support support;
    delegation_spec delegation;
    partitioner_options options{};
    [[nodiscard]] result<partition_result> partition(graph& g) const {
        partition_result found;
        for (node_group& nodes : capability_based_partitioner(g, support, options).propose_partitions()) {
            found.partitions.push_back({std::move(nodes), delegation});
        }
        return found;
    }
};

// --- backends ----------------------------------------------------------------------------

/// A backend's result for one program. `data` has the content that is stored outside of its bytes, and
/// `data_keys` the keys to which these refer, in order.
struct preprocess_result {
    std::vector<std::byte> processed_bytes{};
    std::vector<std::string> data_keys{};
    named_data_store_output data{};
};

/// The programs of each method, in the order of its partitions, and the data for each program.
using method_programs = std::map<std::string, std::vector<graph*>, std::less<>>;
using method_compile_specs = std::map<std::string, std::vector<compile_specs>, std::less<>>;
using method_results = std::map<std::string, std::vector<preprocess_result>, std::less<>>;

/// Matches backends. A program is a separate graph, which the backend may rewrite; run_graph then executes
/// the rewritten graph in place of the partition.
template <class T>
concept backend = requires(const T& b, graph& program, std::span<const compile_spec> specs) {
    { b.name() } -> std::convertible_to<std::string_view>;
    { b.preprocess(program, specs) } -> std::same_as<result<preprocess_result>>;
};

/// Matches backends that process the programs of all methods together.
template <class T>
concept multimethod_backend =
    backend<T> && requires(const T& b, const method_programs& programs, const method_compile_specs& specs) {
        { b.preprocess_multimethod(programs, specs) } -> std::same_as<result<method_results>>;
    };

/// Calls `f(graph& program, std::span<const compile_spec> specs) -> result<preprocess_result>` for each
/// program of each method, and collects the results. The error names the method.
template <class F>
[[nodiscard]] result<method_results> preprocess_each(const method_programs& programs,
                                                     const method_compile_specs& specs, F&& f) {
    method_results results;
    for (const auto& [method, graphs] : programs) {
        const auto given = specs.find(method);
        if (given == specs.end() || given->second.size() != graphs.size())
            return invalid({"method ", method, ": not as many compile specs as programs"});
        std::vector<preprocess_result>& made = results[method];
        for (std::size_t i = 0; i != graphs.size(); ++i) {
            result<preprocess_result> done = f(*graphs[i], std::span(std::as_const(given->second[i])));
            if (!done) return done.error().in(text_of({"method ", method}));
            made.push_back(std::move(done).value());
        }
    }
    return results;
}

/// Preprocesses all programs of all methods, by the backend's preprocess_multimethod if it has one, else one
/// by one. The error names the method.
template <backend Backend>
[[nodiscard]] result<method_results> preprocess_multimethod(const Backend& b, const method_programs& programs,
                                                            const method_compile_specs& specs) {
    if constexpr (multimethod_backend<Backend>) {
        return b.preprocess_multimethod(programs, specs);
    } else {
        return preprocess_each(programs, specs, [&](graph& program, std::span<const compile_spec> given) {
            return b.preprocess(program, given);
        });
    }
}

/// Backends by name.
class backend_registry {
public:
    template <backend Backend>
    void add(Backend b) {
        auto held = std::make_shared<const Backend>(std::move(b));
        backends_[std::string(held->name())] = [held](const method_programs& programs,
                                                      const method_compile_specs& specs) {
            return headrace::preprocess_multimethod(*held, programs, specs);
        };
    }
    [[nodiscard]] bool contains(std::string_view name) const { return backends_.contains(name); }
    /// Preprocesses programs by a backend, which must be registered.
    [[nodiscard]] result<method_results> preprocess(std::string_view name, const method_programs& programs,
                                                    const method_compile_specs& specs) const {
        return backends_.find(name)->second(programs, specs);
    }
    /// Returns "a, b".
    [[nodiscard]] std::string names() const {
        std::string text;
        for (const auto& [name, b] : backends_) (text += text.empty() ? "" : ", ") += name;
        return text.empty() ? "none" : text;
    }

private:
    using preprocess_function =
        std::function<result<method_results>(const method_programs&, const method_compile_specs&)>;
    std::map<std::string, preprocess_function, std::less<>> backends_;
};

// --- to_backend --------------------------------------------------------------------------

/// One delegate of a method: its call in the method's graph, or null if it is the whole method.
struct lowered_delegate {
    delegation_spec delegation;
    graph* program = nullptr;
    node* call = nullptr;
    preprocess_result processed{};
};

struct lowered_method {
    graph* host = nullptr;  ///< calls the delegates; the program itself if all of it is a delegate
    std::vector<lowered_delegate> delegates{};
    bool is_whole = false;
};

struct lowered_methods {
    std::map<std::string, lowered_method, std::less<>> methods{};
    named_data_store_output data{};  ///< of all delegates, each content once
};

namespace detail {

/// Adds the conversions between host and delegate to the host graph: quantize, dequantize, cast.
class delegate_border {
public:
    delegate_border(graph& host, node& call) : host_(host), call_(call) {}

    void write() {
        graph& program = *args_of<delegate::call_delegate>(call_).lowered_graph;
        std::size_t i = 0;
        for (node& input : program.inputs()) {
            if (i != call_.operand_count) write_input(input, call_.operands[i++]);
        }
        node* const out = program.output();
        const auto* quantized = out->find_annotation<output_quantizations>();
        for (std::uint32_t k = 0; k != call_.result_count; ++k) {
            const interface_quantization* q =
                quantized != nullptr && k < quantized->values.size() ? &quantized->values[k] : nullptr;
            write_output(k, meta_of(program.outputs()[k]), q != nullptr && q->scale != 0 ? q : nullptr);
        }
        if (quantized != nullptr) program.annotate(*out, output_quantizations{});
    }

private:
    void write_input(node& input, edge& operand) {
        const tensor_meta* wanted = meta_of(input.result());
        const value given = *operand.slot;
        if (wanted == nullptr || meta_of(given) == nullptr) return;
        const auto* q = input.find_annotation<interface_quantization>();
        node* made = nullptr;
        if (q != nullptr && q->scale != 0) {
            made = &host_.create<quantized_decomposed::quantize_per_tensor>(
                {given, q->scale, q->zero_point, q->lowest, q->highest, wanted->dtype}, &call_);
            input.owner->annotate(input, interface_quantization{});
        } else if (wanted->dtype != meta_of(given)->dtype) {
            made = &host_.create<aten::to_dtype>({.self = given, .dtype = wanted->dtype}, &call_);
        }
        if (made == nullptr) return;
        host_.set_meta(made->result(), *wanted);
        host_.set_operand(operand, made->result());
    }
    void write_output(std::uint32_t k, const tensor_meta* given, const interface_quantization* q) {
        const value before = call_.result(k);
        const tensor_meta* said = meta_of(before);
        if (given == nullptr || said == nullptr || (q == nullptr && given->dtype == said->dtype)) return;
        const tensor_meta wanted = *said;
        node& made =
            q != nullptr
                ? host_.create<quantized_decomposed::dequantize_per_tensor>(
                      {before, q->scale, q->zero_point, q->lowest, q->highest, given->dtype}, call_.next)
                : host_.create<aten::to_dtype>({.self = before, .dtype = wanted.dtype}, call_.next);
        host_.set_meta(before, *given);
        host_.set_meta(made.result(), wanted);
        host_.set_name(made.result(), before.producer->results[k].name);
        host_.set_name(before, {});
        host_.replace_all_uses(before, made.result(), &made);
    }

    graph& host_;
    node& call_;
};

class lowering_to_backends {
public:
    lowering_to_backends(const std::map<std::string, graph*, std::less<>>& methods,
                         const backend_registry& backends)
        : methods_(methods), backends_(backends) {}

    result<void> find(const std::string& method, const partitioner& p) {
        graph* g = methods_.find(method)->second;
        auto found = p.partition(*g);
        if (!found) return in_method(method, found.error());
        if (found.value().whole) {
            if (!found.value().partitions.empty())
                return invalid({"method ", method, ": partitions beside the whole program"});
            HEADRACE_TRY(check(method, *found.value().whole));
        }
        for (const delegated_partition& part : found.value().partitions) {
            HEADRACE_TRY(check(method, part.delegation));
        }
        found_.emplace(method, std::move(found).value());
        return {};
    }

    result<lowered_methods> lower() {
        for (const auto& [method, g] : methods_) {
            HEADRACE_TRY(fuse(method, *g));
        }
        for (const std::string& name : used_) {
            HEADRACE_TRY(preprocess(name));
        }
        for (auto& [method, lowered] : lowered_.methods) {
            for (lowered_delegate& d : lowered.delegates) {
                if (d.call != nullptr) delegate_border(*d.call->owner, *d.call).write();
            }
        }
        lowered_.data = data_.output();
        return std::move(lowered_);
    }

private:
    static error in_method(const std::string& method, const error& e) {
        return e.in(text_of({"method ", method}));
    }

    result<void> check(const std::string& method, const delegation_spec& d) {
        if (!backends_.contains(d.backend)) {
            return invalid({"method ", method, ": backend '", d.backend,
                            "' is not registered; these are: ", backends_.names()});
        }
        used_.insert(d.backend);
        return {};
    }

    result<void> fuse(const std::string& method, graph& g) {
        lowered_method& lowered = lowered_.methods[method];
        lowered.host = &g;
        const auto found = found_.find(method);
        if (found == found_.end()) return {};
        if (found->second.whole) {
            lowered.is_whole = true;
            lowered.delegates.push_back({.delegation = *found->second.whole, .program = &g});
            return {};
        }
        HEADRACE_TRY(calls, fuse_partitions_of(method, g, found->second.partitions));
        for (std::size_t i = 0; i != calls.size(); ++i) {
            auto& a = *static_cast<args<delegate::call_delegate>*>(calls[i]->arguments);
            a.backend = g.own(found->second.partitions[i].delegation.backend);
            lowered.delegates.push_back({.delegation = found->second.partitions[i].delegation,
                                         .program = a.lowered_graph,
                                         .call = calls[i]});
        }
        return {};
    }
    // Creates one call per partition, in the graph that contains its nodes: the method's, or a region.
    static result<std::vector<node*>> fuse_partitions_of(const std::string& method, graph& g,
                                                         std::span<const delegated_partition> partitions) {
        std::vector<std::pair<graph*, std::vector<std::size_t>>> by_graph;
        for (std::size_t i = 0; i != partitions.size(); ++i) {
            graph* const owner = partitions[i].nodes.empty() ? &g : partitions[i].nodes.front()->owner;
            auto known = std::find_if(by_graph.begin(), by_graph.end(),
                                      [&](const auto& entry) { return entry.first == owner; });
            if (known == by_graph.end()) known = by_graph.insert(known, {owner, {}});
            known->second.push_back(i);
        }
        std::vector<node*> calls(partitions.size());
        for (const auto& [owner, positions] : by_graph) {
            std::vector<node_group> groups;
            for (const std::size_t i : positions) groups.push_back(partitions[i].nodes);
            auto made = fuse_partitions(*owner, groups);
            if (!made) return in_method(method, made.error());
            for (std::size_t k = 0; k != positions.size(); ++k) calls[positions[k]] = made.value()[k];
        }
        return calls;
    }

    result<void> preprocess(const std::string& name) {
        method_programs programs;
        method_compile_specs specs;
        for (auto& [method, lowered] : lowered_.methods) {
            for (const lowered_delegate& d : lowered.delegates) {
                if (d.delegation.backend != name) continue;
                programs[method].push_back(d.program);
                specs[method].push_back(d.delegation.specs);
            }
        }
        HEADRACE_TRY(results, backends_.preprocess(name, programs, specs));
        for (const auto& [method, graphs] : programs) {
            const auto made = results.find(method);
            if (made == results.end()) {
                return invalid({"method ", method, ": backend '", name, "' gave nothing for it"});
            }
            if (made->second.size() != graphs.size()) {
                return invalid({"method ", method, ": backend '", name, "' gave ", made->second.size(),
                                " results for ", graphs.size(), " programs"});
            }
            HEADRACE_TRY(take(method, name, made->second));
        }
        return {};
    }
    result<void> take(const std::string& method, const std::string& name,
                      std::vector<preprocess_result>& made) {
        std::size_t next = 0;
        for (lowered_delegate& d : lowered_.methods.find(method)->second.delegates) {
            if (d.delegation.backend != name) continue;
            d.processed = std::move(made[next++]);
            if (auto merged = data_.merge(d.processed.data); !merged)
                return in_method(method, merged.error());
            for (const std::string& key : d.processed.data_keys) {
                if (data_.find(key) == data_.size()) {
                    return invalid({"method ", method, ": backend '", name,
                                    "' refers to data that it does not give, '", key, "'"});
                }
            }
        }
        return {};
    }

    const std::map<std::string, graph*, std::less<>>& methods_;
    const backend_registry& backends_;
    std::map<std::string, partition_result, std::less<>> found_;
    std::set<std::string> used_;  // backends
    named_data_store data_;
    lowered_methods lowered_;
};

}  // namespace detail

/// Lowers several methods. First all partitions of all methods are found; each becomes a call in its method's
/// graph. Then each backend preprocesses all of its programs together, so that it can share data between
/// them. A method without a partitioner is left unchanged.
///
/// If a backend has changed an input or output of its program from real numbers to integers
/// (ir/signature.hpp), or to a narrower type, the host graph quantizes, dequantizes and casts.
///
/// The nodes of a partition are in one graph: the method's, or a region of a node that is in no partition,
/// such as a branch of a condition that stays on the host.
///
/// Compile specs may differ between partitions: the backend gets each program with its own.
///
/// The error names the method: a partitioner for a method that does not exist, a method without a program, a
/// backend that is not registered, overlapping partitions, or a backend without a result for a method. The
/// graphs have then been rewritten if the partitions were valid.
[[nodiscard]] inline result<lowered_methods> to_backend(
    const std::map<std::string, graph*, std::less<>>& methods,
    const std::map<std::string, partitioner, std::less<>>& partitioners, const backend_registry& backends) {
    for (const auto& [method, p] : partitioners) {
        if (!methods.contains(method))
            return invalid({"method ", method, ": a partitioner, but no such method"});
    }
    for (const auto& [method, g] : methods) {
        if (g == nullptr) return invalid({"method ", method, ": no program"});
    }
    detail::lowering_to_backends lowering(methods, backends);
    for (const auto& [method, p] : partitioners) {
        HEADRACE_TRY(lowering.find(method, p));
    }
    return lowering.lower();
}

/// Lowers several methods with one partitioner for all.
[[nodiscard]] inline result<lowered_methods> to_backend(
    const std::map<std::string, graph*, std::less<>>& methods, const partitioner& p,
    const backend_registry& backends) {
    std::map<std::string, partitioner, std::less<>> partitioners;
    for (const auto& [method, g] : methods) partitioners.emplace(method, p);
    return to_backend(methods, partitioners, backends);
}

}  // namespace headrace

// ---- headrace/partition/pattern_support.hpp ----

namespace headrace {

/// Supports the nodes of a graph that are in a match of any of the patterns, including overlapping matches.
/// It is valid for the graph as it is now. Fails if a pattern cannot match anything.
[[nodiscard]] inline result<operator_support> create_pattern_support(const graph& g,
                                                                     std::span<const graph* const> patterns,
                                                                     const matcher_options& options = {}) {
    std::unordered_set<const node*> matched;
    matcher_options all = options;
    all.remove_overlapping_matches = false;
    for (const graph* pattern : patterns) {
        HEADRACE_TRY(matches, subgraph_matcher(*pattern, all).match(g));
        for (const subgraph_match& m : matches) {
            for (const node* n : m.nodes()) matched.insert(n);
        }
    }
    return create_op_support([matched = std::move(matched)](const node& n) { return matched.contains(&n); });
}

/// Returns the partitions of the nodes that are supported or in a match; single nodes are partitions, too.
[[nodiscard]] inline result<std::vector<node_group>> generate_pattern_op_partitions(
    graph& g, std::span<const graph* const> patterns, std::optional<operator_support> support = {}) {
    HEADRACE_TRY(of_patterns, create_pattern_support(g, patterns));
    const operator_support both = support ? any_chain(*support, of_patterns) : of_patterns;
    return capability_based_partitioner(g, both, {.allows_single_node_partition = true}).propose_partitions();
}

}  // namespace headrace

// ---- headrace/partition/source_partitions.hpp ----

namespace headrace {

/// One frame of a module stack.
struct module_frame {
    std::string_view call;  ///< tells calls apart: "L__self__linear1", and "L__self__linear1@1" in the second
    std::string_view path;  ///< of the module in the model: "encoder.linear1"
    std::string_view type;  ///< "torch.nn.modules.linear.Linear"
};

/// Parses a `nn_module_stack` as written by torch.export: "call,path,type;call,path,type", outermost first.
[[nodiscard]] inline std::vector<module_frame> module_frames(std::string_view text) {
    std::vector<module_frame> frames;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find(';'), text.size());
        const std::string_view frame = text.substr(0, end);
        text.remove_prefix(std::min(end + 1, text.size()));
        const std::size_t first = frame.find(',');
        const std::size_t last = frame.rfind(',');
        if (first == std::string_view::npos || first == last) continue;
        frames.push_back(
            {frame.substr(0, first), frame.substr(first + 1, last - first - 1), frame.substr(last + 1)});
    }
    return frames;
}

/// A call of a function, as recorded by the export.
struct function_call {
    std::string_view call;      ///< tells calls apart: "linear_3"
    std::string_view function;  ///< "torch._C._nn.linear", or what is left of that: "linear"
};

/// Returns the call that a node was traced from: the last of `source_fn_stack` or, if absent, `torch_fn`, as
/// in PyTorch's get_source_partitions. Both members are empty if the export has neither. (A strict export has
/// modules in `source_fn_stack` if one of PyTorch's modules makes the call.)
[[nodiscard]] inline function_call call_of(const traced_call& from) {
    std::string_view last = from.source_fn_stack;
    last.remove_prefix(std::min(last.size(), last.rfind(';') + 1));
    if (const std::size_t comma = last.find(','); comma != std::string_view::npos)
        return {last.substr(0, comma), last.substr(comma + 1)};
    const std::size_t split = from.torch_fn.find(';');
    if (split == std::string_view::npos) return {};
    const std::string_view function = from.torch_fn.substr(split + 1);  // "builtin_function_or_method.linear"
    return {from.torch_fn.substr(0, split), function.substr(function.rfind('.') + 1)};
}

/// The nodes that came from one call of a module or function, and constants that only these use.
struct source_partition {
    std::vector<node*> nodes{};         ///< in execution order
    std::string module_type{};          ///< or function, as in the export
    std::string path{};                 ///< of the module, or of the one that calls the function
    std::vector<node*> input_nodes{};   ///< outside of the partition, used by it
    std::vector<node*> output_nodes{};  ///< of the partition, used outside
    std::vector<std::string> params{};  ///< names of the constants in use
};

namespace detail {

[[nodiscard]] inline bool is_type(std::string_view type, std::string_view wanted) {
    // "Linear", "nn.Linear" and the full name all refer to torch.nn.modules.linear.Linear.
    if (type == wanted) return true;
    if (!type.starts_with("torch.nn.")) return false;
    const std::string_view last = type.substr(type.rfind('.') + 1);
    return wanted == last || (wanted.starts_with("torch.nn.") && wanted.substr(9) == last) ||
           (wanted.starts_with("nn.") && wanted.substr(3) == last);
}

[[nodiscard]] inline bool is_function(std::string_view function, std::string_view wanted) {
    // "torch.nn.functional.linear" and "F.linear" refer to the function that exports record as
    // torch._C._nn.linear or linear.
    if (function.empty() || function == wanted) return !function.empty();
    const std::size_t prefix = wanted.rfind('.') + 1;  // 0 without a prefix
    const std::string_view from = wanted.substr(0, prefix);
    const bool known = from == "torch." || from == "torch.nn.functional." || from == "F." || from.empty();
    const bool of_torch = function.find('.') == std::string_view::npos || function.starts_with("torch.");
    return known && of_torch && function.substr(function.rfind('.') + 1) == wanted.substr(prefix);
}

/// The call of a requested source that a node came from.
struct source_call {
    std::string_view call;  ///< empty: the node comes from another source
    std::string_view source;
    std::string_view path;
};

[[nodiscard]] inline source_call call_of_source(const node& n, std::string_view wanted) {
    const auto* stack = n.find_annotation<module_stack>();
    const auto frames = module_frames(stack == nullptr ? std::string_view() : stack->text);
    const auto frame = std::find_if(frames.rbegin(), frames.rend(),
                                    [&](const module_frame& f) { return is_type(f.type, wanted); });
    if (frame != frames.rend()) return {frame->call, frame->type, frame->path};
    const auto* traced = n.find_annotation<traced_call>();
    if (traced == nullptr) return {};
    const function_call made = call_of(*traced);
    if (!is_function(made.function, wanted)) return {};
    return {made.call, made.function, frames.empty() ? std::string_view() : frames.back().path};
}

inline void find_border(source_partition& p) {
    const std::unordered_set<const node*> inside(p.nodes.begin(), p.nodes.end());
    std::unordered_set<const node*> seen;
    std::vector<node*> constants;
    for (node* n : p.nodes) {
        for (const edge& e : n->operand_edges()) {
            if (inside.contains(e.source) || !seen.insert(e.source).second) continue;
            if (is<builtin::constant>(*e.source)) {
                p.params.emplace_back(e.source->name());
                bool only_here = true;
                for (const edge& use : e.source->uses()) only_here = only_here && inside.contains(use.target);
                if (only_here) constants.push_back(e.source);
            } else {
                p.input_nodes.push_back(e.source);
            }
        }
        bool used_elsewhere = false;
        for (const edge& e : n->uses()) used_elsewhere = used_elsewhere || !inside.contains(e.target);
        if (used_elsewhere) p.output_nodes.push_back(n);
    }
    p.nodes.insert(p.nodes.begin(), constants.begin(), constants.end());
}

}  // namespace detail

/// Returns, for each requested source (the type of a module, or a function), the partitions of its calls, in
/// execution order of their first nodes. A type is written as in the export,
/// "torch.nn.modules.linear.Linear", or short, "torch.nn.Linear" and "Linear". A function is written as in a
/// model, "torch.nn.functional.linear", "F.linear", "torch.add" and "linear", or as in the export. Sources
/// that do not occur have no entry. A module that is called twice has two partitions, since the export
/// numbers its calls. Functions called by PyTorch's own modules count in exports that are not strict, because
/// only those record them.
[[nodiscard]] inline std::map<std::string, std::vector<source_partition>, std::less<>> get_source_partitions(
    const graph& g, std::span<const std::string_view> wanted_sources) {
    std::map<std::string, std::vector<source_partition>, std::less<>> found;
    for (const std::string_view wanted : wanted_sources) {
        if (found.contains(wanted)) continue;
        std::vector<source_partition> partitions;
        std::map<std::string_view, std::size_t> of_call;
        for (node& n : g.nodes()) {
            if (is<builtin::constant>(n) || is<builtin::placeholder>(n) || is<builtin::output>(n)) continue;
            const detail::source_call from = detail::call_of_source(n, wanted);
            if (from.call.empty()) continue;
            const auto [at, is_new] = of_call.emplace(from.call, partitions.size());
            if (is_new) {
                partitions.push_back(
                    {.module_type = std::string(from.source), .path = std::string(from.path)});
            }
            partitions[at->second].nodes.push_back(&n);
        }
        for (source_partition& p : partitions) detail::find_border(p);
        if (!partitions.empty()) found.emplace(std::string(wanted), std::move(partitions));
    }
    return found;
}
[[nodiscard]] inline auto get_source_partitions(const graph& g,
                                                std::initializer_list<std::string_view> wanted_sources) {
    return get_source_partitions(g, std::span(wanted_sources.begin(), wanted_sources.size()));
}

}  // namespace headrace

// ---- headrace/partition/trial_partitioner.hpp ----

namespace headrace {

/// A node that stays on the host, and the reason.
struct host_node {
    const node* which = nullptr;
    std::string reason;
};

struct trial_result {
    std::vector<node_group> partitions{};
    std::vector<host_node> host{};  ///< in execution order
};

/// Finds partitions that can really be lowered. A set of ops does not decide that: types, sizes and
/// attributes count, too, and only a lowering shows it. So each partition is lowered on trial, as a copy; the
/// nodes named by its diagnostics move to the host, and new partitions are tried until all pass. For example,
/// if the backend has CONV2D but refuses one with a large stride, only that node moves, and the partition is
/// split around it. Each failed trial refuses at least one node, and reports all nodes that it refuses.
class trial_partitioner {
public:
    /// Lowers a graph; refusals are reported to the context.
    using trial_function = std::function<result<void>(graph& program, pass_context& context)>;

    /// Returns the nodes of a functional graph that must stay on the host in any case, each with its reason.
    using host_function = std::function<std::unordered_map<const node*, std::string>(const graph&)>;

    trial_partitioner(operator_support support, trial_function trial, partitioner_options options = {},
                      pass_context::node_inference rules = nullptr, host_function stays_on_host = {})
        : support_(std::move(support)),
          trial_(std::move(trial)),
          options_(std::move(options)),
          rules_(rules),
          stays_on_host_(std::move(stays_on_host)) {}

    [[nodiscard]] result<trial_result> propose_partitions(graph& g) const {
        reasons refused = stays_on_host_ ? stays_on_host_(g) : reasons();
        const operator_support support = create_op_support(
            [&](const node& n) { return support_.is_node_supported(n) && !refused.contains(&n); });
        for (;;) {
            trial_result found;
            found.partitions = capability_based_partitioner(g, support, options_).propose_partitions();
            const std::size_t known = refused.size();
            for (const node_group& nodes : found.partitions) {
                HEADRACE_TRY(try_partition(g, nodes, refused));
            }
            if (refused.size() != known) continue;
            explain(g, found, refused);
            return found;
        }
    }

private:
    using reasons = std::unordered_map<const node*, std::string>;

    result<void> try_partition(const graph& g, const node_group& nodes, reasons& refused) const {
        graph program;
        program.set_target(g.target());
        extract_nodes(nodes, program);
        pass_context context(rules_);
        result<void> done = trial_(program, context);
        if (!done && context.diagnostics().empty()) {
            for (const node* n : nodes) refused.emplace(n, done.error().message);
            return {};
        }
        if (context.diagnostics().empty()) return done;
        std::unordered_map<std::string_view, const node*> by_name;
        for (const node* n : nodes) add_names(*n, *n, by_name);
        std::size_t found = 0;
        for (const diagnostic& d : context.diagnostics()) {
            const auto at = by_name.find(d.node);
            if (at == by_name.end()) {
                found += refuse_readers(nodes, d, refused);
            } else {
                refused.emplace(at->second, d.reason);
                ++found;
            }
        }
        // The refused node cannot be told apart from the others of the partition.
        if (found == 0) {
            for (const node* n : nodes) refused.emplace(n, context.diagnostics()[0].reason);
        }
        return {};
    }
    // The backend refuses an input. It comes from outside, so the nodes that use it must stay outside, too.
    static std::size_t refuse_readers(const node_group& nodes, const diagnostic& d, reasons& refused) {
        std::size_t found = 0;
        for (const node* n : nodes) {
            const bool reads = std::ranges::any_of(n->operand_edges(), [&](const edge& e) {
                const node& source = *e.source;
                const std::string_view name(d.node);
                const bool is_inside = std::find(nodes.begin(), nodes.end(), e.source) != nodes.end();
                return !is_inside && (source.name() == name || origin_name(source) == name ||
                                      source.results[e.slot->result].name == name);
            });
            if (!reads) continue;
            refused.emplace(n, d.reason);
            ++found;
        }
        return found;
    }
    // A node is refused for any node in the graphs that it holds.
    static void add_names(const node& n, const node& outer,
                          std::unordered_map<std::string_view, const node*>& by_name) {
        if (!origin_name(n).empty()) by_name.emplace(origin_name(n), &outer);
        for_each_region(n, [&](const field_info&, const graph* region) {
            if (region == nullptr) return;
            for (const node& inner : region->nodes()) add_names(inner, outer, by_name);
        });
    }

    void explain(const graph& g, trial_result& found, const reasons& refused) const {
        std::vector<bool> taken(g.id_bound());
        std::vector<bool> varies(g.id_bound());
        for (const node_group& nodes : found.partitions) {
            for (const node* n : nodes) taken[n->id] = true;
        }
        for (const node& n : g.nodes()) {
            varies[n.id] = is<builtin::placeholder>(n);
            for (const edge& e : n.operand_edges()) varies[n.id] = varies[n.id] || varies[e.source->id];
            if (taken[n.id] || is<builtin::placeholder>(n) || is<builtin::constant>(n) ||
                is<builtin::output>(n))
                continue;
            const auto known = refused.find(&n);
            std::string reason = varies[n.id] ? "too little to be worth a call"
                                              : "it depends on no input, and the host uses it";
            if (known != refused.end()) {
                reason = known->second;
            } else if (is<builtin::opaque>(n)) {
                reason = unknown_op_reason(n, "lowering");
            } else if (!support_.is_node_supported(n)) {
                const node* inner = first_unsupported_in(n);
                reason = inner == nullptr ? "no pass lowers this op"
                                          : text_of({"it holds ", origin_name(*inner), " (", inner->op->name,
                                                     "), which no pass lowers"});
            }
            found.host.push_back({&n, std::move(reason)});
        }
    }

    // Returns the first unsupported node in the graphs that a node holds, or null.
    [[nodiscard]] const node* first_unsupported_in(const node& n) const {
        const node* found = nullptr;
        for_each_region(n, [&](const field_info&, const graph* region) {
            if (region == nullptr) return;
            for (const node& inner : region->nodes()) {
                if (found != nullptr || is<builtin::placeholder>(inner) || is<builtin::constant>(inner) ||
                    is<builtin::output>(inner) || support_.is_node_supported(inner))
                    continue;
                const node* deeper = first_unsupported_in(inner);
                found = deeper != nullptr ? deeper : &inner;
            }
        });
        return found;
    }

    operator_support support_;
    trial_function trial_;
    partitioner_options options_;
    pass_context::node_inference rules_;
    host_function stays_on_host_;
};

}  // namespace headrace

#endif
