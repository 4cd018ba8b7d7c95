// SPDX-License-Identifier: MIT
// Defines the traversals of the two drivers.
#ifndef HEADRACE_PASS_DRIVER_DEFINITION_HPP
#define HEADRACE_PASS_DRIVER_DEFINITION_HPP

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <span>
#include <string>
#include <utility>

#include <headrace/base/compiled.hpp>
#include <headrace/base/flat_map.hpp>
#include <headrace/base/mix.hpp>
#include <headrace/base/pmr_vector.hpp>
#include <headrace/base/text.hpp>
#include <headrace/ir/edits.hpp>
#include <headrace/ir/regions.hpp>

namespace headrace::detail {

/// Refuses replacements that do not match the results of `n`: there must be one for each used result, with
/// the same shape unless the shape may change.
inline result<void> check_replacements(const node& n, const value_list& with, bool shape_may_change) {
    if (with.size() != n.result_count) {
        return invalid({"the pass gave ", counted_text(with.size(), "result"), " for ", n.result_count});
    }
    for (std::uint32_t i = 0; i != n.result_count; ++i) {
        const bool used = is_used({const_cast<node*>(&n), i});
        if (!with[i]) {
            if (used) return unsupported({"result ", i, " is used, and has no lowering"});
            continue;
        }
        const auto& before = n.results[i].meta;
        const tensor_meta* after = meta_of(with[i]);
        if (!shape_may_change && before && after != nullptr && !(before->shape == after->shape)) {
            return invalid({"the pass changed the shape of result ", i});
        }
    }
    return {};
}

/// Erases unused nodes between `before` (or the first) and `n`, which a handler made in vain. Inputs and
/// outputs stay if `keep_signature`, that is, if the handler did not fail.
inline void erase_unused_between(graph& g, const node* before, node& n, bool keep_signature) {
    for (node* made = n.previous; made != before;) {
        node* previous = made->previous;
        const bool needed = keep_signature && (is<builtin::placeholder>(*made) || is<builtin::output>(*made));
        if (made->first_use == nullptr && !needed) g.erase(*made);
        made = previous;
    }
}

/// Rewrites one node by a handler, and counts the outcome.
class pass_run {
protected:
    pass_run(const erased_pass& p, graph& g, pass_context& context)
        : pass_(p), graph_(g), context_(context), made_(g, context) {}

    result<void> rewrite(node& n, const handler& h) {
        graph& g = *n.owner;
        const node* before = n.previous;
        value_list with;
        made_.begin(g, &n, &n);
        outcome_kind outcome = h.call(pass_.object, emitter(made_), with);
        if (outcome == outcome_kind::replaced) {
            const result<void> sound = check_replacements(n, with, pass_.changes_metadata);
            if (!sound) {
                const error& fault = sound.error();
                if (fault.kind == error_kind::invalid && context_.diagnostics().empty())
                    return fault.in(message_prefix(n) + std::pmr::string(pass_.name));
                context_.report(n, fault.message, fault.kind);
                outcome = outcome_kind::failed;
            }
        }
        if (outcome == outcome_kind::replaced) {
            for (std::uint32_t i = 0; i != n.result_count; ++i) {
                if (with[i]) replace_result(g, n.result(i), with[i]);
            }
            ++counts_.rewritten;
        } else if (outcome == outcome_kind::declined) {
            ++counts_.declined;
        } else if (outcome == outcome_kind::kept) {
            ++counts_.copied;
        }  // a failure has been reported; the node stays
        erase_unused_between(g, before, n, outcome == outcome_kind::replaced);
        if (outcome == outcome_kind::replaced) erase_replaced(g, n, with);
        return {};
    }

    /// Marks the users of `from`, whose type has changed.
    void mark_users(value from) {
        for (const edge& e : from.producer->uses()) {
            if (e.slot->result == from.result) stale_.push_back(e.target);
        }
    }

    const erased_pass& pass_;
    graph& graph_;
    pass_context& context_;
    emission made_;
    node_counts counts_;
    pmr_vector<const node*> stale_;  // to be inferred again when visited

private:
    void replace_result(graph& g, value from, value to) {
        if (pass_.changes_metadata) {
            const tensor_meta* was = meta_of(from);
            const tensor_meta* is_now = meta_of(to);
            if (was == nullptr || is_now == nullptr || !same_val(*was, *is_now)) mark_users(from);
        }
        // An input keeps its name: the new value after it is a different one.
        if (!is<builtin::placeholder>(*from.producer)) {
            hand_over_name(from.producer->results[from.result], to);
        }
        g.replace_all_uses(from, to);
    }

