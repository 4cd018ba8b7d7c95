// SPDX-License-Identifier: MIT
// Defines the checks of a pipeline that concern its list of passes, and the diagnoses that name the culprits.
#ifndef HEADRACE_PASS_PIPELINE_CHECKS_HPP
#define HEADRACE_PASS_PIPELINE_CHECKS_HPP

#include <array>
#include <cstddef>
#include <type_traits>

#include <headrace/pass/pass.hpp>

namespace headrace {

/// Diagnoses of pipelines, for compile errors.
template <class Op, class LastPass>
struct survives {};
template <class Pass>
struct listed_twice {};
template <class Pass, class Dependency>
struct unmet {};
template <class Pass, class Dependency>
struct misordered {};
/// In place of a pass where none targets the op.
struct no_pass {};

template <class Diagnosis>
inline constexpr bool ends_in_legal_ops = false;
template <>
inline constexpr bool ends_in_legal_ops<no_fault> = true;
template <class Diagnosis>
inline constexpr bool listed_once = false;
template <>
inline constexpr bool listed_once<no_fault> = true;
template <class Diagnosis>
inline constexpr bool dependencies_met = false;
template <>
inline constexpr bool dependencies_met<no_fault> = true;
template <class Diagnosis>
inline constexpr bool order_kept = false;
template <>
inline constexpr bool order_kept<no_fault> = true;

namespace detail {

template <class List>
struct set_over;
template <class... Ds>
struct set_over<dialects<Ds...>> {
    using type = op_set<Ds...>;
};

// The dialects of two lists and of any number of further lists, of dialects or of ops.
template <class A, class B, class... OpLists>
struct universe_of;
template <class A, class B>
struct universe_of<A, B> : merge_dialects<A, B> {};
template <class A, class B, class... Ops, class... Rest>
struct universe_of<A, B, ops<Ops...>, Rest...>
    : universe_of<typename merge_dialects<A, dialects_of<Ops...>>::type, B, Rest...> {};
template <class A, class B, class... Ds, class... Rest>
struct universe_of<A, B, dialects<Ds...>, Rest...>
    : universe_of<typename merge_dialects<A, dialects<Ds...>>::type, B, Rest...> {};

template <std::size_t I, class... Ps>
struct pass_at {
    using type = no_pass;
};
template <std::size_t I, class... Ps>
    requires(I < sizeof...(Ps))
struct pass_at<I, Ps...> {
    using type = typename decltype(detail::held_at<I>(
        indexed_types<std::make_index_sequence<sizeof...(Ps)>, Ps...>{}))::type;
};

template <class Op, class... Ps>
constexpr std::size_t last_targeting() {
    constexpr bool targets[] = {effects_of<Ps>::target_set.template contains<Op>()..., false};
    for (std::size_t i = sizeof...(Ps); i-- != 0;) {
        if (targets[i]) return i;
    }
    return sizeof...(Ps);
}

template <class P>
inline constexpr bool is_repeatable = false;
template <class P>
requires requires { P::repeatable; }
inline constexpr bool is_repeatable<P> = P::repeatable;

template <class P>
struct required_before {
    using type = pass_list<>;
};
template <class P>
requires requires { typename P::requires_before; }
struct required_before<P> {
    using type = typename P::requires_before;
};
template <class P>
struct required_after {
    using type = pass_list<>;
};
template <class P>
requires requires { typename P::requires_after; }
struct required_after<P> {
    using type = typename P::requires_after;
};

template <class P, class... Ensured>
constexpr bool ensures_any_of(pass_list<Ensured...>) {
    return (__is_same(P, Ensured) || ...);
}
// A pass provides itself, and the properties that it ensures.
template <class P, class Wanted>
constexpr bool provides() {
    if constexpr (__is_same(P, Wanted)) {
        return true;
    } else if constexpr (requires { typename P::ensures; }) {
        return ensures_any_of<Wanted>(typename P::ensures{});
    } else {
        return false;
    }
}

// The first of some diagnoses that is a fault. Types are taken apart only if there is one.
template <class... Diagnoses>
constexpr auto first_fault() {
    constexpr std::size_t at = [] {
        constexpr bool is_fault[] = {!__is_same(Diagnoses, no_fault)..., true};
        std::size_t i = 0;
        while (!is_fault[i]) ++i;
        return i;
    }();
    if constexpr (at == sizeof...(Diagnoses)) {
        return no_fault{};
    } else {
        return typename type_at<at, ops<Diagnoses...>>::type{};
    }
}

template <class... Ps>
struct pipeline_checks {
    static constexpr std::size_t size = sizeof...(Ps);

    // Does a pass in that part of the list provide what is wanted?
    template <class Wanted>
    static constexpr bool provided(std::size_t begin, std::size_t end) {
        constexpr bool by[] = {provides<Ps, Wanted>()..., false};
        for (std::size_t i = begin; i < end; ++i) {
            if (by[i]) return true;
        }
        return false;
    }

    template <class P>
    static constexpr std::size_t occurrences = (std::size_t{__is_same(P, Ps)} + ... + 0);
    template <class P>
    using repetition_of =
        std::conditional_t<is_repeatable<P> || occurrences<P> == 1, no_fault, listed_twice<P>>;

    template <class P, class... Wanted>
    static constexpr auto unmet_of(pass_list<Wanted...>) {
        return first_fault<std::conditional_t<provided<Wanted>(0, size), no_fault, unmet<P, Wanted>>...>();
    }
    template <class P, bool Before, std::size_t I, class... Wanted>
    static constexpr auto misordered_of(pass_list<Wanted...>) {
        return first_fault<std::conditional_t<provided<Wanted>(Before ? 0 : I + 1, Before ? I : size),
                                              no_fault, misordered<P, Wanted>>...>();
    }
    template <class P, class Before = typename required_before<P>::type,
              class After = typename required_after<P>::type>
    static constexpr auto find_unmet_of() {
        return first_fault<decltype(unmet_of<P>(Before{})), decltype(unmet_of<P>(After{}))>();
    }
    template <class P, std::size_t I, class Before = typename required_before<P>::type,
              class After = typename required_after<P>::type>
    static constexpr auto find_misordered_of() {
        return first_fault<decltype(misordered_of<P, true, I>(Before{})),
                           decltype(misordered_of<P, false, I>(After{}))>();
    }
    template <std::size_t... I>
    static auto find_misordered(std::index_sequence<I...>) {
        return first_fault<decltype(find_misordered_of<Ps, I>())...>();
    }

    using missing_handler = decltype(first_fault<typename effects_of<Ps>::missing_handler...>());
    using faulty_handler = decltype(first_fault<typename effects_of<Ps>::faulty_handler...>());
    using repetition = decltype(first_fault<repetition_of<Ps>...>());
    using dependency = decltype(first_fault<decltype(find_unmet_of<Ps>())...>());
    static auto pick_order() {
        // An unmet dependency is in no order either: one error is enough.
        if constexpr (__is_same(dependency, no_fault)) {
            return find_misordered(std::make_index_sequence<size>{});
        } else {
            return no_fault{};
        }
    }
    using order = decltype(pick_order());
    static constexpr bool sound = __is_same(
        decltype(first_fault<missing_handler, faulty_handler, repetition, dependency, order>()), no_fault);
};

}  // namespace detail

}  // namespace headrace

#endif
