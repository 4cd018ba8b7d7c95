// SPDX-License-Identifier: MIT
// Defines the functions of headrace/run/execution.hpp.

#include <headrace/run/execution.hpp>

#include <memory>

#include <headrace/dialect/executorch.hpp>
#include <headrace/eval/evaluator.hpp>
#include <headrace/eval/planned_arena.hpp>
#include <headrace/infer/aten.hpp>
#include <headrace/infer/cortex_m.hpp>
#include <headrace/infer/delegate.hpp>
#include <headrace/infer/device.hpp>
#include <headrace/infer/dim_order_ops.hpp>
#include <headrace/infer/higher_order.hpp>
#include <headrace/infer/memory.hpp>
#include <headrace/infer/quantized_decomposed.hpp>
#include <headrace/infer/tosa.hpp>
#include <headrace/infer/verify.hpp>
#include <headrace/ir/regions.hpp>
#include <headrace/memory/out_variant.hpp>
#include <headrace/partition/extract.hpp>
#include <headrace/pass/pipeline.hpp>
#include <headrace/passes/normalize/functionalize.hpp>
#include <headrace/passes/normalize/regions.hpp>
#include <headrace/run/oversized.hpp>

namespace headrace {

namespace {

bool has_in_place_ops(const graph& g) {
    bool found = false;
    g.census().for_each([&](const op_info& op, std::size_t) { found = found || op.has(trait::in_place); });
    for (const graph& region : g.regions()) found = found || has_in_place_ops(region);
    return found;
}

}  // namespace

result<void> make_functional(graph& g) {
    pass_context context(standard_functions);
    HEADRACE_TRY(apply_pass(inline_regions{}, g, context));
    HEADRACE_TRY(apply_pass(functionalize{}, g, context));
    if (context.diagnostics().empty()) return {};
    const diagnostic& d = context.diagnostics().front();
    return error{d.kind, diagnostic_text(d)};
}

result<std::vector<tensor>> execute(
    const graph& g, std::span<const tensor> inputs, const own_operators& own) {
    if (const node* n = find_oversized(g))
        return unsupported({message_prefix(*n), "a tensor of 2^31 elements or more is not executed"});
    if (!has_in_place_ops(g)) return run_graph(g, inputs, own);
    // Kernels return new tensors: an in-place write to an operand would be invisible to later users.
    graph functional;
    copy_graph(g, functional);
    HEADRACE_TRY(make_functional(functional));
    return run_graph(functional, inputs, own);
}
result<std::vector<tensor>> execute_planned(
    const graph& g, const memory_plan& plan, std::span<const tensor> inputs, const own_operators& own) {
    return run_planned(g, plan, inputs, own);
}
std::uint64_t executed_bytes(const tensor_meta& meta) { return eval::evaluated_bytes(meta); }

namespace {

inference_rule rule_of_any(const op_info& op) {
    return find_rule<aten::dialect, quantized_decomposed::dialect, dim_order_ops::dialect, cortex_m::dialect,
        higher_order::dialect, tosa::dialect, delegate::dialect, device::dialect, memory::dialect>(
        executorch::functional_of(out::functional_of(op)));
}

}  // namespace

result<void> infer_node(const node& n, inference& out) {
    const inference_rule rule = rule_of_any(*n.op);
    if (rule == nullptr) return invalid({message_prefix(n), "no inference rule"});
    return rule(n.arguments, out);
}

result<void> check_evaluator(const pass_context& context) {
    if (context.evaluator() != nullptr) return {};
    return invalid("the context has no evaluator of constants; make it of headrace::standard_functions");
}

result<void> complete_metadata(graph& g) {
    for (node& n : g.nodes()) {
        result<void> regions;
        for_each_region(n, [&](const field_info&, graph* region) {
            if (regions && region != nullptr) regions = complete_metadata(*region);
        });
        HEADRACE_TRY(std::move(regions));
        const auto is_missing = [&](std::uint32_t i) { return n.results[i].meta == nullptr; };
        std::uint32_t first = 0;
        while (first != n.result_count && !is_missing(first)) ++first;
        if (first == n.result_count) continue;
        if (rule_of_any(*n.op) != nullptr) {
            std::pmr::monotonic_buffer_resource arena;
            inference inferred(&arena);
            if (const result<void> done = infer_node(n, inferred); !done)
                return malformed(message_prefix(n) + done.error().message);
            if (inferred.results().size() != n.result_count)
                return malformed({message_prefix(n), "it has a different number of results than its op"});
            for (std::uint32_t i = first; i != n.result_count; ++i) {
                const bool open = inferred.results()[i].dtype == dtype::unknown;  // the rule leaves it open
                if (is_missing(i) && !open) g.set_meta(n.result(i), inferred.results()[i]);
            }
            continue;
        }
        for (std::uint32_t i = first; i != n.result_count; ++i) {
            if (is_missing(i) && (is<builtin::placeholder>(n) || use_count(n.result(i)) != 0))
                return malformed({message_prefix(n), "the file does not say which type and shape result ", i,
                    " has, and no rule does"});
        }
    }
    return {};
}

result<void> verify_metadata(const graph& g) { return verify(g, verify_options{.rule_of = &rule_of_any}); }

}  // namespace headrace