    static void erase_replaced(graph& g, node& n, const value_list& with) {
        if (is<builtin::placeholder>(n) || is<builtin::output>(n)) {
            g.erase(n);
        } else {
            erase_dead(g, n, with.size() == 1 && with[0] ? with[0].producer : nullptr);
        }
    }
};

class in_place_run : pass_run {
public:
    in_place_run(const erased_pass& p, graph& g, pass_context& context) : pass_run(p, g, context) {}

    result<node_counts> run() {
        if (pass_.in_execution_order) {
            if (result<void> status = run_in_order(graph_); !status) return std::move(status).error();
            return counts_;
        }
        // Nodes are collected first, so that nodes emitted by one handler are not visited for another target.
        pmr_vector<graph*> graphs;
        for_each_graph(graph_, [&](graph& sub) { graphs.push_back(&sub); });
        found_nodes found;
        for (const handler& h : pass_.handlers) {
            for (graph* sub : graphs) {
                for (node& n : sub->nodes_of(*h.op)) found.push_back({&n, &h});
            }
        }
        if (result<void> status = rewrite_all(found); !status) return std::move(status).error();
        return counts_;
    }

private:
    // A std::pair in a pmr container would take as long to compile as the rest of this file.
    struct found_node {
        node* target;
        const handler* by;
    };
    using found_nodes = pmr_vector<found_node>;

    result<void> rewrite_all(const found_nodes& found) {
        for (const found_node& f : found) {
            if (f.target->owner == nullptr) continue;  // an earlier rewrite erased it
            HEADRACE_TRY(rewrite(*f.target, *f.by));
        }
        return {};
    }

    // Visits each graph before its regions, because handlers may change the signatures of regions.
    result<void> run_in_order(graph& g) {
        found_nodes found;
        for (node& n : g.nodes()) {
            for (const handler& h : pass_.handlers) {
                if (h.op == n.op) found.push_back({&n, &h});
            }
        }
        HEADRACE_TRY(rewrite_all(found));
        for (graph* region : live_regions(g)) {
            HEADRACE_TRY(run_in_order(*region));
        }
        return {};
    }
};

/// The handlers of a pass by op: a lookup instead of a search for each node.
class handler_index {
    [[nodiscard]] static auto is_of(const op_info& op) {
        return [&op](const handler* h) { return h->op == &op; };
    }

public:
    explicit handler_index(std::span<const handler> handlers) {
        handlers_.reserve(handlers.size());
        for (const handler& h : handlers) handlers_.find_or_add(hash_of_address(h.op), is_of(*h.op)) = &h;
    }
    [[nodiscard]] const handler* find(const op_info& op) const {
        const auto* const found = handlers_.find(hash_of_address(&op), is_of(op));
        return found == nullptr ? nullptr : *found;
    }

private:
    flat_map<const handler*> handlers_;
};

/// Visits every node in execution order. The new graph reuses the nodes of the old one, since both would be
/// in the same arena and the old one is dropped: a copied node is the node itself, with the current values as
/// operands. This takes a few nanoseconds; a real copy took 185.
class retracing_run : pass_run {
public:
    retracing_run(const erased_pass& p, graph& g, pass_context& context)
        : pass_run(p, g, context), inference_(g.arena()), handlers_(p.handlers) {}

    result<node_counts> run() {
        if (result<void> status = retrace(graph_); !status) return std::move(status).error();
        return counts_;
    }

