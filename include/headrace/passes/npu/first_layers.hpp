// SPDX-License-Identifier: MIT
// Defines headrace::halve_windows and headrace::stage_image, which keep the image that a network reads
// on the chip.
#ifndef HEADRACE_PASSES_NPU_FIRST_LAYERS_HPP
#define HEADRACE_PASSES_NPU_FIRST_LAYERS_HPP

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>

#include <headrace/base/pmr_vector.hpp>
#include <headrace/dialect/builtin.hpp>
#include <headrace/match/node_pattern.hpp>
#include <headrace/passes/npu/image_cost.hpp>
#include <headrace/passes/npu/preferring.hpp>
#include <headrace/passes/support/slicing.hpp>

namespace headrace {

struct pair_columns;

/// Returns the tensor that `v` is a SLICE of, or `v` itself.
[[nodiscard]] inline value before_slice(value v) {
    const auto* part = match<tosa::slice>(v);
    return part == nullptr ? v : part->input1;
}

/// True if an image is the result of an operator as it stands: it is then stored in groups of 16
/// channels, however few there are, which are read in long bursts.
[[nodiscard]] inline bool lies_in_groups(value image) {
    const node& source = *before_slice(image).producer;
    return !is<builtin::placeholder>(source) && !is<tosa::reshape>(source);
}

/// Returns a computed image unchanged, since it may stay on the chip; for an image that the caller passes, a
/// copy that reads it in bursts of many channels; nothing if it cannot be copied that way.
inline std::optional<value> image_on_chip(
    emit<joined<build::reshape_ops, build::slice_ops, ops<tosa::max_pool2d>>> e, value v) {
    const value whole = before_slice(v);
    if (!is<builtin::placeholder>(*whole.producer)) return v;
    constexpr std::int64_t burst = 16;
    const shape_builder image(e.shape(whole));
    const std::int64_t pixels = image[1] * image[2];
    if (pixels % burst != 0) return std::nullopt;
    const shape_builder bursts{1, 1, pixels / burst, burst * image[3]};
    const value copied = build::copy_by_pooling(e, build::reshape(e, whole, bursts));
    const value copy = build::reshape(e, copied, image);
    return whole == v ? copy : build::remake<tosa::slice>(e, *v.producer, {copy});
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
            const auto layer = sole_node<"layer", tosa::depthwise_conv2d>(image);
            return node_of<"activation", tosa::clamp, tosa::table>(sole_node<"narrow", tosa::rescale>(layer));
        }) = code<made>([](emit<made> e, value, const auto& m) {
            return halved_with_activation(e, get<"layer">(m), *find<"narrow">(m));
        }));
    }

private:
    using made = joined<build::reshape_ops, build::slice_ops, build::concat_ops,
        ops<tosa::max_pool2d, tosa::conv2d, tosa::depthwise_conv2d, tosa::rescale, tosa::clamp, tosa::table>>;
    static std::optional<value> halved(emit<made> e, const args<tosa::max_pool2d>& a) {
        const auto parts = halves<tosa::max_pool2d>(a, a.kernel[0], e);
        return parts ? std::optional(build::concat(e, *parts, 1)) : std::nullopt;
    }
    // The activation after a DEPTHWISE_CONV2D is halved with it.
    static std::optional<value> halved_with_activation(
        emit<made> e, const args<tosa::depthwise_conv2d>& layer, const node& rescale) {
        auto parts =
            halves<tosa::depthwise_conv2d>(layer, (e.shape(layer.weight)[0] - 1) * layer.dilation[0] + 1, e);
        if (!parts) return std::nullopt;
        for (value& part : *parts) {
            const value narrowed = build::remake<tosa::rescale>(e, rescale, {part});
            part = build::remake<tosa::clamp, tosa::table>(e, e.current(), {narrowed});
        }
        return build::concat(e, *parts, 1);
    }

    // Returns the results of a convolution, its RESCALE and its CLAMP or TABLE if there is one, up to `v`;
    // none if one of them has several users.
    static pmr_vector<value> layer_before(value v) {
        pmr_vector<value> layer{v};
        const auto is_first = [&]<class Op>(Op) { return is<Op>(*layer.front().producer); };
        const auto go_on = [&] { layer.insert(layer.begin(), layer.front().producer->operand(0)); };
        if (is_first(tosa::clamp()) || is_first(tosa::table())) go_on();
        if (!is_first(tosa::rescale())) return {};
        go_on();
        const bool is_alone = std::ranges::all_of(layer, has_one_use);
        return is_first(tosa::conv2d()) && is_alone ? layer : pmr_vector<value>();
    }

    // Returns the upper and the lower rows of the result of an op whose windows have `extent` rows.
    template <class Op>
    static std::optional<std::array<value, 2>> halves(const args<Op>& a, std::int64_t extent, emit<made> e) {
        const pmr_vector<value> layer = layer_before(a.input);
        if (layer.empty() || !pays(*match<tosa::conv2d>(layer[0]), a.input, e)) return std::nullopt;
        const std::int64_t rows = e.shape(a.input)[1];
        const std::int64_t half = e.result_meta().shape[1] / 2;
        const std::int64_t end = (half - 1) * a.stride[0] + extent - a.pad[0];
        const std::int64_t start = half * a.stride[0] - a.pad[0];
        if (half == 0 || start <= 0 || end <= 0 || end > rows) return std::nullopt;
        const value given = layer[0].producer->operand(0);
        const auto image = image_on_chip(e, given);
        if (!image) return std::nullopt;
        value read = a.input;
        if (*image != given) {
            read = *image;
            for (const value v : layer)
                read = build::remake<tosa::conv2d, tosa::rescale, tosa::clamp, tosa::table>(
                    e, *v.producer, {read});
        }
        args<Op> upper = a;
        upper.input = build::slice(e, read, 1, 0, end);
        upper.pad = {a.pad[0], 0, a.pad[2], a.pad[3]};
        args<Op> lower = a;
        lower.input = build::slice(e, read, 1, start, rows - start);
        lower.pad = {0, a.pad[1], a.pad[2], a.pad[3]};
        return std::array{e.make<Op>(upper), e.make<Op>(lower)};
    }

    static bool pays(const args<tosa::conv2d>& layer, value result, emit<made> e) {
        if (e.dtype(layer.input) != dtype::int8 || e.dtype(result) != dtype::int8) return false;
        const shape_builder image(e.shape(layer.input));
        return image[0] == 1 && !lies_in_groups(layer.input) &&
            image_cost(e.target(), image, e.shape(layer.weight), e.shape(result), layer).gains_on_chip();
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
    static std::optional<value> of_staged(emit<made> e, args<tosa::conv2d> a) {
        const shape_builder image(e.shape(a.input));
        const value given = before_slice(a.input);
        if (!is<builtin::placeholder>(*given.producer) || e.rank(given) != 4 || image[0] != 1 ||
            e.dtype(a.input) != dtype::int8) {
            return std::nullopt;
        }
        const image_cost cost(e.target(), image, e.shape(a.weight), e.result_meta().shape, a);
        const auto staged = cost.gains_by_copy() ? image_on_chip(e, a.input) : std::nullopt;
        if (!staged) return std::nullopt;
        a.input = *staged;
        return e.make<tosa::conv2d>(a);
    }
};
HEADRACE_COMPILED_PASS(stage_image);

}  // namespace headrace

#endif
