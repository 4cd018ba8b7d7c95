// SPDX-License-Identifier: MIT
// Defines headrace::property, the facts that passes ensure and require, and headrace::order_facts, the order
// constraints of a pass as data.
#ifndef HEADRACE_PASS_ORDER_HPP
#define HEADRACE_PASS_ORDER_HPP

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>

#include <headrace/pass/pass_lists.hpp>

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

#define HEADRACE_ORDER_LIST(name) name,
enum class order_list : std::uint8_t { HEADRACE_ORDER_LISTS(HEADRACE_ORDER_LIST) };
#undef HEADRACE_ORDER_LIST

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
#define HEADRACE_LIST_FACT(name) \
    if constexpr (requires { typename facts::name; }) f.name = listed_ids<typename facts::name>::value;
    HEADRACE_ORDER_LISTS(HEADRACE_LIST_FACT)
#undef HEADRACE_LIST_FACT
    if constexpr (requires { typename facts::phase; }) f.phase = &own_order_facts<typename facts::phase>;
    return f;
}

// One of the lists of a pass or a phase itself, as a type, for diagnostics.
template <class T, order_list List>
auto pick_list() {
#define HEADRACE_PICK_LIST(name)                                              \
    if constexpr (List == order_list::name && requires { typename T::name; }) \
        return typename T::name{};                                            \
    else
    HEADRACE_ORDER_LISTS(HEADRACE_PICK_LIST) return pass_list<>{};
#undef HEADRACE_PICK_LIST
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

}  // namespace headrace

#endif
