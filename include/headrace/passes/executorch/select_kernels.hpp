// SPDX-License-Identifier: MIT
// Defines the passes that select ExecuTorch's kernels, and those that avoid what these lack.
#ifndef HEADRACE_PASSES_EXECUTORCH_SELECT_KERNELS_HPP
#define HEADRACE_PASSES_EXECUTORCH_SELECT_KERNELS_HPP

#include <algorithm>

#include <headrace/infer/executorch.hpp>
#include <headrace/infer/quantized_decomposed.hpp>
#include <headrace/ir/edits.hpp>
#include <headrace/ir/purity.hpp>
#include <headrace/ir/views.hpp>
#include <headrace/op/op_query.hpp>
#include <headrace/pass/driver.hpp>
#include <headrace/passes/decompose/convolution.hpp>
#include <headrace/passes/decompose/normalization.hpp>
#include <headrace/passes/properties.hpp>
#include <headrace/passes/support/inlining.hpp>

namespace headrace {

/// Replaces each op by the kernel that ExecuTorch's runtime has for it, and views by executorch.reshape. A
/// node whose arguments the kernel refuses, or for which its result deviates from PyTorch's, is left to other
/// passes. Runs before ops are decomposed, so that one kernel does not become many, and again after.
struct select_kernels : pass {
    using runs_after = pass_list<functional, canonical_variants>;
    static constexpr std::string_view summary = "ops as the kernels that ExecuTorch has for them";
    static constexpr bool repeatable = true;
    using views = ops_where<aten::dialect, trait::reshaping>;
    using targeted_ops = joined<executorch::kernel_ops, views>;
    using produces = joined<executorch::kernels, ops<executorch::reshape>>;

    result<std::size_t> operator()(graph& g, pass_context&) const { return change_nodes(g, select); }

protected:
    static bool select(node& n) {
        if (is_view(n) && !is<executorch::reshape>(n)) {
            const args<executorch::reshape> viewed{n.operand(0), n.results[0].meta->shape};
            replace_node(n, info_of<executorch::reshape>, &viewed);
            return true;
        }
        const op_info* const kernel = executorch::kernel_for(*n.op).kernel;
        if (kernel == nullptr || !executorch::kernel_refusal(n).empty() ||
            !executorch::kernel_deviation(n).empty())
            return false;
        replace_node(n, *kernel, n.arguments);
        return true;
    }
};
HEADRACE_COMPILED_PASS(select_kernels);

/// Runs select_kernels, and refuses ops that have a kernel, but not for these dtypes or arguments.
struct require_kernels : select_kernels {
    static constexpr std::string_view summary = "ops as ExecuTorch's kernels; refuses what they do not take";
    using removes = targeted_ops;

    result<std::size_t> operator()(graph& g, pass_context& context) const {
        HEADRACE_TRY(count, select_kernels::operator()(g, context));
        for_each_node(g, [&](const node& n) {
            if (executorch::kernel_for(*n.op).kernel == nullptr) return;
            std::pmr::string why = executorch::kernel_refusal(n);
            if (why.empty()) why = executorch::kernel_deviation(n);
            context.report(n, why);
        });
        return count;
    }
};
HEADRACE_COMPILED_PASS(require_kernels);

/// Rewrites a convolution over three axes as a sum of convolutions over two, the most that ExecuTorch's
/// kernel supports. Each term convolves one slice of the weight along the depth with all the input slices
/// that it meets, as a batch.
struct convolve_slices : pass {
    using runs_after = pass_list<canonical_convolutions, decompose_batch_norm, decompose_transposed_volumes>;
    using invalidates = pass_list<constants_folded, no_dead_code, duplicates_merged, nodes_sorted>;
    static constexpr std::string_view summary =
        "convolutions over three axes as sums of convolutions over two";

