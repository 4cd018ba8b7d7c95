// SPDX-License-Identifier: MIT
// Defines the traversal of the retracing driver.
#ifndef HEADRACE_PASS_RETRACING_RUN_HPP
#define HEADRACE_PASS_RETRACING_RUN_HPP

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include <headrace/base/flat_map.hpp>
#include <headrace/base/mix.hpp>
#include <headrace/base/pmr_vector.hpp>
#include <headrace/base/text.hpp>
#include <headrace/ir/regions.hpp>
#include <headrace/pass/in_place_run.hpp>

namespace headrace::detail {

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

}  // namespace headrace::detail

#endif
