// SPDX-License-Identifier: MIT
// Defines headrace::halve_windows and headrace::stage_image, which keep the image that a network reads
// on the chip.
#ifndef HEADRACE_PASSES_NPU_FIRST_LAYERS_HPP
#define HEADRACE_PASSES_NPU_FIRST_LAYERS_HPP

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>

#include <headrace/dialect/builtin.hpp>
#include <headrace/match/node_pattern.hpp>
#include <headrace/passes/npu/image_cost.hpp>
#include <headrace/passes/npu/preferring.hpp>
#include <headrace/passes/support/slicing.hpp>

namespace headrace {

struct pair_columns;

/// Returns a computed image unchanged, since it may stay on the chip; for an image that the caller passes, a
/// copy that reads it in bursts of many channels; nothing if it cannot be copied that way.
inline std::optional<value> image_on_chip(
    emit<joined<build::reshape_ops, build::slice_ops, ops<tosa::max_pool2d>>> e, value v) {
    const auto* part = match<tosa::slice>(v);
    const value whole = part == nullptr ? v : part->input1;
    if (!is<builtin::placeholder>(*whole.producer)) return v;
    constexpr std::int64_t burst = 16;
    const shape_builder image(e.shape(whole));
    const std::int64_t pixels = image[1] * image[2];
    if (pixels % burst != 0) return std::nullopt;
    const value copied = e.make<tosa::max_pool2d>(
        {.input = build::reshape(e, whole, shape_builder{1, 1, pixels / burst, burst * image[3]}),
            .kernel = {1, 1},
            .stride = {1, 1},
            .pad = {0, 0, 0, 0}});
    const value copy = build::reshape(e, copied, image);
    if (part == nullptr) return copy;
    args<tosa::slice> same_part = *part;
    same_part.input1 = copy;
    return e.make<tosa::slice>(same_part);
}

/// Halves the pooling or depthwise convolution that reads a network's first convolution, so that the image
/// stays on the chip. Vela computes a convolution and its reader in stripes, to keep the tensor between them
/// on the chip. The stripes take up the space of the image, which is then read from slow memory, a few bytes
/// per burst. If the convolution has two users, Vela does not do so: the upper and the lower half of the
/// reader. An image that the caller passes is copied to the chip first, in bursts of many channels. Cycles of
/// an Ethos-U85: squeezenet1_1 15 % fewer, shufflenet_v2_x0_5 17 %, mobilenet_v2 8 %.
struct halve_windows : tuned_for<&target_preferences::on_chip_bytes> {
    using runs_before = pass_list<pair_columns>;
    static constexpr std::string_view summary =
        "halves MAX_POOL2D and DEPTHWISE_CONV2D where the image before them then stays on chip";

    static auto rewrites() {
        return rules(on<tosa::max_pool2d> = code<halved>(), on_match([](auto image) {
            const auto layer = node_of<"layer", tosa::depthwise_conv2d>(image);
            return node_of<"activation", tosa::clamp, tosa::table>(node_of<"narrow", tosa::rescale>(layer));
        }) = code<made>([](emit<made> e, value, const auto& m) {
            const bool is_alone = is_sole_use<"layer">(m) && is_sole_use<"narrow">(m);
            return is_alone ? halved_with_activation(e, get<"layer">(m), get<"narrow">(m)) : std::nullopt;
        }));
    }

private:
    using made = joined<build::reshape_ops, build::slice_ops, build::concat_ops,
        ops<tosa::max_pool2d, tosa::conv2d, tosa::depthwise_conv2d, tosa::rescale, tosa::clamp, tosa::table>>;
    static std::optional<value> halved(emit<made> e, const args<tosa::max_pool2d>& a) {
        const auto parts = halves<tosa::max_pool2d>(a, a.kernel[0], e);
        if (!parts) return std::nullopt;
        return build::concat(e, *parts, 1);
    }

    // A convolution, its RESCALE, and a CLAMP or TABLE if there is one.
    struct first_layer {
        const args<tosa::conv2d>* convolution = nullptr;
        const args<tosa::rescale>* rescale = nullptr;
        const node* activation = nullptr;

        static std::optional<first_layer> before(value v) {
            first_layer found;
            if (is<tosa::clamp>(*v.producer) || is<tosa::table>(*v.producer)) found.activation = v.producer;
            const value narrowed = found.activation == nullptr ? v : found.activation->operand(0);
            found.rescale = match<tosa::rescale>(narrowed);
            if (found.rescale == nullptr) return std::nullopt;
            found.convolution = match<tosa::conv2d>(found.rescale->input);
            const bool is_alone =
                has_one_use(v) && has_one_use(narrowed) && has_one_use(found.rescale->input);
            return found.convolution != nullptr && is_alone ? std::optional(found) : std::nullopt;
        }

