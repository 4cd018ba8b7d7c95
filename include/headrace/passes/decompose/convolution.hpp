// SPDX-License-Identifier: MIT
// Defines the decompositions of convolutions, and of the windows that they read.
#ifndef HEADRACE_PASSES_DECOMPOSE_CONVOLUTION_HPP
#define HEADRACE_PASSES_DECOMPOSE_CONVOLUTION_HPP

#include <headrace/infer/aten/blocks.hpp>
#include <headrace/passes/decompose/expressions.hpp>
#include <headrace/passes/support/convolution.hpp>

namespace headrace {

struct decompose_transposed_volumes;
/// TOSA supports only the two extremes, one group and depthwise (TOSA 1.0, 2.2.3 and 2.2.5); these are kept.
struct decompose_grouped_convolution : pass_in<decomposition> {
    using runs_after = pass_list<canonical_convolutions>;
    using runs_before = pass_list<decompose_transposed_volumes>;
    static constexpr std::string_view summary =
        "a grouped convolution as one convolution for each group, concatenated";

    static auto rewrites() { return rules(on<aten::convolution> = code<by_groups>()); }

private:
    static std::optional<value> by_groups(
        emit<ops<aten::convolution, aten::slice_tensor, aten::cat>> e, const args<aten::convolution>& a) {
        if (a.groups == 1 || is_depthwise(e, a)) return std::nullopt;
        if (!e.may_unroll(a.groups)) return value{};
        value_list parts;
        for (std::int64_t group = 0; group != a.groups; ++group) {
            const auto part = [&](value v, std::int64_t axis) {
                const std::int64_t share = e.shape(v)[static_cast<std::size_t>(axis)] / a.groups;
                return call<aten::slice_tensor>(term(e, v), axis, group * share, (group + 1) * share).value();
            };
            args<aten::convolution> one = a;
            one.groups = 1;
            one.input = part(a.input, 1);
            one.weight = part(a.weight, 0);
            if (a.bias) one.bias = part(*a.bias, 0);
            parts.push_back(e.make<aten::convolution>(one));
        }
        return e.make<aten::cat>({.tensors = parts, .dim = 1});
    }
};
HEADRACE_COMPILED_PASS(decompose_grouped_convolution);

/// Decomposes transposed convolutions over three axes; TOSA has them over two only (TOSA 1.0, 2.2.10). In the
/// equivalent forward convolution, the input has stride - 1 zeros between its elements and dilation · (kernel
/// - 1) - padding zeros around them.
struct decompose_transposed_volumes : pass_in<decomposition> {
    using runs_after = pass_list<canonical_convolutions>;
    static constexpr std::string_view summary =
        "transposed conv3d as a conv3d of the spread input by the flipped weight";

    static auto rewrites() {
        return rules(on<aten::convolution> = [](auto x, auto weight, const auto& a) {
            const auto forward = [&] {
                shape_builder around;
                for (std::size_t i = 3; i-- != 0;) {
                    const std::int64_t before = a.dilation[i] * (weight.shape()[2 + i] - 1) - a.padding[i];
                    around.append(shape_builder{before, before + a.output_padding[i]});
                }
                const auto wide = spread(spread(spread(x, 2, a.stride[0]), 3, a.stride[1]), 4, a.stride[2]);
                const auto flipped = call<aten::flip>(weight, int_list{2, 3, 4});
                return call<aten::convolution>(call<aten::constant_pad_nd>(wide, around),
                    call<aten::transpose_int>(flipped, 0, 1), a.bias, int_list{1, 1, 1}, int_list{0, 0, 0},
                    a.dilation, false, int_list{0, 0, 0}, 1);
            };
            return choose(a.transposed && x.rank() == 5 && a.groups == 1, forward, unchanged);
        });
    }

private:
    // Pads rows of one element to `stride` elements, and flattens them again.
    static auto spread(const auto& x, std::size_t axis, std::int64_t stride) {
        const auto spread_out = [&] {
            const build::three_axes k = build::around(x.shape(), axis);
            const auto apart = call<aten::reshape>(x, int_list{k.before, k.size, 1, k.after});
            const auto padded = call<aten::constant_pad_nd>(apart, int_list{0, 0, 0, stride - 1});
            const auto line = call<aten::reshape>(padded, build::with_axis(x.shape(), axis, k.size * stride));
            return call<aten::narrow>(line, static_cast<std::int64_t>(axis), 0, (k.size - 1) * stride + 1);
        };
        return choose(stride == 1, x, spread_out);
    }
};
HEADRACE_COMPILED_PASS(decompose_transposed_volumes);

struct decompose_windows;
/// Decomposes blocks of an image (PyTorch, torch.nn.Unfold and Fold). im2col takes windows along both axes.
/// col2im adds blocks up at their places: it is a transposed convolution whose filter for element k of a
/// block has a 1 at k. All planes are one batch.
struct decompose_blocks : pass_in<decomposition> {
    using runs_before = pass_list<decompose_windows>;
    static constexpr std::string_view summary = "im2col as windows, col2im as a transposed convolution";

