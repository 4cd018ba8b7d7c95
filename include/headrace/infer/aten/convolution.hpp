// SPDX-License-Identifier: MIT
// Defines the shape rules of the convolutions and poolings of aten.
#ifndef HEADRACE_INFER_ATEN_CONVOLUTION_HPP
#define HEADRACE_INFER_ATEN_CONVOLUTION_HPP

#include <algorithm>
#include <optional>

#include <headrace/base/text.hpp>
#include <headrace/dialect/aten.hpp>
#include <headrace/infer/preconditions.hpp>
#include <headrace/infer/shape_builder.hpp>
#include <headrace/infer/window.hpp>

namespace headrace {
namespace aten {

using convolution_ops = ops<conv1d, conv2d, conv3d>;
using padded_convolution_ops = ops<conv1d_padding, conv2d_padding, conv3d_padding>;
using transposed_convolution_ops = ops<conv_transpose1d, conv_transpose2d_input, conv_transpose3d_input>;
using max_pool_ops = ops<max_pool1d, max_pool2d, max_pool3d>;
using avg_pool_ops = ops<avg_pool1d, avg_pool2d, avg_pool3d>;
using adaptive_pool_ops = ops<adaptive_avg_pool1d, _adaptive_avg_pool2d, adaptive_avg_pool2d,
    _adaptive_avg_pool3d, adaptive_avg_pool3d>;

}  // namespace aten

namespace detail {

/// The operands of a convolution. `transposed` decides how the weight's first two sizes are read.
struct convolution_form {
    const tensor_meta& input;
    const tensor_meta& weight;
    const std::optional<value>& bias;
    std::int64_t groups;
    bool transposed = false;

