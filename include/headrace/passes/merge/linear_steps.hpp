// SPDX-License-Identifier: MIT
// Defines headrace::maps::linear_step, a node as a linear map of one operand plus a constant.
#ifndef HEADRACE_PASSES_MERGE_LINEAR_STEPS_HPP
#define HEADRACE_PASSES_MERGE_LINEAR_STEPS_HPP

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include <headrace/dialect/aten.hpp>
#include <headrace/dialect/builtin.hpp>
#include <headrace/ir/graph.hpp>
#include <headrace/ir/views.hpp>
#include <headrace/passes/merge/map_shape.hpp>
#include <headrace/passes/support/constants.hpp>

namespace headrace::maps {

/// The axes that can be the channels of a map: the second one, as in images, or the last one, as in rows. A
/// factor for the whole tensor leaves that open.
struct channel_axes {
    bool second = true, last = true;

    [[nodiscard]] bool any() const { return second || last; }
    friend channel_axes operator&(channel_axes a, channel_axes b) {
        return {a.second && b.second, a.last && b.last};
    }
};

enum class step_kind : std::uint8_t {
    none,
    layer,    ///< a convolution or a linear layer with constant weights
    pool,     ///< an average over windows, each of as many elements
    scaling,  ///< a factor and a summand for each channel, or for all
    same,     ///< the operand itself
    view,     ///< the operand in another shape, with the same last axis
    sum       ///< of two operands
};

struct linear_step {
    step_kind kind = step_kind::none;
    value input{}, other{};  ///< `other` of a sum
    double sign = 1;         ///< of `other`: 1 or -1
    channel_axes channels{};
    map_shape shape{};       ///< of a layer and a pool
    bool shifts = false;     ///< a summand may not be zero
    bool is_shared = false;  ///< other layers have the same weights, which stay in memory
};

/// The most elements that a layer may have to be merged, and the most channels.
inline constexpr std::int64_t most_weights = std::int64_t{1} << 25, most_channels = std::int64_t{1} << 20;

/// Returns the constant that a value is, past views; null if it is computed. `type` has its data.
[[nodiscard]] inline const args<builtin::constant>* constant_behind(value v, const tensor_meta*& type) {
    while (!is<builtin::constant>(*v.producer) && is_view(*v.producer)) v = v.producer->operand(0);
    const auto* constant = match<builtin::constant>(v);
    type = meta_of(v);
    return type == nullptr ? nullptr : constant;
}
/// Returns the numbers of a constant, past views, if there are not too many.
[[nodiscard]] inline std::optional<pmr_vector<double>> numbers_behind(value v, std::int64_t most) {
    const tensor_meta* type = nullptr;
    const auto* constant = constant_behind(v, type);
    if (constant == nullptr || type->checked_elements().value_or(most + 1) > most) return std::nullopt;
    return reals_of(constant->data, *type);
}
[[nodiscard]] inline bool is_number(value v) {
    const tensor_meta* type = nullptr;
    return constant_behind(v, type) != nullptr;
}
[[nodiscard]] inline bool is_float32(value v) {
    return meta_of(v) != nullptr && meta_of(v)->dtype == dtype::float32;
}

/// Returns the axes along which a tensor of factors can be one for each channel of a tensor of that shape;
/// none if it makes that larger.
[[nodiscard]] inline channel_axes channels_of_factors(const int_list& factors, const int_list& shape) {
    if (factors.size() > shape.size()) return {false, false};
    channel_axes found{shape.size() >= 2, !shape.empty()};
    for (std::size_t i = 0; i != factors.size(); ++i) {
        if (factors[i] == 1) continue;
        const std::size_t axis = i + shape.size() - factors.size();
        if (factors[i] != shape[axis]) return {false, false};
        found = found & channel_axes{axis == 1, axis + 1 == shape.size()};
    }
    return found;
}

/// Reads a node as a step; its results after the first must be unused.
class step_reader {
public:
    [[nodiscard]] static linear_step read(const node& n) {
        linear_step s;
        if (n.result_count == 0 || n.operand_count == 0) return s;
        if (!is_float32(n.operand(0)) || !is_float32({&at(n), 0})) return s;
        const tensor_meta& type = *n.results[0].meta;
        if (type.rank() == 0 || type.checked_elements().value_or(0) <= 0) return s;
        for (std::uint32_t i = 1; i != n.result_count; ++i) {
            if (is_used({&at(n), i})) return s;
        }
        s.input = n.operand(0);
        if (read_layer(n, s) || read_sum(n, s) || read_scaling(n, s) || read_same(n, s)) return s;
        return {};
    }

private:
    static node& at(const node& n) { return const_cast<node&>(n); }
    static const int_list& shape_of(value v) { return meta_of(v)->shape; }
    static bool in_range(sizes items, std::int64_t least) {
        return std::ranges::all_of(
            items, [&](std::int64_t i) { return i >= least && i < map_shape::largest; });
    }

