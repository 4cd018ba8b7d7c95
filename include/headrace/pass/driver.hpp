// SPDX-License-Identifier: MIT
// Defines the two drivers that run a pass's handlers over a graph: in place, and retracing.
#ifndef HEADRACE_PASS_DRIVER_HPP
#define HEADRACE_PASS_DRIVER_HPP

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
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

/// A handler whose types are erased: drivers are then compiled once, not once for each pass and target.
struct handler {
    const op_info* op;
    outcome_kind (*call)(const void* pass, graph& g, node& n, pass_context& context, value_list& with);
};

template <class P, class Op>
outcome_kind call_erased(const void* pass, graph& g, node& n, pass_context& context, value_list& with) {
    emit<produces_of<P>> e(g, &n, &n, context);
    return replacements_for<P, Op>(*static_cast<const P*>(pass), args_of<Op>(n), e, with);
}

template <class P, class Targets>
struct handlers_in;
template <class P, class... Ops>
struct handlers_in<P, ops<Ops...>> {
    static constexpr std::array<handler, sizeof...(Ops)> value{{{&info_of<Ops>, &call_erased<P, Ops>}...}};
};

/// A pass as the drivers see it.
struct erased_pass {
    const void* object;
    std::string_view name;
    std::span<const handler> handlers;
};
template <class P>
erased_pass erase_type(const P& p) {
    return {&p, pass_name<P>(), handlers_in<P, targets_of<P>>::value};
}

