// SPDX-License-Identifier: MIT
// Defines the rules of ops that move elements: permutations, reshapes, slices, padding, concatenations.

#include <algorithm>
#include <functional>
#include <numeric>
#include <ranges>
#include <span>
#include <utility>

#include <headrace/base/strings.hpp>
#include <headrace/dialect/aten.hpp>
#include <headrace/infer/inference.hpp>
#include <headrace/stream/arguments.hpp>
#include <headrace/stream/rules.hpp>

namespace headrace::streams {

namespace {

std::int64_t product_of(std::span<const std::int64_t> shape) {
    return std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
}

// Returns the first axis of a shape before which the sizes multiply to `before`, past axes of size 1.
std::optional<std::size_t> axis_after(std::span<const std::int64_t> shape, std::int64_t before) {
    std::int64_t product = 1;
    for (std::size_t i = 0; i != shape.size(); ++i) {
        if (product == before && shape[i] != 1) return i;
        product *= shape[i];
    }
    return std::nullopt;
}

// True if the sizes after `axis`, multiplied one by one, pass that number.
bool follows(std::span<const std::int64_t> shape, std::size_t axis, std::int64_t number) {
    std::int64_t product = 1;
    for (std::size_t i = axis + 1; i != shape.size() && product < number; ++i) product *= shape[i];
    return product == number;
}

bool is_zero_constant(value v) {
    if (v.producer->op->has(trait::gives_zeros)) return true;
    const auto* constant = match<builtin::constant>(v);
    if (constant == nullptr || meta_of(v) == nullptr || !constant->data.strides.empty()) return false;
    const std::span bytes(constant->data.bytes, bytes_in_memory(*meta_of(v)));
    return std::ranges::all_of(bytes, [](std::byte b) { return b == std::byte{0}; });
}

}  // namespace

result<node_rule> flow_analysis::permutation(node& n) {
    const std::size_t rank = meta(n, 0).rank();
    std::vector<std::size_t> order(rank);
    std::iota(order.begin(), order.end(), std::size_t{0});
    if (const auto* a = args_if<aten::permute>(n)) {
        for (std::size_t i = 0; i != rank; ++i) order[i] = normalized_axis(a->dims[i], rank).value_or(i);
    } else if (const auto* swap = args_if<aten::transpose_int>(n)) {
        std::swap(order[normalized_axis(swap->dim0, rank).value_or(0)],
            order[normalized_axis(swap->dim1, rank).value_or(0)]);
    } else if (is<aten::m_t>(n) && rank >= 2) {
        std::swap(order[rank - 1], order[rank - 2]);
    } else if (is<aten::t>(n) || is<aten::numpy_t>(n)) {
        std::ranges::reverse(order);
    } else {
        return global(n, "no rule says how a step permutes axes with it");
    }
    const std::size_t axis = of(n.operand(0)).axis;
    const auto to = std::ranges::find(order, axis) - order.begin();
    return like_operand(n, 0, to - static_cast<std::int64_t>(axis));
}

// The axis stays whole, is split into frames, or is joined with the axes after it.
result<node_rule> flow_analysis::reshape(node& n) {
    const std::span<const std::int64_t> from = meta(n, 0).shape;
    const std::span<const std::int64_t> to = n.results[0].meta->shape;
    flow f = of(n.operand(0));
    const auto axis = axis_after(to, product_of(from.first(f.axis)));
    const auto mixed = [&] {
        return global(n, "it mixes the axis with others; keep the axis apart, or use a convolution");
    };
    if (!axis) return mixed();
    const std::int64_t shift = static_cast<std::int64_t>(*axis) - static_cast<std::int64_t>(f.axis);
    const std::int64_t size = to[*axis];
    if (size == f.size) {
        HEADRACE_TRY(made, like_operand(n, 0, shift));
        made.reshapes = true;
        return made;
    }
    if (f.size % size == 0 && follows(to, *axis, f.size / size)) {
        const std::int64_t frame = f.size / size;
        const std::int64_t delay = -((-f.delay) / frame) + (f.delay > 0 && f.delay % frame != 0 ? 1 : 0);
        const std::int64_t offset = f.delay - delay * frame;
        node_rule made;
        made.reshapes = true;
        made.readings.push_back(reading{offset, elements(f)});
        // A frame is exact, or in the stream alone, if its first element is.
        const auto frames = [&](std::int64_t first) {
            return std::max(std::int64_t{0}, (first - offset + frame - 1) / frame);
        };
        f.rate /= frame;
        f.end = (f.end - offset) / frame;
        f.exact = f.zero_before ? std::max(std::int64_t{0}, delay) : frames(f.exact);
        f.interior = frames(f.interior);
        f.delay = delay;
        f.zero_before = f.zero_before && delay <= 0;
        f.axis = *axis;
        made.results.assign(1, f);
        return made;
    }
    if (size % f.size == 0 && follows(from, f.axis, size / f.size)) {
        const std::int64_t joined = size / f.size;
        HEADRACE_TRY(made, like_operand(n, 0, shift));
        flow& r = made.results[0];
        r.rate *= joined;
        r.delay *= joined;
        r.exact *= joined;
        r.interior *= joined;
        r.end *= joined;
        made.reshapes = true;
        return made;
    }
    return mixed();
}

// Elements keep their numbers in the stream, and the whole model counts them from elsewhere.
result<node_rule> flow_analysis::shifted(node& n, std::int64_t delay, bool zeros) {
    flow f = of(n.operand(0));
    f.delay += delay;
    f.zero_before = f.zero_before && zeros;
    if (f.zero_before) f.exact = std::max(std::int64_t{0}, f.delay);
    node_rule made;
    made.forwards = true;
    made.results.assign(1, f);
    return made;
}

result<node_rule> flow_analysis::slice(node& n) {
    const flow from = of(n.operand(0));
    const std::size_t rank = meta(n, 0).rank();
    const auto dim = normalized_axis(integer_argument(n, "dim").value_or(0), rank);
    if (!dim) return global(n, "its axis is out of range");
    const bool removes = is<aten::select_int>(n) || is<aten::unbind_int>(n);
    if (*dim != from.axis) return like_operand(n, 0, removes && *dim < from.axis ? -1 : 0);
    const auto from_start = [&](std::int64_t i) {
        return std::clamp(i < 0 ? i + from.size : i, std::int64_t{0}, from.size);
    };
    if (const auto* one = args_if<aten::select_int>(n)) {
        const std::int64_t index = one->index < 0 ? one->index + from.size : one->index;
        return newest(n, from.size - 1 - index);
    }
    if (const auto* part = args_if<aten::slice_tensor>(n); part != nullptr && part->step == 1)
        return shifted(n, from_start(part->start.value_or(0)), part->start.value_or(0) == 0);
    if (const auto* part = args_if<aten::narrow>(n))
        return shifted(n, from_start(part->start), part->start == 0);
    return global(n, "it takes the axis apart");
}

result<node_rule> flow_analysis::pad(node& n) {
    const flow from = of(n.operand(0));
    const std::vector pads = integers_argument(n, "pad");
    const std::size_t first = 2 * (meta(n, 0).rank() - 1 - from.axis);
    if (pads.empty()) return global(n, "no rule says how a step pads");
    if (first >= pads.size()) return like_operand(n, 0);
    const auto* constant = args_if<aten::constant_pad_nd>(n);
    const auto* general = args_if<aten::pad>(n);
    bool zeros = constant != nullptr && constant->value.to_double() == 0;
    if (general != nullptr) zeros = general->mode == "constant" && general->value.value_or(0) == 0;
    zeros = zeros && pads[first] >= 0;
    bool alone = true;
    for (std::size_t i = 0; i != pads.size(); ++i) alone = alone && (pads[i] == 0 || i / 2 == first / 2);
    HEADRACE_TRY(made, shifted(n, -pads[first], zeros || pads[first] == 0));
    made.forwards = alone;
    if (!alone) made.padded = first;
    return made;
}

result<node_rule> flow_analysis::join(node& n) {
    const std::size_t rank = n.results[0].meta->rank();
    const auto dim = normalized_axis(args_of<aten::cat>(n).dim, rank);
    std::optional<std::size_t> axis;
    std::size_t streams = 0;
    for (const edge& e : n.operand_edges()) {
        const flow f = of(*e.slot);
        if (f.kind != flow_kind::flowing) continue;
        if (axis && *axis != f.axis) return global(n, "its operands have the stream on different axes");
        axis = f.axis;
        ++streams;
    }
    if (!dim || !axis) return global(n, "its axis is out of range");
    if (*dim != *axis) {
        if (streams != n.operand_count)
            return global(n, "another operand is not of the stream; make it part of a layer before");
        return aligned(n, rank - *axis);
    }
    // Something before the only stream is padding.
    std::int64_t before = 0;
    bool zeros = true;
    for (const edge& e : n.operand_edges()) {
        if (of(*e.slot).kind == flow_kind::flowing) break;
        before += meta_of(*e.slot)->shape[*axis];
        zeros = zeros && is_zero_constant(*e.slot);
    }
    std::uint32_t place = 0;
    while (of(n.operand(place)).kind != flow_kind::flowing) ++place;
    if (streams != 1) {
        return unsupported(join_text(message_prefix(n),
            "it joins parts of the stream one after the other, as a recurrence does that was unrolled by `quantize`; "
            "make the stream of the float model, and quantize that"));
    }
    if (place != 0) {
        flow f = of(n.operand(place));
        f.delay -= before;
        f.zero_before = f.zero_before && zeros;
        if (f.zero_before) f.exact = std::max(std::int64_t{0}, f.delay);
        node_rule made{.forwards = true};
        made.spatial = place;
        made.results.assign(1, f);
        return made;
    }
    return shifted(n, 0, true);
}

result<node_rule> flow_analysis::reduction(node& n) {
    const flow from = of(n.operand(0));
    const std::size_t rank = meta(n, 0).rank();
    const std::vector dims = integers_argument(n, "dim");
    std::int64_t before = 0;
    for (const std::int64_t d : dims) {
        const auto dim = normalized_axis(d, rank);
        if (dim == from.axis) break;
        before += dim && *dim < from.axis ? 1 : 0;
    }
    const bool over_axis =
        std::ranges::any_of(dims, [&](std::int64_t d) { return normalized_axis(d, rank) == from.axis; });
    if (dims.empty() || over_axis) return global(n, "it reduces all of the axis; use a running one");
    return like_operand(n, 0, boolean_argument(n, "keepdim") ? 0 : -before);
}

result<node_rule> flow_analysis::product(node& n) {
    const bool has_addend = is<aten::addmm>(n) || is<aten::baddbmm>(n);
    const std::uint32_t left = has_addend ? 1 : 0;
    if (n.operand_count < left + 2) return global(n, "no rule says how a step multiplies");
    const flow a = of(n.operand(left));
    const flow b = of(n.operand(left + 1));
    const std::size_t place_a = meta(n, left).rank() - a.axis;
    const std::size_t place_b = meta(n, left + 1).rank() - b.axis;
    const bool a_flows = a.kind == flow_kind::flowing;
    const bool b_flows = b.kind == flow_kind::flowing;
    if (a_flows && place_a == 1) return global(n, "it sums over all of the axis");
    if (is<aten::linear>(n)) return like_operand(n, 0);
    if (a_flows && b_flows) {
        if (place_a != place_b || place_a < 3)
            return global(n, "it multiplies each element of the axis by all others");
        return aligned(n, place_a);
    }
    if (b_flows && place_b == 2) return global(n, "it sums over all of the axis");
    if (!a_flows && !b_flows) return global(n, "the addend is of the stream and the factors are not");
    const std::size_t place = a_flows ? place_a : place_b;
    if (meta(n, left).rank() < 2 || meta(n, left + 1).rank() < 2)
        return global(n, "no rule says how a step multiplies by a vector");
    const tensor_meta& other = meta(n, a_flows ? left + 1 : left);
    if (place > 2 && other.rank() >= place && other.shape[other.rank() - place] != 1)
        return global(n, "another operand has a matrix for each element of the axis");
    if (has_addend) {
        const tensor_meta& addend = meta(n, 0);
        if (of(n.operand(0)).kind == flow_kind::flowing ||
            (addend.rank() >= place && addend.shape[addend.rank() - place] != 1))
            return global(n, "its addend has a number for each element of the axis");
    }
    const auto rank = static_cast<std::int64_t>(n.results[0].meta->rank());
    const std::uint32_t operand = a_flows ? left : left + 1;
    const flow f = of(n.operand(operand));
    return like_operand(
        n, operand, rank - static_cast<std::int64_t>(place) - static_cast<std::int64_t>(f.axis));
}

}  // namespace headrace::streams
