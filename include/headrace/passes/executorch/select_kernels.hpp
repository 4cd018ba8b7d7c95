// SPDX-License-Identifier: MIT
// Defines headrace::select_kernels and headrace::require_kernels.
#ifndef HEADRACE_PASSES_EXECUTORCH_SELECT_KERNELS_HPP
#define HEADRACE_PASSES_EXECUTORCH_SELECT_KERNELS_HPP

#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <string>
#include <string_view>

#include <headrace/dialect/executorch.hpp>
#include <headrace/ir/edits.hpp>
#include <headrace/ir/regions.hpp>
#include <headrace/ir/views.hpp>
#include <headrace/op/op_query.hpp>
#include <headrace/pass/driver.hpp>
#include <headrace/passes/properties.hpp>

namespace headrace {

namespace detail {

[[nodiscard]] constexpr bool computes_with(executorch::kernel_types types, dtype operand, dtype result) {
    using enum executorch::kernel_types;
    switch (types) {
        case all:
            return true;
        case numbers:
            return !is_boolean(operand);
        case floats:
            return is_floating(operand) && is_floating(result);
        case real_results:
            return is_floating(operand) || result == dtype::float32;
        case bits:
            return is_integral(operand) || is_boolean(operand);
    }
    return false;
}

/// Has the runtime tensors of that type, and do its kernels compute with them?
[[nodiscard]] constexpr bool is_kernel_type(dtype t) {
    return t == dtype::uint8 || t == dtype::boolean || t == dtype::bfloat16 || t == dtype::float16 ||
           t == dtype::float32 || t == dtype::float64 || t == dtype::int8 || t == dtype::int16 ||
           t == dtype::int32 || t == dtype::int64;
}

/// Why the kernel cannot compute a node; empty if it can.
[[nodiscard]] inline std::pmr::string kernel_objection(const node& n, executorch::kernel_types types) {
    const auto objection = [&](dtype t) {
        return text_of({"ExecuTorch's kernel for it does not compute with ", name_of(t),
                        "; cast its operands before it"});
    };
    dtype operand = dtype::unknown;
    for (const edge& e : n.operand_edges()) {
        const tensor_meta* const meta = meta_of(*e.slot);
        if (meta == nullptr) return "the type of an operand is not known";
        if (!is_kernel_type(meta->dtype)) return objection(meta->dtype);
        if (operand == dtype::unknown) operand = meta->dtype;
    }
    for (std::uint32_t i = 0; i != n.result_count; ++i) {
        if (!n.results[i].meta) return "the type of its result is not known";
        if (!is_kernel_type(n.results[i].meta->dtype)) return objection(n.results[i].meta->dtype);
    }
    const dtype made = n.result_count == 0 ? dtype::unknown : n.results[0].meta->dtype;
    if (operand != dtype::unknown && !computes_with(types, operand, made)) return objection(operand);
    if (is<aten::convolution>(n) && meta_of(n.operand(0))->rank() > 4)
        return "ExecuTorch's kernel for it has one or two spatial axes";
    if (is<aten::linear>(n) && meta_of(n.operand(0))->rank() < 2)
        return "ExecuTorch's kernel for it takes no vector";
    if (is<aten::gather>(n) && meta_of(n.operand(1))->dtype != dtype::int64)
        return "ExecuTorch's kernel for it takes indices of int64";
    return {};
}

}  // namespace detail

/// Replaces each op by the kernel that ExecuTorch's runtime has for it, and views by executorch.reshape. It
/// runs before ops are decomposed, so that one kernel is not made into many, and after.
struct select_kernels : pass {
    using runs_after = pass_list<functional, canonical_variants>;
    static constexpr std::string_view summary = "ops as the kernels that ExecuTorch has for them";
    static constexpr bool repeatable = true;
    using views = ops_where<aten::dialect, trait::reshaping>;
    using targeted_ops = joined<executorch::kernel_ops, views>;
    using produces = joined<executorch::kernels, ops<executorch::reshape>>;

    result<std::size_t> operator()(graph& g, pass_context&) const {
        std::size_t count = 0;
        for_each_graph(g, [&](graph& sub) {
            for (node* n = sub.first(); n != nullptr;) {
                node& current = *n;
                n = n->next;
                count += select(current);
            }
        });
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
        if (choice.kernel == nullptr || !detail::kernel_objection(n, choice.types).empty()) return false;
        replace_node(n, *choice.kernel, n.arguments);
        return true;
    }
};
HEADRACE_COMPILED_CODE(select_kernels);

/// The same at the end: a node of an op that has a kernel, but not for these types, is refused.
struct require_kernels : select_kernels {
    static constexpr std::string_view summary = "ops as ExecuTorch's kernels; refuses types that they lack";
    using removes = targeted_ops;

    result<std::size_t> operator()(graph& g, pass_context& context) const {
        HEADRACE_TRY(count, select_kernels::operator()(g, context));
        for_each_graph(g, [&](graph& sub) {
            for (const node& n : sub.nodes()) {
                const executorch::kernel_choice choice = executorch::kernel_for(*n.op);
                if (choice.kernel != nullptr) context.report(n, detail::kernel_objection(n, choice.types));
            }
        });
        return count;
    }
};
HEADRACE_COMPILED_CODE(require_kernels);

}  // namespace headrace

#endif
