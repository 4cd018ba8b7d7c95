// SPDX-License-Identifier: MIT
// Defines headrace::decompose_blocks.
#ifndef HEADRACE_PASSES_DECOMPOSE_DECOMPOSE_BLOCKS_HPP
#define HEADRACE_PASSES_DECOMPOSE_DECOMPOSE_BLOCKS_HPP

#include <headrace/infer/aten/blocks.hpp>
#include <headrace/pass/arithmetic.hpp>
#include <headrace/passes/properties.hpp>
#include <headrace/passes/support/slicing.hpp>

namespace headrace {

struct decompose_windows;
/// Decomposes blocks of an image (PyTorch, torch.nn.Unfold and Fold). im2col takes windows along both axes.
/// col2im adds blocks up at their places: it is a transposed convolution whose filter for element k of a
/// block has a 1 at k. All planes are one batch.
struct decompose_blocks : pass {
    using phase = decomposition;
    using runs_before = pass_list<decompose_windows>;
    static constexpr std::string_view summary = "im2col as windows, col2im as a transposed convolution";
    using targeted_ops = ops<aten::col2im>;
    using produces = ops<aten::convolution, aten::reshape>;

    static auto rewrites() {
        return rules(on<aten::im2col> = [](auto x, const auto& a) {
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

    value operator()(const args<aten::col2im>& a, emit<produces>& e) const {
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
        const value filters = e.constant_of(
            e.dtype(a.self), shape_builder{elements, 1, kernel[0], kernel[1]}, [&](std::size_t i) {
                const auto at = static_cast<std::int64_t>(i);
                return scalar(at / elements == at % elements ? 1.0 : 0.0);
            });
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

private:
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

}  // namespace headrace

#endif
