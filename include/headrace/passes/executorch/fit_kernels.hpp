// SPDX-License-Identifier: MIT
// Defines headrace::fit_kernels.
#ifndef HEADRACE_PASSES_EXECUTORCH_FIT_KERNELS_HPP
#define HEADRACE_PASSES_EXECUTORCH_FIT_KERNELS_HPP

#include <algorithm>
#include <limits>
#include <vector>

#include <headrace/dialect/executorch.hpp>
#include <headrace/infer/executorch.hpp>
#include <headrace/infer/quantized_decomposed.hpp>
#include <headrace/passes/decompose/expressions.hpp>
#include <headrace/passes/properties.hpp>
#include <headrace/passes/support/constants.hpp>
#include <headrace/passes/support/slicing.hpp>

namespace headrace {

/// Rewrites arguments that a kernel of the runtime refuses into ones that it takes: a roll without axes as a
/// roll of the flat tensor, a pad that crops as a preceding slice. If a kernel deviates from PyTorch for some
/// values, it substitutes PyTorch's result: max pooling skips NaN, and the kernel's 0 // 0 is infinite
/// (measured with ExecuTorch 1.5.1). Ops that have a decomposition, such as the remainder of integers, are
/// left to it.
struct fit_kernels : pass {
    using runs_after = pass_list<functional, canonical_variants>;
    using invalidates = pass_list<no_dead_code, duplicates_merged, nodes_sorted>;
    static constexpr std::string_view summary =
        "arguments that kernels refuse as others; PyTorch's results where a kernel has another";
    static constexpr bool repeatable = true;

    using max_pool_kernel = executorch::kernel<aten::max_pool2d_with_indices,
        "aten::max_pool2d_with_indices.out", executorch::kernel_types::numbers>;
    using floor_divide_kernel = executorch::kernel<aten::floor_divide, "aten::floor_divide.out">;
    using left_shift_kernel =
        executorch::kernel<aten::bitwise_left_shift_tensor, "aten::bitwise_left_shift.Tensor_out">;
    using right_shift_kernel =
        executorch::kernel<aten::bitwise_right_shift_tensor, "aten::bitwise_right_shift.Tensor_out">;

    using quantizers =
        ops<quantized_decomposed::quantize_per_channel, quantized_decomposed::quantize_per_token,
            quantized_decomposed::dequantize_per_channel, quantized_decomposed::dequantize_per_token>;
    using tensor_quantizers = ops<quantized_decomposed::quantize_per_tensor_tensor,
        quantized_decomposed::dequantize_per_tensor_tensor>;

