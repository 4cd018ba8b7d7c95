// SPDX-License-Identifier: MIT
// Defines headrace::property, what passes ensure and need, and the rules by which the order of passes is
// checked.
#ifndef HEADRACE_PASS_ORDER_HPP
#define HEADRACE_PASS_ORDER_HPP

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <type_traits>

#include <headrace/pass/pass.hpp>

namespace headrace {

/// Base of properties: what holds of a graph between two passes, as a tag whose documentation says it.
///
///     struct functional : property {};  // nothing is written in place
///
/// A pass states its order with lists (pass_list<...>) of passes and properties:
///
/// - `requires_before`: each must be in the pipeline, before this pass; a property must still hold.
/// - `requires_after`: each must be in the pipeline, after this pass.
/// - `runs_after`, `runs_before`: the same where the pipeline has them at all.
/// - `ensures`: the properties that hold after this pass; `invalidates`: those that no longer do.
///
/// A pass that runs several times counts as before another one if any of its runs is, and so does one after
/// it. `phase` names a struct with such lists that several passes share; they add to the pass's own. A source
/// `from<...>` may name properties that programs have already, and `to<...>` those that must hold at the end.
///
/// A property with a set of ops `only` (`static constexpr auto only = every_op<tosa::dialect>`) needs nobody
/// to ensure it: it holds where the effects of the passes before leave no other op. A pass that runs after
/// it must not stand where it does not hold yet, but holds later.
struct property {};

/// Diagnoses of the order of passes, for compile errors.
template <class Pass, class Dependency>
struct unmet {};
template <class Pass, class Dependency>
struct misordered {};
template <class Pass, class Property, class InvalidatedBy>
struct invalidated {};
template <class Pass, class Property, class Op>
struct too_early {};
/// In place of a pass where the pipeline's `to<...>` asks for a property.
struct end_of_pipeline {};
/// In place of a pass where the pipeline's `from<...>` states a property.
struct start_of_pipeline {};

namespace detail {

// The address is the identity of a pass or a property: comparing two costs no template.
using order_id = const std::string_view*;
template <class T>
inline constexpr std::string_view identity_of = type_name<T>;

// The lists that a pass or a phase has of its own.
template <class T>
struct order_lists {
    static auto requires_before() {
        if constexpr (requires { typename T::requires_before; })
            return typename T::requires_before{};
        else
            return pass_list<>{};
    }
    static auto runs_after() {
        if constexpr (requires { typename T::runs_after; })
            return typename T::runs_after{};
        else
            return pass_list<>{};
    }
    static auto requires_after() {
        if constexpr (requires { typename T::requires_after; })
            return typename T::requires_after{};
        else
            return pass_list<>{};
    }
    static auto runs_before() {
        if constexpr (requires { typename T::runs_before; })
            return typename T::runs_before{};
        else
            return pass_list<>{};
    }
    static auto ensures() {
        if constexpr (requires { typename T::ensures; })
            return typename T::ensures{};
        else
            return pass_list<>{};
    }
    static auto invalidates() {
        if constexpr (requires { typename T::invalidates; })
            return typename T::invalidates{};
        else
            return pass_list<>{};
    }
};
struct no_phase {};
template <class P>
auto find_phase() {
    if constexpr (requires { typename P::phase; }) {
        return std::type_identity<typename P::phase>{};
    } else {
        return std::type_identity<no_phase>{};
    }
}
template <class P>
using phase_of = typename decltype(find_phase<P>())::type;

template <class A, class B>
struct ordered_list;
template <class... As, class... Bs>
struct ordered_list<pass_list<As...>, pass_list<Bs...>> {
    static constexpr std::array<order_id, sizeof...(As) + sizeof...(Bs)> ids{&identity_of<As>...,
                                                                             &identity_of<Bs>...};
    using type = pass_list<As..., Bs...>;
};

enum class order_list : std::uint8_t {
    requires_before,
    runs_after,
    requires_after,
    runs_before,
    ensures,
    invalidates
};
template <class P, order_list List>
auto pick_list() {
    using own = order_lists<P>;
    using shared = order_lists<phase_of<P>>;
    if constexpr (List == order_list::requires_before) {
        return ordered_list<decltype(own::requires_before()), decltype(shared::requires_before())>{};
    } else if constexpr (List == order_list::runs_after) {
        return ordered_list<decltype(own::runs_after()), decltype(shared::runs_after())>{};
    } else if constexpr (List == order_list::requires_after) {
        return ordered_list<decltype(own::requires_after()), decltype(shared::requires_after())>{};
    } else if constexpr (List == order_list::runs_before) {
        return ordered_list<decltype(own::runs_before()), decltype(shared::runs_before())>{};
    } else if constexpr (List == order_list::ensures) {
        return ordered_list<decltype(own::ensures()), decltype(shared::ensures())>{};
    } else {
        return ordered_list<decltype(own::invalidates()), decltype(shared::invalidates())>{};
    }
}
template <class P, order_list List>
using order_list_of = decltype(pick_list<P, List>());

}  // namespace detail

/// What a pass says about its order, as data: its own lists and those of its phase.
struct order_facts {
    using ids = std::span<const detail::order_id>;
    detail::order_id self = nullptr;
    ids requires_before{}, runs_after{}, requires_after{}, runs_before{}, ensures{}, invalidates{};

