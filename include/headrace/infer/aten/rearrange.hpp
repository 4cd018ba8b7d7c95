// SPDX-License-Identifier: MIT
// Defines the shape rules of the ops of aten that move elements within a tensor: rotations, flips and
// shuffles.
#ifndef HEADRACE_INFER_ATEN_REARRANGE_HPP
#define HEADRACE_INFER_ATEN_REARRANGE_HPP

#include <cstdint>
#include <type_traits>

#include <headrace/base/text.hpp>
#include <headrace/dialect/aten.hpp>
#include <headrace/infer/aten/view.hpp>
#include <headrace/infer/preconditions.hpp>
#include <headrace/infer/shape_builder.hpp>

namespace headrace {

namespace detail {

/// Shrinks or grows two spatial axes by a factor, in exchange for channels.
inline result<void> infer_pixel_shuffle(
    inference& out, const tensor_meta& self, std::int64_t factor, bool grow) {
    HEADRACE_TRY(require_rank("self", self.shape, 3, shape_builder::capacity));
    shape_builder shape(self.shape);
    std::int64_t& channels = shape[shape.size() - 3];
    std::int64_t& height = shape[shape.size() - 2];
    std::int64_t& width = shape.back();
    const std::int64_t area = saturating_mul(factor, factor);
    const bool fits =
        factor > 0 && (grow ? channels % area == 0 : height % factor == 0 && width % factor == 0);
    if (!fits) {
        return invalid({"factor ", factor, " does not divide ", shape_text(self.shape)});
    }
    channels = grow ? channels / area : saturating_mul(channels, area);
    height = grow ? saturating_mul(height, factor) : height / factor;
    width = grow ? saturating_mul(width, factor) : width / factor;
    return add_result(out, self.dtype, shape);
}

}  // namespace detail

template <one_of<ops<aten::pixel_shuffle>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    return detail::infer_pixel_shuffle(out, inference::of(a.self), a.upscale_factor, true);
}
template <one_of<ops<aten::pixel_unshuffle>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    return detail::infer_pixel_shuffle(out, inference::of(a.self), a.downscale_factor, false);
}

/// Groups of channels and the channels of a group are transposed.
template <one_of<ops<aten::channel_shuffle>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    HEADRACE_TRY(require_rank("self", self.shape, 3, SIZE_MAX));
    HEADRACE_TRY(require_at_least("groups", a.groups, 1));
    if (self.shape[1] % a.groups != 0) {
        return invalid({"groups ", a.groups, " does not divide axis 1 of ", shape_text(self.shape)});
    }
    return add_result(out, self);
}

template <one_of<ops<aten::rot90>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    HEADRACE_TRY(require_count("dims", a.dims.size(), 2));
    HEADRACE_TRY(require_rank("self", self.shape, 2, SIZE_MAX));
    HEADRACE_TRY(axes_of(a.dims, self.rank()));
    return a.k % 2 == 0 ? add_result(out, self) : detail::infer_transposed(out, self, a.dims[0], a.dims[1]);
}

/// Reverses axes, each named at most once; flipud and fliplr reverse the first and the second.
template <one_of<ops<aten::flip>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    HEADRACE_TRY(axes_of(a.dims, self.rank(), no_axes::none));
    return add_result(out, self);
}
template <one_of<ops<aten::flipud, aten::fliplr>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    HEADRACE_TRY(require_rank("self", self.shape, std::is_same_v<Op, aten::fliplr> ? 2 : 1, SIZE_MAX));
    return add_result(out, self);
}
/// One shift for each of dims, or one shift of all elements in row-major order.
template <one_of<ops<aten::roll>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    const tensor_meta& self = inference::of(a.self);
    if (a.dims.empty()) {
        HEADRACE_TRY(require_count("shifts", a.shifts.size(), 1));
    } else {
        HEADRACE_TRY(require_count("shifts", a.shifts.size(), a.dims.size()));
    }
    for (const std::int64_t dim : a.dims) {  // an axis may be named twice
        HEADRACE_TRY(axis_of(dim, self.rank()));
    }
    return add_result(out, self);
}

}  // namespace headrace

#endif
