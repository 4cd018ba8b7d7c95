// SPDX-License-Identifier: MIT
// Defines headrace::emit, the emitter that makes only the ops that its pass lists.
#ifndef HEADRACE_REWRITE_EMIT_HPP
#define HEADRACE_REWRITE_EMIT_HPP

#include <concepts>
#include <type_traits>

#include <headrace/rewrite/emitter.hpp>
#include <headrace/rewrite/messages.hpp>

namespace headrace {

HEADRACE_FAULT(production, only_emits_what_it_produces);
HEADRACE_FAULT(inference, results_are_inferred);
HEADRACE_FAULT(members, members_fit);

/// Names an op that a pass emits without listing it in `produces`, in the compile error.
template <class Op, class Produces>
struct not_produced : faults::production {};

/// Names an op that a pass emits although it has no inference, in the compile error.
template <class Op>
struct no_inference : faults::inference {};

/// Names an op that a pass calls with members of the wrong types or number, in the compile error.
template <class Op, class... Types>
struct no_such_members : faults::members {};

namespace detail {
template <class Some, class All>
struct first_not_listed;
template <class All>
struct first_not_listed<ops<>, All> {
    using type = void;
};
template <class Op, class... Ops, class All>
struct first_not_listed<ops<Op, Ops...>, All>
    : std::conditional_t<(listed<Op, All> && ... && listed<Ops, All>), first_not_listed<ops<>, All>,
          std::conditional_t<listed<Op, All>, first_not_listed<ops<Ops...>, All>,
              std::type_identity<not_produced<Op, All>>>> {};
}  // namespace detail

/// Makes nodes for a handler, before the node that it rewrites; only ops of `Produces` (an ops<...> list)
/// compile. Metadata is inferred; annotations are inherited from the current node.
template <class Produces>
class emit : public emitter {
public:
    using emitter::emitter;

    /// For code in an expression, whose type states the ops that it emits.
    constexpr explicit emit(const emitter& unchecked) : emitter(unchecked) {}
    /// Converts the emitter of a pass for a function that emits fewer ops and is shared by several passes.
    template <class Wider>
    constexpr emit(const emit<Wider>& wider) : emitter(wider) {
        static_assert(only_emits_what_it_produces<typename detail::first_not_listed<Produces, Wider>::type>,
            "emit: a called function emits an op that is not in `produces`; see not_produced<Op, "
            "Produces>, add it");
    }

    // Both functions repeat the assertions: a call level between them and the handler would add three lines
    // to the diagnostic.

    /// Adds a node and returns its first result: `e.make<aten::relu>({.self = x})` or, with the members in
    /// order, `e.make<aten::add_tensor>(x, y)`.
    template <op_tag Op, class First = args<Op>, class... More>
    value make(const First& first, const More&... more) {
        static_assert(listed_in_its_dialect<Op>, "op: not in its dialect's list; add it there");
        static_assert(only_emits_what_it_produces<emission<Op>>,
            "emit: op is not in the pass's `produces`; see not_produced<Op, Produces>, add it there");
        static_assert(results_are_inferred<inferred<Op>>, HEADRACE_NO_INFERENCE);
        static_assert(members_fit<fit<Op, First, More...>>,
            "emit: an op does not have such members; see no_such_members<Op, Types...>, fix them");
        if constexpr (!may_make<Op>) {
            return {};
        } else if constexpr (std::is_same_v<First, args<Op>>) {
            return first_result(this->template add<Op>(first));
        } else if constexpr (members_fit<fit<Op, First, More...>>) {
            return first_result(this->template add<Op>(args<Op>{first, more...}));
        } else {
            return {};
        }
    }
    /// Adds a node and returns it, for ops with several results; null after a failure.
    template <op_tag Op>
    node* make_node(const args<Op>& a) {
        static_assert(listed_in_its_dialect<Op>, "op: not in its dialect's list; add it there");
        static_assert(only_emits_what_it_produces<emission<Op>>,
            "emit: op is not in the pass's `produces`; see not_produced<Op, Produces>, add it there");
        static_assert(results_are_inferred<inferred<Op>>, HEADRACE_NO_INFERENCE);
        if constexpr (may_make<Op>) {
            return this->template add<Op>(a);
        } else {
            return nullptr;
        }
    }
    /// Makes the nodes of an expression, written as a callable that takes these values as terms. Returns a
    /// value, or a std::tuple of them: `e.build([](auto x, auto y) { return x * sigmoid(y); }, x, y)`.
    template <class F, std::same_as<value>... Values>
    auto build(const F& expression, Values... operands) const;  // rewrite/code.hpp

private:
    // If false, an assertion has reported it.
    template <class Op>
    static constexpr bool may_make =
        detail::listed<Op, Produces> && listed_in_its_dialect<Op> && inferable<Op>;
    template <class Op>
    using emission = std::conditional_t<detail::listed<Op, Produces>, void, not_produced<Op, Produces>>;
    // Checked only for ops that may be emitted: one error is enough.
    template <class Op>
    using inferred =
        std::conditional_t<!detail::listed<Op, Produces> || inferable<Op>, void, no_inference<Op>>;

    template <class Op, class... Types>
    using fit = std::conditional_t<requires(const Types&... members) { args<Op>{members...}; }, void,
        no_such_members<Op, Types...>>;

    static value first_result(node* n) { return n == nullptr ? value{} : n->result(); }
};

}  // namespace headrace

#endif
