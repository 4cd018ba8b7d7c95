// SPDX-License-Identifier: MIT
// Defines headrace::unlisted_handlers, which finds the handlers of a pass that its targets do not list.
#ifndef HEADRACE_PASS_AUDIT_HPP
#define HEADRACE_PASS_AUDIT_HPP

#include <headrace/pass/pass.hpp>

namespace headrace {

namespace detail {

template <class P, class Op, class... Targets>
constexpr bool handled_but_unlisted(ops<Targets...>) {
    if constexpr ((__is_same(Op, Targets) || ...)) {
        return false;
    } else {
        return handles<P, Op>;
    }
}

template <class P, class Dialect, class... Ops>
constexpr auto find_unlisted(ops<Ops...>) {
    op_set<Dialect> found;
    // Not a fold: clang nests those, and a dialect has more ops than it allows.
    const bool visited[] = {
        (handled_but_unlisted<P, Ops>(targets_of<P>{}) && (found.template insert<Ops>(), true))..., true};
    static_cast<void>(visited);
    return found;
}

}  // namespace detail

/// The ops of a dialect that a pass has a handler for but does not list as targets, so that the handler never
/// runs: `static_assert(unlisted_handlers<decompose_addmm, aten::dialect>.empty());` For tests only: it asks
/// the pass for every op of the dialect.
template <pass_type P, class Dialect>
inline constexpr auto unlisted_handlers = detail::find_unlisted<P, Dialect>(typename Dialect::all_ops{});

}  // namespace headrace

#endif
