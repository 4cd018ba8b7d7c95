// SPDX-License-Identifier: MIT
// Defines headrace::pattern, a pattern whose expression is checked at compile time, and the conversion of
// expressions to graphs.
#ifndef HEADRACE_FX_PATTERN_HPP
#define HEADRACE_FX_PATTERN_HPP

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <memory_resource>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include <headrace/base/pmr_vector.hpp>
#include <headrace/base/text.hpp>
#include <headrace/fx/pattern_checks.hpp>
#include <headrace/fx/subgraph_matcher.hpp>
#include <headrace/ir/graph.hpp>
#include <headrace/match/pattern_expression.hpp>

namespace headrace {

namespace detail {

/// Writes an expression as a graph. Equal calls become one node.
class expression_writer {
public:
    expression_writer(graph& g, std::size_t inputs) : graph_(g) {
        for (std::size_t i = 0; i != inputs; ++i) {
            inputs_.push_back(g.create<builtin::placeholder>({}).result());
            g.set_name(inputs_.back(), text_of({"input_", i}));
        }
    }

    template <class E>
    void write_outputs(const E& e) {
        const value v = write(e);
        graph_.create<builtin::output>({.values = {&v, 1}});
    }
    template <class... Es>
    void write_outputs(const returned_values<Es...>& e) {
        pmr_vector<value> values;
        std::apply([&](const Es&... items) { (values.push_back(write(items)), ...); }, e.items);
        graph_.create<builtin::output>({.values = values});
    }

private:
    template <std::size_t I>
    value write(const wildcard<I>&) {
        return inputs_[I];
    }
    template <std::size_t I, class Call>
    value write(const result_expression<I, Call>& e) {
        return {write(e.call).producer, I};
    }
    value write(const filled_constant& c) {
        return find_or_create(
            info_of<builtin::constant>, &default_args<builtin::constant>, 1, {.filled_with = c.number});
    }
    value write(const any_constant_type&) {
        return graph_.create<builtin::constant>({}).result();  // each one is a separate constant
    }
    template <class Op, bool Commutative, bool AnyLiterals, class Label, class... Ts>
    value write(const call_expression<Op, call_modifiers<Commutative, AnyLiterals, Label>, Ts...>& e) {
        args<Op> a = default_args<Op>;
        matching_rule rule{.commutative = Commutative, .name = Label::text};
        pmr_vector<literal_binding> bindings;
        constexpr auto places = place_arguments<Op, Ts...>();
        std::uint64_t given = 0;
        const auto put = [&](std::size_t field, const auto& argument) {
            given |= std::uint64_t{1} << field;
            write_argument(fields_of<Op>[field], static_cast<std::uint32_t>(field),
                reinterpret_cast<std::byte*>(&a), argument, rule, bindings);
        };
        std::size_t i = 0;
        std::apply([&](const Ts&... items) { (put(places[i++], items), ...); }, e.arguments);
        static_cast<void>(i);
        for (std::size_t k = 0; k != fields_of<Op>.size(); ++k) {
            if (AnyLiterals && (given >> k & 1U) == 0 && !holds_tensors(fields_of<Op>[k].kind))
                rule.free_fields |= std::uint64_t{1} << k;
        }
        rule.literals = bindings;
        // The number of results of a variadic op depends on the matched node.
        constexpr std::size_t results = Op::results == variadic_results ? 16 : std::size_t{Op::results};
        return find_or_create(info_of<Op>, &a, results, rule);
    }

    template <class Label, class T>
    void write_argument(const field_info& f, std::uint32_t field, std::byte* a,
        const named_argument<Label, T>& argument, matching_rule& rule,
        pmr_vector<literal_binding>& bindings) {
        write_argument(f, field, a, argument.item, rule, bindings);
    }
    template <class T>
    void write_argument(const field_info& f, std::uint32_t field, std::byte* a, const T& argument,
        matching_rule& rule, pmr_vector<literal_binding>& bindings) {
        if constexpr (std::is_same_v<T, any_literal_type>) {
            rule.free_fields |= std::uint64_t{1} << field;
        } else if constexpr (std::is_same_v<T, std::nullopt_t>) {
            // None is the default of every optional argument.
        } else if constexpr (is_operand<T>) {
            if (f.kind == field_kind::tensor) {
                store(f, a, write(argument));
            } else if constexpr (is_wildcard<T>) {
                bindings.push_back({field, position_of(argument)});
            }
        } else {
            write_literal(f, a, argument);
        }
    }
    template <class... Ts>
    void write_argument(const field_info& f, std::uint32_t, std::byte* a,
        const tensors_expression<Ts...>& argument, matching_rule&, pmr_vector<literal_binding>&) {
        if (f.kind == field_kind::tensors) {
            auto& items = lists_.emplace_back();
            std::apply(
                [&](const Ts&... each) { (items.push_back(write_or_none(each).value_or(value{})), ...); },
                argument.items);
            store(f, a, list<value>(items));
        } else {
            auto& items = optional_lists_.emplace_back();
            std::apply(
                [&](const Ts&... each) { (items.push_back(write_or_none(each)), ...); }, argument.items);
            store(f, a, list<std::optional<value>>(items));
        }
    }
    template <class T>
    std::optional<value> write_or_none(const T& item) {
        if constexpr (std::is_same_v<T, std::nullopt_t>) {
            return std::nullopt;
        } else {
            return write(item);
        }
    }
    template <std::size_t I>
    static constexpr std::uint32_t position_of(const wildcard<I>&) {
        return I;
    }

