// SPDX-License-Identifier: MIT
// Defines headrace::inline_regions.
#ifndef HEADRACE_PASSES_NORMALIZE_INLINE_REGIONS_HPP
#define HEADRACE_PASSES_NORMALIZE_INLINE_REGIONS_HPP

#include <memory_resource>
#include <unordered_map>
#include <vector>

#include <headrace/dialect/higher_order.hpp>
#include <headrace/pass/driver.hpp>

namespace headrace {

/// Puts the graph that wrap_with_set_grad_enabled calls in place of the call: gradients do not matter at
/// inference. The inputs of the inner graph become the operands, its outputs the results; nodes keep their
/// names.
struct inline_regions : pass {
    static constexpr std::string_view summary = "replace a call without gradients by the graph that it calls";
    using targets = ops<higher_order::wrap_with_set_grad_enabled>;
    using removes = targets;

    result<std::size_t> operator()(graph& g, pass_context&) const {
        std::size_t count = 0;
        std::pmr::vector<node*> calls;
        do {  // an inner graph may hold calls itself
            calls.clear();
            detail::for_each_graph(g, [&](graph& sub) {
                for (node& n : sub.nodes_of(info_of<higher_order::wrap_with_set_grad_enabled>))
                    calls.push_back(&n);
            });
            for (node* n : calls) {
                if (result<void> done = inline_call(*n); !done) return std::move(done).error();
            }
            count += calls.size();
        } while (!calls.empty());
        return count;
    }

private:
    static result<void> inline_call(node& call) {
        const auto& a = args_of<higher_order::wrap_with_set_grad_enabled>(call);
        graph& inner = *a.wrapped_graph;
        std::pmr::unordered_map<const node*, node*> copies;
        std::pmr::unordered_map<const node*, value> inputs;
        std::size_t next = 0;
        for (node& n : inner.inputs()) {
            if (next == a.operands.size())
                return invalid(message_prefix(call) + "fewer operands than inputs");
            inputs[&n] = a.operands[next++];
        }
        const auto mapped = [&](value v) {
            const auto input = inputs.find(v.producer);
            return input != inputs.end() ? input->second : value{copies.at(v.producer), v.result};
        };
        for (node& n : inner.nodes()) {
            if (inputs.contains(&n) || is<builtin::output>(n)) continue;
            copies[&n] = &copy(*call.owner, n, call, mapped);
        }
        const list<value> outputs = inner.outputs();
        if (outputs.size() != call.result_count)
            return invalid(message_prefix(call) + "results do not match its graph");
        for (std::uint32_t i = 0; i != call.result_count; ++i) {
            const value v = mapped(outputs[i]);
            detail::hand_over_name(call.results[i], v);
            call.owner->replace_all_uses(call.result(i), v);
        }
        detail::erase_dead(*call.owner, call);
        while (inner.last() != nullptr) inner.erase(*inner.last());  // so that no pass finds its nodes
        return boost::outcome_v2::success();
    }
    template <class Map>
    static node& copy(graph& g, const node& n, node& before, Map&& mapped) {
        node& made = g.create(*n.op, n.arguments, n.result_count, &before);
        for (edge& e : std::span(made.operands, made.operand_count)) g.set_operand(e, mapped(*e.slot));
        for (std::uint32_t i = 0; i != n.result_count; ++i) made.results[i] = n.results[i];
        made.annotations = n.annotations;
        g.inherit_annotations(made, before);
        return made;
    }
};

}  // namespace headrace

#endif
