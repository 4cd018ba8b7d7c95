// SPDX-License-Identifier: MIT
// Defines headrace::convolve_slices.
#ifndef HEADRACE_PASSES_EXECUTORCH_CONVOLVE_SLICES_HPP
#define HEADRACE_PASSES_EXECUTORCH_CONVOLVE_SLICES_HPP

#include <cstdint>
#include <optional>
#include <string_view>

#include <headrace/dialect/aten.hpp>
#include <headrace/infer/aten.hpp>
#include <headrace/pass/pass.hpp>
#include <headrace/passes/decompose/decompose_batch_norm.hpp>
#include <headrace/passes/decompose/decompose_transposed_volumes.hpp>
#include <headrace/passes/properties.hpp>

namespace headrace {

/// Rewrites a convolution over three axes as a sum of convolutions over two, the most that ExecuTorch's
/// kernel supports. Each term convolves one slice of the weight along the depth with all the input slices
/// that it meets, as a batch.
struct convolve_slices : pass {
    using runs_after = pass_list<canonical_convolutions, decompose_batch_norm, decompose_transposed_volumes>;
    using invalidates = pass_list<constants_folded, no_dead_code, duplicates_merged, nodes_sorted>;
    static constexpr std::string_view summary =
        "convolutions over three axes as sums of convolutions over two";
    using targeted_ops = ops<aten::convolution>;
    using produces = ops<aten::convolution, aten::constant_pad_nd, aten::permute, aten::slice_tensor,
        aten::reshape, aten::select_int, aten::add_tensor>;

    std::optional<value> operator()(const args<aten::convolution>& a, emit<produces>& e) const {
        if (e.rank(a.input) != 5 || a.transposed) return std::nullopt;
        const int_list made = e.result_meta().shape;
        value x = a.input;
        if (a.padding[0] != 0)
            x = e.make<aten::constant_pad_nd>({.self = x,
                .pad = {0, 0, 0, 0, a.padding[0], a.padding[0]},
                .value = scalar(std::int64_t{0})});
        x = e.make<aten::permute>({.self = x, .dims = {0, 2, 1, 3, 4}});  // the depth next to the batch
        const int_list shape = e.shape(x);
        const std::int64_t taps = e.shape(a.weight)[2];
        value sum{};
        for (std::int64_t tap = 0; tap != taps && !e.failed(); ++tap) {
            const std::int64_t first = tap * a.dilation[0];
            const value slices = e.make<aten::slice_tensor>({.self = x,
                .dim = 1,
                .start = first,
                .end = first + (made[2] - 1) * a.stride[0] + 1,
                .step = a.stride[0]});
            args<aten::convolution> flat = a;
            flat.input = e.make<aten::reshape>(
                {.self = slices, .shape = {made[0] * made[2], shape[2], shape[3], shape[4]}});
            flat.weight = e.make<aten::select_int>({.self = a.weight, .dim = 2, .index = tap});
            if (tap != 0) flat.bias = std::nullopt;
            flat.stride = {a.stride[1], a.stride[2]};
            flat.padding = {a.padding[1], a.padding[2]};
            flat.dilation = {a.dilation[1], a.dilation[2]};
            flat.output_padding = {0, 0};
            const value part = e.make<aten::convolution>(flat);
            sum = sum ? e.make<aten::add_tensor>({.self = sum, .other = part}) : part;
        }
        if (!sum) return e.unsupported("a convolution whose weight has no depth");
        const value stacked =
            e.make<aten::reshape>({.self = sum, .shape = {made[0], made[2], made[1], made[3], made[4]}});
        return e.make<aten::permute>({.self = stacked, .dims = {0, 2, 1, 3, 4}});
    }
};
HEADRACE_COMPILED_PASS(convolve_slices);

}  // namespace headrace

#endif