    // --- layers -----------------------------------------------------------------------------

    static bool read_layer(const node& n, linear_step& s) {
        if (const auto* a = args_if<aten::linear>(n)) return read_linear(*a, s);
        if (const auto* a = args_if<aten::avg_pool2d>(n)) return read_pool(n, *a, s);
        if (const auto* a = args_if<aten::conv1d>(n)) return read_convolution(n, *a, s);
        if (const auto* a = args_if<aten::conv2d>(n)) return read_convolution(n, *a, s);
        if (const auto* a = args_if<aten::conv3d>(n)) return read_convolution(n, *a, s);
        const auto* a = args_if<aten::convolution>(n);
        return a != nullptr && !a->transposed && read_convolution(n, *a, s);
    }
    // Reads weight and bias; `axes` is the rank of the window.
    static bool read_weights(
        value weight, const std::optional<value>& bias, std::size_t axes, linear_step& s) {
        if (!is<builtin::constant>(*weight.producer) || !is_float32(weight)) return false;
        const int_list& kernel = shape_of(weight);
        if (kernel.size() != axes + 2 || !in_range(kernel, 1)) return false;
        if (meta_of(weight)->checked_elements().value_or(most_weights + 1) > most_weights) return false;
        if (bias && (!is<builtin::constant>(*bias->producer) || !is_float32(*bias))) return false;
        if (bias && !(shape_of(*bias) == int_list{kernel[0]})) return false;
        s.kind = step_kind::layer;
        s.shifts = bias.has_value();
        s.is_shared = !has_one_use(weight);
        s.shape.axes = axes;
        s.shape.out = kernel[0];
        for (std::size_t i = 0; i != axes; ++i) s.shape.windows[i].count = kernel[i + 2];
        return true;
    }
    static bool read_linear(const args<aten::linear>& a, linear_step& s) {
        if (!read_weights(a.weight, a.bias, 0, s)) return false;
        s.shape.in = shape_of(a.weight)[1];
        s.channels = {false, true};
        return shape_of(a.input).size() >= 2 && shape_of(a.input).back() == s.shape.in;
    }
    template <class Args>
    static bool read_convolution(const node& n, const Args& a, linear_step& s) {
        const int_list& from = shape_of(a.input);
        if (from.size() < 3 || from.size() > 2 + map_shape::most_axes) return false;
        const std::size_t axes = from.size() - 2;
        if (!read_weights(a.weight, a.bias, axes, s)) return false;
        s.channels = {true, false};
        s.shape.groups = a.groups;
        s.shape.in = from[1];
        return a.groups >= 1 && from[1] % a.groups == 0 && s.shape.out % a.groups == 0 &&
            from[1] / a.groups == shape_of(a.weight)[1] &&
            read_windows(n, s, a.stride, a.padding, a.dilation);
    }
    static bool read_windows(const node& n, linear_step& s, sizes stride, sizes padding, sizes dilation) {
        const std::size_t axes = s.shape.axes;
        if (stride.size() != axes || padding.size() != axes || dilation.size() != axes) return false;
        if (!in_range(stride, 1) || !in_range(padding, 0) || !in_range(dilation, 1)) return false;
        for (std::size_t i = 0; i != axes; ++i) {
            window& w = s.shape.windows[i];
            w = {-padding[i], w.count == 1 ? 1 : dilation[i], w.count, stride[i]};
        }
        const map_shape read = s.shape;
        return fit_windows(s.shape, shape_of(n.operand(0)), n.results[0].meta->shape) &&
            read.weights() == s.shape.weights();
    }
    // Each window averages as many elements if none is at the border, or zeros count there.
    static bool read_pool(const node& n, const args<aten::avg_pool2d>& a, linear_step& s) {
        const int_list& from = shape_of(a.self);
        if (from.size() != 4 || a.kernel_size.size() != 2 || !in_range(a.kernel_size, 1)) return false;
        const bool is_padded = a.padding.size() != 2 || a.padding[0] != 0 || a.padding[1] != 0;
        if (a.ceil_mode || (is_padded && !a.count_include_pad && !a.divisor_override)) return false;
        if (a.divisor_override && *a.divisor_override == 0) return false;
        s.kind = step_kind::pool;
        s.channels = {true, false};
        s.shape = diagonal_shape(from[1], 2);
        for (std::size_t i = 0; i != 2; ++i) s.shape.windows[i].count = a.kernel_size[i];
        static constexpr std::int64_t ones[] = {1, 1};
        const sizes stride = a.stride.empty() ? sizes(a.kernel_size) : sizes(a.stride);
        return s.shape.weights() <= static_cast<double>(most_weights) &&
            read_windows(n, s, stride, a.padding, ones);
    }

