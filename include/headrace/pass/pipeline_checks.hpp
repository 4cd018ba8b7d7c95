// SPDX-License-Identifier: MIT
// Defines the checks of a pipeline's list of passes, and the diagnoses that name the culprits.
#ifndef HEADRACE_PASS_PIPELINE_CHECKS_HPP
#define HEADRACE_PASS_PIPELINE_CHECKS_HPP

#include <array>
#include <cstddef>
#include <type_traits>

#include <headrace/pass/order.hpp>
#include <headrace/pass/order_check.hpp>
#include <headrace/pass/pass.hpp>
#include <headrace/pass/pass_checks.hpp>
#include <headrace/rewrite/messages.hpp>

namespace headrace {

HEADRACE_FAULT(dependency, dependencies_met);
HEADRACE_FAULT(sequence, order_kept);
HEADRACE_FAULT(property, properties_hold);
HEADRACE_FAULT(too_early, ops_are_gone);
HEADRACE_FAULT(legality, ends_in_legal_ops);
HEADRACE_FAULT(repetition, listed_once);

/// Diagnoses of the order of passes, for compile errors.
template <class Pass, class Dependency>
struct unmet : faults::dependency {};
template <class Pass, class Dependency>
struct misordered : faults::sequence {};
template <class Pass, class Property, class InvalidatedBy>
struct invalidated : faults::property {};
template <class Pass, class Property, class Op>
struct too_early : faults::too_early {};
/// Replaces a pass in a diagnosis if `to<...>` of the pipeline requires a property.
struct end_of_pipeline {};
/// Replaces a pass in a diagnosis if `from<...>` of the pipeline states a property.
struct start_of_pipeline {};

/// Diagnoses of pipelines, for compile errors. `Origin` is emitted_by<Pass> if a pass makes the op.
template <class Op, class LastPass, class... Origin>
struct survives : faults::legality {};
template <class Pass>
struct emitted_by {};
/// Up to max_survivors surviving ops.
template <class... Survivors>
struct survivors : faults::legality {};
inline constexpr std::size_t max_survivors = 20;
template <class Pass>
struct listed_twice : faults::repetition {};
/// Replaces the pass in a diagnosis if none targets the op.
struct no_pass {};

namespace detail {

template <class List>
struct set_over;
template <class... Ds>
struct set_over<dialects<Ds...>> {
    using type = op_set<Ds...>;
};

// The dialects of lists of dialects or of ops, in order of first appearance. Passes have few different lists
// of dialects, so a fold instantiates few templates.
template <class List, class... Ds>
auto operator+(collected<List>, dialects<Ds...>)
    -> collected<typename merge_dialects<List, dialects<Ds...>>::type>;
template <class... Ds>
auto dialects_in(dialects<Ds...>) -> dialects<Ds...>;
template <class... Ops>
auto dialects_in(ops<Ops...>) -> dialects_of<Ops...>;
template <class Dialects, class... Lists>
using with_dialects_of =
    typename decltype((collected<Dialects>{} + ... + decltype(dialects_in(Lists{})){}))::type;

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
    requires requires { pass_facts<P>::repeatable; }
inline constexpr bool is_repeatable<P> = pass_facts<P>::repeatable;

// Returns the first diagnosis that is a fault. Types are taken apart only if there is one.
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

// The properties among the items of from<...> or to<...>.
template <class Item>
auto property_or_none() {
    if constexpr (std::is_base_of_v<property, Item>) {
        return pass_list<Item>{};
    } else {
        return pass_list<>{};
    }
}
template <class Boundary>
struct properties_in;
template <template <class...> class Boundary, class... Items>
struct properties_in<Boundary<Items...>> {
    static auto pick() {
        if constexpr ((std::is_base_of_v<property, Items> || ...)) {
            return (pass_list<>{} + ... + decltype(property_or_none<Items>()){});
        } else {
            return pass_list<>{};
        }
    }
    using type = decltype(pick());
};

// The ends of a pipeline as passes: one before the first pass ensures the properties of the source, and one
// after the last requires those at the end.
template <class Properties>
struct start_facts : start_of_pipeline {
    using ensures = Properties;
};
template <class Properties>
struct end_facts : end_of_pipeline {
    using requires_before = Properties;
};
template <class P>
struct named_pass {
    using type = P;
};
template <class Properties>
struct named_pass<start_facts<Properties>> {
    using type = start_of_pipeline;
};
template <class Properties>
struct named_pass<end_facts<Properties>> {
    using type = end_of_pipeline;
};

template <class... Ps>
struct pipeline_checks {
    static constexpr std::size_t size = sizeof...(Ps);
    using pass_fault = decltype(first_fault<headrace::pass_fault<Ps>...>());
    using faulty_handler = decltype(first_fault<faulty_handler_of<Ps>...>());

    static auto find_repetition() {
        constexpr std::size_t at = [] {
            constexpr order_id ids[] = {&identity_of<Ps>..., nullptr};
            constexpr bool repeatable[] = {(is_repeatable<Ps> || !pass_type<Ps>)..., true};
            order_index<size> listed;
            std::size_t i = 0;
            while (i != size && (listed.add(ids[i]) || repeatable[i])) ++i;
            return i;
        }();
        if constexpr (at == size) {
            return no_fault{};
        } else {
            return listed_twice<typename pass_at<at, Ps...>::type>{};
        }
    }
    using repetition = decltype(find_repetition());
    static constexpr bool sound =
        __is_same(decltype(first_fault<pass_fault, faulty_handler, repetition>()), no_fault);
};

// Checks the order of passes, including the ends of the pipeline.
template <class... Ps>
struct order_checks {
    static constexpr std::array<const order_facts*, sizeof...(Ps)> facts{&order_facts_of<Ps>...};
    static constexpr order_fault fault = order_check<count_wanted(facts)>(facts).first();

    template <std::size_t I>
    using pass_named = typename named_pass<typename pass_at<I, Ps...>::type>::type;
    template <class... Ts>
    static auto entry_of(pass_list<Ts...>) -> typename type_at<fault.entry, ops<Ts...>>::type;

    // If not, a pass is only declared, which is an error of its own.
    static constexpr bool all_known = (requires { sizeof(pass_facts<Ps>); } && ...);
    static auto diagnose() {
        if constexpr (fault.kind == order_fault_kind::none || !all_known) {
            return no_fault{};
        } else {
            using culprit = typename pass_at<fault.pass, Ps...>::type;
            using wanted = decltype(entry_of(order_list_of<culprit, fault.list>{}));
            if constexpr (fault.kind == order_fault_kind::unmet) {
                return unmet<pass_named<fault.pass>, wanted>{};
            } else if constexpr (fault.kind == order_fault_kind::misordered) {
                return misordered<pass_named<fault.pass>, wanted>{};
            } else {
                return invalidated<pass_named<fault.pass>, wanted, pass_named<fault.by>>{};
            }
        }
    }
    using diagnosis = decltype(diagnose());
};

}  // namespace detail

}  // namespace headrace

#endif
