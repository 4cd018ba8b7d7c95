// SPDX-License-Identifier: MIT
// Defines patterns of nodes for headrace::on_match, and headrace::node_match, the nodes that they matched.
#ifndef HEADRACE_MATCH_NODE_MATCH_HPP
#define HEADRACE_MATCH_NODE_MATCH_HPP

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include <headrace/base/fixed_string.hpp>
#include <headrace/dialect/builtin.hpp>
#include <headrace/match/pattern_expression.hpp>
#include <headrace/rewrite/rules.hpp>

namespace headrace {

/// Patterns of nodes, as types. The graph matcher (fx/subgraph_matcher.hpp) finds any pattern in a graph,
/// like FX; these patterns are trees, read from the rewritten node to its operands. They cost a few
/// comparisons, compile fast, and give each node's arguments with their type.
enum class node_use : unsigned char { any, sole, optional };
template <fixed_string Name, class Ops, node_use Use, class... Operands>
struct node_pattern {
    static constexpr auto name = Name;
    using op_list = Ops;
};
/// A constant with any elements.
template <fixed_string Name>
struct constant_pattern {
    static constexpr auto name = Name;
    using op_list = ops<builtin::constant>;
};

/// A node of one of these ops: `node_of<"conv", tosa::conv2d, tosa::depthwise_conv2d>(x)`. The operands are
/// those that are neither optional nor lists, in order; operands that are left out, and all other arguments,
/// may be anything. If a wildcard occurs twice, it is the same value in both places.
template <fixed_string Name, op_tag... Ops, class... Operands>
[[nodiscard]] constexpr node_pattern<Name, ops<Ops...>, node_use::any, Operands...> node_of(Operands...) {
    return {};
}
/// A node whose result has no other user, so that it is gone after the rewrite.
template <fixed_string Name, op_tag... Ops, class... Operands>
[[nodiscard]] constexpr node_pattern<Name, ops<Ops...>, node_use::sole, Operands...> sole_node(Operands...) {
    return {};
}
/// A node of such an op, or directly the value of its first operand: `optional_node<"cast", tosa::cast>(x)`.
template <fixed_string Name, op_tag... Ops, class... Operands>
[[nodiscard]] constexpr node_pattern<Name, ops<Ops...>, node_use::optional, Operands...> optional_node(
    Operands...) {
    return {};
}
template <fixed_string Name>
[[nodiscard]] constexpr constant_pattern<Name> constant_node() {
    return {};
}

/// The pattern of a node whose first operand comes from another node of the same op: `twice<tosa::clamp>` has
/// an "outer" and an "inner" node.
template <op_tag Op>
struct twice_t {
    constexpr auto operator()(auto x) const { return node_of<"outer", Op>(node_of<"inner", Op>(x)); }
};
template <op_tag Op>
inline constexpr twice_t<Op> twice{};

namespace detail {

// The named nodes of a pattern, in matching order.
template <class... Nodes>
struct node_patterns {
    static constexpr std::size_t size = sizeof...(Nodes);
};
template <class... As, class... Bs>
node_patterns<As..., Bs...> operator+(node_patterns<As...>, node_patterns<Bs...>);

template <class P>
struct nodes_in {
    using type = node_patterns<>;
};
template <fixed_string Name, class Ops, node_use Use, class... Operands>
struct nodes_in<node_pattern<Name, Ops, Use, Operands...>> {
    using type = decltype((node_patterns<node_pattern<Name, Ops, Use, Operands...>>{} + ... +
        typename nodes_in<Operands>::type{}));
};
template <fixed_string Name>
struct nodes_in<constant_pattern<Name>> {
    using type = node_patterns<constant_pattern<Name>>;
};

constexpr std::size_t equal_at_both_ends(std::string_view a, std::string_view b) {
    const std::size_t shorter = std::min(a.size(), b.size());
    std::size_t front = 0;
    while (front != shorter && a[front] == b[front]) ++front;
    std::size_t back = 0;
    while (back != shorter && a[a.size() - 1 - back] == b[b.size() - 1 - back]) ++back;
    return front + back;
}
// Returns the index of the node of that name, or of the node with the most similar name.
template <class... Nodes>
constexpr std::size_t position_of_name(std::string_view name, node_patterns<Nodes...>) {
    constexpr std::array<std::string_view, sizeof...(Nodes)> names{Nodes::name.view()...};
    std::size_t best = 0;
    for (std::size_t i = 0; i != names.size(); ++i) {
        if (names[i] == name) return i;
        if (equal_at_both_ends(names[i], name) > equal_at_both_ends(names[best], name)) best = i;
    }
    return best;
}
template <class... Nodes>
constexpr bool has_name(std::string_view name, node_patterns<Nodes...>) {
    return ((Nodes::name.view() == name) || ...);
}
template <std::size_t I, class... Nodes>
auto node_at(node_patterns<Nodes...>) -> typename type_at<I, ops<Nodes...>>::type;
template <class... Nodes>
pattern_names<Nodes::name...> names_of(node_patterns<Nodes...>);

// An error in the body of a rewrite would list all templates that read the body. So if a rewrite, read with
// symbols, asks for a node that its pattern does not have, it still compiles, with the node of the most
// similar name. The missing name is recorded as the return type of this function, which stays undeduced as
// long as no name is missing; the pipeline that reads the rule reports it.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wnon-template-friend"
#endif
template <class Match>
struct missing_name {
    friend constexpr auto name_missing_in(missing_name<Match>);
};
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif
template <class Match, class Diagnosis>
struct note_missing_name {
    friend constexpr auto name_missing_in(missing_name<Match>) { return Diagnosis{}; }
};
// The type of the arguments of that node, so that the error names the diagnosis if they lack a member.
template <class Diagnosis, class Arguments>
struct arguments_of : Arguments {};
template <class Match>
constexpr auto fault_of_names() {
    if constexpr (requires { name_missing_in(missing_name<Match>{}); }) {
        return name_missing_in(missing_name<Match>{});
    } else {
        return no_fault{};
    }
}

}  // namespace detail

/// The nodes that a pattern has matched, by name, for the body of a rewrite and the functions below:
/// `get<"inner">(m).min_val`. `IsSymbol` is true while a pipeline reads the rewrite without running it.
template <class Pattern, class Rewrite, bool IsSymbol = false>
class node_match {
    using nodes = typename detail::nodes_in<Pattern>::type;
    template <fixed_string Name>
    using missing = not_in_pattern<Name, decltype(detail::names_of(nodes{}))>;
    template <fixed_string Name>
    static constexpr std::size_t position() {
        if constexpr (!detail::has_name(Name.view(), nodes{})) {
            using diagnosis = missing<Name>;
            if constexpr (!IsSymbol) {
                // Symbols do not reach functions with an explicit return type; this reports the fault there.
                static_assert(node_is_in_pattern<diagnosis>,
                    "match: the pattern has no node of that name; see not_in_pattern<Name, Names>, name one");
            } else if constexpr (!requires { name_missing_in(detail::missing_name<node_match>{}); }) {
                static_cast<void>(detail::note_missing_name<node_match, diagnosis>{});
            }
        }
        return detail::position_of_name(Name.view(), nodes{});
    }
    template <fixed_string Name>
    using ops_of = typename decltype(detail::node_at<position<Name>()>(nodes{}))::op_list;
    template <class Op>
    static args<Op> arguments(ops<Op>);

public:
    // Return types are deduced, so that reading a rewrite shows the names that it asks for.