    // --- arithmetic -------------------------------------------------------------------------

    template <class Args>
    static bool read_sum_of(const Args& a, double sign, linear_step& s) {
        const double alpha = a.alpha.to_double();
        if ((alpha != 1 && alpha != -1) || is_number(a.self) || is_number(a.other) || !is_float32(a.other))
            return false;
        if (!(shape_of(a.self) == shape_of(a.other))) return false;
        s.kind = step_kind::sum;
        s.other = a.other;
        s.sign = sign * alpha;
        return true;
    }
    static bool read_sum(const node& n, linear_step& s) {
        if (const auto* a = args_if<aten::add_tensor>(n)) return read_sum_of(*a, 1, s);
        const auto* a = args_if<aten::sub_tensor>(n);
        return a != nullptr && read_sum_of(*a, -1, s);
    }

    static bool is_scaled(const node& n, value input, value factors, linear_step& s) {
        if (!is_number(factors) || is_number(input) || !is_float32(input) || meta_of(factors) == nullptr)
            return false;
        if (!(shape_of(input) == n.results[0].meta->shape)) return false;
        s.channels = s.channels & channels_of_factors(shape_of(factors), shape_of(input));
        s.input = input;
        return s.channels.any();
    }
    static bool is_zero(value v) {
        const auto numbers = numbers_behind(v, 1);
        return numbers && std::ranges::all_of(*numbers, [](double x) { return x == 0; });
    }
    static bool read_scaling(const node& n, linear_step& s) {
        s.kind = step_kind::scaling;
        if (const auto* a = args_if<aten::mul_tensor>(n))
            return is_scaled(n, a->self, a->other, s) || is_scaled(n, a->other, a->self, s);
        if (const auto* a = args_if<aten::div_tensor>(n)) return is_scaled(n, a->self, a->other, s);
        if (const auto* a = args_if<aten::add_tensor>(n)) return read_shift(n, a->self, a->other, s);
        if (const auto* a = args_if<aten::sub_tensor>(n)) return read_shift(n, a->self, a->other, s);
        if (const auto* a = args_if<aten::addcmul>(n)) {
            s.shifts = true;
            linear_step shift = s;
            const value x = is_number(a->tensor1) ? a->tensor2 : a->tensor1;
            if (!is_scaled(n, x, is_number(a->tensor1) ? a->tensor1 : a->tensor2, s)) return false;
            if (!is_scaled(n, x, a->self, shift)) return false;
            s.channels = s.channels & shift.channels;
            return s.channels.any();
        }
        if (const auto* a = args_if<aten::add_scalar>(n)) return (s.shifts = a->other.to_double() != 0, true);
        if (const auto* a = args_if<aten::sub_scalar>(n)) return (s.shifts = a->other.to_double() != 0, true);
        if (is<aten::mul_scalar>(n) || is<aten::div_scalar>(n) || is<aten::neg>(n)) return true;
        return read_norm(n, s);
    }
    static bool read_shift(const node& n, value a, value b, linear_step& s) {
        s.shifts = !is_zero(is_number(a) ? a : b);
        return is_scaled(n, a, b, s) || is_scaled(n, b, a, s);
    }
    static bool read_norm(const node& n, linear_step& s) {
        s.shifts = true;
        s.channels = {true, shape_of(s.input).size() == 2};
        if (shape_of(s.input).size() < 2) return false;
        const auto is_vector = [&](const std::optional<value>& v) {
            const tensor_meta* type = nullptr;
            return !v ||
                (constant_behind(*v, type) != nullptr && type->checked_elements() == shape_of(s.input)[1]);
        };
        if (const auto* a = args_if<aten::batch_norm>(n))
            return !a->training && a->running_mean && a->running_var && is_vector(a->weight) &&
                is_vector(a->bias) && is_vector(a->running_mean) && is_vector(a->running_var);
        const auto* a = args_if<aten::_native_batch_norm_legit_no_training>(n);
        return a != nullptr && is_vector(a->weight) && is_vector(a->bias) && is_vector(a->running_mean) &&
            is_vector(a->running_var);
    }

    static bool read_same(const node& n, linear_step& s) {
        s.shifts = false;
        s.channels = {};
        const auto* dropout = args_if<aten::dropout>(n);
        const bool forwards = n.op->has(trait::forwarding) && !n.op->has(trait::in_place);
        if ((dropout != nullptr && !dropout->train) || forwards) {
            s.kind = step_kind::same;
            return shape_of(s.input) == n.results[0].meta->shape;
        }
        s.kind = step_kind::view;
        s.channels = {false, true};
        return is_view(n) && !n.op->has(trait::in_place) && !shape_of(s.input).empty() &&
            shape_of(s.input).back() == n.results[0].meta->shape.back();
    }
};

}  // namespace headrace::maps

#endif