    static auto rewrites() { return rules(on<aten::convolution> = code<summed>()); }

private:
    using made = ops<aten::convolution, aten::constant_pad_nd, aten::permute, aten::slice_tensor,
        aten::reshape, aten::select_int, aten::add_tensor>;
    static std::optional<value> summed(emit<made> e, const args<aten::convolution>& a) {
        if (e.rank(a.input) != 5 || a.transposed) return std::nullopt;
        const int_list result = e.result_meta().shape;
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
                .end = first + (result[2] - 1) * a.stride[0] + 1,
                .step = a.stride[0]});
            args<aten::convolution> flat = a;
            flat.input = e.make<aten::reshape>(
                {.self = slices, .shape = {result[0] * result[2], shape[2], shape[3], shape[4]}});
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
        const value stacked = e.make<aten::reshape>(
            {.self = sum, .shape = {result[0], result[2], result[1], result[3], result[4]}});
        return e.make<aten::permute>({.self = stacked, .dims = {0, 2, 1, 3, 4}});
    }
};
HEADRACE_COMPILED_PASS(convolve_slices);

/// Clamps values before quantization if they may be infinite. ExecuTorch's kernel converts to int32 before it
/// clamps, so that infinity becomes the lowest number (measured with ExecuTorch 1.5.1).
struct saturate_quantization : pass {
    using runs_after = pass_list<functional, canonical_variants>;
    static constexpr std::string_view summary =
        "clamps values that may be infinite before they are quantized";

    static auto rewrites() { return rules(on<quantize> = code<saturated>()); }

private:
    using quantize = quantized_decomposed::quantize_per_tensor;
    using unbounded = ops<aten::rsqrt, aten::reciprocal, aten::log, aten::log2, aten::log10, aten::log1p,
        aten::exp, aten::expm1, aten::cosh, aten::sinh, aten::tan, aten::div_tensor, aten::div_scalar,
        aten::pow_scalar, aten::pow_tensor_scalar, aten::pow_tensor_tensor, aten::atanh, aten::logit>;
    static std::optional<value> saturated(emit<ops<quantize, aten::clamp>> e, args<quantize> a) {
        if (!set_of<unbounded>.contains(*a.input.producer->op)) return std::nullopt;
        // One step beyond the ends, so that the quantizer still does the rounding.
        const auto real = [&](std::int64_t q) { return static_cast<double>(q - a.zero_point) * a.scale; };
        a.input = e.make<aten::clamp>(
            {.self = a.input, .min = scalar(real(a.quant_min - 1)), .max = scalar(real(a.quant_max + 1))});
        return e.make<quantize>(a);
    }
};
HEADRACE_COMPILED_PASS(saturate_quantization);

/// Makes constants of results without elements: there is nothing to compute, and some kernels refuse them.
struct store_empty_results : pass {
    using runs_after = pass_list<functional>;
    using invalidates = pass_list<no_dead_code, duplicates_merged>;
    static constexpr std::string_view summary = "results without elements as constants";
    static constexpr bool repeatable = true;
    using targeted_ops = ops<>;
    using produces = ops<builtin::constant>;

    result<std::size_t> operator()(graph& g, pass_context&) const {
        return change_nodes(g, [](node& n) {
            const auto is_empty = [](const auto& r) { return r.meta && element_count(r.meta->shape) == 0; };
            const std::span results(n.results, n.result_count);
            if (is_of_dialect<builtin::dialect>(n) || !is_pure(n) || results.empty() ||
                !std::ranges::all_of(results, is_empty))
                return false;
            for (std::uint32_t i = 0; i != n.result_count; ++i) {
                const auto nothing = [](std::span<std::byte>) {};
                n.owner->replace_all_uses(
                    n.result(i), create_constant(*n.owner, *n.results[i].meta, &n, nothing));
            }
            n.owner->erase(n);
            return true;
        });
    }
};
HEADRACE_COMPILED_PASS(store_empty_results);

}  // namespace headrace

#endif