    static auto rewrites() {
        return rules(
            on<aten::_softmax> =
                [](auto x, const auto& a) {
                    return choose(!a.half_to_float, unchanged,
                        [&] { return call<aten::_softmax>(in_result_type(x), a.dim, false); });
                },
            on<aten::_log_softmax> =
                [](auto x, const auto& a) {
                    return choose(!a.half_to_float, unchanged,
                        [&] { return call<aten::_log_softmax>(in_result_type(x), a.dim, false); });
                },
            on<aten::bitwise_left_shift_tensor, aten::bitwise_right_shift_tensor> =
                code<made>([](auto op, emit<made> e, const auto& a) { return shifted(op, e, a); }),
            on<aten::bitwise_left_shift_tensor_scalar, aten::bitwise_right_shift_tensor_scalar> =
                code<made>([](auto op, emit<made> e, const auto& a) { return shifted_by_number(op, e, a); }),
            on_each<quantizers> =
                code<made>([](auto op, emit<made> e, const auto& a) { return with_wide_lists(op, e, a); }),
            on_each<tensor_quantizers> =
                code<made>([](auto op, emit<made> e, const auto& a) { return with_wide_numbers(op, e, a); }),
            on<aten::_to_copy> = code<blocking>(),
            on<aten::expand> =
                [](auto x, const auto& a) {
                    return choose(!a.implicit, unchanged, [&] { return call<aten::expand>(x, a.size); });
                },
            on<aten::narrow> = code<from_start>(), on<aten::constant_pad_nd> = code<cropped>(),
            on<aten::roll> = code<rolled>(),
            // The sum of a single number, and its only window.
            on<aten::cumsum> =
                [](auto x, const auto&) {
                    return choose(x.rank() != 0, unchanged, [&] { return in_result_type(x); });
                },
            on<aten::sum_dim_intlist> = code<total>(),
            on<aten::unfold> =
                [](auto x, const auto&) {
                    return choose(x.rank() != 0, unchanged,
                        [&] { return call<aten::reshape>(x, x.result_meta().shape); });
                },
            on<aten::_adaptive_avg_pool2d> =
                [](auto x, const auto& a) {
                    return choose(a.output_size.size() == 2, unchanged, [&] {
                        const sizes made = x.result_meta().shape;
                        return call<aten::_adaptive_avg_pool2d>(x, int_list(made.last(2)));
                    });
                },
            on<aten::linear> = code<of_matrix>(),
            on<aten::floor_divide> =
                code<made>([](emit<made> e, const auto& a) { return floored(e, a.self, a.other); }),
            on<aten::div_tensor_mode> = code<made>([](emit<made> e, const auto& a) {
                return a.rounding_mode == "floor" ? floored(e, a.self, a.other) : std::nullopt;
            }),
            on<aten::max_pool1d_with_indices> = code<pooled_lines>(),
            on<aten::max_pool2d_with_indices> = code<made>([](emit<made> e, const auto& a) {
                const bool deviates = !executorch::kernel_deviation(e.current()).empty();
                return deviates ? std::optional(pooled_with_nan(e, a)) : std::nullopt;
            }));
    }

private:
    using made = joined<quantizers, tensor_quantizers,
        ops<aten::_to_copy, aten::sum_dim_intlist, aten::narrow, aten::constant_pad_nd, aten::roll,
            aten::reshape, aten::linear, aten::where_self, aten::eq_scalar, aten::div_tensor,
            aten::masked_fill_scalar, aten::isnan, aten::clamp, aten::lt_scalar, aten::ne_tensor,
            aten::bitwise_and_scalar, aten::unsqueeze, aten::squeeze_dim, aten::max_pool2d_with_indices,
            aten::bitwise_right_shift_tensor_scalar, max_pool_kernel, floor_divide_kernel, left_shift_kernel,
            right_shift_kernel>>;
    static std::optional<value> blocking(emit<made> e, args<aten::_to_copy> a) {
        if (!std::exchange(a.non_blocking, false)) return std::nullopt;
        return e.make<aten::_to_copy>(a);
    }
    static std::optional<value> from_start(emit<made> e, const args<aten::narrow>& a) {
        if (a.start >= 0 && a.dim >= 0) return std::nullopt;
        const std::size_t axis = build::axis_in(e, a.dim, e.rank(a.self));
        if (e.failed()) return value{};
        const std::int64_t start = a.start < 0 ? a.start + e.shape(a.self)[axis] : a.start;
        return e.make<aten::narrow>({a.self, static_cast<std::int64_t>(axis), start, a.length});
    }
    static std::optional<value> cropped(emit<made> e, const args<aten::constant_pad_nd>& a) {
        const auto crops = [](std::int64_t size) { return size < 0; };
        if (std::ranges::none_of(a.pad, crops)) return std::nullopt;
        value v = a.self;
        std::vector<std::int64_t> pad(a.pad.begin(), a.pad.end());
        for (std::size_t i = 0; i + 1 < pad.size() && i / 2 < e.rank(a.self) && !e.failed(); i += 2) {
            const std::size_t axis = e.rank(a.self) - 1 - i / 2;
            const std::int64_t before = std::max<std::int64_t>(0, -pad[i]);
            const std::int64_t after = std::max<std::int64_t>(0, -pad[i + 1]);
            const std::int64_t left = e.shape(v)[axis] - before - after;
            if (left < 0) return e.unsupported("a pad that crops more than there is");
            v = narrow(e, v, axis, before, left);
            pad[i] += before;
            pad[i + 1] += after;
        }
        if (std::ranges::all_of(pad, [](std::int64_t size) { return size == 0; })) return v;
        return e.make<aten::constant_pad_nd>({.self = v, .pad = int_list(pad), .value = a.value});
    }
    static std::optional<value> rolled(emit<made> e, const args<aten::roll>& a) {
        if (e.rank(a.self) == 0) return a.self;
        if (!a.dims.empty() || a.shifts.size() != 1) return std::nullopt;
        const value flat = e.make<aten::reshape>({a.self, int_list{e.meta(a.self).elements()}});
        const value moved = e.make<aten::roll>({flat, a.shifts, {0}});
        return e.make<aten::reshape>({moved, e.result_meta().shape});
    }
    static std::optional<value> total(emit<made> e, args<aten::sum_dim_intlist> a) {
        if (e.rank(a.self) != 0 || !a.dim || a.dim->empty()) return std::nullopt;
        a.dim = std::nullopt;
        return e.make<aten::sum_dim_intlist>(a);
    }
    // A vector as the weight is a matrix of one row.
    static std::optional<value> of_matrix(emit<made> e, const args<aten::linear>& a) {
        if (e.rank(a.weight) != 1) return std::nullopt;
        args<aten::linear> matrix = a;
        matrix.weight = e.make<aten::reshape>({a.weight, int_list{1, e.shape(a.weight)[0]}});
        if (a.bias && e.rank(*a.bias) == 0) matrix.bias = e.make<aten::reshape>({*a.bias, int_list{1}});
        if (e.rank(a.input) == 1)
            matrix.input = e.make<aten::reshape>({a.input, int_list{1, e.shape(a.input)[0]}});
        return e.make<aten::reshape>({e.make<aten::linear>(matrix), e.result_meta().shape});
    }
    // A line is an image of one row, and its elements have the same indices.
    static value_list pooled_lines(emit<made> e, const args<aten::max_pool1d_with_indices>& a) {
        const std::int64_t kernel = a.kernel_size[0];
        const args<aten::max_pool2d_with_indices> row{
            .self = e.make<aten::unsqueeze>({.self = a.self, .dim = -2}),
            .kernel_size = {1, kernel},
            .stride = {1, a.stride.empty() ? kernel : a.stride[0]},
            .padding = {0, a.padding[0]},
            .dilation = {1, a.dilation[0]},
            .ceil_mode = a.ceil_mode};
        const value_list pooled = is_floating(e.dtype(a.self))
            ? pooled_with_nan(e, row)
            : results_of(e.make_node<aten::max_pool2d_with_indices>(row));
        value_list lines;
        for (const value v : pooled) lines.push_back(e.make<aten::squeeze_dim>({.self = v, .dim = -2}));
        return lines;
    }
    // Quantizing kernels read float64 scales and int64 zero points; the others also accept narrower ones.
    template <class Op>
    static std::optional<value> with_wide_lists(Op, emit<made> e, const args<Op>& a) {
        args<Op> wide = a;
        const bool narrow = has_trait<Op>(trait::dequantizing);
        const std::optional<value> zero_points = a.zero_points;
        if (!narrow || e.dtype(a.scales) != dtype::float32) wide.scales = cast(e, a.scales, dtype::float64);
        if (zero_points && !(narrow && e.dtype(*zero_points) == dtype::int32))
            wide.zero_points = cast(e, *zero_points, dtype::int64);
        if (wide.scales == a.scales && wide.zero_points == a.zero_points) return std::nullopt;
        return e.make<Op>(wide);
    }
    template <class Op>
    static std::optional<value> with_wide_numbers(Op, emit<made> e, const args<Op>& a) {
        args<Op> wide = a;
        wide.scale = cast(e, a.scale, dtype::float64);
        wide.zero_point = cast(e, a.zero_point, dtype::int64);
        if (wide.scale == a.scale && wide.zero_point == a.zero_point) return std::nullopt;
        return e.make<Op>(wide);
    }

