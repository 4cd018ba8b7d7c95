// SPDX-License-Identifier: MIT
// Defines headrace::to_out_variants.
#ifndef HEADRACE_MEMORY_TO_OUT_VARIANTS_HPP
#define HEADRACE_MEMORY_TO_OUT_VARIANTS_HPP

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include <headrace/dialect/builtin.hpp>
#include <headrace/dialect/delegate.hpp>
#include <headrace/dialect/higher_order.hpp>
#include <headrace/dialect/memory.hpp>
#include <headrace/ir/edits.hpp>
#include <headrace/ir/regions.hpp>
#include <headrace/memory/liveness.hpp>
#include <headrace/memory/out_variant.hpp>
#include <headrace/pass/pass_base.hpp>

namespace headrace {

/// Makes each op write its results into named buffers of the graph, so that a memory plan can place them;
/// this is ExecuTorch's ToOutVarPass.
///
///     %y: float32[2, 3] = aten.add.Tensor(%x, %x)
///
/// becomes
///
///     %alloc: float32[2, 3] = memory.alloc(size=[2, 3], dtype=float32)
///     %y: float32[2, 3] = aten.add.out(%x, %x, out=%alloc)
///
/// Left unchanged: PyTorch's views, which create no tensor; ops that write in place; delegates and their
/// graphs, which belong to the backend; and ops that hold graphs, whose nodes are converted. Any other op
/// without an out-variant is an error, which names all such ops and is reported before anything is changed.
struct to_out_variants : pass_base<to_out_variants> {
    static constexpr std::string_view summary =
        "replaces ops with their out-variants, with storage to write to";
    bool ignore_missing = false;  ///< leave ops without an out-variant unchanged instead of failing

    result<std::size_t> call(graph& g, pass_context&) const {
        std::vector<graph*> graphs;
        collect(g, graphs);
        std::vector<node*> found;
        std::vector<std::string_view> missing;
        for (graph* const sub : graphs) {
            for (node& n : sub->nodes()) {
                if (is_left(n)) continue;
                if (out::variant_of(*n.op) != nullptr) {
                    found.push_back(&n);
                } else if (std::find(missing.begin(), missing.end(), n.op->name) == missing.end()) {
                    missing.push_back(n.op->name);
                }
            }
        }
        if (!missing.empty() && !ignore_missing) return missing_variants(missing);
        for (const node* const n : found) {
            for (std::uint32_t i = 0; i != n->result_count; ++i) {
                if (!n->results[i].meta)
                    return invalid({message_prefix(*n), "without metadata its buffer has no size"});
            }
        }
        for (node* const n : found) convert(*n);
        return found.size();
    }

private:
    static void collect(graph& g, std::vector<graph*>& graphs) {
        if (std::find(graphs.begin(), graphs.end(), &g) != graphs.end()) return;
        graphs.push_back(&g);
        for (const node& n : g.nodes()) {
            if (is<delegate::call_delegate>(n)) continue;
            for_each_region(n, [&](const field_info&, graph* region) {
                if (region != nullptr) collect(*region, graphs);
            });
        }
    }

    static bool is_left(const node& n) {
        static constexpr auto of_graphs = every_op<higher_order::dialect> | every_op<delegate::dialect> |
            every_op<memory::dialect> | every_op<out::dialect>;
        static constexpr auto with_own_memory =
            ops_in<builtin::placeholder, builtin::constant, builtin::output, tosa::const_, tosa::const_shape,
                tosa::cond_if, tosa::while_loop, tosa::variable_read>;
        const auto without_buffer =
            trait::aliasing | trait::in_place | trait::host_number | trait::no_results;
        return n.result_count == 0 || n.op->has(without_buffer) || of_graphs.contains(*n.op) ||
            with_own_memory.contains(*n.op);
    }
    static error missing_variants(const std::vector<std::string_view>& missing) {
        std::string text = "no out-variant is known for ";
        for (const std::string_view name : missing) {
            if (name != missing.front()) text += ", ";
            text += name;
        }
        return unsupported({text, "; decompose them, or leave them to allocate their results themselves"});
    }

    static void convert(node& n) {
        graph& g = *n.owner;
        const op_info& variant = *out::variant_of(*n.op);
        std::vector<value> buffers;
        for (std::uint32_t i = 0; i != n.result_count; ++i) {
            const tensor_meta meta = *n.results[i].meta;
            node& buffer = g.create<memory::alloc>({.size = meta.shape, .dtype = meta.dtype}, &n);
            g.set_meta(buffer.result(), meta);
            g.inherit_annotations(buffer, n);
            buffers.push_back(buffer.result());
        }
        // The arguments of the functional op, followed by the buffers.
        std::vector<std::max_align_t> storage(variant.args_size / sizeof(std::max_align_t) + 1);
        void* const arguments = storage.data();
        std::memcpy(arguments, variant.default_args, variant.args_size);
        std::memcpy(arguments, n.arguments, n.op->args_size);
        const field_info& out = variant.fields[variant.field_count - 1];
        if (out.kind == field_kind::tensor) {
            detail::member_at<value>(arguments, out) = buffers.front();
        } else {
            detail::member_at<list<value>>(arguments, out) = list<value>(buffers);
        }
        replace_node(n, variant, arguments);
    }
};

}  // namespace headrace

#endif
