// SPDX-License-Identifier: MIT
// Defines headrace::fold_constants and headrace::fold_quantized_constants.
#ifndef HEADRACE_PASSES_FOLD_FOLD_CONSTANTS_HPP
#define HEADRACE_PASSES_FOLD_FOLD_CONSTANTS_HPP

#include <headrace/pass/driver.hpp>
#include <headrace/passes/fold/constant_folder.hpp>
#include <headrace/passes/properties.hpp>
#include <headrace/passes/support/narrowing.hpp>

namespace headrace {

/// Computes nodes with the context's evaluator, as headrace::detail::constant_folder says. Without one, only
/// reshaped and large transposed constants become constants: these need no computation.
struct fold_constants : pass {
    using runs_after = pass_list<functional, no_dead_code>;
    using ensures = pass_list<constants_folded>;
    static constexpr std::string_view summary = "computes nodes whose operands are constants";
    static constexpr bool repeatable = true;
    using produces = ops<builtin::constant>;

    result<std::size_t> operator()(graph& g, pass_context& context) const {
        return sum_over_graphs(
            g, [&](graph& sub) { return detail::constant_folder(sub, context.evaluator()).fold(); });
    }
};
HEADRACE_COMPILED_PASS(fold_constants);

/// Computes constants before quantized subgraphs are lowered, which need to know what is constant, and before
/// dtypes are narrowed, so that arithmetic on float64 constants is done in float64.
struct fold_quantized_constants : fold_constants {
    using runs_after = pass_list<functional, canonical_quantization>;
    using ensures = pass_list<quantized_constants_folded>;
    static constexpr std::string_view summary =
        "computes constant nodes of graphs with quantized parts or in float64";
    using targeted_ops = ops<quantized_decomposed::quantize_per_tensor,
        quantized_decomposed::dequantize_per_tensor, quantized_decomposed::dequantize_per_channel>;

    [[nodiscard]] bool should_run(const graph& g, bool has_targets) const {
        if (has_targets) return true;
        return std::any_of(g.nodes().begin(), g.nodes().end(), [](const node& n) {
            return !is_of_dialect<builtin::dialect>(n) && has_result_of(n, dtype::float64);
        });
    }
};
HEADRACE_COMPILED_PASS(fold_quantized_constants);

}  // namespace headrace

#endif