    // Bits shifted out of the dtype are lost, except the sign.
    template <class Op>
    static std::optional<value> shifted_by_number(Op, emit<made> e, const args<Op>& a) {
        const dtype type = e.dtype(a.self);
        const double by = a.other.to_double();
        if (by >= 0 && by < traits_of(type).bits) return std::nullopt;
        const bool left = __is_same(Op, aten::bitwise_left_shift_tensor_scalar);
        if (left || type == dtype::uint8) return e.make<aten::bitwise_and_scalar>({a.self, scalar(0)});
        return e.make<aten::bitwise_right_shift_tensor_scalar>({a.self, scalar(traits_of(type).bits - 1)});
    }
    template <class Op>
    static std::optional<value> shifted(Op, emit<made> e, const args<Op>& a) {
        const dtype type = e.result_meta().dtype;
        const bool left = __is_same(Op, aten::bitwise_left_shift_tensor);
        const auto most = static_cast<std::int64_t>(traits_of(type).bits) - 1;
        const value by = cast(e, a.other, type);
        const value near = e.make<aten::clamp>({by, scalar(0), scalar(most)});
        const value outside = e.make<aten::ne_tensor>({near, by});
        const value self = cast(e, a.self, type);
        if (left) {
            const value moved = e.make<left_shift_kernel>({self, near});
            return e.make<aten::masked_fill_scalar>({moved, outside, scalar(0)});
        }
        const value moved = e.make<right_shift_kernel>({self, near});
        if (type == dtype::uint8) return e.make<aten::masked_fill_scalar>({moved, outside, scalar(0)});
        const value sign = e.make<aten::bitwise_right_shift_tensor_scalar>({self, scalar(most)});
        return e.make<aten::where_self>({outside, sign, moved});
    }

