// SPDX-License-Identifier: MIT
// Defines headrace::select_kernels and headrace::require_kernels.
#ifndef HEADRACE_PASSES_EXECUTORCH_SELECT_KERNELS_HPP
#define HEADRACE_PASSES_EXECUTORCH_SELECT_KERNELS_HPP

#include <headrace/infer/executorch.hpp>
#include <headrace/ir/edits.hpp>
#include <headrace/ir/views.hpp>
#include <headrace/op/op_query.hpp>
#include <headrace/pass/driver.hpp>
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

    result<std::size_t> operator()(graph& g, pass_context&) const {
        std::size_t count = 0;
        for_each_node(g, [&](node& n) { count += select(n); });
        return count;
    }

protected:
    static bool select(node& n) {
        if (is_view(n) && !is<executorch::reshape>(n)) {
            const args<executorch::reshape> viewed{n.operand(0), n.results[0].meta->shape};
            replace_node(n, info_of<executorch::reshape>, &viewed);
            return true;
        }
        const executorch::kernel_choice choice = executorch::kernel_for(*n.op);
        if (choice.kernel == nullptr || !executorch::kernel_refusal(n).empty() ||
            !executorch::kernel_deviation(n).empty())
            return false;
        replace_node(n, *choice.kernel, n.arguments);
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

}  // namespace headrace

#endif
