// SPDX-License-Identifier: MIT
// Defines the rules of ops that compute on a window that moves along the stream axis.

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include <headrace/base/floor_div.hpp>
#include <headrace/base/strings.hpp>
#include <headrace/dialect/aten.hpp>
#include <headrace/dialect/quantized_decomposed.hpp>
#include <headrace/infer/inference.hpp>
#include <headrace/infer/window.hpp>
#include <headrace/stream/arguments.hpp>
#include <headrace/stream/rules.hpp>

namespace headrace::streams {

struct moving_window : window {
    std::size_t spatial = SIZE_MAX;
    bool pads_with_zeros = true;
};

namespace {

std::int64_t ceil_quotient(std::int64_t a, std::int64_t b) { return -floor_div(-a, b); }

// Returns the entry of a list with one number for each axis, or one for all.
std::int64_t entry(const std::vector<std::int64_t>& items, std::size_t i, std::int64_t otherwise) {
    if (items.empty()) return otherwise;
    return items[items.size() == 1 ? 0 : std::min(i, items.size() - 1)];
}

// Returns the first axis of a convolution's operand that its window moves along.
std::size_t first_spatial(const node& n) {
    return meta_of(n.operand(0))->rank() - (meta_of(n.operand(1))->rank() - 2);
}

// True for interpolation on lines between neighbours.
bool is_linear(const node& n) {
    return is<aten::upsample_linear1d>(n) || is<aten::upsample_linear1d_vec>(n) ||
        is<aten::upsample_bilinear2d>(n) || is<aten::upsample_bilinear2d_vec>(n) ||
        is<aten::upsample_trilinear3d>(n) || is<aten::upsample_trilinear3d_vec>(n);
}

// True if a resampling names another scale than the ratio of its sizes, by which it then counts.
bool has_other_scale(const node& n, std::size_t spatial, std::int64_t factor) {
    constexpr std::string_view names[]{"scales_d", "scales_h", "scales_w"};
    const std::size_t axes = spatial_rank_in(n.op->traits);
    const std::vector scales = reals_argument(n, "scale_factors");
    double scale = spatial < scales.size() ? scales[spatial] : static_cast<double>(factor);
    for (const std::string_view name : {std::string_view("scales"), names[3 - axes + spatial]})
        if (const std::vector one = reals_argument(n, name); !one.empty()) scale = one[0];
    return scale != static_cast<double>(factor);
}

result<void> check(const node& n, const window& w) {
    const bool fits =
        w.sound() && w.extent() < (1 << 30) && w.stride < (1 << 30) && std::abs(w.before) < (1 << 30);
    if (!fits) return unsupported(join_text(message_prefix(n), "its window is too large for a stream"));
    return {};
}

}  // namespace

// Windows start at stride · j - before in the whole model, so at `offset` in the step's elements, with the
// least delay for which a window ends within the step.
result<node_rule> flow_analysis::windowed(node& n, const moving_window& w, std::size_t result_axis) {
    HEADRACE_TRY(check(n, w));
    const flow from = of(n.operand(0));
    flow f = from;
    f.axis = result_axis;
    f.rate /= w.stride;
    const std::int64_t start = from.delay - w.before;
    f.delay = ceil_quotient(start - w.stride + w.extent(), w.stride);
    const std::int64_t offset = start - f.delay * w.stride;
    const auto from_element = [&](std::int64_t first) {
        return std::max({std::int64_t{0}, f.delay, ceil_quotient(first - offset, w.stride)});
    };
    const bool edges_agree = from.zero_before && (w.before == 0 || w.pads_with_zeros);
    f.exact = edges_agree ? std::max(std::int64_t{0}, f.delay) : from_element(from.exact);
    f.interior = from_element(from.interior);
    f.end = floor_div(from.end - offset - w.extent(), w.stride) + 1;
    f.zero_before = f.exact == 0 && f.delay == 0;
    node_rule made;
    made.results.assign(n.result_count, f);
    made.spatial = w.spatial;
    made.readings.push_back(reading{offset, elements(from) - w.stride + w.extent()});
    return made;
}

// Element i of the unpadded result is a sum over the elements (i - k · dilation) / stride.
result<node_rule> flow_analysis::transposed(node& n, const moving_window& w) {
    HEADRACE_TRY(check(n, w));
    const flow from = of(n.operand(0));
    flow f = from;
    f.rate *= w.stride;
    f.delay = from.delay * w.stride + w.before;
    const std::int64_t history = (w.extent() - 1) / w.stride;
    const auto from_element = [&](std::int64_t first) {
        return std::max({std::int64_t{0}, f.delay, (first + history) * w.stride});
    };
    f.exact = from.zero_before ? std::max(std::int64_t{0}, f.delay) : from_element(from.exact);
    f.interior = from_element(from.interior);
    f.end = from.end * w.stride;
    f.zero_before = from.zero_before && f.delay == 0;
    node_rule made;
    made.results.assign(n.result_count, f);
    made.spatial = w.spatial;
    // Sums of elements of two steps are kept where computing them again costs more or needs no less memory.
    // The integers of a quantized convolution are sums of all its products.
    const std::int64_t overlap = w.extent() - w.stride;
    const bool is_quantized = is<quantized_decomposed::dequantize_per_tensor>(*n.operand(0).producer);
    const std::int64_t channels = meta(n, 0).shape[first_spatial(n) - 1];
    const std::int64_t results = n.results[0].meta->shape[first_spatial(n) - 1];
    if (history > 0 && !is_quantized &&
        (history * 10 > elements(from) || overlap * results <= history * channels)) {
        made.overlap = overlap;
        return made;
    }
    made.extra = std::max(std::int64_t{0}, w.stride - w.extent());
    made.readings.push_back(reading{-history, history + elements(from)});
    made.crop = reading{history * w.stride, elements(from) * w.stride};
    return made;
}

result<node_rule> flow_analysis::convolution(node& n) {
    const flow from = of(n.operand(0));
    for (std::uint32_t i = 1; i != n.operand_count; ++i) {
        if (of(n.operand(i)).kind == flow_kind::flowing) return global(n, "its weights are of the stream");
    }
    const std::size_t first = first_spatial(n);
    if (from.axis + 1 == first) return global(n, "the axis is its channels");
    if (from.axis < first) return like_operand(n, 0);
    moving_window w;
    w.spatial = from.axis - first;
    w.kernel = meta(n, 1).shape[2 + w.spatial];
    w.stride = entry(integers_argument(n, "stride"), w.spatial, 1);
    w.dilation = entry(integers_argument(n, "dilation"), w.spatial, 1);
    w.before = entry(integers_argument(n, "padding"), w.spatial, 0);
    if (n.op->has(trait::transposed) || boolean_argument(n, "transposed")) return transposed(n, w);
    return windowed(n, w, from.axis);
}

result<node_rule> flow_analysis::pooling(node& n) {
    const flow from = of(n.operand(0));
    const std::size_t rank = meta(n, 0).rank();
    moving_window w;
    if (is<aten::unfold>(n)) {
        const auto& a = args_of<aten::unfold>(n);
        if (normalized_axis(a.dimension, rank) != from.axis) return like_operand(n, 0);
        w.kernel = a.size;
        w.stride = a.step;
        return windowed(n, w, from.axis);
    }
    const std::size_t spatial_axes = spatial_rank_in(n.op->traits);
    if (from.axis + spatial_axes < rank) return like_operand(n, 0);
    w.spatial = from.axis + spatial_axes - rank;
    if (const std::vector bins = integers_argument(n, "output_size"); !bins.empty()) {
        const std::int64_t count = entry(bins, w.spatial, 1);
        if (count == 1) return global(n, "it pools all of the axis");
        if (count == from.size) return like_operand(n, 0);
        return global(
            n, "it pools parts of the axis that depend on its size; use a pooling with a kernel size");
    }
    const std::vector kernel = integers_argument(n, "kernel_size");
    w.kernel = entry(kernel, w.spatial, 1);
    const std::vector stride = integers_argument(n, "stride");
    w.stride = stride.empty() ? w.kernel : entry(stride, w.spatial, 1);
    w.dilation = entry(integers_argument(n, "dilation"), w.spatial, 1);
    w.before = entry(integers_argument(n, "padding"), w.spatial, 0);
    if (w.kernel == from.size && n.results[0].meta->shape[from.axis] == 1 && w.stride == w.kernel)
        return global(n, "it pools all of the axis");
    w.pads_with_zeros = boolean_argument(n, "count_include_pad");
    if (n.result_count > 1 && use_count(n.result(1)) != 0)
        return global(n, "the positions of its maxima are used, which are of the whole window");
    return windowed(n, w, from.axis);
}

// Each element becomes `factor` of them: equal ones, or ones on lines to its neighbours, of which the whole
// model has none beyond its ends.
result<node_rule> flow_analysis::resampling(node& n) {
    const flow from = of(n.operand(0));
    const std::size_t spatial_axes = spatial_rank_in(n.op->traits);
    const std::size_t rank = meta(n, 0).rank();
    if (from.axis + spatial_axes < rank) return like_operand(n, 0);
    const std::int64_t size = n.results[0].meta->shape[from.axis];
    const std::int64_t factor = size / from.size;
    const bool is_nearest = n.op->has(trait::nearest);
    const std::size_t spatial = from.axis + spatial_axes - rank;
    if (size % from.size != 0 || has_other_scale(n, spatial, factor) || !(is_nearest || is_linear(n)) ||
        boolean_argument(n, "align_corners"))
        return global(n,
            "it moves each element by a number that depends on its place; use a whole factor and mode "
            "'nearest' or 'linear' without align_corners");
    const std::int64_t neighbours = is_nearest ? 0 : 1;  // on each side
    flow f = from;
    const std::int64_t start = is_nearest ? 0 : std::max(std::int64_t{0}, from.delay);
    const auto from_element = [&](std::int64_t first) {
        return (std::max(first, start) + 2 * neighbours) * factor;
    };
    f.rate *= factor;
    f.delay = (from.delay + neighbours) * factor;
    f.exact = from_element(from.exact);
    f.interior = from_element(from.interior);
    f.end *= factor;
    f.zero_before = is_nearest && from.zero_before;
    node_rule made{.factor = factor};
    made.spatial = spatial;
    made.results.assign(n.result_count, f);
    if (is_nearest) return made;
    made.readings.push_back(reading{-2, elements(from) + 2});
    made.crop = reading{factor, elements(from) * factor};
    return made;
}

}  // namespace headrace::streams