    template <class T>
    static void store(const field_info& f, std::byte* a, const T& item) {
        if (f.optional) {
            *reinterpret_cast<std::optional<T>*>(a + f.offset) = item;
        } else {
            *reinterpret_cast<T*>(a + f.offset) = item;
        }
    }
    template <class T>
    static void write_literal(const field_info& f, std::byte* a, const T& item) {
        if constexpr (std::is_arithmetic_v<T>) {
            if (f.kind == field_kind::integer) return store(f, a, static_cast<std::int64_t>(item));
            if (f.kind == field_kind::floating) return store(f, a, static_cast<double>(item));
            if (f.kind == field_kind::boolean) return store(f, a, item != T{});
            if constexpr (std::is_same_v<T, bool>) {
                store(f, a, scalar(item));
            } else if constexpr (std::is_integral_v<T>) {
                store(f, a, scalar(static_cast<std::int64_t>(item)));
            } else {
                store(f, a, scalar(static_cast<double>(item)));
            }
        } else if constexpr (std::is_convertible_v<const T&, std::string_view>) {
            store(f, a, std::string_view(item));
        } else {
            store(f, a, item);
        }
    }

    static bool same_rule(const matching_rule& a, const matching_rule& b) {
        const auto same_binding = [](const literal_binding& x, const literal_binding& y) {
            return x.field == y.field && x.placeholder == y.placeholder;
        };
        return a.commutative == b.commutative && a.free_fields == b.free_fields &&
            a.filled_with == b.filled_with && a.name == b.name &&
            std::equal(
                a.literals.begin(), a.literals.end(), b.literals.begin(), b.literals.end(), same_binding);
    }
    value find_or_create(
        const op_info& op, const void* arguments, std::size_t results, const matching_rule& rule) {
        for (node& n : graph_.nodes_of(op)) {
            const auto* other = n.find_annotation<matching_rule>();
            if (other != nullptr && same_rule(rule, *other) && equal_arguments(op, arguments, n.arguments))
                return n.result();
        }
        node& n = graph_.create(op, arguments, results);
        matching_rule owned = rule;
        owned.literals = graph_.own(rule.literals);
        owned.name = graph_.own(rule.name);
        graph_.annotate(n, owned);
        return n.result();
    }

    graph& graph_;
    pmr_vector<value> inputs_;
    std::pmr::deque<pmr_vector<value>> lists_;  // stable addresses until their node has copied them
    std::pmr::deque<pmr_vector<std::optional<value>>> optional_lists_;
};

template <class F>
void write_expression(graph& g, const F& f) {
    expression_writer(g, input_count<F>).write_outputs(expression_of(f));
}

/// Returns the graph of an expression, created at the first call.
template <class F>
const graph& graph_of() {
    struct written : graph {
        written() { write_expression(*this, F{}); }
    };
    static const written g;
    return g;
}

}  // namespace detail

/// A pattern as a type, made from the type of a stateless callable that takes wildcards and returns an
/// expression:
///
///     struct add_then_mul {
///         constexpr auto operator()(auto x, auto y) const {
///             return call<aten::mul_tensor>(call<aten::add_tensor>(x, y), y);
///         }
///     };
///     using p = pattern<add_then_mul>;  // or pattern<decltype([](auto x, auto y) { ... })>
///
/// It does not compile if a call names something other than an op, the number of operands is wrong, an
/// argument is of the wrong kind, or a placeholder is unused.
template <pattern_function F>
class pattern {
    using facts = detail::pattern_facts<F>;
    using fault = typename facts::fault;
    static_assert(calls_known_ops<fault>,
        "pattern: it calls something that is not an op; see unknown_op<T>, call an op of a dialect");
    static_assert(fields_are_members<fault>, HEADRACE_WRONG_FIELDS);
    static_assert(enumerations_are_named<fault>, HEADRACE_UNNAMED_ENUMERATION);
    static_assert(members_are_arguments<fault>, HEADRACE_WRONG_MEMBER);
    static_assert(arity_fits<fault>,
        "pattern: a call has too many or too few arguments; see wrong_arity<Op, Given, Takes>");
    static_assert(arguments_fit<fault>,
        "pattern: an op does not take such an argument; see wrong_argument<Op, Field, Given, Takes>");
    static_assert(placeholders_used<fault>,
        "pattern: a placeholder is not used; see unused_placeholder<Index, Op>, drop it");
    static_assert(returns_calls<fault>,
        "pattern: it returns something that no call makes; see no_call<Expression>, return a call");

public:
    using function = F;
    /// The ops that it calls; first that of the first returned value.
    using called = typename facts::called;
    static constexpr std::size_t inputs = facts::inputs;
    static constexpr std::size_t outputs = facts::outputs;

    /// Returns the pattern as a graph, created at the first call.
    [[nodiscard]] static const graph& as_graph() { return detail::graph_of<F>(); }
    [[nodiscard]] static subgraph_matcher matcher(matcher_options options = {}) {
        return subgraph_matcher(as_graph(), std::move(options));
    }
};

/// Returns a pattern's graph, from a callable that may hold values, such as literals known only at run time.
template <pattern_function F>
[[nodiscard]] std::unique_ptr<graph> make_pattern(const F& f) {
    static_assert(sound_expression<typename detail::pattern_facts<F>::fault>,
        "pattern: its expression is ill-formed; see the diagnosis, which pattern<F> explains");
    auto g = std::make_unique<graph>();
    if constexpr (detail::pattern_facts<F>::sound) detail::write_expression(*g, f);
    return g;
}

}  // namespace headrace

#endif
