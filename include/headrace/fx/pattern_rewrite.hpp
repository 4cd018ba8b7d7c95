// SPDX-License-Identifier: MIT
// Defines the replacement of all matches of a pattern in a graph, for headrace::replace_pattern, and its
// options and results.
#ifndef HEADRACE_FX_PATTERN_REWRITE_HPP
#define HEADRACE_FX_PATTERN_REWRITE_HPP

#include <algorithm>
#include <cstddef>
#include <functional>
#include <memory>
#include <memory_resource>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include <headrace/base/pmr_vector.hpp>
#include <headrace/base/text.hpp>
#include <headrace/fx/execution_span.hpp>
#include <headrace/fx/replacement.hpp>
#include <headrace/fx/subgraph_matcher.hpp>
#include <headrace/ir/edits.hpp>
#include <headrace/pass/driver.hpp>
#include <headrace/rewrite/pass_context.hpp>

namespace headrace {

/// The result of one replaced match.
struct replaced_pattern {
    node* anchor = nullptr;          ///< the match was found from it; may be erased
    node_map nodes_map;              ///< the pattern's nodes, and the matched ones
    pmr_vector<node*> replacements;  ///< the nodes that were added
    /// The pattern whose nodes are in nodes_map, if it was given as an expression.
    std::shared_ptr<const graph> pattern{};
};

/// Decides whether a match is replaced: `(match, original graph, pattern graph)`. All filters must agree.
using match_filter = std::function<bool(const subgraph_match&, const graph&, const graph&)>;

/// Options of a replacement. In `matching`, `match_output` and `remove_overlapping_matches` are ignored: the
/// output is never replaced, and of overlapping matches the first that passes the filters counts.
struct rewrite_options {
    matcher_options matching{};
    std::string_view name = "pattern";  ///< for messages
};

namespace detail {

/// Replaces all matches of a pattern in a graph.
class pattern_rewrite {
public:
    pattern_rewrite(graph& g, const graph& pattern, const replacement& with,
        std::span<const match_filter> filters, pass_context& context, const rewrite_options& options)
        : graph_(g), pattern_(pattern), with_(with), filters_(filters), context_(context), options_(options) {
        options_.matching.match_output = false;
        options_.matching.remove_overlapping_matches = false;
    }

    result<pmr_vector<replaced_pattern>> run() {
        const subgraph_matcher matcher(pattern_, options_.matching);
        auto matches = matcher.match(graph_);
        if (!matches) return fault(matches.error().message);
        erase_if(matches.value(), [&](const subgraph_match& m) {
            return !std::all_of(filters_.begin(), filters_.end(),
                [&](const match_filter& f) { return f(m, std::as_const(graph_), pattern_); });
        });
        subgraph_matcher::remove_overlapping(matches.value());
        pmr_vector<replaced_pattern> replaced;
        for (subgraph_match& m : matches.value()) {
            if (auto status = replace(m, replaced); !status) return std::move(status).error();
        }
        return replaced;
    }

private:
    [[nodiscard]] error fault(const std::pmr::string& reason) const {
        return invalid({options_.name, ": ", reason});
    }

    result<void> replace(subgraph_match& m, pmr_vector<replaced_pattern>& replaced) {
        follow_changes(m);
        const pmr_vector<node*> nodes = m.nodes();
        if (!all_alive(m, nodes)) return {};
        // Earlier replacements may have closed a path that leaves this match and comes back.
        const execution_span span(nodes);
        if (!span.convex()) return {};
        node& last = span.last() != nullptr ? *span.last() : *m.anchors[0];
        node* const behind = last.next;
        const pmr_vector<node*> users = span.users_between();

        value_list with;
        const replacement_site site{graph_, *m.anchors[0], behind, context_};
        const outcome_kind outcome = with_(m, pattern_, site, with);
        pmr_vector<node*> made;
        for (node* n = last.next; n != behind; n = n->next) made.push_back(n);
        if (outcome != outcome_kind::replaced) {
            erase_unused(made);
            return {};
        }
        if (std::pmr::string reason = misfit(m, with); !reason.empty())
            return fault(message_prefix(*m.anchors[0]) + reason);

        for (node* n : made) {
            for (const node* from : m.returning_nodes) graph_.inherit_annotations(*n, *from);
            for (const node* from : nodes) graph_.inherit_annotations(*n, *from);
        }
        put_in_place(m, with, made);
        // Users of new results move after them, in their old order.
        for (node* n : users) graph_.move_before(*n, behind);
        erase_unused(made);
        std::for_each(nodes.rbegin(), nodes.rend(), [&](node* n) { erase_dead(graph_, *n); });
        erase_if(made, [](const node* n) { return n->owner == nullptr; });
        replaced.push_back({m.anchors[0], m.nodes_map, std::move(made), {}});
        return {};
    }

