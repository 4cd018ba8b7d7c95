// SPDX-License-Identifier: MIT
// Defines headrace::from and headrace::to, the ops at the ends of a pipeline, and the flow of ops between
// them: the effects of all passes, applied to the ops that may enter.
#ifndef HEADRACE_PASS_PIPELINE_FLOW_HPP
#define HEADRACE_PASS_PIPELINE_FLOW_HPP

#include <array>
#include <cstddef>
#include <type_traits>
#include <utility>

#include <headrace/dialect/builtin.hpp>
#include <headrace/op/op_set.hpp>
#include <headrace/pass/order.hpp>
#include <headrace/pass/pass.hpp>
#include <headrace/pass/pass_checks.hpp>

namespace headrace {

/// The ops that may enter a pipeline (`from`), and those that may leave it (`to`): op tags, ops<...> lists,
/// dialects (all of their ops) and types with a static op_set `set`, in any combination. Placeholders,
/// constants and outputs are always allowed. Listed properties hold for programs that enter, and must hold
/// for those that leave.
template <class... Items>
struct from {};
template <class... Items>
struct to {};

namespace detail {

template <class Item>
constexpr auto set_of_item() {
    if constexpr (std::is_base_of_v<property, Item>) {
        return op_set<>{};
    } else if constexpr (op_tag<Item>) {
        return ops_in<Item>;
    } else if constexpr (requires { Item::set; }) {
        return Item::set;
    } else if constexpr (requires { Item::name_hashes; }) {
        return every_op<Item>;
    } else {
        return set_of<Item>;
    }
}

template <class Boundary>
struct boundary;
template <template <class...> class Boundary, class... Items>
struct boundary<Boundary<Items...>> {
    static constexpr auto set =
        (ops_in<builtin::placeholder, builtin::constant, builtin::output> | ... | set_of_item<Items>());
};

template <class Set>
struct effect_sets {
    Set targets{};
    Set removed{};
    Set produced{};
    Set gone_before{};            // ops excluded by the properties that it runs after
    bool targets_nothing = true;  // and so runs for any graph
};

template <class Set, class Allowed>
constexpr Set all_but(const Allowed& allowed) {
    using own = typename Set::dialect_list;
    using merged = typename merge_dialects<own, typename Allowed::dialect_list>::type;  // its own come first
    const auto rest = make_every_op(own{}).over(merged{}) - allowed.over(merged{});
    Set excluded;
    excluded.copy_words(0, rest.words().data(), Set::word_count);
    return excluded;
}
// The ops that the properties in a list exclude; computed once per list, not once per pass that has it.
template <class Set, class List>
inline constexpr Set excluded_by{};
template <class Set, class T>
    requires requires { T::only; }
inline constexpr Set excluded_by<Set, pass_list<T>> = all_but<Set>(T::only | every_op<builtin::dialect>);
template <class Set, class... Ts>
    requires(sizeof...(Ts) > 1)
inline constexpr Set excluded_by<Set, pass_list<Ts...>> = (Set() | ... | excluded_by<Set, pass_list<Ts>>);

template <class Set, class T>
constexpr Set excluded_before() {
    if constexpr (requires { typename T::runs_after; }) {
        return excluded_by<Set, typename T::runs_after>;
    } else {
        return Set();
    }
}

// Returns the first property in a list that excludes an op.
template <class Set, std::size_t Position, std::size_t Index, class... Ts>
auto find_property_without(pass_list<Ts...>) {
    constexpr std::size_t at = [] {
        Set op;
        op.insert_at(Set::first_word(Position), Index);
        const bool excludes[] = {!(excluded_by<Set, pass_list<Ts>> & op).empty()..., true};
        std::size_t i = 0;
        while (!excludes[i]) ++i;
        return i;
    }();
    return typename type_at<at, ops<Ts...>>::type{};
}
template <class Set, std::size_t Position, std::size_t Index, class List>
using property_without = decltype(find_property_without<Set, Position, Index>(List{}));

template <class Set>
constexpr std::pair<std::size_t, std::size_t> nth_op(Set set, std::size_t n) {
    for (std::size_t i = 0; i != n; ++i) {
        const auto at = set.first();
        Set taken;
        taken.insert_at(Set::first_word(at.first), at.second);
        set -= taken;
    }
    return set.first();
}

// Filled in over the pipeline's own dialects at once: a set per pass and list of dialects would instantiate
// more templates.
template <class Set, class P>
constexpr effect_sets<Set> effects_over() {
    effect_sets<Set> sets;
    if constexpr (!sound_pass<P>) {
        sets.targets_nothing = false;  // it never runs, so no second error follows
    } else {
        insert_all(sets.targets, targets_of<P>{});
        insert_all(sets.produced, declared_by<pass_facts<P>>{});
        sets.produced |= made_by_rules<pass_facts<P>>.over(typename Set::dialect_list{});
        sets.removed = removed_by<P, Set>();
        sets.gone_before = excluded_before<Set, pass_facts<P>>() | excluded_before<Set, phase_of<P>>();
        sets.targets_nothing = always_runs<P>;
    }
    return sets;
}

/// The effects of all passes, applied to a source set.
template <class Set, std::size_t N>
struct flow {
    std::array<Set, N + 1> ops{};     ///< before pass i, and at the end
    std::array<bool, N + 1> fires{};  ///< true if pass i can ever have work
    Set supported{};                  ///< source ops that provably end up legal, in any combination
};

template <class Set, std::size_t N>
constexpr flow<Set, N> fold_effects(
    const std::array<effect_sets<Set>, N>& passes, const Set& source, const Set& legal) {
    flow<Set, N> f;
    f.ops[0] = source;
    for (std::size_t i = 0; i != N; ++i) {
        const effect_sets<Set>& p = passes[i];
        f.fires[i] = p.targets_nothing || p.targets.meets(f.ops[i]);
        f.ops[i + 1] = f.fires[i] ? f.ops[i].replaced(p.removed, p.produced) : f.ops[i];
    }
    // Backward: the ops that may be in the graph before pass i, in any combination, and still end up legal.
    // If an op that the pass emits cannot end up legal, nor can any op that makes it run; for a pass without
    // targets, no op can.
    f.supported = legal;
    for (std::size_t i = N; i-- != 0;) {
        const effect_sets<Set>& p = passes[i];
        if (p.produced <= f.supported) {
            f.supported |= p.removed;
        } else {
            f.supported -= p.targets_nothing ? f.supported : p.targets;
        }
    }
    f.supported &= source;
    return f;
}

/// Returns the first pass that runs before a property of the ops holds although it holds later, or N.
template <class Set, std::size_t N>
constexpr std::size_t find_too_early(const std::array<effect_sets<Set>, N>& passes, const flow<Set, N>& f) {
    for (std::size_t i = 0; i != N; ++i) {
        const Set& excluded = passes[i].gone_before;
        if (!f.ops[i].meets(excluded)) continue;
        for (std::size_t k = i + 1; k != N + 1; ++k) {
            if (!f.ops[k].meets(excluded)) return i;
        }
    }
    return N;
}

}  // namespace detail

}  // namespace headrace

#endif
