// SPDX-License-Identifier: MIT
// Defines headrace::pass_base, the base of passes over the whole graph with state and checks.
#ifndef HEADRACE_PASS_PASS_BASE_HPP
#define HEADRACE_PASS_PASS_BASE_HPP

#include <cstddef>
#include <memory_resource>
#include <utility>

#include <headrace/pass/driver.hpp>
#include <headrace/pass/pass.hpp>
#include <headrace/rewrite/pass_context.hpp>

namespace headrace {

/// Matches passes with a precondition on the graph: `result<void> require(const graph&) const`. Any kind of
/// pass may have one (`requires` is a keyword of C++).
template <class P>
concept has_requirement = requires(const P& p, const graph& g) {
    { p.require(g) } -> std::same_as<result<void>>;
};

/// Matches passes with a postcondition on the graph: `result<void> ensure(const graph&) const`.
template <class P>
concept has_guarantee = requires(const P& p, const graph& g) {
    { p.ensure(g) } -> std::same_as<result<void>>;
};

namespace detail {

// The skip test, as narrowed or replaced by the pass's own should_run.
template <class P>
bool wants_to_run(
    [[maybe_unused]] const P& p, [[maybe_unused]] const graph& g, [[maybe_unused]] bool has_targets) {
    if constexpr (replaces_skip_test<P>) {
        return p.should_run(g, has_targets);
    } else if constexpr (decides_itself<P>) {
        return has_targets && p.should_run(g);
    } else {
        return has_targets;
    }
}

}  // namespace detail

/// True if a pass has work: the generated skip test, which looks for its targets, as narrowed or replaced by
/// the pass's own should_run. Pipelines, managers, apply_pass and passes called as functions use it, unless
/// the context forces passes to run.
template <class P>
[[nodiscard]] bool is_due(const P& p, const graph& g, const pass_context& context) {
    if (context.forces_passes()) return true;
    bool present = true;
    if constexpr (targets_of<P>::size != 0)
        present = detail::has_any_of(g, detail::infos_in<targets_of<P>>::value);
    return detail::wants_to_run(p, g, present);
}

namespace detail {

// Matches bases that call `require` and `ensure` themselves, so that drivers do not call them again.
template <class P>
concept checks_itself = requires { typename P::checks_itself; };

[[gnu::noinline]] inline error named_failure(std::string_view pass, error e) {
    return {e.kind, text_of({pass, ": ", std::move(e.message)})};
}

/// Calls `run()` between the pass's own checks; an error of a check has the pass's name.
template <class P, class Run>
auto run_checked(const P& p, graph& g, Run&& run) -> decltype(run()) {
    if constexpr (has_requirement<P>) {
        if (result<void> met = p.require(g); !met) return named_failure(pass_name<P>(), met.error());
    }
    auto done = run();
    if constexpr (has_guarantee<P>) {
        if (!done) return done;
        if (result<void> kept = p.ensure(g); !kept) return named_failure(pass_name<P>(), kept.error());
    }
    return done;
}

/// Runs only the checks of a pass that is called alone and is not due.
template <class P>
result<node_counts> run_checks_alone(const P& p, graph& g) {
    return run_checked(p, g, [] { return result<node_counts>(node_counts{}); });
}

}  // namespace detail

/// Base of a pass that is one function over the whole graph, with data in members:
///
///     struct replace_add : pass_base<replace_add> {
///         result<std::size_t> call(graph& g, pass_context& context) const;  // number of rewritten nodes
///         result<void> require(const graph& g) const;                       // optional
///         result<void> ensure(const graph& g) const;                        // optional
///     };
///
/// It can be called as a function, which asks should_run first; it runs in static pipelines if it is
/// default-constructible, and in pass managers. Like other passes over the whole graph it may have `targets`,
/// `produces` and `removes`.
template <class Derived>
struct pass_base : pass {
    using checks_itself = void;

    /// Runs the pass without asking should_run.
    result<node_counts> run(graph& g, pass_context& context) const {
        const auto& self = static_cast<const Derived&>(*this);
        const result<std::size_t> rewritten =
            detail::run_checked(self, g, [&] { return self.call(g, context); });
        if (!rewritten) return rewritten.error();
        return node_counts{.rewritten = rewritten.value()};
    }
    result<std::size_t> operator()(graph& g, pass_context& context) const {
        const auto& self = static_cast<const Derived&>(*this);
        const result<node_counts> counts =
            is_due(self, g, context) ? pass_base::run(g, context) : detail::run_checks_alone(self, g);
        if (!counts) return counts.error();
        return counts.value().rewritten;
    }
};

}  // namespace headrace

#endif
