// SPDX-License-Identifier: MIT
// Defines the two drivers that run a pass's handlers over a graph: in place, and retracing.
#ifndef HEADRACE_PASS_DRIVER_HPP
#define HEADRACE_PASS_DRIVER_HPP

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <headrace/pass/pass.hpp>

namespace headrace {

/// What one pass did to the nodes of a graph.
struct node_counts {
    std::size_t rewritten = 0;  ///< handlers that gave a replacement
    std::size_t declined = 0;   ///< handlers that left their node as it was
    std::size_t copied = 0;     ///< nodes taken over as they were; retracing only
    std::size_t inferred = 0;   ///< nodes dispatched in full because `val` was missing; retracing only
};

namespace detail {

inline void append(value_list& out, value v) { out.push_back(v); }
inline void append(value_list& out, const value_list& items) {
    for (const value v : items) out.push_back(v);
}
template <class... Ts>
void append(value_list& out, const std::tuple<Ts...>& items) {
    std::apply([&](const auto&... v) { (out.push_back(v), ...); }, items);
}

enum class outcome_kind : std::uint8_t { replaced, declined, failed };

/// Runs the handler of `Op` and flattens what it returns.
template <class P, class Op>
outcome_kind replacements_for(const P& p, const args<Op>& a, emit<produces_of<P>>& e, value_list& out) {
    auto returned = call_handler<P, Op>(p, a, e);
    if (e.failed()) return outcome_kind::failed;
    if constexpr (is_optional<decltype(returned)>) {
        if (!returned) return outcome_kind::declined;
        append(out, *returned);
    } else {
        append(out, returned);
    }
    return outcome_kind::replaced;
}

/// Empty if the replacements can stand for the results of `n`: one for each that is used, of the same shape.
inline std::string replacement_fault(const node& n, const value_list& with) {
    if (with.size() != n.result_count) {
        return "the pass gave " + std::to_string(with.size()) + " results for " + std::to_string(n.result_count);
    }
    for (std::uint32_t i = 0; i != n.result_count; ++i) {
        const bool used = use_count({const_cast<node*>(&n), i}) != 0;
        if (!with[i]) {
            if (used) return "the pass gave no value for result " + std::to_string(i);
            continue;
        }
        const auto& before = n.results[i].meta;
        const tensor_meta* after = meta_of(with[i]);
        if (before && after != nullptr && !(before->shape == after->shape)) {
            return "the pass changed the shape of result " + std::to_string(i);
        }
    }
    return {};
}

/// Erases a node that nothing uses, and what only it used.
inline void erase_dead(graph& g, node& n) {
    std::vector<node*> pending{&n};
    while (!pending.empty()) {
        node& dead = *pending.back();
        pending.pop_back();
        if (dead.owner == nullptr || dead.first_use != nullptr || is<builtin::placeholder>(dead) ||
            is<builtin::output>(dead)) {
            continue;
        }
        g.erase(dead);
        dead.owner = nullptr;
        for (const edge& e : dead.operand_edges()) pending.push_back(e.source);
    }
}

/// Erases those of the nodes between `before`, or the first, and `n` that nothing uses: what a handler made in vain.
inline void erase_unused_between(graph& g, const node* before, node& n) {
    for (node* made = n.previous; made != before;) {
        node* previous = made->previous;
        if (made->first_use == nullptr) {
            g.erase(*made);
            made->owner = nullptr;
        }
        made = previous;
    }
}

/// A result's name goes over to a new value that has none.
inline void hand_over_name(const result_slot& from, value to) {
    result_slot& slot = to.producer->results[to.result];
    if (slot.name.empty()) slot.name = from.name;
}

/// The regions that nodes of `g` hold, each once. Those whose node was erased are still the graph's, but dead.
[[nodiscard]] inline std::vector<graph*> live_regions(graph& g) {
    std::vector<graph*> live;
    if (g.regions().empty()) return live;
    for (node& n : g.nodes()) {
        for (const field_info& f : *n.op) {
            if (f.kind != field_kind::region) continue;
            graph* region = *reinterpret_cast<graph* const*>(static_cast<const std::byte*>(n.arguments) + f.offset);
            if (region != nullptr && std::find(live.begin(), live.end(), region) == live.end()) live.push_back(region);
        }
    }
    return live;
}

template <class F>
void for_each_graph(graph& g, F&& f) {
    f(g);
    for (graph* region : live_regions(g)) for_each_graph(*region, f);
}

}  // namespace detail

/// Visits only the nodes of the pass's targets, op by op, and rewrites each where it stands. Nodes that handlers add
/// are not visited in the same run.
template <pass_type P>
class in_place_driver {
public:
    [[nodiscard]] static result<node_counts> run(const P& p, graph& g, pass_context& context) {
        in_place_driver driver(p, context);
        driver.visit_targets(g, targets_of<P>{});
        if (!driver.status_) return std::move(driver.status_).error();
        return driver.counts_;
    }

private:
    in_place_driver(const P& p, pass_context& context) : pass_(p), context_(context) {}

