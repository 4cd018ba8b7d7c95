// SPDX-License-Identifier: MIT
// Defines headrace::property, the facts that passes ensure and require, and the check of a pipeline's order.
#ifndef HEADRACE_PASS_ORDER_HPP
#define HEADRACE_PASS_ORDER_HPP

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

#include <headrace/pass/pass.hpp>

namespace headrace {

/// Base of properties. A property is a tag for a fact that holds for a graph between two passes; its
/// documentation states the fact.
///
///     struct functional : property {};  // nothing is written in place
///
/// A pass states its order with lists (pass_list<...>) of passes and properties:
///
/// - `requires_before`: each must be in the pipeline, before this pass; a property must still hold.
/// - `requires_after`: each must be in the pipeline, after this pass.
/// - `runs_after`, `runs_before`: as above, but only for those that are in the pipeline.
/// - `ensures`: the properties that hold after this pass; `invalidates`: those that no longer do.
///
/// For a pass that runs several times, it is enough that one of its runs is before (or after) the other pass.
/// `phase` names a struct with such lists that several passes share, in addition to their own. `from<...>`
/// may name properties that source programs have, and `to<...>` properties that must hold at the end.
///
/// A property with a set of ops `only` (`static constexpr auto only = every_op<tosa::dialect>`) need not be
/// ensured: it holds wherever the effects of earlier passes leave no other op. A pass that lists it in
/// `runs_after` is too early if the property does not hold before it but holds later.
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
/// Replaces a pass in a diagnosis if `to<...>` of the pipeline requires a property.
struct end_of_pipeline {};
/// Replaces a pass in a diagnosis if `from<...>` of the pipeline states a property.
struct start_of_pipeline {};

namespace detail {

// The address identifies a pass or a property, so comparing two needs no template. The value, the length of
// its name, serves as a hash.
using order_id = const std::size_t*;
template <class T>
constexpr std::size_t length_of_name() {
    return sizeof(__PRETTY_FUNCTION__);
}
template <class T>
inline constexpr std::size_t identity_of = length_of_name<T>();

// Empty for a type that is not a list, which is a fault of the pass; see not_a_list.
template <class List>
struct listed_ids {
    static constexpr std::array<order_id, 0> value{};
};
template <class... Ts>
struct listed_ids<pass_list<Ts...>> {
    static constexpr std::array<order_id, sizeof...(Ts)> value{&identity_of<Ts>...};
};

enum class order_list : std::uint8_t {
    requires_before,
    runs_after,
    requires_after,
    runs_before,
    ensures,
    invalidates
};

}  // namespace detail

/// The order constraints of a pass or a phase, as data.
struct order_facts {
    using ids = std::span<const detail::order_id>;
    detail::order_id self = nullptr;
    const order_facts* phase = nullptr;  ///< its lists also apply to the pass
    ids requires_before{}, runs_after{}, requires_after{}, runs_before{}, ensures{}, invalidates{};