    /// False for a pass that may stand anywhere, as far as it and its phase say.
    [[nodiscard]] constexpr bool states_something() const {
        return !(requires_before.empty() && runs_after.empty() && requires_after.empty() &&
                 runs_before.empty() && ensures.empty() && invalidates.empty());
    }
    [[nodiscard]] constexpr const ids& list(detail::order_list l) const {
        const ids* const all[] = {&requires_before, &runs_after, &requires_after,
                                  &runs_before,     &ensures,    &invalidates};
        return *all[static_cast<std::size_t>(l)];
    }
};

/// The facts of a pass.
template <class P>
inline constexpr order_facts order_facts_of{&detail::identity_of<P>,
                                      detail::order_list_of<P, detail::order_list::requires_before>::ids,
                                      detail::order_list_of<P, detail::order_list::runs_after>::ids,
                                      detail::order_list_of<P, detail::order_list::requires_after>::ids,
                                      detail::order_list_of<P, detail::order_list::runs_before>::ids,
                                      detail::order_list_of<P, detail::order_list::ensures>::ids,
                                      detail::order_list_of<P, detail::order_list::invalidates>::ids};

namespace detail {

enum class order_fault_kind : std::uint8_t { none, unmet, misordered, invalidated };

/// What is wrong with an order: the pass at `pass` says in its `list`, as entry `entry`, what is not so.
struct order_fault {
    order_fault_kind kind = order_fault_kind::none;
    std::size_t pass = 0;
    order_list list = order_list::requires_before;
    std::size_t entry = 0;
    std::size_t by = 0;  ///< the pass that invalidates a property
};

inline constexpr order_list wanting_lists[] = {order_list::requires_before, order_list::runs_after,
                                               order_list::requires_after, order_list::runs_before};

// Calls `f(id)` for what the passes say that they need. Neighbours of one phase share their lists.
template <class F>
constexpr void for_each_wanted(std::span<const order_facts* const> passes, F&& f) {
    for (std::size_t i = 0; i != passes.size(); ++i) {
        for (const order_list l : wanting_lists) {
            const order_facts::ids& ids = passes[i]->list(l);
            if (i != 0 && ids.data() == passes[i - 1]->list(l).data()) continue;
            for (const order_id id : ids) f(id);
        }
    }
}
/// A bound for the number of passes and properties that are named.
constexpr std::size_t count_wanted(std::span<const order_facts* const> passes) {
    std::size_t count = 0;
    for_each_wanted(passes, [&](order_id) { ++count; });
    return count;
}

/// Finds the first fault of an order: what is not there at all before what is in a wrong place.
template <std::size_t Capacity>
class order_check {
public:
    constexpr explicit order_check(std::span<const order_facts* const> passes) : passes_(passes) {
        for_each_wanted(passes, [&](order_id id) { add(id); });
        for (std::size_t i = 0; i != passes.size(); ++i) {
            for_provided(*passes[i], [&](state& s) { s.last_provider = i + 1; });
        }
    }

