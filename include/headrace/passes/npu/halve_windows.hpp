// SPDX-License-Identifier: MIT
// Defines headrace::halve_windows.
#ifndef HEADRACE_PASSES_NPU_HALVE_WINDOWS_HPP
#define HEADRACE_PASSES_NPU_HALVE_WINDOWS_HPP

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>

#include <headrace/passes/npu/image_cost.hpp>
#include <headrace/passes/npu/image_on_chip.hpp>
#include <headrace/passes/properties.hpp>
#include <headrace/passes/support/slicing.hpp>
#include <headrace/target/preferences.hpp>

namespace headrace {

struct pair_columns;
/// Halves the windows that read a network's first convolution, so that the image stays on the chip. Vela
/// computes a convolution and its reader in stripes, to keep the tensor between them on the chip. The stripes
/// take up the space of the image, which is then read from slow memory, a few bytes per burst. If the
/// convolution has two users, Vela does not do so. An image that the caller passes is copied to the chip
/// first, in bursts of many channels. Cycles of an Ethos-U85: squeezenet1_1 15 % fewer, shufflenet_v2_x0_5 17
/// %, mobilenet_v2 8 %.
struct halve_windows : pass {
    using phase = tuning;
    using runs_before = pass_list<pair_columns>;
    static constexpr std::string_view summary =
        "halves MAX_POOL2D and DEPTHWISE_CONV2D where the image before them then stays on chip";

    using targeted_ops = ops<tosa::max_pool2d, tosa::clamp, tosa::table>;
    using produces = joined<build::reshape_ops, build::slice_ops, build::concat_ops,
        ops<tosa::max_pool2d, tosa::conv2d, tosa::depthwise_conv2d, tosa::rescale, tosa::clamp, tosa::table>>;

    [[nodiscard]] bool should_run(const graph& g) const {
        return preferences_of(g.target()).on_chip_bytes != 0;
    }

    std::optional<value> operator()(const args<tosa::max_pool2d>& a, emit<produces>& e) const {
        const auto parts = halves<tosa::max_pool2d>(a, a.kernel[0], e);
        if (!parts) return std::nullopt;
        return build::concat(e, *parts, 1);
    }

    // The activation after a DEPTHWISE_CONV2D is halved with it.
    std::optional<value> operator()(const args<tosa::clamp>& a, emit<produces>& e) const {
        return halved_activation(a.input, e);
    }
    std::optional<value> operator()(const args<tosa::table>& a, emit<produces>& e) const {
        return halved_activation(a.input1, e);
    }

private:
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

        [[nodiscard]] value of_image(value image, emit<produces>& e) const {
            args<tosa::conv2d> sums = *convolution;
            sums.input = image;
            return activated(e.make<tosa::conv2d>(sums), *rescale, activation, e);
        }
    };

    static value activated(
        value sums, args<tosa::rescale> rescale, const node* activation, emit<produces>& e) {
        rescale.input = sums;
        const value narrowed = e.make<tosa::rescale>(rescale);
        if (activation == nullptr) return narrowed;
        if (const auto* table = args_if<tosa::table>(*activation))
            return e.make<tosa::table>({.input1 = narrowed, .table = table->table});
        args<tosa::clamp> clamped = args_of<tosa::clamp>(*activation);
        clamped.input = narrowed;
        return e.make<tosa::clamp>(clamped);
    }

    static std::optional<value> halved_activation(value activated_value, emit<produces>& e) {
        const auto* rescale = match<tosa::rescale>(activated_value);
        const auto* layer = rescale == nullptr ? nullptr : match<tosa::depthwise_conv2d>(rescale->input);
        if (layer == nullptr || !has_one_use(activated_value) || !has_one_use(rescale->input))
            return std::nullopt;
        auto parts = halves<tosa::depthwise_conv2d>(
            *layer, (e.shape(layer->weight)[0] - 1) * layer->dilation[0] + 1, e);
        if (!parts) return std::nullopt;
        for (value& part : *parts) part = activated(part, *rescale, &e.current(), e);
        return build::concat(e, *parts, 1);
    }

    // Returns the upper and the lower rows of the result of an op whose windows have `extent` rows.
    template <class Op>
    static std::optional<std::array<value, 2>> halves(
        const args<Op>& a, std::int64_t extent, emit<produces>& e) {
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
        return std::array{e.template make<Op>(upper), e.template make<Op>(lower)};
    }

    static bool pays(const first_layer& layer, value result, emit<produces>& e) {
        if (e.dtype(layer.convolution->input) != dtype::int8 || e.dtype(result) != dtype::int8) return false;
        const shape_builder image(e.shape(layer.convolution->input));
        return image[0] == 1 &&
            image_cost(
                e.target(), image, e.shape(layer.convolution->weight), e.shape(result), *layer.convolution)
                .gains_on_chip();
    }
};
HEADRACE_COMPILED_PASS(halve_windows);

}  // namespace headrace

#endif
