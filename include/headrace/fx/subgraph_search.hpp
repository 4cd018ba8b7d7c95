// SPDX-License-Identifier: MIT
// Defines headrace::matcher_options and the backtracking search of headrace::subgraph_matcher.
#ifndef HEADRACE_FX_SUBGRAPH_SEARCH_HPP
#define HEADRACE_FX_SUBGRAPH_SEARCH_HPP

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <utility>

#include <headrace/base/pmr_vector.hpp>
#include <headrace/fx/matched_literals.hpp>
#include <headrace/fx/subgraph_match.hpp>
#include <headrace/op/reflect.hpp>

namespace headrace {

/// How a pattern is compared with a graph.
struct matcher_options {
    bool match_output = false;               ///< the pattern's outputs must be all of the graph's outputs
    bool match_placeholder = false;          ///< placeholders match only placeholders
    bool remove_overlapping_matches = true;  ///< of matches that share a node, return only the first
    bool ignore_literals = false;            ///< arguments that are not tensors match anything
    bool distinct_placeholders = true;       ///< two placeholders never match the same value
    bool match_constants = false;            ///< constants must have equal elements
    /// Ops whose first two operands may be swapped anywhere in the pattern.
    pmr_vector<const op_info*> commutative_ops{};
};

namespace detail {

/// Matches the nodes of a pattern with those of a graph, starting from pairs of anchors. Pairs still to be
/// matched are in a list of goals, and the search backtracks only at commutative ops. For example, mul(add(x,
/// y), y) starts with the pair of muls, whose operands become the next two goals; if add is commutative, its
/// operands are tried in both orders.
class subgraph_search {
public:
    subgraph_search(const graph& pattern, const matcher_options& options)
        : pattern_(pattern), options_(options) {}

    /// True if the first anchors match these nodes.
    bool run(const pmr_vector<const node*>& anchors, const pmr_vector<node*>& chosen) {
        state_ = {};
        state_.nodes.resize(pattern_.id_bound());
        state_.values.resize(pattern_.id_bound());
        state_.literals.resize(pattern_.id_bound());
        for (std::size_t i = 0; i != chosen.size(); ++i)
            state_.goals.push_back({const_cast<node*>(anchors[i]), chosen[i], {}, {}});
        // The goals are popped in the order of the anchors, each with all its operands before the next.
        std::reverse(state_.goals.begin(), state_.goals.end());
        return solve();
    }

    /// Returns the match that run() found, without anchors.
    [[nodiscard]] subgraph_match collect() const {
        subgraph_match m;
        for (const node& n : pattern_.nodes()) {
            if (node* found = state_.nodes[n.id]) m.nodes_map.insert(n, *found);
        }
        for (const node& n : pattern_.inputs()) {
            m.placeholder_nodes.push_back(state_.nodes[n.id]);
            m.placeholder_values.push_back(state_.values[n.id]);
            m.literals.push_back(state_.literals[n.id]);
        }
        for (const value v : pattern_.outputs()) {
            node* found = state_.nodes[v.producer->id];
            m.returning_nodes.push_back(found);
            m.returning_values.push_back({found, v.result});
        }
        return m;
    }

private:
    // A pair of nodes, or of values.
    struct goal {
        node* pattern_node = nullptr;
        node* graph_node = nullptr;
        value pattern_value{};
        value graph_value{};
    };
    struct state {
        pmr_vector<goal> goals;
        pmr_vector<node*> nodes;  // by the id of the pattern's node
        pmr_vector<value> values;
        pmr_vector<literal> literals;
        pmr_vector<const node*> used;    // matched nodes, without those of placeholders
        pmr_vector<value> placeholders;  // matched by placeholders
    };

    bool solve() {
        while (!state_.goals.empty()) {
            const goal g = state_.goals.back();
            state_.goals.pop_back();
            if (g.pattern_node != nullptr) {
                if (!pair_nodes(*g.pattern_node, *g.graph_node)) return false;
                continue;
            }
            node& p = *g.pattern_value.producer;
            if (is<builtin::placeholder>(p)) {
                if (!bind(p, g.graph_value)) return false;
                continue;
            }
            node& n = *g.graph_value.producer;
            if (g.pattern_value.result != g.graph_value.result) return false;
            if (state_.nodes[p.id] == &n) continue;
            if (!can_pair(p, n)) return false;
            if (!is_commutative(p)) {
                if (!pair_operands(p, n, false)) return false;
                continue;
            }
            const state before = state_;
            if (pair_operands(p, n, false) && solve()) return true;
            state_ = before;
            if (!pair_operands(p, n, true)) return false;
        }
        return no_placeholder_inside();
    }

    bool pair_nodes(node& p, node& n) {
        if (state_.nodes[p.id] == &n) return true;
        if (!can_pair(p, n)) return false;
        // An anchor is not reached through an operand; a goal for its value makes the search try both orders
        // of its operands.
        if (!is_commutative(p)) return pair_operands(p, n, false);
        state_.nodes[p.id] = nullptr;
        state_.used.pop_back();
        state_.goals.push_back({nullptr, nullptr, {&p, 0}, {&n, 0}});
        return true;
    }

