// SPDX-License-Identifier: MIT
// Defines headrace::split_expansions.
//
// An inverted residual (Sandler et al., MobileNetV2, CVPR 2018) widens an image by a pointwise convolution,
// filters each channel by a depthwise one, and narrows the result. The wide tensor in the middle often
// determines the memory of the whole network, although each filter reads only one of its channels. Example:
// with 48 x 48 pixels, and 8 channels widened to 48, it has 110,592 bytes, between tensors of 18,432 and
// 27,648 bytes. Computed in six groups of 8 channels, each of which is filtered before the next one is
// computed, it needs 18,432.
#ifndef HEADRACE_PASSES_DEVICE_SPLIT_EXPANSIONS_HPP
#define HEADRACE_PASSES_DEVICE_SPLIT_EXPANSIONS_HPP

#include <algorithm>
#include <cstring>

#include <headrace/ir/regions.hpp>
#include <headrace/pass/driver.hpp>
#include <headrace/passes/device/layers.hpp>

namespace headrace {

namespace detail {

/// Channels [first, first + count) of the `whole` channels of a layer's result.
struct channel_group {
    std::int64_t first, count, whole;
};

/// Returns the channel axis of an input of a layer's graph: -1 if its only element is for all channels;
/// nothing if it cannot be split by channels.
inline std::optional<int> channel_axis(const node& input, const tensor_meta& meta, std::int64_t channels) {
    if (meta.elements() == 1) return -1;
    const edge* const use = input.first_use;
    if (use == nullptr || use->next_use != nullptr) return std::nullopt;
    const node& reader = *use->target;
    const bool is_weight = use->operand == 1;
    if (is_weight && is<tosa::conv2d>(reader)) return 0;
    if (is_weight && is<tosa::depthwise_conv2d>(reader)) return 2;
    if (is<tosa::table>(reader) || meta.shape.empty() || meta.shape.back() != channels) return std::nullopt;
    return static_cast<int>(meta.rank()) - 1;
}

/// Slices a constant along an axis to the channels of a group.
inline value slice_constant(graph& g, value v, int axis, const channel_group& group, node* before) {
    const tensor_meta& whole = *meta_of(v);
    pmr_vector<std::int64_t> shape(whole.shape.begin(), whole.shape.end());
    shape[static_cast<std::size_t>(axis)] = group.count;
    const tensor_meta part{whole.dtype, int_list(shape), {}};
    std::int64_t inner = traits_of(whole.dtype).bits / 8U;
    for (std::size_t d = whole.rank(); --d != static_cast<std::size_t>(axis);) inner *= whole.shape[d];
    const std::byte* from = match<builtin::constant>(v)->data.bytes + group.first * inner;
    return create_constant(g, part, before, [&](std::span<std::byte> data) {
        const auto run = static_cast<std::size_t>(group.count * inner);
        for (std::size_t at = 0; at != data.size(); at += run, from += group.whole * inner)
            std::memcpy(data.data() + at, from, run);
    });
}

}  // namespace detail

/// Splits a pointwise convolution, and the depthwise one that is its only reader, into groups of channels, if
/// the tensor between them determines the memory of the graph; a CONCAT joins the results.
struct split_expansions : pass {
    static constexpr std::string_view summary =
        "a wide tensor between a 1x1 and a depthwise convolution by groups of channels";
    using produces = ops<device::convolution, tosa::concat>;

    result<std::size_t> operator()(graph& g, pass_context& context) const {
        std::size_t split = 0;
        for_each_graph(g, [&](graph& sub) { split += split_largest(sub, context); });
        return split;
    }

private:
    // Blocks of weights have up to four channels; below eight, gathering a pixel outweighs its products.
    static constexpr std::int64_t multiple = 8;

    struct inverted_residual {
        const node* wide = nullptr;    // the layer of the pointwise convolution
        const node* narrow = nullptr;  // the layer of the depthwise one
        std::int64_t bytes = 0;        // while either is computed: the larger of the two
    };

    static std::int64_t bytes_of(value v) {
        return match<builtin::constant>(v) != nullptr || meta_of(v) == nullptr
            ? 0
            : static_cast<std::int64_t>(bytes_in_memory(*meta_of(v)));
    }
    static std::int64_t result_bytes(const node& n) { return bytes_of({const_cast<node*>(&n), 0}); }
    static std::int64_t input_bytes(const node& n) {
        std::int64_t bytes = 0;
        for (std::size_t i = 0; i != n.operand_count; ++i) bytes += bytes_of(n.operand(i));
        return bytes;
    }
    static bool is_in_place(const node& n) {
        return is<device::elementwise>(n) || is<tosa::reshape>(n) || is_depthwise(n, 1);
    }
    static std::int64_t bytes_at(const node& n) {
        if (n.result_count == 0) return 0;
        return is_in_place(n) ? std::max(input_bytes(n), result_bytes(n)) : input_bytes(n) + result_bytes(n);
    }

