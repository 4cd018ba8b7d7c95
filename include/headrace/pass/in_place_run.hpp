// SPDX-License-Identifier: MIT
// Defines the traversal of the driver that rewrites nodes in place, and the rewrite of one node by a handler.
#ifndef HEADRACE_PASS_IN_PLACE_RUN_HPP
#define HEADRACE_PASS_IN_PLACE_RUN_HPP

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

#include <headrace/base/pmr_vector.hpp>
#include <headrace/base/text.hpp>
#include <headrace/ir/edits.hpp>
#include <headrace/ir/regions.hpp>
#include <headrace/pass/erased_pass.hpp>

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

}  // namespace headrace::detail

#endif
