// SPDX-License-Identifier: MIT
// Defines headrace::convolve_volumes, which makes convolutions of images of TOSA's CONV3D.
#ifndef HEADRACE_PASSES_CORTEX_M_VOLUMES_HPP
#define HEADRACE_PASSES_CORTEX_M_VOLUMES_HPP

#include <optional>

#include <headrace/base/pmr_vector.hpp>
#include <headrace/infer/aten.hpp>
#include <headrace/match/node_pattern.hpp>
#include <headrace/passes/cortex_m/scaling.hpp>
#include <headrace/passes/support/build.hpp>
#include <headrace/passes/support/slicing.hpp>

namespace headrace {

/// Makes a CONV2D of an int8 CONV3D (TOSA 1.0, 2.2.3) that a RESCALE reads: each slice of the result is an
/// image of the batch, and the slices of the volume that its window covers are that image's channels.
struct convolve_volumes : pass {
    static constexpr std::string_view summary =
        "CONV3D as a CONV2D of images whose channels are slices of the volume";

    static auto rewrites() {
        return rules(on_match([](auto volume) {
            return node_of<"result", tosa::rescale>(node_of<"sum", tosa::conv3d>(volume));
        }) = code<made>([](emit<made> e, value, const auto& m) {
            return convolved(e, get<"sum">(m), get<"result">(m));
        }));
    }

private:
    using made = joined<build::reshape_ops, build::pad_ops,
        ops<tosa::conv2d, tosa::rescale, aten::slice_tensor, aten::cat>>;

    static std::optional<value> convolved(
        emit<made> e, const args<tosa::conv3d>& a, const args<tosa::rescale>& result) {
        const auto zero = constant_integer(a.input_zp);
        const auto weight = build::int8_weight_of(e, a);
        if (!cortex_m::scaled_result_of(e, result) || e.dtype(a.input) != dtype::int8 || !zero || !weight)
            return std::nullopt;
        const shape_builder from(e.shape(a.input)), out(e.result_meta().shape), w(weight->shape);
        const value padded = build::pad(e, a.input, 1, a.pad[0], a.pad[1], *zero);
        pmr_vector<value> taps;
        for (std::int64_t i = 0; i != w[1]; ++i)
            taps.push_back(every(e, padded, i * a.dilation[0], out[1], a.stride[0]));
        const value joined =
            taps.size() == 1 ? taps[0] : e.make<aten::cat>({.tensors = list<value>(taps), .dim = 4});
        const shape_builder images{out[0] * out[1], from[2], from[3], w[1] * w[4]};
        args<tosa::rescale> scaled = result;
        scaled.input = e.make<tosa::conv2d>({.input = build::reshape(e, joined, images),
            .weight = with_depth_in_channels(e, *weight),
            .bias = a.bias,
            .input_zp = a.input_zp,
            .weight_zp = a.weight_zp,
            .pad = {a.pad[2], a.pad[3], a.pad[4], a.pad[5]},
            .stride = {a.stride[1], a.stride[2]},
            .dilation = {a.dilation[1], a.dilation[2]},
            .local_bound = a.local_bound,
            .acc_type = a.acc_type});
        return build::reshape(e, e.make<tosa::rescale>(scaled), out);
    }
    // Takes `count` slices along the depth: `start`, `start + step` and so on.
    static value every(
        emit<made> e, value volume, std::int64_t start, std::int64_t count, std::int64_t step) {
        if (e.shape(volume)[1] == count) return volume;
        const std::int64_t end = start + (count - 1) * step + 1;
        return e.make<aten::slice_tensor>(
            {.self = volume, .dim = 1, .start = start, .end = end, .step = step});
    }
    static value with_depth_in_channels(emit<made> e, const build::int8_weight& weight) {
        const shape_builder& w = weight.shape;
        return build::constant_at(e, dtype::int8, {w[0], w[2], w[3], w[1] * w[4]}, [&](sizes at) {
            return scalar(weight({at[0], at[3] / w[4], at[1], at[2], at[3] % w[4]}));
        });
    }
};

}  // namespace headrace

#endif