    /// False for a pass that may be anywhere, by its own lists and its phase's.
    [[nodiscard]] constexpr bool states_something() const {
        return !(requires_before.empty() && runs_after.empty() && requires_after.empty() &&
                   runs_before.empty() && ensures.empty() && invalidates.empty()) ||
            (phase != nullptr && phase->states_something());
    }
    [[nodiscard]] constexpr const ids& list(detail::order_list l) const {
        const ids* const all[] = {
            &requires_before, &runs_after, &requires_after, &runs_before, &ensures, &invalidates};
        return *all[static_cast<std::size_t>(l)];
    }
};

namespace detail {

template <class T>
constexpr order_facts make_order_facts();
template <class T>
inline constexpr order_facts own_order_facts = make_order_facts<T>();

template <class T>
constexpr order_facts make_order_facts() {
    order_facts f;
    f.self = &identity_of<T>;
    using facts = pass_facts<T>;
    if constexpr (requires { typename facts::requires_before; })
        f.requires_before = listed_ids<typename facts::requires_before>::value;
    if constexpr (requires { typename facts::runs_after; })
        f.runs_after = listed_ids<typename facts::runs_after>::value;
    if constexpr (requires { typename facts::requires_after; })
        f.requires_after = listed_ids<typename facts::requires_after>::value;
    if constexpr (requires { typename facts::runs_before; })
        f.runs_before = listed_ids<typename facts::runs_before>::value;
    if constexpr (requires { typename facts::ensures; })
        f.ensures = listed_ids<typename facts::ensures>::value;
    if constexpr (requires { typename facts::invalidates; })
        f.invalidates = listed_ids<typename facts::invalidates>::value;
    if constexpr (requires { typename facts::phase; }) f.phase = &own_order_facts<typename facts::phase>;
    return f;
}

// One of the lists of a pass or a phase itself, as a type, for diagnostics.
template <class T, order_list List>
auto pick_list() {
    if constexpr (List == order_list::requires_before && requires { typename T::requires_before; }) {
        return typename T::requires_before{};
    } else if constexpr (List == order_list::runs_after && requires { typename T::runs_after; }) {
        return typename T::runs_after{};
    } else if constexpr (List == order_list::requires_after && requires { typename T::requires_after; }) {
        return typename T::requires_after{};
    } else if constexpr (List == order_list::runs_before && requires { typename T::runs_before; }) {
        return typename T::runs_before{};
    } else if constexpr (List == order_list::ensures && requires { typename T::ensures; }) {
        return typename T::ensures{};
    } else if constexpr (List == order_list::invalidates && requires { typename T::invalidates; }) {
        return typename T::invalidates{};
    } else {
        return pass_list<>{};
    }
}
struct no_phase {};
template <class T>
auto find_phase() {
    if constexpr (requires { typename T::phase; }) {
        return std::type_identity<typename T::phase>{};
    } else {
        return std::type_identity<no_phase>{};
    }
}
template <class P>
using phase_of = typename decltype(find_phase<pass_facts<P>>())::type;

template <class... As, class... Bs>
pass_list<As..., Bs...> operator+(pass_list<As...>, pass_list<Bs...>);
/// The entries of a pass's list, followed by those of its phase.
template <class P, order_list List>
using order_list_of =
    decltype(decltype(pick_list<pass_facts<P>, List>()){} + decltype(pick_list<phase_of<P>, List>()){});

}  // namespace detail

/// The order constraints of a pass.
template <class P>
inline constexpr const order_facts& order_facts_of = detail::own_order_facts<P>;

namespace detail {

enum class order_fault_kind : std::uint8_t { none, unmet, misordered, invalidated };

/// The fault of an order: entry `entry` in the `list` of the pass at `pass` is violated.
struct order_fault {
    order_fault_kind kind = order_fault_kind::none;
    std::size_t pass = 0;
    order_list list = order_list::requires_before;
    std::size_t entry = 0;
    std::size_t by = 0;  ///< the pass that invalidates a property
};

inline constexpr order_list wanting_lists[] = {
    order_list::requires_before, order_list::runs_after, order_list::requires_after, order_list::runs_before};

// Calls `f(id)` for each pass or property that the passes need. Lists of a phase are visited once for
// adjacent passes.
template <class F>
constexpr void for_each_wanted(std::span<const order_facts* const> passes, F&& f) {
    const order_facts* phase = nullptr;
    for (const order_facts* p : passes) {
        for (const order_list l : wanting_lists) {
            for (const order_id id : p->list(l)) f(id);
            if (p->phase == nullptr || p->phase == phase) continue;
            for (const order_id id : p->phase->list(l)) f(id);
        }
        phase = p->phase;
    }
}
/// Returns an upper bound of the number of passes and properties that are needed.
constexpr std::size_t count_wanted(std::span<const order_facts* const> passes) {
    std::size_t count = 0;
    for_each_wanted(passes, [&](order_id) { ++count; });
    return count;
}

/// Numbers identities in the order in which they are added. Lookup is by the length of their names: comparing
/// each with all others would be most of the proof's cost.
template <std::size_t Capacity>
class order_index {
public:
    [[nodiscard]] constexpr std::size_t size() const { return size_; }
    /// Returns the number of an identity, or size().
    [[nodiscard]] constexpr std::size_t find(order_id id) const {
        std::size_t k = buckets_[bucket_of(id)];
        while (k != 0 && ids_[k - 1] != id) k = next_[k - 1];
        return k == 0 ? size_ : k - 1;
    }
    /// Returns false if it was already present.
    constexpr bool add(order_id id) {
        if (find(id) != size_) return false;
        std::size_t& bucket = buckets_[bucket_of(id)];
        ids_[size_] = id;
        next_[size_] = bucket;
        bucket = ++size_;
        return true;
    }

private:
    static constexpr std::size_t buckets = 64;
    static constexpr std::size_t bucket_of(order_id id) { return *id % buckets; }

