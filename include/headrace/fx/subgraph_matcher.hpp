// SPDX-License-Identifier: MIT
// Defines headrace::subgraph_matcher, which finds the matches of a pattern graph.
#ifndef HEADRACE_FX_SUBGRAPH_MATCHER_HPP
#define HEADRACE_FX_SUBGRAPH_MATCHER_HPP

#include <algorithm>
#include <cstddef>
#include <memory_resource>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>

#include <headrace/base/pmr_vector.hpp>
#include <headrace/base/result.hpp>
#include <headrace/base/text.hpp>
#include <headrace/fx/execution_span.hpp>
#include <headrace/fx/subgraph_match.hpp>
#include <headrace/fx/subgraph_search.hpp>

namespace headrace {

/// Finds the matches of a pattern: a graph whose placeholders match any value, and whose other nodes match
/// nodes of the same op with the same literals. A match could be replaced by one node: nodes outside use only
/// the results that it returns, and no path leaves it and comes back.
///
/// The search starts at the pattern's sinks, the anchors, and follows operands, because a value has many
/// users but only one producer. The pattern must outlive the matcher.
///
///     graph pattern;  // x -> relu -> output
///     const subgraph_matcher matcher(pattern);
///     HEADRACE_TRY(matches, matcher.match(g));
///     for (const subgraph_match& m : matches) use(m.anchors, m.nodes_map, m.placeholder_nodes);
class subgraph_matcher {
public:
    explicit subgraph_matcher(const graph& pattern, matcher_options options = {})
        : pattern_(&pattern), options_(std::move(options)) {
        fault_ = examine();
    }

    [[nodiscard]] const graph& pattern() const { return *pattern_; }
    [[nodiscard]] const matcher_options& options() const { return options_; }
    /// Returns the sinks of the pattern, as nodes of the pattern.
    [[nodiscard]] const pmr_vector<const node*>& pattern_anchors() const { return anchors_; }
    /// Returns why the pattern cannot match anything; empty if it can.
    [[nodiscard]] const std::pmr::string& fault() const { return fault_; }

    /// Returns the matches in a graph, without nested regions, in the execution order of their anchors. An
    /// error describes a fault of the pattern.
    [[nodiscard]] result<pmr_vector<subgraph_match>> match(const graph& g) const {
        if (!fault_.empty()) return invalid({"pattern: ", fault_});
        pmr_vector<subgraph_match> found;
        if (!has_enough_nodes(g)) return found;
        const pmr_vector<pmr_vector<node*>> candidates = find_candidates(g);
        pmr_vector<node*> chosen;
        extend(candidates, chosen, found);
        if (options_.remove_overlapping_matches) remove_overlapping(found);
        return found;
    }

    /// Returns the match whose only anchor is that node, for patterns with one anchor.
    [[nodiscard]] std::optional<subgraph_match> match_at(node& anchor) const {
        if (!fault_.empty() || anchors_.size() != 1) return std::nullopt;
        return match_from({&anchor});
    }

    /// Keeps the first of several matches that share a node; constants may be shared.
    /// `remove_overlapping_matches` does this, too; call it directly to drop other matches first.
    static void remove_overlapping(pmr_vector<subgraph_match>& matches) {
        std::pmr::unordered_set<const node*> taken;
        const auto overlaps = [&](const subgraph_match& m) {
            pmr_vector<node*> inside = m.nodes();
            erase_if(inside, [](const node* n) { return is<builtin::constant>(*n); });
            const auto is_taken = [&](const node* n) { return taken.contains(n); };
            if (std::any_of(inside.begin(), inside.end(), is_taken)) return true;
            taken.insert(inside.begin(), inside.end());
            return false;
        };
        erase_if(matches, overlaps);
    }

private:
    std::pmr::string examine() {
        const node* out = pattern_->output();
        if (out == nullptr || out->operand_count == 0) return "it has no output";
        pmr_vector<bool> is_bound(pattern_->id_bound());
        pmr_vector<node*> inputs;
        for (node& n : pattern_->inputs()) inputs.push_back(&n);
        for (const node& n : pattern_->nodes()) {
            const auto* rule = n.find_annotation<matching_rule>();
            if (rule == nullptr) continue;
            for (const literal_binding& b : rule->literals) {
                if (b.placeholder >= inputs.size()) return "a literal is bound to no placeholder";
                is_bound[inputs[b.placeholder]->id] = true;
            }
        }
        for (const node& n : pattern_->nodes()) {
            if (is<builtin::output>(n) || n.first_use != nullptr || is_bound[n.id]) continue;
            const std::pmr::string name(n.name().empty() ? text_of({"#", n.id}) : std::pmr::string(n.name()));
            if (is<builtin::placeholder>(n)) return text_of({"its placeholder ", name, " is not used"});
            return text_of({"its node ", name, " (", n.op->name, ") leads to no output"});
        }
        for (const edge& e : out->operand_edges()) {
            if (is<builtin::placeholder>(*e.source)) {
                return text_of({"it returns its placeholder ", e.source->name()});
            }
        }
        find_anchors(out);
        return {};
    }
    void find_anchors(const node* out) {
        if (options_.match_output) {
            anchors_ = {out};
            return;
        }
        for (const edge& e : out->operand_edges()) {
            const auto uses = e.source->uses();
            const bool sink =
                std::all_of(uses.begin(), uses.end(), [&](const edge& u) { return u.target == out; });
            if (sink && std::find(anchors_.begin(), anchors_.end(), e.source) == anchors_.end())
                anchors_.push_back(e.source);
        }
    }

