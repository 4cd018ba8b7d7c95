// SPDX-License-Identifier: MIT
// Defines headrace::detail::pass_codes, with which headrace::compiled compiles the passes of a list. Include
// it before any pass.
#ifndef HEADRACE_COMPILED_PASS_CODES_HPP
#define HEADRACE_COMPILED_PASS_CODES_HPP

#include <tuple>
#include <type_traits>

#include <headrace/pass/order.hpp>
#include <headrace/pass/pass_checks.hpp>
#include <headrace/pass/pass_code.hpp>
#include <headrace/pass/pipeline_checks.hpp>
#include <headrace/pass/run_pass.hpp>

// Here the passes are compiled, whatever pass_code.hpp said.
#undef HEADRACE_COMPILED_CODE
#define HEADRACE_COMPILED_CODE(P) \
    template <class>              \
    struct pass_code

namespace headrace {

/// Names a pass of which passes/declared_passes.hpp says something else than its definition.
template <class Pass>
struct stale_declaration {};
template <class Diagnosis>
inline constexpr bool is_current = false;
template <>
inline constexpr bool is_current<no_fault> = true;

namespace detail {

// A pass under a name that is not declared: what is known of it follows from the definition.
template <class P>
struct defined_pass : P {};

template <class A, class B, order_list... Lists>
inline constexpr bool same_lists = (std::is_same_v<order_list_of<A, Lists>, order_list_of<B, Lists>> && ...);
template <class A, class B>
inline constexpr bool same_order = same_lists<A, B, order_list::requires_before, order_list::runs_after,
    order_list::requires_after, order_list::runs_before, order_list::ensures, order_list::invalidates>;
template <class A, class B>
constexpr bool same_set(const A& a, const B& b) {
    return a <= b && b <= a;
}
template <class A, class B>
inline constexpr bool same_effects = std::is_same_v<targets_of<A>, targets_of<B>> &&
    same_set(effects_of<A>::removed_set, effects_of<B>::removed_set) &&
    same_set(effects_of<A>::produced_set, effects_of<B>::produced_set) && graph_pass<A> == graph_pass<B> &&
    decides_itself<A> == decides_itself<B> && replaces_skip_test<A> == replaces_skip_test<B>;

template <class P>
constexpr auto declaration_fault() {
    using defined = defined_pass<P>;
    if constexpr (!is_declared<P>) {
        return no_fault{};
    } else if constexpr (sound_pass<defined> && declared_pass<P>::has_options != std::is_empty_v<P> &&
        same_effects<P, defined> && same_order<P, defined> && is_repeatable<P> == is_repeatable<defined> &&
        pass_summary<P>() == pass_summary<defined>()) {
        return no_fault{};
    } else {
        return stale_declaration<P>{};
    }
}

// A table of pointers to the code of passes makes the compiler generate it, without a second list of them.
template <class P>
constexpr auto code_of() {
    using code = pass_code<P>;
    if constexpr (decides_itself<P>) {
        return std::tuple(&code::run, &code::run_default, &code::should_run);
    } else {
        return std::tuple(&code::run, &code::run_default);
    }
}
template <class List>
struct pass_codes;
template <class... Passes>
struct pass_codes<pass_list<Passes...>> {
    static_assert(is_current<decltype(first_fault<decltype(declaration_fault<Passes>())...>())>,
        "pass: its declaration is stale; see stale_declaration<Pass>, run declared_passes.py");
    static const std::tuple<decltype(code_of<Passes>())...> all;
};
template <class... Passes>
const std::tuple<decltype(code_of<Passes>())...> pass_codes<pass_list<Passes...>>::all{code_of<Passes>()...};

}  // namespace detail

}  // namespace headrace

#endif