    static auto rewrites() {
        return rules(
            on<aten::col2im> = code<summed>(), on<aten::im2col> = [](auto x, const auto& a) {
                const sizes s = x.shape();
                const int_list planes{element_count(s.first(s.size() - 2)), s[s.size() - 2], s[s.size() - 1]};
                const int_list padding{a.padding[1], a.padding[1], a.padding[0], a.padding[0]};
                const auto image = call<aten::reshape>(x, planes);
                const auto padded = choose(a.padding[0] == 0 && a.padding[1] == 0, image,
                    [&] { return call<aten::constant_pad_nd>(image, padding, 0); });
                // [planes, block rows, block columns, height of a block, width of a block]
                const auto blocks = windows(windows(padded, 1, a, 0), 2, a, 1);
                const auto columns = call<aten::permute>(blocks, int_list{0, 3, 4, 1, 2});
                return call<aten::reshape>(columns, x.result_meta().shape);
            });
    }

private:
    // Adds blocks up by a transposed convolution, whose filters each place one element of a block.
    static value summed(emit<ops<aten::convolution, aten::reshape>> e, const args<aten::col2im>& a) {
        if (!is_floating(e.dtype(a.self)))
            return e.unsupported("blocks of integers are not added up; cast them to float");
        const std::int64_t kernel[] = {a.kernel_size[0], a.kernel_size[1]};
        const std::int64_t elements = saturating_mul(kernel[0], kernel[1]);
        if (!e.may_compute(saturating_mul(elements, elements), e.dtype(a.self))) return {};
        const auto count = count_blocks(a, a.output_size);
        if (!count) return e.fail(count.error());
        std::int64_t rest[] = {0, 0};
        for (std::size_t i = 0; i != 2; ++i) {
            rest[i] =
                a.output_size[i] - ((count.value()[i] - 1) * a.stride[i] - 2 * a.padding[i] + reach(a, i));
        }
        const std::int64_t planes =
            element_count(e.shape(a.self)) / (elements * count.value()[0] * count.value()[1]);
        const value blocks = e.make<aten::reshape>(
            {.self = a.self, .shape = int_list{planes, elements, count.value()[0], count.value()[1]}});
        const value filters = identity(e, e.dtype(a.self), {elements, 1, kernel[0], kernel[1]}, elements);
        const value image = e.make<aten::convolution>({.input = blocks,
            .weight = filters,
            .bias = std::nullopt,
            .stride = a.stride,
            .padding = a.padding,
            .dilation = a.dilation,
            .transposed = true,
            .output_padding = int_list(sizes(rest)),
            .groups = 1});
        return e.make<aten::reshape>({.self = image, .shape = e.result_meta().shape});
    }
    // The extent of a block along an axis.
    static std::int64_t reach(const auto& a, std::size_t i) {
        return a.dilation[i] * (a.kernel_size[i] - 1) + 1;
    }
    // Puts the elements of each block along one axis last.
    static auto windows(const auto& x, std::int64_t axis, const auto& a, std::size_t i) {
        const auto spans = call<aten::unfold>(x, axis, reach(a, i), a.stride[i]);
        return choose(a.dilation[i] == 1, spans,
            [&] { return call<aten::slice_tensor>(spans, -1, 0, reach(a, i), a.dilation[i]); });
    }
};
HEADRACE_COMPILED_PASS(decompose_blocks);

/// Decomposes unfold. Windows that tile the axis are a view; overlapping ones are gathered by index, all at
/// once. The window's axis then moves to the end.
struct decompose_windows : pass_in<decomposition> {
    static constexpr std::string_view summary = "unfold(x, d, size, step)[…, u, …, c] as x[…, u·step + c, …]";

    static auto rewrites() {
        return rules(on<aten::unfold> = [](auto x, const auto& a) {
            const std::size_t axis = x.axis(a.dimension);
            const char* misfit = "windows must not be empty, must step by at least 1, and fit in the axis";
            const bool fits = a.step >= 1 && a.size >= 1 && a.size <= x.size(a.dimension);
            return choose(
                x.rank() == 0, [&] { return x.unsupported("unfold of a tensor of rank 0; use reshape"); },
                !fits, [&] { return x.unsupported(misfit); },
                [&] { return windows_of(x, static_cast<std::int64_t>(axis), a); });
        });
    }

private:
    static auto windows_of(const auto& x, std::int64_t axis, const args<aten::unfold>& a) {
        const std::int64_t sides[] = {(x.size(axis) - a.size) / a.step + 1, a.size};
        const std::int64_t count = saturating_mul(sides[0], sides[1]);
        const auto by_index = [&] {
            const auto places = constant_by(x, dtype::int32, shape_builder{count},
                [&](std::int64_t i) { return scalar(i / a.size * a.step + i % a.size); });
            return call<aten::index_select>(x, axis, places);
        };
        const auto taken =
            choose(a.size != a.step, by_index, [&] { return call<aten::narrow>(x, axis, 0, count); });
        const auto split =
            call<aten::reshape>(taken, build::with_axes(x.shape(), static_cast<std::size_t>(axis), 1, sides));
        return call<aten::movedim_int>(split, axis + 1, -1);
    }
};
HEADRACE_COMPILED_PASS(decompose_windows);

}  // namespace headrace

#endif