    [[nodiscard]] constexpr order_fault first() {
        for (std::size_t i = 0; i != passes_.size(); ++i) {
            const order_facts& p = *passes_[i];
            look_back(i, order_list::requires_before);
            look_back(i, order_list::runs_after);
            look_ahead(i, order_list::requires_after);
            look_ahead(i, order_list::runs_before);
            for (const order_id id : p.invalidates) {
                if (const std::size_t k = find(id); k != count_ && states_[k].holds) {
                    states_[k].holds = false;
                    states_[k].invalidated_by = i + 1;
                }
            }
            for_provided(p, [&](state& s) { s.holds = true; });
        }
        return unmet_.kind != order_fault_kind::none ? unmet_ : misplaced_;
    }

private:
    // Positions count from 1; 0 is none.
    struct state {
        order_id id = nullptr;
        std::size_t last_provider = 0, invalidated_by = 0;
        bool holds = false;
    };

    // An index, not a pointer: g++ 12 takes no pointer into a temporary for a constant.
    [[nodiscard]] constexpr std::size_t find(order_id id) const {
        std::size_t k = 0;
        while (k != count_ && states_[k].id != id) ++k;
        return k;
    }
    constexpr void add(order_id id) {
        if (find(id) == count_) states_[count_++].id = id;
    }
    template <class F>
    constexpr void for_provided(const order_facts& p, F&& f) {
        if (const std::size_t k = find(p.self); k != count_) f(states_[k]);
        for (const order_id id : p.ensures) {
            if (const std::size_t k = find(id); k != count_) f(states_[k]);
        }
    }

    constexpr void look_back(std::size_t i, order_list l) {
        const order_facts::ids& ids = passes_[i]->list(l);
        for (std::size_t k = 0; k != ids.size(); ++k) {
            const state& s = states_[find(ids[k])];
            if (s.holds) continue;
            if (s.last_provider == 0) {
                if (l == order_list::requires_before) report(order_fault_kind::unmet, i, l, k, 0);
            } else if (s.invalidated_by != 0) {
                report(order_fault_kind::invalidated, i, l, k, s.invalidated_by - 1);
            } else {
                report(order_fault_kind::misordered, i, l, k, 0);
            }
        }
    }
    constexpr void look_ahead(std::size_t i, order_list l) {
        const order_facts::ids& ids = passes_[i]->list(l);
        for (std::size_t k = 0; k != ids.size(); ++k) {
            const state& s = states_[find(ids[k])];
            if (s.last_provider > i + 1) continue;
            if (s.last_provider != 0) {
                report(order_fault_kind::misordered, i, l, k, 0);
            } else if (l == order_list::requires_after) {
                report(order_fault_kind::unmet, i, l, k, 0);
            }
        }
    }
    constexpr void report(order_fault_kind kind, std::size_t i, order_list l, std::size_t entry,
                          std::size_t by) {
        order_fault& f = kind == order_fault_kind::unmet ? unmet_ : misplaced_;
        if (f.kind == order_fault_kind::none) f = {kind, i, l, entry, by};
    }

    std::span<const order_facts* const> passes_;
    std::array<state, Capacity + 1> states_{};
    std::size_t count_ = 0;
    order_fault unmet_{}, misplaced_{};
};

}  // namespace detail

}  // namespace headrace

#endif
