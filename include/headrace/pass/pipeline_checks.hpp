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

/// A pass that does nothing.
struct inert_pass : pass {};

template <class List>
struct set_over;
template <class... Ds>
struct set_over<dialects<Ds...>> {
    using type = op_set<Ds...>;
};

// The dialects of two lists and of any number of ops<...> lists.
template <class A, class B, class... OpLists>
struct universe_of;
template <class A, class B>
struct universe_of<A, B> : merge_dialects<A, B> {};
template <class A, class B, class... Ops, class... Rest>
struct universe_of<A, B, ops<Ops...>, Rest...> : universe_of<typename merge_dialects<A, dialects_of<Ops...>>::type, B, Rest...> {};

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
auto required_before() {
    if constexpr (requires { typename P::requires_before; }) return typename P::requires_before{}; else return pass_list<>{};
}
template <class P>
auto required_after() {
    if constexpr (requires { typename P::requires_after; }) return typename P::requires_after{}; else return pass_list<>{};
}
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

template <class... Ps>
struct pipeline_checks {
    template <class Wanted>
    static constexpr std::array<bool, sizeof...(Ps) + 1> providers() {
        return {provides<Ps, Wanted>()..., false};
    }
    template <class Wanted>
    static constexpr bool provided(std::size_t begin, std::size_t end) {
        constexpr auto by = providers<Wanted>();
        for (std::size_t i = begin; i < end; ++i) {
            if (by[i]) return true;
        }
        return false;
    }

    // The first fault of a kind, found pass by pass; each step is a no-op for a pass without requirements.
    template <std::size_t I, class P, class Found>
    static constexpr auto repetition_at(Found found) {
        if constexpr (!std::is_same_v<Found, no_fault> || is_repeatable<P>) {
            return found;
        } else {
            constexpr std::size_t occurrences = (std::size_t{__is_same(P, Ps)} + ... + 0);
            return std::conditional_t<occurrences == 1, no_fault, listed_twice<P>>{};
        }
    }
    template <class P, class... Wanted>
    static constexpr auto unmet_of(pass_list<Wanted...>) {
        no_fault none;
        return first_fault(none, std::conditional_t<provided<Wanted>(0, sizeof...(Ps)), no_fault, unmet<P, Wanted>>{}...);
    }
    template <bool Before, std::size_t I, class P, class... Wanted>
    static constexpr auto misordered_of(pass_list<Wanted...>) {
        no_fault none;
        return first_fault(none, std::conditional_t<provided<Wanted>(Before ? 0 : I + 1, Before ? I : sizeof...(Ps)),
                                                    no_fault, misordered<P, Wanted>>{}...);
    }
    static constexpr no_fault first_fault(no_fault) { return {}; }
    template <class F, class... Rest>
    static constexpr auto first_fault(no_fault, F f, Rest... rest) {
        if constexpr (std::is_same_v<F, no_fault>) {
            return first_fault(no_fault{}, rest...);
        } else {
            return f;
        }
    }

    template <std::size_t... I>
    static auto find_repetition(std::index_sequence<I...>) {
        return first_fault(no_fault{}, repetition_at<I, Ps>(no_fault{})...);
    }
    template <std::size_t... I>
    static auto find_unmet(std::index_sequence<I...>) {
        return first_fault(no_fault{}, unmet_of<Ps>(required_before<Ps>())..., unmet_of<Ps>(required_after<Ps>())...);
    }
    template <std::size_t... I>
    static auto find_misordered(std::index_sequence<I...>) {
        return first_fault(no_fault{}, misordered_of<true, I, Ps>(required_before<Ps>())...,
                           misordered_of<false, I, Ps>(required_after<Ps>())...);
    }

    using indices = std::make_index_sequence<sizeof...(Ps)>;
    using repetition = decltype(find_repetition(indices{}));
    using dependency = decltype(find_unmet(indices{}));
    static auto pick_order() {
        // An unmet dependency is in no order either: one error is enough.
        if constexpr (std::is_same_v<dependency, no_fault>) return find_misordered(indices{}); else return no_fault{};
    }
    using order = decltype(pick_order());
    static constexpr bool sound = std::is_same_v<repetition, no_fault> && std::is_same_v<dependency, no_fault> &&
                                  std::is_same_v<order, no_fault>;
};

}  // namespace detail

}  // namespace headrace

#endif
