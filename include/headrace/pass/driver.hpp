// SPDX-License-Identifier: MIT
// Defines the two drivers that run a pass's handlers over a graph: in place, and retracing.
#ifndef HEADRACE_PASS_DRIVER_HPP
#define HEADRACE_PASS_DRIVER_HPP

#include <cstdint>
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

/// Null if the replacements can stand for the results of `n`: one for each that is used, of the same shape.
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

/// Puts `with` in place of the results of `n`. A result's name goes over to a new node that has none.
inline void replace_node(graph& g, node& n, const value_list& with) {
    for (std::uint32_t i = 0; i != n.result_count; ++i) {
        if (!with[i]) continue;
        result_slot& slot = with[i].producer->results[with[i].result];
        if (slot.name.empty()) slot.name = n.results[i].name;
        g.replace_all_uses(n.result(i), with[i]);
    }
    erase_dead(g, n);
}

template <class F>
void for_each_graph(graph& g, F&& f) {
    f(g);
    for (graph& region : g.regions()) for_each_graph(region, f);
}

}  // namespace detail

/// Visits only the nodes of the pass's targets, op by op, and rewrites each where it stands. Nodes that handlers add
/// are not visited in the same run.
template <pass_type P>
class in_place_driver {
public:
    [[nodiscard]] static result<node_counts> run(const P& p, graph& g, pass_context& context) {
        node_counts counts;
        std::vector<node*> found;
        result<void> status = boost::outcome_v2::success();
        visit_targets(p, g, context, found, counts, status, targets_of<P>{});
        if (!status) return std::move(status).error();
        return counts;
    }

private:
    template <class... Ops>
    static void visit_targets(const P& p, graph& g, pass_context& context, std::vector<node*>& found,
                              node_counts& counts, result<void>& status, ops<Ops...>) {
        // Collected before any is rewritten, so that what one handler emits is not visited for another target.
        std::size_t ends[sizeof...(Ops) + 1]{};
        std::size_t k = 0;
        const auto collect = [&](const op_info& op) {
            detail::for_each_graph(g, [&](graph& sub) {
                for (node& n : sub.nodes_of(op)) found.push_back(&n);
            });
            ends[++k] = found.size();
        };
        (collect(info_of<Ops>), ...);
        k = 0;
        const auto rewrite = [&]<class Op>() {
            for (std::size_t i = ends[k]; i != ends[k + 1] && status; ++i) {
                status = rewrite_node<Op>(p, *found[i], context, counts);
            }
            ++k;
        };
        (rewrite.template operator()<Ops>(), ...);
    }

    template <op_tag Op>
    static result<void> rewrite_node(const P& p, node& n, pass_context& context, node_counts& counts) {
        if (n.owner == nullptr) return boost::outcome_v2::success();  // died with a node that was rewritten before
        graph& g = *n.owner;
        emit<produces_of<P>> e(g, &n, &n, context);
        value_list with;
        switch (detail::replacements_for<P, Op>(p, args_of<Op>(n), e, with)) {
            case detail::outcome_kind::failed: return boost::outcome_v2::success();  // reported; the node stays
            case detail::outcome_kind::declined: ++counts.declined; return boost::outcome_v2::success();
            case detail::outcome_kind::replaced: break;
        }
        if (std::string fault = detail::replacement_fault(n, with); !fault.empty()) {
            return invalid(message_prefix(n) + std::string(pass_name<P>()) + ": " + fault);
        }
        detail::replace_node(g, n, with);
        ++counts.rewritten;
        return boost::outcome_v2::success();
    }
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
        : pass_(p), graph_(g), context_(context), inference_(g.arena()), renamed_(g.id_bound(), nullptr) {}

    result<void> retrace() {
        std::vector<node*> old;
        for (node& n : graph_.nodes()) old.push_back(&n);
        for (node* n : old) {
            if (result<void> status = visit(*n); !status) return std::move(status).error();
        }
        for (std::size_t i = old.size(); i-- != 0;) {
            graph_.erase(*old[i]);
            old[i]->owner = nullptr;
        }
        sweep();
        for (graph& region : graph_.regions()) {
            result<node_counts> nested = run(pass_, region, context_);
            if (!nested) return std::move(nested).error();
            add(nested.value());
        }
        return boost::outcome_v2::success();
    }

