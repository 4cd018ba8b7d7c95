// SPDX-License-Identifier: MIT
// Defines headrace::replacement, which replaces a match in headrace::replace_pattern.
#ifndef HEADRACE_FX_REPLACEMENT_HPP
#define HEADRACE_FX_REPLACEMENT_HPP

#include <functional>
#include <memory>
#include <type_traits>
#include <utility>

#include <headrace/fx/pattern.hpp>
#include <headrace/fx/replacement_copy.hpp>
#include <headrace/fx/subgraph_match.hpp>
#include <headrace/infer/inference.hpp>
#include <headrace/pass/driver.hpp>
#include <headrace/rewrite/emit.hpp>

namespace headrace {

namespace detail {

/// The inference rules of the ops in a replacement.
template <class List>
struct rules_among;
template <class... Ops>
struct rules_among<ops<Ops...>> {
    static result<void> infer(const node& n, inference& out) {
        inference_rule rule = nullptr;
        ((n.op == &info_of<Ops> ? void(rule = rule_of_op<Ops>()) : void()), ...);
        if (rule == nullptr) return invalid({"no inference for ", n.op->name});
        return rule(n.arguments, out);
    }
};

// The ops that a callable that makes nodes declares to produce, and its return type.
template <class Member>
struct emitting_signature;
template <class F, class R, class Produces>
struct emitting_signature<R (F::*)(const subgraph_match&, emit<Produces>&) const> {
    using produces = Produces;
    using returned = R;
};
template <class F>
using emitting_signature_of = emitting_signature<decltype(&F::operator())>;

}  // namespace detail

/// Matches callables that make the nodes of a replacement themselves: a const call operator that takes `const
/// subgraph_match&` and `emit<ops<...>>&`, and returns the same types as a pass's handler.
template <class F>
concept emitting_function = requires { typename detail::emitting_signature_of<F>::produces; };

/// Matches callables that return a replacement graph for each match.
template <class F>
concept graph_callback = !pattern_function<F> &&
    std::is_invocable_r_v<result<std::shared_ptr<const graph>>, const F&, const subgraph_match&, const graph&,
        const graph&>;

/// The replacement of a match. It has the inputs of the pattern, in order, and returns one value for each
/// that the pattern returns. It is made from
///
/// - a graph, or a callable that returns an expression, like a pattern: copied for each match;
/// - a callable `(match, original, pattern) -> result<std::shared_ptr<const graph>>`: one graph per match;
/// - a callable `(const subgraph_match&, emit<ops<...>>&)`, which makes nodes like a pass's handler, and may
///   decline like one.
///
/// Nodes that come from a graph get metadata by the context's inference rules, all others by the rules of
/// their ops.
class replacement {
public:
    /// The graph must outlive this object.
    replacement(const graph& g) : make_(from_graph(&g, nullptr)) {}
    template <pattern_function F>
    replacement(const F& f) {
        using expression = decltype(expression_of(f));
        using facts = detail::expression_facts<detail::expression_side::replacement, expression>;
        static_assert(sound_expression<typename facts::fault>,
            "replacement: its expression is ill-formed; see the diagnosis, fix that call");
        static_assert(results_are_inferred<decltype(detail::find_not_inferred(typename facts::called{}))>,
            "emit: an op has no infer_results; see no_inference<Op>, declare it beside the op");
        if constexpr (std::is_same_v<typename facts::fault, no_fault>) {
            auto g = std::make_shared<graph>();
            detail::write_expression(*g, f);
            make_ = [copy = from_graph(g.get(), &detail::rules_among<typename facts::called>::infer), g](
                        const subgraph_match& m, const graph& p, const detail::replacement_site& site,
                        value_list& with) { return copy(m, p, site, with); };
        }
    }
    template <graph_callback F>
    replacement(F f) {
        make_ = [f = std::move(f)](const subgraph_match& m, const graph& pattern,
                    const detail::replacement_site& site, value_list& with) {
            const result<std::shared_ptr<const graph>> made = f(m, std::as_const(site.g), pattern);
            if (!made) {
                site.context.report(site.current, made.error().message, made.error().kind);
                return detail::outcome_kind::failed;
            }
            if (made.value() == nullptr) return detail::outcome_kind::declined;
            return detail::replacement_copy(*made.value(), nullptr, m, site).run(with);
        };
    }
    template <emitting_function F>
    replacement(F f) {
        make_ = [f = std::move(f)](const subgraph_match& m, const graph&,
                    const detail::replacement_site& site, value_list& with) {
            using produces = typename detail::emitting_signature_of<F>::produces;
            emission made(site.g, &site.current, site.before, site.context);
            emit<produces> e(made);
            auto returned = f(m, e);
            return detail::outcome_of(e, detail::take_result<identity_policy>(e, returned, with));
        };
    }

    /// Makes the replacement of one match; `with` receives the values that replace the returned ones.
    detail::outcome_kind operator()(const subgraph_match& m, const graph& pattern,
        const detail::replacement_site& site, value_list& with) const {
        return make_ ? make_(m, pattern, site, with) : detail::outcome_kind::declined;
    }

private:
    using make_function = std::function<detail::outcome_kind(
        const subgraph_match&, const graph& pattern, const detail::replacement_site&, value_list&)>;

    static make_function from_graph(const graph* g, pass_context::node_inference rules) {
        return [g, rules](const subgraph_match& m, const graph&, const detail::replacement_site& site,
                   value_list& with) { return detail::replacement_copy(*g, rules, m, site).run(with); };
    }

    make_function make_;
};

}  // namespace headrace

#endif