    /// Returns the node of that name; null if it is optional and absent.
    template <fixed_string Name>
    [[nodiscard]] auto find() const {
        constexpr std::size_t at = position<Name>();
        return nodes_[at];
    }
    /// Returns the arguments of a node that has only one possible op, with their type.
    template <fixed_string Name>
    [[nodiscard]] const auto& get() const {
        using op_args = decltype(arguments(ops_of<Name>{}));
        if constexpr (detail::has_name(Name.view(), nodes{})) {
            return *static_cast<const op_args*>(find<Name>()->arguments);
        } else {
            return *static_cast<const detail::arguments_of<missing<Name>, op_args>*>(find<Name>()->arguments);
        }
    }
    /// True if the node's result has no other user, so that it is gone after the rewrite.
    template <fixed_string Name>
    [[nodiscard]] auto is_sole_use() const {
        return use_count({const_cast<node*>(find<Name>()), 0}) == 1;
    }

    /// Set by the matcher.
    std::array<const node*, nodes::size> nodes_{};
};

/// Free functions for generic code, to avoid the word `template`: the node of that name, its arguments, and
/// whether its result has no other user.
template <fixed_string Name, class Pattern, class Rewrite, bool IsSymbol>
[[nodiscard]] auto find(const node_match<Pattern, Rewrite, IsSymbol>& m) {
    return m.template find<Name>();
}
template <fixed_string Name, class Pattern, class Rewrite, bool IsSymbol>
[[nodiscard]] const auto& get(const node_match<Pattern, Rewrite, IsSymbol>& m) {
    return m.template get<Name>();
}
template <fixed_string Name, class Pattern, class Rewrite, bool IsSymbol>
[[nodiscard]] auto is_sole_use(const node_match<Pattern, Rewrite, IsSymbol>& m) {
    return m.template is_sole_use<Name>();
}

}  // namespace headrace

#endif