    result<void> retrace(graph& g) {
        const bool inputs_first = handlers_.find(info_of<builtin::placeholder>) != nullptr;
        if (inputs_first) {
            // Inputs come in the order of the signature, which is their order of creation.
            pmr_vector<node*> inputs;
            for (node& n : g.inputs()) inputs.push_back(&n);
            for (node* n : inputs) {
                HEADRACE_TRY(visit(*n));
            }
        }
        const bool has_regions = !g.regions().empty();
        const bool visits_regions = has_regions && pass_.submodule != nullptr;
        for (node* n = g.first(); n != nullptr;) {
            node* next = n->next;  // nodes that handlers make come before `n` and are not visited
            if (!visits_regions && is_copied(*n)) {
                ++counts_.copied;
            } else if (!inputs_first || !is<builtin::placeholder>(*n)) {
                HEADRACE_TRY(visit(*n));
            }
            n = next;
        }
        if (!has_regions || visits_regions) return {};
        for (graph* region : live_regions(g)) {
            HEADRACE_TRY(retrace(*region));
        }
        return {};
    }

private:
    /// True for most nodes in most passes: the node is not a target, has all its `val`, and nothing that it
    /// depends on has changed.
    [[nodiscard]] bool is_copied(const node& n) const {
        return handlers_.find(*n.op) == nullptr && pass_.fallback == nullptr && stale_.empty() &&
            context_.copies_fast() && has_val(n);
    }
    [[nodiscard]] static bool has_val(const node& n) {
        for (std::uint32_t i = 0; i != n.result_count; ++i) {
            if (!n.results[i].meta) return false;
        }
        return true;
    }

    result<void> visit(node& n) {
        bool stale = erase_if(stale_, [&](const node* other) { return other == &n; }) != 0;
        if (pass_.submodule != nullptr) {
            HEADRACE_TRY(visit_regions(n, stale));
        }
        const bool builtin_op = is_of_dialect<builtin::dialect>(n);
        const bool missing = !has_val(n);
        const bool inferred = missing || (!builtin_op && (stale || !context_.copies_fast()));
        if (inferred) {
            HEADRACE_TRY(infer(n, missing || stale));
        }
        const handler* h = handlers_.find(*n.op);
        if (h == nullptr && !builtin_op) h = pass_.fallback;
        if (h != nullptr) return rewrite(n, *h);
        ++(inferred ? counts_.inferred : counts_.copied);
        return {};
    }

    /// Sets `stale` if a region now has results of other types.
    result<void> visit_regions(node& n, bool& stale) {
        result<void> status;
        for_each_region(n, [&](const field_info&, graph* region) {
            if (!status || region == nullptr) return;
            const pmr_vector<tensor_meta> before = output_metas(*region);
            status = pass_.submodule(pass_.object, *this, *region, n, context_);
            const pmr_vector<tensor_meta> after = output_metas(*region);
            stale = stale || !std::equal(before.begin(), before.end(), after.begin(), after.end(), same_val);
        });
        return status;
    }
    [[nodiscard]] static pmr_vector<tensor_meta> output_metas(const graph& g) {
        pmr_vector<tensor_meta> metas;
        for (const value v : g.outputs())
            metas.push_back(meta_of(v) == nullptr ? tensor_meta{} : *meta_of(v));
        return metas;
    }

    /// Without `store`, the inferred result is dropped: a pass such as narrow_int64 may know better.
    result<void> infer(node& n, bool store) {
        inference_.clear();
        if (result<void> inferred = context_.infer(n, inference_); !inferred) return inferred;
        if (inference_.results().size() != n.result_count) {
            return invalid({message_prefix(n), "inference gives ",
                counted_text(inference_.results().size(), "result"), " for ", n.result_count});
        }
        for (std::uint32_t i = 0; store && i != n.result_count; ++i) {
            const auto& was = n.results[i].meta;
            const tensor_meta& is_now = inference_.results()[i];
            if (is_now.dtype == dtype::unknown) continue;  // the rule leaves it open
            if (pass_.changes_metadata && was && !(*was == is_now)) mark_users(n.result(i));
            if (!was || !(*was == is_now)) n.owner->set_meta(n.result(i), is_now);
        }
        return {};
    }

    inference inference_;
    handler_index handlers_;
};

HEADRACE_INLINE bool has_any_of(const graph& g, std::span<const op_info* const> ops) {
    return std::ranges::any_of(ops, [&](const op_info* op) {
        const std::span<const std::uint64_t> present = g.census().present(*op->dialect);
        return !present.empty() && (present[op->index / 64] >> op->index % 64 & 1) != 0;
    });
}

HEADRACE_INLINE result<node_counts> run_handlers(
    const erased_pass& p, graph& g, pass_context& context, driver_kind driver) {
    if (driver == driver_kind::in_place) return in_place_run(p, g, context).run();
    return retracing_run(p, g, context).run();
}

HEADRACE_INLINE result<void> retrace_region(retracing_run& run, graph& region) { return run.retrace(region); }

}  // namespace headrace::detail

#endif