/// Empty if the replacements can stand for the results of `n`: one for each that is used, of the same shape.
inline std::string replacement_fault(const node& n, const value_list& with) {
    if (with.size() != n.result_count) {
        return "the pass gave " + std::to_string(with.size()) + " results for " +
               std::to_string(n.result_count);
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

/// Erases those of the nodes between `before`, or the first, and `n` that nothing uses: what a handler made
/// in vain.
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

/// The regions that nodes of `g` hold, each once. Those whose node was erased are still the graph's, but
/// dead.
[[nodiscard]] inline std::vector<graph*> live_regions(graph& g) {
    std::vector<graph*> live;
    if (g.regions().empty()) return live;
    for (node& n : g.nodes()) {
        for (const field_info& f : *n.op) {
            if (f.kind != field_kind::region) continue;
            graph* region =
                *reinterpret_cast<graph* const*>(static_cast<const std::byte*>(n.arguments) + f.offset);
            if (region != nullptr && std::find(live.begin(), live.end(), region) == live.end())
                live.push_back(region);
        }
    }
    return live;
}

template <class F>
void for_each_graph(graph& g, F&& f) {
    f(g);
    for (graph* region : live_regions(g)) for_each_graph(*region, f);
}

class in_place_run {
public:
    in_place_run(const erased_pass& p, pass_context& context) : pass_(p), context_(context) {}

    result<node_counts> run(graph& g) {
        // Collected before any is rewritten, so that what one handler emits is not visited for another
        // target.
        std::vector<graph*> graphs;
        for_each_graph(g, [&](graph& sub) { graphs.push_back(&sub); });
        std::vector<std::pair<node*, const handler*>> found;
        for (const handler& h : pass_.handlers) {
            for (graph* sub : graphs) {
                for (node& n : sub->nodes_of(*h.op)) found.emplace_back(&n, &h);
            }
        }
        for (const auto& [n, h] : found) {
            if (n->owner == nullptr) continue;  // it died with a node that was rewritten before
            if (result<void> status = rewrite(*n, *h); !status) return std::move(status).error();
        }
        return counts_;
    }

private:
    result<void> rewrite(node& n, const handler& h) {
        graph& g = *n.owner;
        const node* before = n.previous;
        value_list with;
        const outcome_kind outcome = h.call(pass_.object, g, n, context_, with);
        if (outcome == outcome_kind::replaced) {
            if (std::string fault = replacement_fault(n, with); !fault.empty()) {
                return invalid(message_prefix(n) + std::string(pass_.name) + ": " + fault);
            }
            for (std::uint32_t i = 0; i != n.result_count; ++i) {
                if (!with[i]) continue;
                hand_over_name(n.results[i], with[i]);
                g.replace_all_uses(n.result(i), with[i]);
            }
            ++counts_.rewritten;
        } else if (outcome == outcome_kind::declined) {
            ++counts_.declined;
        }  // else it failed: that is reported, and the node stays
        erase_unused_between(g, before, n);
        if (outcome == outcome_kind::replaced) erase_dead(g, n);
        return boost::outcome_v2::success();
    }

    const erased_pass& pass_;
    pass_context& context_;
    node_counts counts_;
};

class retracing_run {
public:
    retracing_run(const erased_pass& p, graph& g, pass_context& context)
        : pass_(p), graph_(g), context_(context), inference_(g.arena()), first_result_(g.id_bound()) {}

    result<node_counts> run() {
        // Inputs first, in the order of the signature, which is that of their creation.
        std::vector<node*> old;
        old.reserve(graph_.size());
        for (node& n : graph_.inputs()) old.push_back(&n);
        for (node& n : graph_.nodes()) {
            if (!is<builtin::placeholder>(n)) old.push_back(&n);
        }
        for (node* n : old) {
            if (result<void> status = visit(*n); !status) return std::move(status).error();
        }
        for (std::size_t i = old.size(); i-- != 0;) {
            graph_.erase(*old[i]);
            old[i]->owner = nullptr;
        }
        sweep();
        for (graph* region : live_regions(graph_)) {
            result<node_counts> nested = retracing_run(pass_, *region, context_).run();
            if (!nested) return std::move(nested).error();
            add(nested.value());
        }
        return counts_;
    }

private:
    // Handlers leave nodes behind that nothing uses: operands of what they replaced, and what they made in
    // vain. Nodes that were unused before stay: this pass has no say in them.
    void sweep() {
        std::vector<bool> keep(graph_.id_bound());
        for (const std::uint32_t id : unused_before_) keep[id] = true;
        for (node* n = graph_.last(); n != nullptr;) {
            node* previous = n->previous;
            const bool needed = n->first_use != nullptr || keep[n->id] || is<builtin::placeholder>(*n) ||
                                is<builtin::output>(*n);
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
        const bool complete =
            std::all_of(slots.begin(), slots.end(), [](const auto& s) { return s.meta.has_value(); });
        result<void> status = boost::outcome_v2::success();
        if (!complete) status = infer(made);
        if (!status) return status;
        for (const handler& h : pass_.handlers) {
            if (h.op == n.op) return rewrite(n, made, h);
        }
        remember(n, made);
        ++(complete ? counts_.copied : counts_.inferred);
        return status;
    }

    result<void> rewrite(node& n, node& made, const handler& h) {
        value_list with;
        const outcome_kind outcome = h.call(pass_.object, graph_, made, context_, with);
        if (outcome != outcome_kind::replaced) {
            if (outcome == outcome_kind::declined) ++counts_.declined;
            remember(n, made);
            return boost::outcome_v2::success();
        }
        if (std::string fault = replacement_fault(n, with); !fault.empty()) {
            return invalid(message_prefix(n) + std::string(pass_.name) + ": " + fault);
        }
        first_result_[n.id] = results_.size();
        for (std::uint32_t i = 0; i != n.result_count; ++i) {
            results_.push_back(with[i]);
            if (with[i]) hand_over_name(n.results[i], with[i]);
        }
        graph_.erase(made);  // what only it used may still gain users: see sweep
        made.owner = nullptr;
        ++counts_.rewritten;
        return boost::outcome_v2::success();
    }

    result<void> infer(node& made) {
        inference_.clear();
        if (result<void> inferred = context_.infer(made, inference_); !inferred) return inferred;
        if (inference_.results().size() != made.result_count) {
            return invalid(message_prefix(made) + "inference gives " +
                           std::to_string(inference_.results().size()) + " results for " +
                           std::to_string(made.result_count));
        }
        for (std::uint32_t i = 0; i != made.result_count; ++i)
            graph_.set_meta(made.result(i), inference_.results()[i]);
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

    const erased_pass& pass_;
    graph& graph_;
    pass_context& context_;
    inference inference_;
    std::vector<std::size_t> first_result_;  // by id of the old node: where its results begin
    std::vector<value> results_;             // what stands for them in the new graph
    std::vector<std::uint32_t> unused_before_;
    node_counts counts_;
};

}  // namespace detail

/// Visits only the nodes of the pass's targets, op by op, and rewrites each where it stands. Nodes that
/// handlers add are not visited in the same run.
template <pass_type P>
class in_place_driver {
public:
    [[nodiscard]] static result<node_counts> run(const P& p, graph& g, pass_context& context) {
        const detail::erased_pass erased = detail::erase_type(p);
        return detail::in_place_run(erased, context).run(g);
    }
};

/// Rebuilds the graph: nodes of target ops are dispatched to their handlers, the others are copied, except
/// those without `val`, which are dispatched in full, that is, inferred again. For passes that change
/// metadata globally.
template <pass_type P>
class retracing_driver {
public:
    [[nodiscard]] static result<node_counts> run(const P& p, graph& g, pass_context& context) {
        const detail::erased_pass erased = detail::erase_type(p);
        return detail::retracing_run(erased, g, context).run();
    }
};

}  // namespace headrace

#endif