    template <class... Ops>
    void visit_targets(graph& g, ops<Ops...>) {
        // Collected before any is rewritten, so that what one handler emits is not visited for another target.
        std::vector<node*> found;
        std::size_t ends[sizeof...(Ops) + 1]{};
        detail::for_each_graph(g, [&](graph& sub) { graphs_.push_back(&sub); });
        std::size_t k = 0;
        ((collect(info_of<Ops>, found), ends[++k] = found.size()), ...);
        k = 0;
        ((rewrite_nodes<Ops>(std::span(found).subspan(ends[k], ends[k + 1] - ends[k])), ++k), ...);
    }

    void collect(const op_info& op, std::vector<node*>& found) {
        for (graph* g : graphs_) {
            for (node& n : g->nodes_of(op)) found.push_back(&n);
        }
    }

    template <op_tag Op>
    void rewrite_nodes(std::span<node* const> nodes) {
        for (node* n : nodes) {
            if (!status_) return;
            if (n->owner != nullptr) rewrite<Op>(*n);  // else it died with a node that was rewritten before
        }
    }

    template <op_tag Op>
    void rewrite(node& n) {
        graph& g = *n.owner;
        const node* before = n.previous;
        emit<produces_of<P>> e(g, &n, &n, context_);
        value_list with;
        const auto outcome = detail::replacements_for<P, Op>(pass_, args_of<Op>(n), e, with);
        if (outcome == detail::outcome_kind::replaced) {
            if (std::string fault = detail::replacement_fault(n, with); !fault.empty()) {
                status_ = invalid(message_prefix(n) + std::string(pass_name<P>()) + ": " + fault);
                return;
            }
            for (std::uint32_t i = 0; i != n.result_count; ++i) {
                if (!with[i]) continue;
                detail::hand_over_name(n.results[i], with[i]);
                g.replace_all_uses(n.result(i), with[i]);
            }
            ++counts_.rewritten;
        } else if (outcome == detail::outcome_kind::declined) {
            ++counts_.declined;
        }  // else it failed: that is reported, and the node stays
        detail::erase_unused_between(g, before, n);
        if (outcome == detail::outcome_kind::replaced) detail::erase_dead(g, n);
    }

    const P& pass_;
    pass_context& context_;
    std::vector<graph*> graphs_;
    node_counts counts_;
    result<void> status_ = boost::outcome_v2::success();
};

/// Rebuilds the graph: nodes of target ops are dispatched to their handlers, the others are copied, except those
/// without `val`, which are dispatched in full, that is, inferred again. For passes that change metadata globally.
template <pass_type P>
class retracing_driver {
public:
    [[nodiscard]] static result<node_counts> run(const P& p, graph& g, pass_context& context) {
        retracing_driver driver(p, g, context);
        if (result<void> status = driver.retrace(); !status) return std::move(status).error();
        return driver.counts_;
    }

private:
    retracing_driver(const P& p, graph& g, pass_context& context)
        : pass_(p), graph_(g), context_(context), inference_(g.arena()), first_result_(g.id_bound()) {}

    result<void> retrace() {
        // Inputs first, in the order of the signature, which is that of their creation.
        std::vector<node*> old;
        old.reserve(graph_.size());
        for (node& n : graph_.inputs()) old.push_back(&n);
        for (node& n : graph_.nodes()) {
            if (!is<builtin::placeholder>(n)) old.push_back(&n);
        }
        for (node* n : old) {
            if (result<void> status = visit(*n); !status) return status;
        }
        for (std::size_t i = old.size(); i-- != 0;) {
            graph_.erase(*old[i]);
            old[i]->owner = nullptr;
        }
        sweep();
        for (graph* region : detail::live_regions(graph_)) {
            result<node_counts> nested = run(pass_, *region, context_);
            if (!nested) return std::move(nested).error();
            add(nested.value());
        }
        return boost::outcome_v2::success();
    }

