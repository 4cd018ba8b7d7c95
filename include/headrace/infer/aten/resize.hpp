// SPDX-License-Identifier: MIT
// Defines the shape rules of the resizing ops, grid sampling and the Fourier transforms of aten.
#ifndef HEADRACE_INFER_ATEN_RESIZE_HPP
#define HEADRACE_INFER_ATEN_RESIZE_HPP

#include <type_traits>

#include <headrace/base/text.hpp>
#include <headrace/dialect/aten.hpp>
#include <headrace/infer/aten/convolution.hpp>
#include <headrace/infer/preconditions.hpp>
#include <headrace/infer/promotion.hpp>
#include <headrace/infer/shape_builder.hpp>

namespace headrace {
namespace aten {

using resize_ops = ops<upsample_bicubic2d, upsample_bilinear2d, upsample_linear1d, upsample_nearest1d,
    upsample_nearest2d, upsample_nearest3d, _upsample_nearest_exact1d, _upsample_nearest_exact2d,
    _upsample_nearest_exact3d, upsample_trilinear3d, _upsample_bilinear2d_aa, _upsample_bicubic2d_aa>;
/// Ops that take either the new size or the factors.
using resize_vec_ops = ops<upsample_bicubic2d_vec, upsample_bilinear2d_vec, upsample_linear1d_vec,
    upsample_nearest1d_vec, upsample_nearest2d_vec, upsample_nearest3d_vec, _upsample_nearest_exact1d_vec,
    _upsample_nearest_exact2d_vec, _upsample_nearest_exact3d_vec, upsample_trilinear3d_vec,
    _upsample_bilinear2d_aa_vec, _upsample_bicubic2d_aa_vec>;

}  // namespace aten

namespace detail {

inline result<void> infer_resized(inference& out, const tensor_meta& input, std::size_t count, sizes output) {
    HEADRACE_TRY(require_rank("input", input.shape, count + 2));
    HEADRACE_TRY(require_nonempty("input", sizes(input.shape).subspan(1)));
    HEADRACE_TRY(require_count("output_size", output.size(), count));
    HEADRACE_TRY(require_nonempty("output_size", output));
    shape_builder shape(sizes(input.shape).first(2));
    shape.append(output);
    return add_result(out, input.dtype, shape);
}

}  // namespace detail

/// Returns sizes times factors, rounded toward zero as in PyTorch.
[[nodiscard]] inline result<shape_builder> scaled_sizes(sizes spatial, list<double> factors) {
    HEADRACE_TRY(require_count("scale_factors", factors.size(), spatial.size()));
    shape_builder scaled;
    for (std::size_t i = 0; i != spatial.size(); ++i) {
        scaled.push_back(scalar(static_cast<double>(spatial[i]) * factors[i]).to_int());
    }
    return scaled;
}

/// Refuses a dtype that PyTorch cannot resize: it copies elements of any type, and interpolates real numbers
/// and bytes.
template <op_tag Op>
[[nodiscard]] result<void> require_resizable(std::string_view what, const tensor_meta& input) {
    if (has_trait<Op>(trait::nearest) || input.dtype == dtype::uint8) return {};
    HEADRACE_TRY(require_floating(what, input.dtype));
    return require_real(what, input.dtype);
}

template <one_of<aten::resize_ops> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    HEADRACE_TRY(require_resizable<Op>("self", inference::of(a.self)));
    return detail::infer_resized(out, inference::of(a.self), spatial_rank<Op>, a.output_size);
}

template <one_of<aten::resize_vec_ops> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    constexpr std::size_t count = spatial_rank<Op>;
    const tensor_meta& input = inference::of(a.input);
    HEADRACE_TRY(require_resizable<Op>("input", input));
    HEADRACE_TRY(require_rank("input", input.shape, count + 2));
    if (a.output_size && a.scale_factors) return invalid("both output_size and scale_factors are given");
    if (a.output_size) return detail::infer_resized(out, input, count, *a.output_size);
    if (!a.scale_factors) return invalid("neither output_size nor scale_factors is given");
    HEADRACE_TRY(scaled, scaled_sizes(sizes(input.shape).subspan(2), *a.scale_factors));
    return detail::infer_resized(out, input, count, scaled);
}

template <one_of<ops<aten::grid_sampler, aten::grid_sampler_2d>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& input = inference::of(a.input);
    const tensor_meta& grid = inference::of(a.grid);
    HEADRACE_TRY(require_rank("input", input.shape, 4, std::is_same_v<Op, aten::grid_sampler> ? 5 : 4));
    HEADRACE_TRY(require_rank("grid", grid.shape, input.rank()));
    const std::size_t spatial = input.rank() - 2;
    const auto coordinates = static_cast<std::int64_t>(spatial);
    HEADRACE_TRY(require_equal("the first size of grid", grid.shape[0], input.shape[0]));
    HEADRACE_TRY(require_equal("the last size of grid", grid.shape.back(), coordinates));
    HEADRACE_TRY(require_nonempty("input", sizes(input.shape).last(spatial)));
    HEADRACE_TRY(require_between("interpolation_mode", a.interpolation_mode, 0, 2));
    HEADRACE_TRY(require_between("padding_mode", a.padding_mode, 0, 2));
    shape_builder shape(sizes(input.shape).first(2));
    shape.append(sizes(grid.shape).subspan(1, spatial));
    return add_result(out, input.dtype, shape);
}

template <one_of<ops<aten::fft_fftshift, aten::fft_ifftshift>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    for (const std::int64_t dim : a.dim.value_or(int_list())) {
        HEADRACE_TRY(axis_of(dim, self.rank()));
    }
    return add_result(out, self);
}

template <one_of<ops<aten::affine_grid_generator>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& theta = inference::of(a.theta);
    HEADRACE_TRY(require_type_for<Op>("theta", theta.dtype));
    const auto count = static_cast<std::int64_t>(a.size.size());
    HEADRACE_TRY(require_between("the number of sizes", count, 4, 5));
    HEADRACE_TRY(require_nonempty("size", a.size));
    HEADRACE_TRY(require_shape("theta", theta.shape, shape_builder{a.size[0], count - 2, count - 1}));
    shape_builder shape{a.size[0]};
    shape.append(sizes(a.size).subspan(2));
    shape.push_back(count - 2);
    return add_result(out, theta.dtype, shape);
}

}  // namespace headrace

#endif