    void put_in_place(const subgraph_match& m, const value_list& with, const pmr_vector<node*>& made) {
        for (std::size_t i = 0; i != with.size(); ++i) {
            const value from = m.returning_values[i];
            if (!with[i]) continue;
            hand_over_name(from.producer->results[from.result], with[i]);
            redirect(from, with[i], made);
            changes_.emplace_back(from, with[i]);
        }
    }

    // An input of this match may have been replaced by an earlier match.
    void follow_changes(subgraph_match& m) const {
        for (std::size_t i = 0; i != m.placeholder_values.size(); ++i) {
            value& v = m.placeholder_values[i];
            const node* const before = v.producer;
            for (bool changed = true; changed && v;) {
                const auto found = std::find_if(changes_.rbegin(), changes_.rend(),
                    [&](const auto& change) { return change.first == v; });
                changed = found != changes_.rend();
                if (changed) v = found->second;
            }
            if (v.producer == before) continue;
            m.placeholder_nodes[i] = v.producer;
            m.nodes_map.replace(before, v.producer);
        }
    }
    // Dead nodes were erased with the match that made them dead, even if they belong to another.
    [[nodiscard]] static bool all_alive(const subgraph_match& m, const pmr_vector<node*>& nodes) {
        return std::all_of(nodes.begin(), nodes.end(), [](const node* n) { return n->owner != nullptr; }) &&
            std::all_of(m.placeholder_values.begin(), m.placeholder_values.end(),
                [](value v) { return !v || v.producer->owner != nullptr; });
    }
    [[nodiscard]] std::pmr::string misfit(const subgraph_match& m, const value_list& with) const {
        if (with.size() != m.returning_values.size()) {
            return text_of(
                {"the replacement gives ", with.size(), " values for ", m.returning_values.size()});
        }
        for (std::size_t i = 0; i != with.size(); ++i) {
            const value from = m.returning_values[i];
            const std::pmr::string which = text_of({"result ", i});
            if (!with[i]) {
                if (use_count(from) != 0) return text_of({"the replacement gives nothing for ", which});
                continue;
            }
            const tensor_meta* before = meta_of(from);
            const tensor_meta* after = meta_of(with[i]);
            if (before != nullptr && after != nullptr && !(before->shape == after->shape))
                return text_of({"the replacement changes the shape of ", which});
        }
        return {};
    }
    // A replacement may use the value that it replaces.
    void redirect(value from, value to, const pmr_vector<node*>& made) {
        for (edge* e = from.producer->first_use; e != nullptr;) {
            edge* const next = e->next_use;
            if (e->slot->result == from.result &&
                std::find(made.begin(), made.end(), e->target) == made.end())
                graph_.set_operand(*e, to);
            e = next;
        }
    }
    void erase_unused(const pmr_vector<node*>& made) {
        std::for_each(made.rbegin(), made.rend(), [&](node* n) {
            if (n->first_use == nullptr) graph_.erase(*n);
        });
    }

    graph& graph_;
    const graph& pattern_;
    const replacement& with_;
    std::span<const match_filter> filters_;
    pass_context& context_;
    rewrite_options options_;
    pmr_vector<std::pair<value, value>> changes_;
};

}  // namespace detail

}  // namespace headrace

#endif
