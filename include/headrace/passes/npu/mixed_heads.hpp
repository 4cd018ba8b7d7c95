// SPDX-License-Identifier: MIT
// Defines headrace::mix_heads, which mixes the heads of an attention where they are stored.
#ifndef HEADRACE_PASSES_NPU_MIXED_HEADS_HPP
#define HEADRACE_PASSES_NPU_MIXED_HEADS_HPP

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>

#include <headrace/base/pmr_vector.hpp>
#include <headrace/dialect/builtin.hpp>
#include <headrace/passes/npu/preferring.hpp>
#include <headrace/passes/support/build.hpp>
#include <headrace/passes/support/permuting.hpp>
#include <headrace/passes/support/slicing.hpp>

namespace headrace {

/// Computes a convolution of single pixels whose channels are the heads of an attention ("talking heads",
/// Shazeer et al., 2020) without moving them to the channels and back: the scores [heads, queries, keys] are
/// read as an image whose rows are the heads, and each mixed head is a DEPTHWISE_CONV2D over all rows. Runs
/// before layouts are chosen, which would otherwise have to move the scores.
struct mix_heads : prepared_for<&target_preferences::separate_matrices> {
    static constexpr std::string_view summary =
        "mixes the heads of an attention by DEPTHWISE_CONV2Ds, not as channels of a CONV2D";

    static auto rewrites() { return rules(on<tosa::transpose> = code<mixed>()); }

private:
    using made = joined<build::reshape_ops, build::slice_ops, build::concat_ops,
        ops<tosa::depthwise_conv2d, tosa::rescale, tosa::tile>>;
    static constexpr int max_steps = 64;  // from the scores to the convolution

    static std::optional<value> mixed(emit<made> e, const args<tosa::transpose>& back) {
        if (shape_builder(back.perms) != build::to_channels_first(4) || !has_one_use(back.input1))
            return std::nullopt;
        const auto* rescale = match<tosa::rescale>(back.input1);
        const value computed = rescale != nullptr ? rescale->input : back.input1;
        const auto* convolution = match<tosa::conv2d>(computed);
        if (convolution == nullptr || !has_one_use(computed)) return std::nullopt;
        const auto* there = match<tosa::transpose>(convolution->input);
        if (there == nullptr || shape_builder(there->perms) != build::to_channels_last(4) ||
            !mixes_few(e, *convolution) || !is_score(e, there->input1)) {
            return std::nullopt;
        }
        pmr_vector<value> heads;
        for (std::int64_t head = 0; head != e.shape(computed)[3]; ++head) {
            const value one = mixed_head(e, there->input1, *convolution, head);
            heads.push_back(rescale != nullptr ? rescaled_head(e, one, *rescale, head) : one);
        }
        return build::concat(e, heads, 1);
    }

    // True for a convolution of single pixels with few channels, whose weights stay fewer than the pixels if
    // there is one for each column.
    static bool mixes_few(emit<made> e, const args<tosa::conv2d>& a) {
        const std::int64_t most = preferences_of(e.target()).separate_matrices;
        const sizes kernel = e.shape(a.weight), image = e.shape(a.input);
        return kernel[0] <= std::min(most, image[1]) && kernel[3] <= most && kernel[1] == 1 &&
            kernel[2] == 1 && build::all_are(a.stride, 1) && build::all_are(a.pad, 0);
    }

    // True if a value comes from a MATMUL through the ops of a softmax and other mixtures of heads.
    static bool is_score(emit<made> e, value v) {
        constexpr auto passed = trait::elementwise | trait::reshaping | trait::permuting | trait::joining;
        for (int step = 0; step != max_steps && !is<tosa::matmul>(*v.producer); ++step) {
            const node& n = *v.producer;
            const auto* convolution = args_if<tosa::conv2d>(n);
            const bool mixes =
                convolution != nullptr ? mixes_few(e, *convolution) : is<tosa::depthwise_conv2d>(n);
            if (!is_of_dialect<tosa::dialect>(n) || n.operand_count == 0 || (!mixes && !n.op->has(passed)))
                return false;
            const bool is_second = n.op->has(trait::binary) && is<builtin::constant>(*n.operand(0).producer);
            v = n.operand(is_second ? 1 : 0);
        }
        return is<tosa::matmul>(*v.producer);
    }

    static value mixed_head(emit<made> e, value heads, const args<tosa::conv2d>& a, std::int64_t head) {
        const std::int64_t rows = e.shape(a.weight)[3], columns = e.shape(heads)[3];
        const auto repeated = [&](value v, shape_builder shape, std::size_t axis) {
            const value one = build::reshape(e, v, shape);
            shape_builder copies = shape_builder::filled(shape.size(), 1);
            copies[axis] = columns;
            return e.make<tosa::tile>({.input1 = one, .multiples = build::const_shape(e, copies)});
        };
        const bool is_shared = e.meta(a.bias).elements() == 1;
        const value bias = is_shared ? a.bias : build::slice(e, a.bias, 0, head, 1);
        return e.make<tosa::depthwise_conv2d>({.input = heads,
            .weight = repeated(build::slice(e, a.weight, 0, head, 1), shape_builder{rows, 1, 1, 1}, 2),
            .bias = is_shared ? bias : repeated(bias, shape_builder{1}, 0),
            .input_zp = a.input_zp,
            .weight_zp = a.weight_zp,
            .pad = a.pad,
            .stride = a.stride,
            .dilation = a.dilation,
            .local_bound = a.local_bound,
            .acc_type = a.acc_type});
    }

    static value rescaled_head(emit<made> e, value v, args<tosa::rescale> a, std::int64_t head) {
        a.input = v;
        if (a.per_channel) {
            a.multiplier = build::slice(e, a.multiplier, 0, head, 1);
            a.shift = build::slice(e, a.shift, 0, head, 1);
        }
        a.per_channel = false;
        return e.make<tosa::rescale>(a);
    }
};
HEADRACE_COMPILED_PASS(mix_heads);

}  // namespace headrace

#endif