    // Handlers leave operands behind that nothing uses any more.
    void sweep() {
        for (node* n = graph_.last(); n != nullptr;) {
            node* before = n->previous;
            if (n->first_use == nullptr && !is<builtin::placeholder>(*n) && !is<builtin::output>(*n)) graph_.erase(*n);
            n = before;
        }
    }

    void add(const node_counts& more) {
        counts_.rewritten += more.rewritten;
        counts_.declined += more.declined;
        counts_.copied += more.copied;
        counts_.inferred += more.inferred;
    }

    result<void> visit(node& n) {
        bool dispatched = false;
        result<void> status = boost::outcome_v2::success();
        dispatch(n, dispatched, status, targets_of<P>{});
        if (!status || dispatched) return status;
        return copy(n);
    }

    template <class... Ops>
    void dispatch(node& n, bool& dispatched, result<void>& status, ops<Ops...>) {
        const auto offer = [&]<class Op>() {
            if (!is<Op>(n)) return false;
            dispatched = rewrite<Op>(n, status);
            return true;
        };
        static_cast<void>((offer.template operator()<Ops>() || ...));
    }

    template <op_tag Op>
    bool rewrite(node& n, result<void>& status) {
        // The handler sees the new graph: its operands are mapped before it is called.
        node& mapped = map_operands(n);
        emit<produces_of<P>> e(graph_, &mapped, &mapped, context_);
        value_list with;
        const auto kind = detail::replacements_for<P, Op>(pass_, args_of<Op>(mapped), e, with);
        if (kind != detail::outcome_kind::replaced) {
            if (kind == detail::outcome_kind::declined) ++counts_.declined;
            return remember(n, mapped), true;
        }
        if (std::string fault = detail::replacement_fault(n, with); !fault.empty()) {
            status = invalid(message_prefix(n) + std::string(pass_name<P>()) + ": " + fault);
            return true;
        }
        value* results = reserve(n);
        for (std::uint32_t i = 0; i != n.result_count; ++i) {
            results[i] = with[i];
            if (!with[i]) continue;
            result_slot& slot = with[i].producer->results[with[i].result];
            if (slot.name.empty()) slot.name = n.results[i].name;
        }
        graph_.erase(mapped);  // what only it used may still gain users: see sweep
        ++counts_.rewritten;
        return true;
    }

    result<void> copy(node& n) {
        node& made = map_operands(n);
        remember(n, made);
        bool complete = true;
        for (std::uint32_t i = 0; i != n.result_count; ++i) complete = complete && n.results[i].meta.has_value();
        if (complete) {
            ++counts_.copied;
            return boost::outcome_v2::success();
        }
        inference_.clear();
        if (result<void> inferred = context_.infer(made, inference_); !inferred) return inferred;
        for (std::uint32_t i = 0; i != made.result_count; ++i) graph_.set_meta(made.result(i), inference_.results()[i]);
        ++counts_.inferred;
        return boost::outcome_v2::success();
    }

    node& map_operands(const node& n) {
        node& made = graph_.create(*n.op, n.arguments, n.result_count);
        for (edge& e : std::span(made.operands, made.operand_count)) {
            const value old = *e.slot;
            graph_.set_operand(e, renamed_[old.producer->id][old.result]);
        }
        for (std::uint32_t i = 0; i != n.result_count; ++i) made.results[i] = n.results[i];
        made.annotations = n.annotations;
        return made;
    }

    value* reserve(const node& n) {
        value* results = static_cast<value*>(graph_.arena()->allocate((n.result_count + 1) * sizeof(value), alignof(value)));
        renamed_[n.id] = results;
        return results;
    }
    void remember(const node& n, node& made) {
        value* results = reserve(n);
        for (std::uint32_t i = 0; i != n.result_count; ++i) results[i] = made.result(i);
    }

    const P& pass_;
    graph& graph_;
    pass_context& context_;
    inference inference_;
    std::vector<value*> renamed_;  // by id of the old node: its results in the new graph
    node_counts counts_;
};

}  // namespace headrace

#endif