    // Pairs the nodes unless something other than operands and literals already differs.
    bool can_pair(node& p, node& n) {
        if (p.op != n.op || state_.nodes[p.id] != nullptr) return false;
        if (std::find(state_.used.begin(), state_.used.end(), &n) != state_.used.end()) return false;
        if (p.op->results != variadic_results && p.result_count != n.result_count) return false;
        state_.nodes[p.id] = &n;
        state_.used.push_back(&n);
        return true;
    }

    bool bind(node& placeholder, value v) {
        if (state_.values[placeholder.id]) return state_.values[placeholder.id] == v;
        if (options_.match_placeholder && !is<builtin::placeholder>(*v.producer)) return false;
        if (options_.distinct_placeholders &&
            std::find(state_.placeholders.begin(), state_.placeholders.end(), v) != state_.placeholders.end())
            return false;
        state_.nodes[placeholder.id] = v.producer;
        state_.values[placeholder.id] = v;
        state_.placeholders.push_back(v);
        return true;
    }

    // A placeholder must match a value from outside, because the match itself will be removed.
    [[nodiscard]] bool no_placeholder_inside() const {
        return std::none_of(state_.placeholders.begin(), state_.placeholders.end(), [&](value v) {
            return std::find(state_.used.begin(), state_.used.end(), v.producer) != state_.used.end();
        });
    }

    [[nodiscard]] bool is_commutative(const node& p) const {
        const auto* rule = p.find_annotation<matching_rule>();
        const auto& ops = options_.commutative_ops;
        return p.operand_count >= 2 && p.op->field_count >= 2 && p.op->fields[0].kind == field_kind::tensor &&
            p.op->fields[1].kind == field_kind::tensor &&
            ((rule != nullptr && rule->commutative) || std::find(ops.begin(), ops.end(), p.op) != ops.end());
    }

    // Compares literals, and adds goals for the operands.
    bool pair_operands(const node& p, const node& n, bool swapped) {
        const auto* rule = p.find_annotation<matching_rule>();
        if (is<builtin::constant>(p)) return constants_match(p, n, rule);
        std::size_t next_p = 0, next_n = 0;
        const std::size_t first = state_.goals.size();
        const auto pair = [&] {
            state_.goals.push_back({nullptr, nullptr, p.operand(next_p++), n.operand(next_n++)});
        };
        std::uint32_t index = 0;
        for (const field_info& f : *p.op) {
            const bool free = options_.ignore_literals ||
                (rule != nullptr && (rule->free_fields >> std::min<std::uint32_t>(index, 63) & 1U) != 0);
            const std::uint32_t field = index++;
            if (!holds_tensors(f.kind)) {
                if (!literal_matches(f, field, p, n, rule, free)) return false;
                continue;
            }
            if (f.kind == field_kind::tensor && !f.optional) {
                pair();
                continue;
            }
            const pmr_vector<bool> in_p = presence(f, p.arguments);
            const pmr_vector<bool> in_n = presence(f, n.arguments);
            if (in_p.size() != in_n.size()) return false;
            for (std::size_t i = 0; i != in_p.size(); ++i) {
                if (in_p[i] && in_n[i]) {
                    pair();
                } else if (in_n[i] && free) {
                    ++next_n;  // an absent operand counts as a literal
                } else if (in_p[i] || in_n[i]) {
                    return false;
                }
            }
        }
        if (swapped && state_.goals.size() >= first + 2)
            std::swap(state_.goals[first].graph_value, state_.goals[first + 1].graph_value);
        // The first operand becomes the next goal.
        std::reverse(state_.goals.begin() + static_cast<std::ptrdiff_t>(first), state_.goals.end());
        return true;
    }

    bool literal_matches(const field_info& f, std::uint32_t field, const node& p, const node& n,
        const matching_rule* rule, bool free) {
        if (rule != nullptr) {
            for (const literal_binding& b : rule->literals) {
                if (b.field == field) return bind_literal(b.placeholder, {&n.op->fields[field], n.arguments});
            }
        }
        return free || equal_field(f, p.arguments, n.arguments);
    }
    bool bind_literal(std::uint32_t placeholder, const literal& found) {
        const node* input = &*std::next(pattern_.inputs().begin(), placeholder);
        literal& bound = state_.literals[input->id];
        if (bound) return equal_literals(bound, found);
        bound = found;
        return !options_.match_placeholder;
    }

    [[nodiscard]] bool constants_match(const node& p, const node& n, const matching_rule* rule) const {
        if (rule != nullptr && rule->filled_with) return is_filled_with(n, *rule->filled_with);
        return !options_.match_constants || same_elements(p, n);
    }

    // Returns which of a member's tensors are present.
    static pmr_vector<bool> presence(const field_info& f, const void* arguments) {
        pmr_vector<bool> present;
        const std::byte* at = static_cast<const std::byte*>(arguments) + f.offset;
        if (f.kind == field_kind::tensor) {
            present.push_back(!f.optional || reinterpret_cast<const std::optional<value>*>(at)->has_value());
        } else if (f.kind == field_kind::tensors) {
            present.assign(reinterpret_cast<const list<value>*>(at)->size(), true);
        } else {
            for (const auto& v : *reinterpret_cast<const list<std::optional<value>>*>(at))
                present.push_back(v.has_value());
        }
        return present;
    }

    const graph& pattern_;
    const matcher_options& options_;
    state state_;
};

}  // namespace detail
}  // namespace headrace

#endif
