// SPDX-License-Identifier: MIT
// Defines headrace::inline_regions.
#ifndef HEADRACE_PASSES_NORMALIZE_INLINE_REGIONS_HPP
#define HEADRACE_PASSES_NORMALIZE_INLINE_REGIONS_HPP

#include <headrace/dialect/builtin.hpp>
#include <headrace/dialect/higher_order.hpp>
#include <headrace/ir/edits.hpp>
#include <headrace/ir/regions.hpp>
#include <headrace/pass/driver.hpp>
#include <headrace/passes/properties.hpp>
#include <headrace/passes/support/inlining.hpp>

namespace headrace {

/// Inlines the graph that wrap_with_set_grad_enabled or wrap_with_autocast calls: gradients do not matter at
/// inference, and autocast is not enabled. The inputs of the inner graph become the operands, its outputs the
/// results; nodes keep their names.
struct inline_regions : pass {
    using ensures = pass_list<regions_inlined>;
    static constexpr std::string_view summary =
        "inlines the graphs of wrap_with_set_grad_enabled and wrap_with_autocast";
    using targeted_ops = ops<higher_order::wrap_with_set_grad_enabled, higher_order::wrap_with_autocast>;
    using removes = targeted_ops;

    result<std::size_t> operator()(graph& g, pass_context&) const {
        std::size_t count = 0;
        result<void> done;
        // A graph's own calls are inlined before its regions: inlining a call may leave further calls in the
        // graph, and erases their originals.
        for_each_graph(g, [&](graph& sub) {
            while (node* const call = done ? first_call(sub) : nullptr) {
                done = inline_call(*call);
                ++count;
            }
        });
        if (!done) return std::move(done).error();
        return count;
    }

private:
    static node* first_call(graph& g) {
        for (const op_info* op : {&info_of<higher_order::wrap_with_set_grad_enabled>,
                 &info_of<higher_order::wrap_with_autocast>}) {
            const auto calls = g.nodes_of(*op);
            if (!calls.empty()) return &*calls.begin();
        }
        return nullptr;
    }
    static result<void> inline_call(node& call) {
        if (const auto* a = args_if<higher_order::wrap_with_set_grad_enabled>(call))
            return inline_graph(call, *a->wrapped_graph, a->operands);
        const auto& a = args_of<higher_order::wrap_with_autocast>(call);
        return inline_graph(call, *a.wrapped_body, a.operands);
    }
    static result<void> inline_graph(node& call, graph& inner, list<value> operands) {
        if (inner.census().count(info_of<builtin::placeholder>) > operands.size())
            return invalid({message_prefix(call), "fewer operands than inputs"});
        if (inner.outputs().size() != call.result_count)
            return invalid({message_prefix(call), "results do not match its graph"});
        std::uint32_t i = 0;
        for (const value v : inline_region(inner, call, operands)) {
            hand_over_name(call.results[i], v);
            call.owner->replace_all_uses(call.result(i++), v);
        }
        erase_dead(*call.owner, call);
        erase_nodes(inner);
        return {};
    }
};
HEADRACE_COMPILED_PASS(inline_regions);

}  // namespace headrace

#endif