    // The census rules out most graphs for most patterns at once.
    [[nodiscard]] bool has_enough_nodes(const graph& g) const {
        bool enough = true;
        pattern_->census().for_each([&](const op_info& op, std::size_t needed) {
            const bool counts = &op != &info_of<builtin::placeholder> && &op != &info_of<builtin::output>;
            if (counts && g.census().count(op) < needed) enough = false;
        });
        return enough;
    }

    [[nodiscard]] pmr_vector<pmr_vector<node*>> find_candidates(const graph& g) const {
        pmr_vector<pmr_vector<node*>> candidates;
        for (const node* anchor : anchors_) {
            auto& nodes = candidates.emplace_back();
            for (node& n : g.nodes_of(*anchor->op)) nodes.push_back(&n);
        }
        if (std::all_of(candidates.begin(), candidates.end(), [](const auto& c) { return c.size() < 2; }))
            return candidates;
        // The census lists nodes in order of creation; matches must come in execution order.
        pmr_vector<std::size_t> position(g.id_bound());
        std::size_t at = 0;
        for (const node& n : g.nodes()) position[n.id] = at++;
        for (auto& nodes : candidates) {
            std::sort(nodes.begin(), nodes.end(),
                [&](const node* a, const node* b) { return position[a->id] < position[b->id]; });
        }
        return candidates;
    }

    // Chooses a node for each anchor in turn, and gives up a choice as soon as the chosen ones cannot match.
    void extend(const pmr_vector<pmr_vector<node*>>& candidates, pmr_vector<node*>& chosen,
        pmr_vector<subgraph_match>& found) const {
        const std::size_t next = chosen.size();
        for (node* candidate : candidates[next]) {
            chosen.push_back(candidate);
            if (next + 1 == candidates.size()) {
                if (auto m = match_from(chosen)) found.push_back(std::move(*m));
            } else if (detail::subgraph_search(*pattern_, options_).run(anchors_, chosen)) {
                extend(candidates, chosen, found);
            }
            chosen.pop_back();
        }
    }

    [[nodiscard]] std::optional<subgraph_match> match_from(const pmr_vector<node*>& chosen) const {
        detail::subgraph_search search(*pattern_, options_);
        if (!search.run(anchors_, chosen)) return std::nullopt;
        subgraph_match m = search.collect();
        m.anchors = chosen;
        for (const value v : m.returning_values) {
            if (v.result >= v.producer->result_count) return std::nullopt;
        }
        if (!is_contained(m) || !is_convex(m)) return std::nullopt;
        return m;
    }

    // True if nodes outside use only results that the match returns. Constants are kept: they may have users.
    [[nodiscard]] bool is_contained(const subgraph_match& m) const {
        const list<value> returned = pattern_->outputs();
        const pmr_vector<node*> inside = m.nodes();
        for (const auto& [from, to] : m.nodes_map) {
            if (is<builtin::placeholder>(*from) || is<builtin::output>(*from) || is<builtin::constant>(*to))
                continue;
            for (const edge& e : to->uses()) {
                const value used{const_cast<node*>(from), e.slot->result};
                const bool may_leave = (options_.match_output && is<builtin::output>(*e.target)) ||
                    std::find(returned.begin(), returned.end(), used) != returned.end();
                if (!may_leave && std::find(inside.begin(), inside.end(), e.target) == inside.end())
                    return false;
            }
        }
        return true;
    }

    // A match that returns only results of its one anchor is always convex: each path that leaves it starts
    // there, at its last node.
    [[nodiscard]] bool is_convex(const subgraph_match& m) const {
        const list<value> returned = pattern_->outputs();
        const bool single = anchors_.size() == 1 && !options_.match_output &&
            std::all_of(
                returned.begin(), returned.end(), [&](const value& v) { return v.producer == anchors_[0]; });
        return single || detail::execution_span(m.nodes()).convex();
    }

    const graph* pattern_;
    matcher_options options_;
    pmr_vector<const node*> anchors_;
    std::pmr::string fault_;
};

}  // namespace headrace

#endif
