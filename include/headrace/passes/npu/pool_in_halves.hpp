// SPDX-License-Identifier: MIT
// Defines headrace::pool_in_halves.
#ifndef HEADRACE_PASSES_NPU_POOL_IN_HALVES_HPP
#define HEADRACE_PASSES_NPU_POOL_IN_HALVES_HPP

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>

#include <headrace/passes/npu/image_cost.hpp>
#include <headrace/passes/npu/tuning.hpp>
#include <headrace/passes/support/slicing.hpp>

namespace headrace {

struct pair_columns;
/// As in the first layers of an image network, where Vela computes a convolution and the pooling behind it in
/// stripes, to keep what lies between them on the chip. The stripes take the room of the image, which is then
/// read from slow memory, a few bytes in each burst. It does not so if the convolution has two users. An
/// image that the caller gives is copied to the chip first, in bursts of many channels. Squeezenet1_1 takes
/// 15 % fewer cycles of an Ethos-U85, shufflenet_v2_x0_5 17 %.
struct pool_in_halves : pass {
    using phase = tuning;
    using runs_before = pass_list<pair_columns>;
    static constexpr std::string_view summary =
        "computes a MAX_POOL2D in two halves where the image before it then stays on the chip";

    using targeted_ops = ops<tosa::max_pool2d>;
    using produces = joined<build::reshape_ops, build::slice_ops, build::concat_ops,
                            ops<tosa::max_pool2d, tosa::conv2d, tosa::rescale, tosa::clamp>>;

    [[nodiscard]] bool should_run(const graph& g) const {
        return preferences_of(g.target()).on_chip_bytes != 0;
    }

    std::optional<value> operator()(const args<tosa::max_pool2d>& a, emit<produces>& e) const {
        const auto layer = first_layer::before(a.input);
        if (!layer || !pays(*layer, a.input, e)) return std::nullopt;
        const std::int64_t rows = e.shape(a.input)[1];
        const std::int64_t half = e.result_meta().shape[1] / 2;
        const std::int64_t end = (half - 1) * a.stride[0] + a.kernel[0] - a.pad[0];
        const std::int64_t start = half * a.stride[0] - a.pad[0];
        if (half == 0 || start <= 0 || end <= 0 || end > rows) return std::nullopt;
        const auto image = on_chip(layer->convolution->input, e);
        if (!image) return std::nullopt;
        const value pooled = *image == layer->convolution->input ? a.input : layer->of_image(*image, e);
        args<tosa::max_pool2d> upper = a;
        upper.input = build::slice(e, pooled, 1, 0, end);
        upper.pad = {a.pad[0], 0, a.pad[2], a.pad[3]};
        args<tosa::max_pool2d> lower = a;
        lower.input = build::slice(e, pooled, 1, start, rows - start);
        lower.pad = {0, a.pad[1], a.pad[2], a.pad[3]};
        return build::concat(e, std::array{e.make<tosa::max_pool2d>(upper), e.make<tosa::max_pool2d>(lower)},
                             1);
    }

private:
    // A convolution, its RESCALE and perhaps a CLAMP.
    struct first_layer {
        const args<tosa::conv2d>* convolution = nullptr;
        const args<tosa::rescale>* rescale = nullptr;
        const args<tosa::clamp>* clamp = nullptr;

        static std::optional<first_layer> before(value v) {
            first_layer found;
            found.clamp = match<tosa::clamp>(v);
            const value narrowed = found.clamp == nullptr ? v : found.clamp->input;
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
            args<tosa::rescale> narrowed = *rescale;
            narrowed.input = e.make<tosa::conv2d>(sums);
            if (clamp == nullptr) return e.make<tosa::rescale>(narrowed);
            args<tosa::clamp> clamped = *clamp;
            clamped.input = e.make<tosa::rescale>(narrowed);
            return e.make<tosa::clamp>(clamped);
        }
    };

    static bool pays(const first_layer& layer, value result, emit<produces>& e) {
        if (e.dtype(layer.convolution->input) != dtype::int8 || e.dtype(result) != dtype::int8) return false;
        const shape_builder image(e.shape(layer.convolution->input));
        return image[0] == 1 && image_cost(e.target(), image, e.shape(layer.convolution->weight),
                                           e.shape(result), *layer.convolution)
                                    .gains_on_chip();
    }

    // The image where it is computed, as what is computed may stay on the chip; a copy of it where it is
    // given; nothing if it cannot be copied in bursts.
    static std::optional<value> on_chip(value v, emit<produces>& e) {
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
};
HEADRACE_COMPILED_PASS(pool_in_halves);

}  // namespace headrace

#endif
