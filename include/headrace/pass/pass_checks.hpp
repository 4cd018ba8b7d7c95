// SPDX-License-Identifier: MIT
// Defines headrace::pass_fault, the fault of a pass on its own, as diagnoses that name the culprit.
#ifndef HEADRACE_PASS_PASS_CHECKS_HPP
#define HEADRACE_PASS_PASS_CHECKS_HPP

#include <type_traits>

#include <headrace/base/fixed_string.hpp>
#include <headrace/dialect/builtin.hpp>
#include <headrace/pass/driver.hpp>
#include <headrace/pass/pass.hpp>
#include <headrace/rewrite/messages.hpp>

namespace headrace {

HEADRACE_FAULT(type, is_a_pass);
HEADRACE_FAULT(definition, is_defined);
HEADRACE_FAULT(constness, handlers_are_const);
HEADRACE_FAULT(handler, handlers_fit);
HEADRACE_FAULT(list, lists_are_lists);
HEADRACE_FAULT(rewrites, rewrites_are_rules);
HEADRACE_FAULT(targets, handlers_have_targets);

/// Diagnoses, for compile errors; see no_fault. `Op` is `graph` for a pass over the whole graph.
template <class T>
struct not_a_pass : faults::type {};
/// The pass is only declared as `struct Pass;`, and headrace::compiled does not have it.
template <class Pass>
struct only_declared : faults::definition {};
template <class Pass, class Op>
struct handler_not_const : faults::constness {};
/// `Handler` is the type of the pass's only handler, which fits none of its targets.
template <class Pass, class Op, class Handler>
struct wrong_handler : faults::handler {};
/// A pass has handlers but no targets, so nothing would call them.
template <class Pass>
struct no_targets : faults::targets {};
/// The function `rewrites` of a pass returns something other than rules, or is not static.
template <class Pass, class Result>
struct no_rules : faults::rewrites {};
struct not_static {};
/// A member of a pass is a `T` instead of an `ops` or a `pass_list`.
template <class Pass, fixed_string Member, class T>
struct not_a_list : faults::list {};

namespace detail {

// Detects a call operator, overloaded or a template or not: the name is then ambiguous in a class that also
// derives from this one.
struct has_call_operator_too {
    void operator()();
};
template <class P>
struct call_probe : P, has_call_operator_too {};
template <class P>
inline constexpr bool has_handlers = [] {
    if constexpr (std::is_final_v<P>) {
        return requires { &P::operator(); };
    } else {
        return !requires { &call_probe<P>::operator(); };
    }
}();

template <class P, class Op>
concept handles_if_not_const = requires(P& p, const args<Op>& a, emit<declared_by<P>>& e) { p(a, e); } ||
    requires(P& p, const args<Op>& a, emit<declared_by<P>>& e) { p(Op{}, a, e); };

template <class P, class... Ops>
constexpr bool handles_any(ops<Ops...>) {
    return (handles<P, Ops> || ...);
}

// Refines the diagnosis if a handler exists but does not take its arguments.
template <class P, class Op>
auto refine(no_handler<P, Op>) {
    if constexpr (handles_if_not_const<P, Op>) {
        return handler_not_const<P, Op>{};
    } else if constexpr (requires { &P::operator(); }) {
        if constexpr (handles_any<P>(targets_of<P>{})) {
            return no_handler<P, Op>{};
        } else {
            return wrong_handler<P, Op, decltype(&P::operator())>{};
        }
    } else {
        return no_handler<P, Op>{};
    }
}

template <class T>
inline constexpr bool is_pass_list = false;
template <class... Passes>
inline constexpr bool is_pass_list<pass_list<Passes...>> = true;

// Returns the first member that should be a list but is not one.
template <class P>
auto find_other_list() {
#define HEADRACE_OTHER_LIST(name, is_list)                           \
    if constexpr (requires { requires !is_list<typename P::name>; }) \
        return not_a_list<P, #name, typename P::name>{};             \
    else
#define HEADRACE_NO_OPS(name) HEADRACE_OTHER_LIST(name, is_op_list)
#define HEADRACE_NO_PASSES(name) HEADRACE_OTHER_LIST(name, is_pass_list)
    HEADRACE_TARGET_LISTS(HEADRACE_NO_OPS)
    HEADRACE_EFFECT_LISTS(HEADRACE_NO_OPS) HEADRACE_ORDER_LISTS(HEADRACE_NO_PASSES) return no_fault{};
#undef HEADRACE_NO_PASSES
#undef HEADRACE_NO_OPS
#undef HEADRACE_OTHER_LIST
}

// Returns a fault if the function `rewrites` does not return rules.
template <class P>
auto find_other_rewrites() {
    if constexpr (!std::is_same_v<rules_of<P>, rule_list<>>) {
        return no_fault{};
    } else if constexpr (requires { P::rewrites(); }) {
        using returned = decltype(P::rewrites());
        return std::conditional_t<is_rule_list<returned>, no_fault, no_rules<P, returned>>{};
    } else if constexpr (requires(P& p) { p.rewrites(); }) {
        return no_rules<P, not_static>{};
    } else {
        return no_fault{};
    }
}

// Returns the first op that the expressions of a pass make and that has no inference. Ops of code and
// handlers are checked where they are emitted; a declared pass is checked where it is compiled.
template <class... Ops>
auto find_not_inferred(ops<Ops...>) {
    using dialect = builtin::dialect;
    return typename first_of_faults<
        std::conditional_t<inferable<Ops> || std::is_same_v<typename Ops::dialect_type, dialect>, no_fault,
            no_inference<Ops>>...>::type{};
}
template <class P>
auto find_inference_fault() {
    if constexpr (is_declared<P> || !requires { sizeof(P); }) {
        return no_fault{};
    } else if constexpr (requires { typename P::made_by_expressions; }) {
        return find_not_inferred(typename P::made_by_expressions{});
    } else if constexpr (!std::is_same_v<rules_of<P>, rule_list<>>) {
        return find_not_inferred(list_of_set<made_by_rules<P> - set_of<emitted_by_rules<P>>>{});
    } else {
        return no_fault{};
    }
}

template <class P>
auto find_pass_fault() {
    if constexpr (is_declared<P>) {
        return no_fault{};  // checked by passes/declare
    } else if constexpr (!requires { sizeof(P); }) {
        return only_declared<P>{};
    } else if constexpr (!pass_type<P>) {
        return not_a_pass<P>{};
    } else if constexpr (!std::is_same_v<decltype(find_other_list<P>()), no_fault>) {
        return find_other_list<P>();
    } else if constexpr (!std::is_same_v<decltype(find_other_rewrites<P>()), no_fault>) {
        return find_other_rewrites<P>();
    } else if constexpr (!std::is_same_v<typename effects_of<P>::faulty_rule, no_fault>) {
        return typename effects_of<P>::faulty_rule{};
    } else if constexpr (!std::is_same_v<typename effects_of<P>::missing_handler, no_fault>) {
        return detail::refine(typename effects_of<P>::missing_handler{});
    } else if constexpr (targets_of<P>::size != 0 || graph_pass<P> || !has_handlers<P>) {
        return no_fault{};
    } else if constexpr (requires(P& p, graph& g, pass_context& c) { p(g, c); }) {
        return handler_not_const<P, graph>{};
    } else {
        return no_targets<P>{};
    }
}
template <class P>
auto find_faulty_handler() {
    if constexpr (!is_declared<P> && pass_type<P>) {
        return typename effects_of<P>::faulty_handler{};
    } else {
        return no_fault{};
    }
}

}  // namespace detail

/// The fault that keeps a pass from running, or no_fault: the type is not a pass or only declared, a target
/// has no fitting handler, or handlers have no targets.
template <class P>
using pass_fault = decltype(detail::find_pass_fault<P>());
/// The handler whose result cannot replace a node, or no_fault.
template <class P>
using faulty_handler_of = decltype(detail::find_faulty_handler<P>());

/// The op that a pass's expressions make and that has no inference, or no_fault.
template <class P>
using inference_fault_of = decltype(detail::find_inference_fault<P>());

/// Matches passes without a fault; proofs rely on it.
template <class P>
concept sound_pass =
    std::is_same_v<pass_fault<P>, no_fault> && std::is_same_v<faulty_handler_of<P>, no_fault>;
/// Matches passes whose ops have inference, and those of them that can run.
template <class P>
concept has_inference = std::is_same_v<inference_fault_of<P>, no_fault>;
template <class P>
concept runnable_pass = sound_pass<P> && has_inference<P>;

}  // namespace headrace

#endif
