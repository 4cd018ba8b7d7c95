// SPDX-License-Identifier: MIT
// Defines the rule of the delegate dialect: a call has its graph's inputs and results.
#ifndef HEADRACE_INFER_DELEGATE_HPP
#define HEADRACE_INFER_DELEGATE_HPP

#include <headrace/base/text.hpp>
#include <headrace/dialect/delegate.hpp>
#include <headrace/infer/higher_order_definition.hpp>

namespace headrace {

template <one_of<ops<delegate::call_delegate>> Op>
result<void> infer_results(Op, const args<Op>& a, inference& out) {
    if (a.lowered_graph == nullptr) return invalid("the call has no graph");
    std::size_t next = 0;
    for (const node& n : a.lowered_graph->inputs()) {
        if (next == a.operands.size()) return invalid("the call has fewer operands than its graph inputs");
        const tensor_meta* wanted = meta_of({const_cast<node*>(&n), 0});
        if (wanted == nullptr || !(*wanted == inference::of(a.operands[next]))) {
            return invalid({"operand ", next, " is not of the type that its graph takes"});
        }
        ++next;
    }
    if (next != a.operands.size()) return invalid("the call has more operands than its graph inputs");
    return detail::infer_region(out, a.lowered_graph);
}

}  // namespace headrace

#endif