    [[nodiscard]] std::size_t spatial() const { return weight.rank() - 2; }
    [[nodiscard]] sizes kernel() const { return sizes(weight.shape).subspan(2); }
    [[nodiscard]] bool batched() const { return input.rank() == weight.rank(); }
    [[nodiscard]] std::int64_t in_channels() const { return input.shape[batched() ? 1 : 0]; }
    [[nodiscard]] std::int64_t out_channels() const {
        return transposed ? saturating_mul(weight.shape[1], groups) : weight.shape[0];
    }
};

/// The ranks that a weight may have: one if the op has a fixed number of spatial dimensions.
struct weight_ranks {
    std::size_t least = 3;
    std::size_t most = 5;
};
template <class Op>
inline constexpr weight_ranks weight_ranks_of{spatial_rank<Op> + 2, spatial_rank<Op> + 2};
template <>
inline constexpr weight_ranks weight_ranks_of<aten::convolution>{};

inline result<void> check_convolution(const convolution_form& form, weight_ranks ranks) {
    HEADRACE_TRY(require_rank("weight", form.weight.shape, ranks.least, ranks.most));
    HEADRACE_TRY(require_rank("input", form.input.shape, form.weight.rank() - 1, form.weight.rank()));
    const std::int64_t first = form.weight.shape[0];
    const std::int64_t wanted = form.transposed ? first : saturating_mul(form.weight.shape[1], form.groups);
    const bool divisible = form.groups > 0 && first >= form.groups && first % form.groups == 0;
    if (!divisible || form.in_channels() != wanted) {
        return invalid({"input ", shape_text(form.input.shape), ", weight ", shape_text(form.weight.shape),
            " and groups ", form.groups, " do not match"});
    }
    HEADRACE_TRY(require_dtype("weight", form.weight.dtype, form.input.dtype));
    HEADRACE_TRY(require_dtype("bias", form.bias, form.input.dtype));
    return require_shape("bias", form.bias, shape_builder{form.out_channels()});
}

/// Returns the windows of a convolution; unlike a pooling's, its stride must be given.
inline result<std::array<window, 3>> convolution_windows(
    const convolution_form& form, sizes stride, sizes padding, sizes dilation) {
    if (stride.empty()) return invalid("stride must not be empty");
    return windows_of({form.kernel(), stride, padding, dilation}, form.spatial());
}

inline result<void> infer_convolution(
    inference& out, const convolution_form& form, const std::array<window, 3>& windows) {
    const sizes input(form.input.shape);
    const std::size_t lead = form.batched() ? 2 : 1;
    shape_builder shape(input.first(lead - 1));
    shape.push_back(form.weight.shape[0]);
    for (std::size_t i = 0; i != form.spatial(); ++i) {
        HEADRACE_TRY(size, window_positions(input[lead + i], windows[i]));
        shape.push_back(size);
    }
    return add_result(out, form.input.dtype, shape);
}

inline result<void> infer_transposed_convolution(inference& out, const convolution_form& form,
    const std::array<window, 3>& windows, sizes output_padding) {
    const sizes input(form.input.shape);
    const std::size_t lead = form.batched() ? 2 : 1;
    HEADRACE_TRY(extra, list_for("output_padding", output_padding, form.spatial()));
    shape_builder shape(input.first(lead - 1));
    shape.push_back(form.out_channels());
    for (std::size_t i = 0; i != form.spatial(); ++i) {
        const std::int64_t limit = std::max(windows[i].stride, windows[i].dilation);
        HEADRACE_TRY(require_between("output_padding", extra[i], 0, limit - 1));
        HEADRACE_TRY(size, transposed_window_size(input[lead + i], windows[i], extra[i]));
        shape.push_back(size);
    }
    return add_result(out, form.input.dtype, shape);
}

/// Returns the shape of a pooling over the last axes, which one or two axes precede.
template <class Op>
result<shape_builder> pooled_shape(const tensor_meta& self, const window_lists& lists, bool ceil_mode) {
    constexpr std::size_t count = spatial_rank<Op>;
    const sizes input(self.shape);
    HEADRACE_TRY(require_type_for<Op>("self", self.dtype));
    HEADRACE_TRY(require_rank("self", input, count + 1, count + 2));
    HEADRACE_TRY(require_nonempty("self", input.last(count + 1)));
    HEADRACE_TRY(windows, windows_of(lists, count));
    const std::size_t lead = input.size() - count;
    shape_builder shape(input.first(lead));
    for (std::size_t i = 0; i != count; ++i) {
        // PyTorch ignores dilation here.
        if (windows[i].before > windows[i].kernel / 2) {
            return invalid(
                {"padding ", windows[i].before, " is more than half of a window of ", windows[i].kernel});
        }
        HEADRACE_TRY(size, window_positions(input[lead + i], windows[i], ceil_mode));
        shape.push_back(size);
    }
    return shape;
}
template <class Op>
result<shape_builder> adaptive_shape(const tensor_meta& self, sizes output) {
    constexpr std::size_t count = spatial_rank<Op>;
    const sizes input(self.shape);
    HEADRACE_TRY(require_type_for<Op>("self", self.dtype));
    HEADRACE_TRY(require_rank("self", input, count + 1, count + 2));
    HEADRACE_TRY(require_nonempty("self", input.last(count)));
    HEADRACE_TRY(given, list_for("output_size", output, count));
    shape_builder shape(input.first(input.size() - count));
    shape.append(given);
    return shape;
}

}  // namespace detail

template <one_of<aten::convolution_ops> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const detail::convolution_form form{inference::of(a.input), inference::of(a.weight), a.bias, a.groups};
    HEADRACE_TRY(detail::check_convolution(form, detail::weight_ranks_of<Op>));
    HEADRACE_TRY(windows, detail::convolution_windows(form, a.stride, a.padding, a.dilation));
    return detail::infer_convolution(out, form, windows);
}

template <one_of<aten::padded_convolution_ops> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const detail::convolution_form form{inference::of(a.input), inference::of(a.weight), a.bias, a.groups};
    if (a.padding != "same" && a.padding != "valid") return invalid("padding must be same or valid");
    HEADRACE_TRY(detail::check_convolution(form, detail::weight_ranks_of<Op>));
    HEADRACE_TRY(windows, detail::convolution_windows(form, a.stride, int_list{0}, a.dilation));
    for (std::size_t i = 0; i != form.spatial() && a.padding == "same"; ++i) {
        HEADRACE_TRY(check_window(windows[i]));
        HEADRACE_TRY(require_equal("the stride of padding \"same\"", windows[i].stride, 1));
        windows[i] = same_padded(windows[i]);
    }
    return detail::infer_convolution(out, form, windows);
}