    // Handlers leave nodes behind that nothing uses: operands of what they replaced, and what they made in vain. Nodes
    // that were unused before stay: this pass has no say in them.
    void sweep() {
        std::vector<bool> keep(graph_.id_bound());
        for (const std::uint32_t id : unused_before_) keep[id] = true;
        for (node* n = graph_.last(); n != nullptr;) {
            node* previous = n->previous;
            const bool needed = n->first_use != nullptr || keep[n->id] || is<builtin::placeholder>(*n) || is<builtin::output>(*n);
            if (!needed) {
                graph_.erase(*n);
                n->owner = nullptr;
            }
            n = previous;
        }
    }

    void add(const node_counts& more) {
        counts_.rewritten += more.rewritten;
        counts_.declined += more.declined;
        counts_.copied += more.copied;
        counts_.inferred += more.inferred;
    }

    result<void> visit(node& n) {
        // The handler sees the new graph: operands are mapped, and metadata is there, before it is called.
        node& made = copy_of(n);
        const std::span<const result_slot> slots(made.results, made.result_count);
        const bool complete = std::all_of(slots.begin(), slots.end(), [](const auto& s) { return s.meta.has_value(); });
        result<void> status = boost::outcome_v2::success();
        if (!complete) status = infer(made);
        if (status && !dispatch(n, made, status, targets_of<P>{})) {
            remember(n, made);
            ++(complete ? counts_.copied : counts_.inferred);
        }
        return status;
    }

    template <class... Ops>
    bool dispatch(node& n, node& made, result<void>& status, ops<Ops...>) {
        return ((is<Ops>(n) && (rewrite<Ops>(n, made, status), true)) || ...);
    }

    template <op_tag Op>
    void rewrite(node& n, node& made, result<void>& status) {
        emit<produces_of<P>> e(graph_, &made, &made, context_);
        value_list with;
        const auto outcome = detail::replacements_for<P, Op>(pass_, args_of<Op>(made), e, with);
        if (outcome != detail::outcome_kind::replaced) {
            if (outcome == detail::outcome_kind::declined) ++counts_.declined;
            remember(n, made);
            return;
        }
        if (std::string fault = detail::replacement_fault(n, with); !fault.empty()) {
            status = invalid(message_prefix(n) + std::string(pass_name<P>()) + ": " + fault);
            return;
        }
        first_result_[n.id] = results_.size();
        for (std::uint32_t i = 0; i != n.result_count; ++i) {
            results_.push_back(with[i]);
            if (with[i]) detail::hand_over_name(n.results[i], with[i]);
        }
        graph_.erase(made);  // what only it used may still gain users: see sweep
        made.owner = nullptr;
        ++counts_.rewritten;
    }

    result<void> infer(node& made) {
        inference_.clear();
        if (result<void> inferred = context_.infer(made, inference_); !inferred) return inferred;
        if (inference_.results().size() != made.result_count) {
            return invalid(message_prefix(made) + "inference gives " + std::to_string(inference_.results().size()) +
                           " results for " + std::to_string(made.result_count));
        }
        for (std::uint32_t i = 0; i != made.result_count; ++i) graph_.set_meta(made.result(i), inference_.results()[i]);
        return boost::outcome_v2::success();
    }

    node& copy_of(const node& n) {
        node& made = graph_.create(*n.op, n.arguments, n.result_count);
        for (edge& e : std::span(made.operands, made.operand_count)) {
            const value old = *e.slot;
            graph_.set_operand(e, results_[first_result_[old.producer->id] + old.result]);
        }
        std::copy_n(n.results, n.result_count, made.results);
        made.annotations = n.annotations;
        return made;
    }

    void remember(const node& n, node& made) {
        if (n.first_use == nullptr) unused_before_.push_back(made.id);
        first_result_[n.id] = results_.size();
        for (std::uint32_t i = 0; i != n.result_count; ++i) results_.push_back(made.result(i));
    }

    const P& pass_;
    graph& graph_;
    pass_context& context_;
    inference inference_;
    std::vector<std::size_t> first_result_;  // by id of the old node: where its results begin
    std::vector<value> results_;             // what stands for them in the new graph
    std::vector<std::uint32_t> unused_before_;
    node_counts counts_;
};

}  // namespace headrace

#endif