    // Returns the arguments of a layer's convolution of that kind, or null.
    template <class Op>
    static const args<Op>* convolution_of(const node& n) {
        if (!is<device::convolution>(n)) return nullptr;
        const auto found = parts_of(n).body->nodes_of(info_of<Op>);
        return found.empty() ? nullptr : &args_of<Op>(*found.begin());
    }
    // True for a depthwise convolution with one result per channel, of this stride, or of any if it is 0.
    static bool is_depthwise(const node& n, std::int64_t stride = 0) {
        const auto* const a = convolution_of<tosa::depthwise_conv2d>(n);
        return a != nullptr && meta_of(a->weight)->shape[3] == 1 &&
            (stride == 0 || std::ranges::count(a->stride, stride) == 2);
    }
    static bool is_pointwise(const node& n) {
        const auto* const a = convolution_of<tosa::conv2d>(n);
        if (a == nullptr) return false;
        const sizes kernel = meta_of(a->weight)->shape;
        return kernel[1] == 1 && kernel[2] == 1 && std::ranges::count(a->stride, 1) == 2;
    }
    // True if the layer reads one tensor, and constants that can be split by channels.
    static bool is_separable(const node& n) {
        const layer_parts layer = parts_of(n);
        std::size_t constants = 0, i = 0;
        for (const node& input : layer.body->inputs()) {
            const value v = layer.inputs[i++];
            const auto* const constant = match<builtin::constant>(v);
            if (constant == nullptr) continue;
            ++constants;
            const tensor_meta& meta = *meta_of(v);
            const auto axis = detail::channel_axis(input, meta, n.results[0].meta->shape[3]);
            if (!axis || (*axis >= 0 && (!constant->data.strides.empty() || traits_of(meta.dtype).bits < 8)))
                return false;
        }
        return constants + 1 == layer.inputs.size();
    }
    static std::optional<inverted_residual> expansion_of(const node& n) {
        if (!is_depthwise(n) || !is_separable(n)) return std::nullopt;
        const node& wide = *parts_of(n).inputs[0].producer;
        const bool is_one = is_pointwise(wide) && is_separable(wide) && wide.first_use != nullptr &&
            wide.first_use->next_use == nullptr && wide.results[0].meta->shape[3] % multiple == 0;
        if (!is_one) return std::nullopt;
        return inverted_residual{&wide, &n, std::max(bytes_at(wide), bytes_at(n))};
    }

    // Splits the expansion that determines the memory of the graph, until none does.
    static std::size_t split_largest(graph& g, pass_context& context) {
        pmr_vector<inverted_residual> expansions;
        std::int64_t rest = 0;  // the maximum over the other layers
        for (const node& n : g.nodes())
            if (const auto found = expansion_of(n)) expansions.push_back(*found);
        for (const node& n : g.nodes()) {
            const auto has = [&](const inverted_residual& e) { return e.wide == &n || e.narrow == &n; };
            if (std::ranges::none_of(expansions, has)) rest = std::max(rest, bytes_at(n));
        }
        std::ranges::sort(expansions, std::greater(), &inverted_residual::bytes);
        std::size_t split = 0;
        for (std::size_t i = 0; i != expansions.size() && expansions[i].bytes > rest; ++i) {
            const std::int64_t next = i + 1 == expansions.size() ? 0 : expansions[i + 1].bytes;
            const std::int64_t count = channels_of_group(expansions[i], std::max(rest, next));
            if (count == 0) break;
            make_groups(g, expansions[i], count, context);
            ++split;
        }
        return split;
    }

    // Returns the largest group within the limit, else the smallest; 0 if it saves less than a tenth.
    static std::int64_t channels_of_group(const inverted_residual& e, std::int64_t limit) {
        const std::int64_t channels = e.wide->results[0].meta->shape[3];
        const std::int64_t fixed = input_bytes(*e.wide) + result_bytes(*e.narrow);
        const std::int64_t plane = result_bytes(*e.wide) / channels;
        std::int64_t count = multiple;
        for (std::int64_t c = multiple; c < channels; c += multiple)
            if (channels % c == 0 && fixed + c * plane <= limit) count = c;
        return count < channels && 10 * (fixed + count * plane) <= 9 * e.bytes ? count : 0;
    }

    static void make_groups(graph& g, const inverted_residual& e, std::int64_t count, pass_context& context) {
        node& before = const_cast<node&>(*e.narrow);
        emission made(g, &before, &before, context);
        emit<produces> emit_layer(made);
        const std::int64_t channels = before.results[0].meta->shape[3];
        pmr_vector<value> parts;
        for (std::int64_t c = 0; c != channels; c += count) {
            const detail::channel_group group{c, count, channels};
            const value wide = make_group(*e.wide, parts_of(*e.wide).inputs[0], group, before, emit_layer);
            parts.push_back(make_group(*e.narrow, wide, group, before, emit_layer));
        }
        const value whole = emit_layer.make<tosa::concat>({.input1 = list<value>(parts), .axis = 3});
        g.replace_all_uses(before.result(), whole);
    }

    // Makes the layer for a group of channels, on `input`.
    static value make_group(
        const node& n, value input, const detail::channel_group& group, node& before, emit<produces>& e) {
        const layer_parts whole = parts_of(n);
        layer_builder layer(e.owner());
        pmr_vector<value> operands;
        std::size_t i = 0;
        for (const node& stand_in : whole.body->inputs()) {
            value v = whole.inputs[i++];
            if (match<builtin::constant>(v) == nullptr) {
                v = input;
            } else if (const int axis = *detail::channel_axis(stand_in, *meta_of(v), group.whole);
                       axis >= 0) {
                v = detail::slice_constant(*before.owner, v, axis, group, &before);
            }
            operands.push_back(layer.input(v));
        }
        layer.end(layer.append(*whole.body, operands));
        for (node& made : layer.body().nodes()) {
            if (is<builtin::placeholder>(made) || is<builtin::output>(made)) continue;
            tensor_meta meta = *made.results[0].meta;
            pmr_vector<std::int64_t> shape(meta.shape.begin(), meta.shape.end());
            shape[3] = group.count;
            meta.shape = int_list(shape);
            layer.body().set_meta(made.result(), meta);
        }
        return e.make<device::convolution>({.inputs = layer.inputs(), .body = &layer.body()});
    }
};

}  // namespace headrace

#endif
