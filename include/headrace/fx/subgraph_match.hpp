// SPDX-License-Identifier: MIT
// Defines headrace::subgraph_match, a match of a pattern graph, and headrace::matching_rule, which states how
// a pattern's node may differ from the node that it matches.
#ifndef HEADRACE_FX_SUBGRAPH_MATCH_HPP
#define HEADRACE_FX_SUBGRAPH_MATCH_HPP

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include <headrace/base/pmr_vector.hpp>
#include <headrace/ir/graph.hpp>

namespace headrace {

/// A literal argument that is a placeholder of the pattern.
struct literal_binding {
    std::uint32_t field = 0;        ///< index of the op's field
    std::uint32_t placeholder = 0;  ///< index of the pattern's input
};

/// Annotation of a node in a pattern: how it may differ from the node that it matches. Without it, op and
/// literals must be equal, and operands in the same order.
struct matching_rule {
    static constexpr bool inherited = false;
    bool commutative = false;             ///< the first two operands may be swapped
    std::uint64_t free_fields = 0;        ///< bit i: argument i is a wildcard, if it is not a tensor
    std::optional<scalar> filled_with{};  ///< for a constant: each of its elements is this number
    list<literal_binding> literals{};     ///< arguments that are placeholders
    std::string_view name{};              ///< by which subgraph_match finds the node
};

/// The matched node of each node of the pattern, in the pattern's execution order.
class node_map {
public:
    using value_type = std::pair<const node*, node*>;

    [[nodiscard]] node* find(const node& pattern) const {
        for (const auto& [from, to] : items_) {
            if (from == &pattern) return to;
        }
        return nullptr;
    }
    [[nodiscard]] bool contains(const node& pattern) const { return find(pattern) != nullptr; }
    void insert(const node& pattern, node& matched) { items_.emplace_back(&pattern, &matched); }
    void replace(const node* matched, node* by) {
        for (auto& item : items_) {
            if (item.second == matched) item.second = by;
        }
    }
    [[nodiscard]] std::size_t size() const { return items_.size(); }
    [[nodiscard]] bool empty() const { return items_.empty(); }
    [[nodiscard]] auto begin() const { return items_.begin(); }
    [[nodiscard]] auto end() const { return items_.end(); }

private:
    pmr_vector<value_type> items_;
};

/// A literal in the graph: one argument of one node.
struct literal {
    const field_info* field = nullptr;
    const void* arguments = nullptr;  ///< of the node that has the argument

    explicit operator bool() const { return field != nullptr; }
    /// The literal as `T`, the member's own type.
    template <class T>
    [[nodiscard]] const T& as() const {
        return detail::member_at<T>(arguments, *field);
    }
};

/// A match of a pattern. It refers to the pattern's nodes, so the pattern must outlive it.
struct subgraph_match {
    /// The nodes from which the match was found: one for each node of the pattern that only its output uses.
    pmr_vector<node*> anchors;
    node_map nodes_map;
    /// The node that matches each input of the pattern, in order; null if the input matches a literal.
    pmr_vector<node*> placeholder_nodes;
    /// The nodes that match the pattern's outputs, in order.
    pmr_vector<node*> returning_nodes;

    /// The values that match inputs and outputs, since nodes may have several results.
    pmr_vector<value> placeholder_values;
    pmr_vector<value> returning_values;
    /// The literal that matches each input of the pattern, for inputs that match literals.
    pmr_vector<literal> literals;

    /// Returns the node that matches the pattern's node of that name (named<"...">, or the name of its first
    /// result), or null.
    [[nodiscard]] node* operator[](std::string_view name) const {
        for (const auto& [from, to] : nodes_map) {
            const auto* rule = from->find_annotation<matching_rule>();
            if ((rule != nullptr && !rule->name.empty() ? rule->name : from->name()) == name) return to;
        }
        return nullptr;
    }
    /// Returns the nodes of the match, without those that match placeholders and the output.
    [[nodiscard]] pmr_vector<node*> nodes() const {
        pmr_vector<node*> inside;
        for (const auto& [from, to] : nodes_map) {
            if (!is<builtin::placeholder>(*from) && !is<builtin::output>(*from)) inside.push_back(to);
        }
        return inside;
    }
};

}  // namespace headrace

#endif