template <one_of<aten::transposed_convolution_ops> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const detail::convolution_form form{
        inference::of(a.input), inference::of(a.weight), a.bias, a.groups, true};
    HEADRACE_TRY(detail::check_convolution(form, detail::weight_ranks_of<Op>));
    HEADRACE_TRY(windows, detail::convolution_windows(form, a.stride, a.padding, a.dilation));
    return detail::infer_transposed_convolution(out, form, windows, a.output_padding);
}

template <one_of<ops<aten::convolution>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const detail::convolution_form form{
        inference::of(a.input), inference::of(a.weight), a.bias, a.groups, a.transposed};
    HEADRACE_TRY(detail::check_convolution(form, detail::weight_ranks_of<Op>));
    HEADRACE_TRY(windows, detail::convolution_windows(form, a.stride, a.padding, a.dilation));
    // Only ops with a fixed number of dimensions take an image without a batch axis.
    HEADRACE_TRY(require_rank("input", form.input.shape, form.weight.rank()));
    HEADRACE_TRY(extra, list_for("output_padding", a.output_padding, form.spatial()));
    for (const std::int64_t count : extra) {
        HEADRACE_TRY(require_at_least("output_padding", count, 0));
    }
    return a.transposed ? detail::infer_transposed_convolution(out, form, windows, a.output_padding)
                        : detail::infer_convolution(out, form, windows);
}

template <one_of<aten::max_pool_ops> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    HEADRACE_TRY(
        shape, detail::pooled_shape<Op>(self, {a.kernel_size, a.stride, a.padding, a.dilation}, a.ceil_mode));
    return add_result(out, self.dtype, shape);
}

template <
    one_of<ops<aten::max_pool1d_with_indices, aten::max_pool2d_with_indices, aten::max_pool3d_with_indices>>
        Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    HEADRACE_TRY(
        shape, detail::pooled_shape<Op>(self, {a.kernel_size, a.stride, a.padding, a.dilation}, a.ceil_mode));
    HEADRACE_TRY(add_result(out, self.dtype, shape));
    return add_result(out, dtype::int64, shape);
}

/// Each index is the position of an element in its plane of the result.
template <one_of<ops<aten::max_unpool2d>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    const tensor_meta& indices = inference::of(a.indices);
    HEADRACE_TRY(require_type_for<Op>("self", self.dtype));
    HEADRACE_TRY(require_rank("self", self.shape, 3, 4));
    HEADRACE_TRY(require_shape("indices", indices.shape, self.shape));
    HEADRACE_TRY(require_dtype("indices", indices.dtype, dtype::int64));
    HEADRACE_TRY(require_count("output_size", a.output_size.size(), 2));
    HEADRACE_TRY(require_nonempty("output_size", a.output_size));
    shape_builder shape(sizes(self.shape).first(self.rank() - 2));
    shape.append(a.output_size);
    return add_result(out, self.dtype, shape);
}

template <one_of<aten::avg_pool_ops> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    if constexpr (requires { a.divisor_override; }) {
        if (a.divisor_override == 0) return invalid("divisor_override must not be 0");
    }
    HEADRACE_TRY(shape,
        detail::pooled_shape<Op>(self, {a.kernel_size, a.stride, a.padding, int_list{1}}, a.ceil_mode));
    return add_result(out, self.dtype, shape);
}

template <one_of<aten::adaptive_pool_ops> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    HEADRACE_TRY(shape, detail::adaptive_shape<Op>(self, a.output_size));
    return add_result(out, self.dtype, shape);
}

template <one_of<ops<aten::adaptive_max_pool1d, aten::adaptive_max_pool2d, aten::adaptive_max_pool3d>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    HEADRACE_TRY(shape, detail::adaptive_shape<Op>(self, a.output_size));
    HEADRACE_TRY(add_result(out, self.dtype, shape));
    return add_result(out, dtype::int64, shape);
}

}  // namespace headrace

#endif