        [[nodiscard]] value of_image(value image, emit<made> e) const {
            args<tosa::conv2d> sums = *convolution;
            sums.input = image;
            return activated(e.make<tosa::conv2d>(sums), *rescale, activation, e);
        }
    };

    static value activated(value sums, args<tosa::rescale> rescale, const node* activation, emit<made> e) {
        rescale.input = sums;
        const value narrowed = e.make<tosa::rescale>(rescale);
        if (activation == nullptr) return narrowed;
        if (const auto* table = args_if<tosa::table>(*activation))
            return e.make<tosa::table>({.input1 = narrowed, .table = table->table});
        args<tosa::clamp> clamped = args_of<tosa::clamp>(*activation);
        clamped.input = narrowed;
        return e.make<tosa::clamp>(clamped);
    }

    // The activation after a DEPTHWISE_CONV2D is halved with it.
    static std::optional<value> halved_with_activation(
        emit<made> e, const args<tosa::depthwise_conv2d>& layer, const args<tosa::rescale>& rescale) {
        auto parts =
            halves<tosa::depthwise_conv2d>(layer, (e.shape(layer.weight)[0] - 1) * layer.dilation[0] + 1, e);
        if (!parts) return std::nullopt;
        for (value& part : *parts) part = activated(part, rescale, &e.current(), e);
        return build::concat(e, *parts, 1);
    }

    // Returns the upper and the lower rows of the result of an op whose windows have `extent` rows.
    template <class Op>
    static std::optional<std::array<value, 2>> halves(const args<Op>& a, std::int64_t extent, emit<made> e) {
        const auto layer = first_layer::before(a.input);
        if (!layer || !pays(*layer, a.input, e)) return std::nullopt;
        const std::int64_t rows = e.shape(a.input)[1];
        const std::int64_t half = e.result_meta().shape[1] / 2;
        const std::int64_t end = (half - 1) * a.stride[0] + extent - a.pad[0];
        const std::int64_t start = half * a.stride[0] - a.pad[0];
        if (half == 0 || start <= 0 || end <= 0 || end > rows) return std::nullopt;
        const auto image = image_on_chip(e, layer->convolution->input);
        if (!image) return std::nullopt;
        const value read = *image == layer->convolution->input ? a.input : layer->of_image(*image, e);
        args<Op> upper = a;
        upper.input = build::slice(e, read, 1, 0, end);
        upper.pad = {a.pad[0], 0, a.pad[2], a.pad[3]};
        args<Op> lower = a;
        lower.input = build::slice(e, read, 1, start, rows - start);
        lower.pad = {0, a.pad[1], a.pad[2], a.pad[3]};
        return std::array{e.make<Op>(upper), e.make<Op>(lower)};
    }

    static bool pays(const first_layer& layer, value result, emit<made> e) {
        if (e.dtype(layer.convolution->input) != dtype::int8 || e.dtype(result) != dtype::int8) return false;
        const shape_builder image(e.shape(layer.convolution->input));
        return image[0] == 1 &&
            image_cost(
                e.target(), image, e.shape(layer.convolution->weight), e.shape(result), *layer.convolution)
                .gains_on_chip();
    }
};
HEADRACE_COMPILED_PASS(halve_windows);

/// Copies an image that the caller passes as NHWC to the chip before the first convolution: from slow memory,
/// a convolution reads few bytes per burst, and some of them for several windows.
struct stage_image : tuned_for<&target_preferences::on_chip_bytes> {
    using runs_after = pass_list<tosa_only, layouts_chosen, halve_windows>;
    using runs_before = pass_list<pair_columns>;
    static constexpr std::string_view summary =
        "copies an image with few channels to the chip where a CONV2D then reads it faster";

    static auto rewrites() { return rules(on<tosa::conv2d> = code<of_staged>()); }

private:
    using made = joined<build::reshape_ops, build::slice_ops, ops<tosa::max_pool2d, tosa::conv2d>>;
    static std::optional<value> of_staged(emit<made> e, const args<tosa::conv2d>& a) {
        const shape_builder image(e.shape(a.input));
        const auto* part = match<tosa::slice>(a.input);
        const value given = part == nullptr ? a.input : part->input1;
        if (!is<builtin::placeholder>(*given.producer) || e.rank(given) != 4 || image[0] != 1 ||
            e.dtype(a.input) != dtype::int8) {
            return std::nullopt;
        }
        const image_cost cost(e.target(), image, e.shape(a.weight), e.result_meta().shape, a);
        const auto staged = cost.gains_by_copy() ? image_on_chip(e, a.input) : std::nullopt;
        if (!staged) return std::nullopt;
        args<tosa::conv2d> same = a;
        same.input = *staged;
        return e.make<tosa::conv2d>(same);
    }
};
HEADRACE_COMPILED_PASS(stage_image);

}  // namespace headrace

#endif
