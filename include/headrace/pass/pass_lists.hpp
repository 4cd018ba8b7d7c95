// SPDX-License-Identifier: MIT
// Defines headrace::pass, the base of passes, and the lists of ops that a pass has as members or by its
// rules: its targets, its products and the ops that it removes.
#ifndef HEADRACE_PASS_PASS_LISTS_HPP
#define HEADRACE_PASS_PASS_LISTS_HPP

#include <concepts>
#include <type_traits>

#include <headrace/base/result.hpp>
#include <headrace/op/op_set.hpp>
#include <headrace/pass/pass_code.hpp>
#include <headrace/rewrite/code_rule.hpp>
#include <headrace/rewrite/rules.hpp>

// The members of a pass that are lists: its targets, under each name that they may have, its effects and its
// order.
#define HEADRACE_TARGET_LISTS(X) \
    X(targeted_ops) X(targets) X(target_ops) X(supported_ops) X(edge_ops) X(aten_ops)
#define HEADRACE_EFFECT_LISTS(X) X(produces) X(removes)
#define HEADRACE_ORDER_LISTS(X) \
    X(requires_before) X(runs_after) X(requires_after) X(runs_before) X(ensures) X(invalidates)

namespace headrace {

/// Base of every pass. A pass is a stateless struct of handlers, one per op that it rewrites:
///
///     struct decompose_addmm : pass {
///         using targeted_ops = ops<aten::addmm>;
///         using produces = ops<aten::mm, aten::add_tensor>;
///         value operator()(const args<aten::addmm>& a, emit<produces>& e) const;
///     };
///
/// Rewrites that are expressions only need a list (rewrite/rules.hpp), from which targets and effects follow:
///
///     struct decompose_silu : pass {
///         static auto rewrites() { return rules(on<aten::silu> = [](auto x) { return x * sigmoid(x); }); }
///     };
///
/// A handler that returns `value` (or a std::tuple of values, or value_list) always rewrites its op; one that
/// returns a std::optional of these may decline. A family of ops can share a handler template whose first
/// parameter is the tag:
///
///     template <one_of<targeted_ops> Op>
///     value operator()(Op, const args<Op>& a, emit<produces>& e) const;
///
/// A pass over the whole graph has `result<std::size_t> operator()(graph&, pass_context&) const` instead,
/// which returns the number of rewritten nodes, and lists in `removes` the ops that are gone afterwards.
struct pass {};

/// A list of passes or properties, with which passes state their order; see headrace::property.
template <class... Passes>
struct pass_list {
    static constexpr std::size_t size = sizeof...(Passes);
};

/// The declaration of a pass whose code headrace::compiled has: its lists and flags, and in `removes` the ops
/// that are gone after it, without handlers. passes/declared_passes.hpp specializes it.
template <class P>
struct declared_pass {};

/// Matches passes with a declaration. Pipelines read everything from the declaration, whether or not the
/// definition is included: such passes may be incomplete types.
template <class P>
concept is_declared = requires { typename declared_pass<P>::removes; };

namespace detail {

// The type from which a pass's facts are read: its declaration if it has one.
template <class P>
using pass_facts = std::conditional_t<is_declared<P>, declared_pass<P>, P>;

}  // namespace detail

/// Matches passes: structs derived from headrace::pass that are defined, or declared as above.
template <class T>
concept pass_type =
    requires { sizeof(detail::pass_facts<T>); } && std::is_base_of_v<pass, detail::pass_facts<T>>;

namespace detail {

template <class T>
inline constexpr bool is_op_list = false;
template <class... Ops>
inline constexpr bool is_op_list<ops<Ops...>> = true;

// `own_targets<P>()` and others: the list of that name, or none.
#define HEADRACE_OWN_LIST(name)                                            \
    template <class P>                                                     \
    auto own_##name() {                                                    \
        if constexpr (requires { requires is_op_list<typename P::name>; }) \
            return typename P::name{};                                     \
        else                                                               \
            return ops<>{};                                                \
    }
HEADRACE_TARGET_LISTS(HEADRACE_OWN_LIST)
HEADRACE_EFFECT_LISTS(HEADRACE_OWN_LIST)
#undef HEADRACE_OWN_LIST

#define HEADRACE_LISTED(name) decltype(own_##name<P>()),
template <class P>
struct listed_targets {
    using type = joined<HEADRACE_TARGET_LISTS(HEADRACE_LISTED) typename list_facts<rules_of<P>>::targets>;
};
#undef HEADRACE_LISTED

}  // namespace detail

/// Matches passes over the whole graph.
template <class P>
concept graph_pass = pass_type<P> && requires(const detail::pass_facts<P>& p, graph& g, pass_context& c) {
    { p(g, c) } -> std::same_as<result<std::size_t>>;
};

namespace detail {

// The ops that the handlers of a pass may emit. Together with those of its rules, the pass produces them.
template <class P>
using declared_by = decltype(own_produces<P>());
template <class P>
inline constexpr const auto& made_by_rules = list_effects<rules_of<P>>::made;
// Those that the code in its rules may emit.
template <class P>
using emitted_by_rules = typename ops_of_codes<rules_of<P>>::type;

template <class P>
auto find_produces() {
    if constexpr (std::is_same_v<rules_of<P>, rule_list<>>) {
        return declared_by<P>{};
    } else {
        return joined<declared_by<P>, list_of_set<made_by_rules<P>>>{};
    }
}

}  // namespace detail

/// The ops that a pass may emit: those that its expressions make, and those in `produces` for its handlers.
template <class P>
using produces_of = decltype(detail::find_produces<detail::pass_facts<P>>());

/// The ops that are gone after a pass over the whole graph; for other passes, signatures state them.
template <class P>
using removes_of = decltype(detail::own_removes<detail::pass_facts<P>>());

namespace detail {

// A pass over the whole graph with targets must also run for the ops that it promises to remove.
template <class P>
auto find_targets() {
    if constexpr (is_declared<P>) {
        return typename declared_pass<P>::targets{};
    } else {
        using listed = typename listed_targets<P>::type;
        if constexpr (listed::size == 0 || removes_of<P>::size == 0 || !graph_pass<P>) {
            return listed{};
        } else {
            return joined<listed, removes_of<P>>{};
        }
    }
}

}  // namespace detail

/// The ops that a pass targets: joined from `targeted_ops`, `targets`, `target_ops`, `supported_ops`,
/// `edge_ops` and `aten_ops`, whichever it has, without duplicates.
template <class P>
using targets_of = decltype(detail::find_targets<P>());

}  // namespace headrace

#endif