    std::array<order_id, Capacity + 1> ids_{};
    std::array<std::size_t, Capacity + 1> next_{};  ///< next entry in the bucket, counted from 1; 0 for none
    std::array<std::size_t, buckets> buckets_{};
    std::size_t size_ = 0;
};

/// Finds the first fault of an order; missing passes come before misplaced ones.
template <std::size_t Capacity>
class order_check {
public:
    constexpr explicit order_check(std::span<const order_facts* const> passes) : passes_(passes) {
        for_each_wanted(passes, [&](order_id id) { wanted_.add(id); });
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
            for_each(p, order_list::invalidates, [&](order_id id, std::size_t) {
                if (const std::size_t k = wanted_.find(id); k != wanted_.size() && states_[k].holds) {
                    states_[k].holds = false;
                    states_[k].invalidated_by = i + 1;
                }
            });
            for_provided(p, [&](state& s) { s.holds = true; });
        }
        return unmet_.kind != order_fault_kind::none ? unmet_ : misplaced_;
    }

private:
    // Positions count from 1; 0 means none.
    struct state {
        std::size_t last_provider = 0, invalidated_by = 0;
        bool holds = false;
    };
    // Calls `f(id, entry)` for the entries of a pass's list, then those of its phase.
    template <class F>
    static constexpr void for_each(const order_facts& p, order_list l, F&& f) {
        std::size_t entry = 0;
        for (const order_id id : p.list(l)) f(id, entry++);
        if (p.phase == nullptr) return;
        for (const order_id id : p.phase->list(l)) f(id, entry++);
    }
    template <class F>
    constexpr void for_provided(const order_facts& p, F&& f) {
        const auto provide = [&](order_id id, std::size_t) {
            if (const std::size_t k = wanted_.find(id); k != wanted_.size()) f(states_[k]);
        };
        provide(p.self, 0);
        for_each(p, order_list::ensures, provide);
    }

    constexpr void look_back(std::size_t i, order_list l) {
        for_each(*passes_[i], l, [&](order_id id, std::size_t entry) {
            const state& s = states_[wanted_.find(id)];
            if (s.holds) return;
            if (s.last_provider == 0) {
                if (l == order_list::requires_before) report(order_fault_kind::unmet, i, l, entry, 0);
            } else if (s.invalidated_by != 0) {
                report(order_fault_kind::invalidated, i, l, entry, s.invalidated_by - 1);
            } else {
                report(order_fault_kind::misordered, i, l, entry, 0);
            }
        });
    }
    constexpr void look_ahead(std::size_t i, order_list l) {
        for_each(*passes_[i], l, [&](order_id id, std::size_t entry) {
            const state& s = states_[wanted_.find(id)];
            if (s.last_provider > i + 1) return;
            if (s.last_provider != 0) {
                report(order_fault_kind::misordered, i, l, entry, 0);
            } else if (l == order_list::requires_after) {
                report(order_fault_kind::unmet, i, l, entry, 0);
            }
        });
    }
    constexpr void report(
        order_fault_kind kind, std::size_t i, order_list l, std::size_t entry, std::size_t by) {
        order_fault& f = kind == order_fault_kind::unmet ? unmet_ : misplaced_;
        if (f.kind == order_fault_kind::none) f = {kind, i, l, entry, by};
    }

    std::span<const order_facts* const> passes_;
    order_index<Capacity> wanted_;
    std::array<state, Capacity + 1> states_{};  ///< of each needed pass or property
    order_fault unmet_{}, misplaced_{};
};

}  // namespace detail

}  // namespace headrace

#endif
