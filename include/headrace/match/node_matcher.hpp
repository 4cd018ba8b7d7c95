// SPDX-License-Identifier: MIT
// Defines the matcher of the patterns of headrace::on_match.
#ifndef HEADRACE_MATCH_NODE_MATCHER_HPP
#define HEADRACE_MATCH_NODE_MATCHER_HPP

#include <array>
#include <cstddef>

#include <headrace/dialect/builtin.hpp>
#include <headrace/match/node_match.hpp>
#include <headrace/rewrite/rules.hpp>

namespace headrace::detail {

// Matches a pattern against a node and its operands.
template <class Pattern, std::size_t Inputs>
class node_matcher {
public:
    std::array<const node*, nodes_in<Pattern>::type::size> found{};
    std::array<value, Inputs> inputs{};

    bool match(const node& n) {
        std::size_t next = 0;
        return match_node(Pattern{}, value{const_cast<node*>(&n), 0}, next);
    }

private:
    template <std::size_t I>
    bool match_node(wildcard<I>, value v, std::size_t&) {
        if (!inputs[I]) inputs[I] = v;
        return inputs[I] == v;
    }
    template <fixed_string Name>
    bool match_node(constant_pattern<Name>, value v, std::size_t& next) {
        found[next++] = v.producer;
        return is<builtin::constant>(*v.producer);
    }
    template <fixed_string Name, class... Ops, node_use Use, class... Operands>
    bool match_node(node_pattern<Name, ops<Ops...>, Use, Operands...>, value v, std::size_t& next) {
        if (Use == node_use::sole && !has_one_use(v)) return false;
        const std::size_t at = next++;
        [[maybe_unused]] const node_matcher before = *this;  // restores the bindings of an absent node
        if (v.result == 0 && (match_operands<Ops, Operands...>(*v.producer, next) || ...)) {
            found[at] = v.producer;
            return true;
        }
        if constexpr (Use == node_use::optional) {
            *this = before;
            next = at + 1;
            return match_first(v, next, Operands{}...);
        } else {
            return false;
        }
    }
    template <class First, class... Rest>
    bool match_first(value v, std::size_t& next, First first, Rest...) {
        const bool matched = match_node(first, v, next);
        next += (std::size_t{0} + ... + nodes_in<Rest>::type::size);
        return matched;
    }
    template <class Op, class... Operands>
    bool match_operands(const node& n, std::size_t& next) {
        if (!is<Op>(n)) return false;
        const auto* bytes = static_cast<const std::byte*>(n.arguments);
        std::size_t i = 0;
        const auto operand = [&] {
            return *reinterpret_cast<const value*>(bytes + operand_offsets<Op>[i++]);
        };
        static_cast<void>(operand);
        return (match_node(Operands{}, operand(), next) && ...);
    }
};

}  // namespace headrace::detail

#endif