    // NaNs are pooled separately, as int8 flags; where a window has one, its index is returned.
    static value_list pooled_with_nan(emit<made> e, const args<aten::max_pool2d_with_indices>& a) {
        const value is_nan = e.make<aten::isnan>({a.self});
        node* const numbers = e.make_node<max_pool_kernel>(a);
        args<aten::max_pool2d_with_indices> marks = a;
        marks.self = cast(e, is_nan, dtype::int8);
        node* const nans = e.make_node<max_pool_kernel>(marks);
        if (numbers == nullptr || nans == nullptr) return {{}, {}};
        const value has_nan = cast(e, nans->result(0), dtype::boolean);
        const value most = e.make<aten::masked_fill_scalar>(
            {numbers->result(0), has_nan, scalar(std::numeric_limits<double>::quiet_NaN())});
        const value at = e.make<aten::where_self>({has_nan, nans->result(1), numbers->result(1)});
        return {most, at};
    }
    // A number divided by 0 is infinite or NaN, as it is without rounding.
    static std::optional<value> floored(emit<made> e, value a, value b) {
        if (!is_floating(e.result_meta().dtype)) return std::nullopt;
        const value rounded = e.make<floor_divide_kernel>({a, b});
        const auto divisor = constant_reals(b);
        const bool is_number = divisor && divisor->size() == 1 && e.dtype(b) == dtype::float32;
        if (is_number && divisor->front() != 0) return rounded;
        const value by_zero = e.make<aten::eq_scalar>({b, scalar(0)});
        const value ratio = cast(e, e.make<aten::div_tensor>({a, b}), e.result_meta().dtype);
        return e.make<aten::where_self>({by_zero, ratio, rounded});
    }
};
HEADRACE_COMPILED_PASS(fit_kernels);

}  // namespace headrace

#endif
