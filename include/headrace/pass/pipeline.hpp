// SPDX-License-Identifier: MIT
// Defines headrace::pipeline, a list of passes as a type whose legality is proven at compile time.
#ifndef HEADRACE_PASS_PIPELINE_HPP
#define HEADRACE_PASS_PIPELINE_HPP

#include <algorithm>
#include <array>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>

#include <headrace/dialect/builtin.hpp>
#include <headrace/ir/regions.hpp>
#include <headrace/op/op_set.hpp>
#include <headrace/pass/pass.hpp>
#include <headrace/pass/pass_code.hpp>
#include <headrace/pass/pipeline_checks.hpp>
#include <headrace/pass/pipeline_run.hpp>
#include <headrace/pass/pipeline_step.hpp>
#include <headrace/pass/run_pass.hpp>

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

/// A pipeline. `pipeline<from<...>, to<...>, Passes...>` applies the effects of the passes to the source ops
/// and checks, in this order, that every pass is valid, that none is listed twice unless it is `repeatable`,
/// that required passes and properties are present and in order, and that the ops that can leave are legal.
///
/// For a pipeline that is named in many places, define a struct, so that its name stays short: `struct
/// lower_float : pipeline<...> {};`
template <class From, class To, class... Passes>
class pipeline {
public:
    using pipeline_type = pipeline;
    using source = From;
    using legal = To;
    using passes = pass_list<Passes...>;
    static constexpr std::size_t size = sizeof...(Passes);
    /// The last pass that targets an op, or no_pass.
    template <op_tag Op>
    using last_pass_for = typename detail::pass_at<detail::last_targeting<Op, Passes...>(), Passes...>::type;

private:
    // Rules are read first: compile errors in them then have the fewest lines.
    using rules_are_read =
        std::integer_sequence<bool, detail::rules_read<detail::rules_of<detail::pass_facts<Passes>>>...>;

    using source_set_type = std::remove_const_t<decltype(detail::boundary<From>::set)>;
    using legal_set_type = std::remove_const_t<decltype(detail::boundary<To>::set)>;
    // The union of the dialects of all passes' ops; one union per list of sets, not one per pass.
    using universe = detail::with_dialects_of<
        detail::with_dialects_of<
            detail::with_dialects_of<
                detail::with_dialects_of<typename source_set_type::dialect_list, targets_of<Passes>...>,
                detail::declared_by<detail::pass_facts<Passes>>...>,
            typename detail::list_effects<detail::rules_of<detail::pass_facts<Passes>>>::dialect_list...>,
        typename legal_set_type::dialect_list>;
    using set_type = typename detail::set_over<universe>::type;

    static constexpr std::array<detail::effect_sets<set_type>, size> effects_{
        detail::effects_over<set_type, Passes>()...};
    static constexpr detail::flow<set_type, size> flow_ = detail::fold_effects<set_type, size>(
        effects_, detail::boundary<From>::set.over(universe{}), detail::boundary<To>::set.over(universe{}));

    using checks = detail::pipeline_checks<Passes...>;
    static_assert(is_a_pass<typename checks::pass_fault>,
        "pass: a type is not one; see not_a_pass<T>, derive it from headrace::pass");
    static_assert(is_defined<typename checks::pass_fault>,
        "pass: it is only declared; see only_declared<Pass>, include the header that defines it");
    static_assert(lists_are_lists<typename checks::pass_fault>,
        "pass: one of its lists is none; see not_a_list<Pass, Member, T>, write ops<…> or pass_list<…>");
    static_assert(rewrites_are_rules<typename checks::pass_fault>,
        "pass: rewrites() gives no rules; see no_rules<Pass, Result>, return rules(…), from a "
        "static function");
    static_assert(rule_takes_operands<typename checks::pass_fault>,
        "rule: its callable does not take the operands; see not_callable_with<Op>, list them in "
        "order");
    static_assert(code_takes_arguments<typename checks::pass_fault>,
        "rule: its code has other parameters; see not_code_for<Op, List>, take emit<List>, const args<Op>&");
    static_assert(code_lists_all<typename checks::pass_fault>,
        "rule: its code emits an op that is not in its list; see not_produced<Op, List>, add it there");
    static_assert(calls_fit<typename checks::pass_fault>,
        "rule: a call or a pattern's node does not fit its op; see the diagnosis, fix that");
    static_assert(node_is_in_pattern<typename checks::pass_fault>,
        "match: the pattern has no node of that name; see not_in_pattern<Name, Names>, name one");
    static_assert(rule_gives_results<typename checks::pass_fault>,
        "rule: it does not return a value for each result; see the diagnosis, return those");
    static_assert(handlers_complete<typename checks::pass_fault>,
        "pass: a target has no handler; see no_handler<Pass, Op>, add one");
    static_assert(handlers_are_const<typename checks::pass_fault>,
        "pass: a handler is not const; see handler_not_const<Pass, Op>, make it const");
    static_assert(handlers_fit<typename checks::pass_fault>,
        "pass: a handler has the wrong parameters; see wrong_handler<Pass, Op, Handler>, take const "
        "args<Op>&, emit<…>&");
    static_assert(handlers_have_targets<typename checks::pass_fault>,
        "pass: it has handlers but no targets; see no_targets<Pass>, list them in `targeted_ops`");
    static_assert(results_are_values<typename checks::faulty_handler>,
        "pass: a handler's result cannot replace a node; see wrong_result<Pass, Op, Result>, return values");
    static_assert(listed_once<typename checks::repetition>,
        "pipeline: a pass is listed twice; see listed_twice<Pass>, remove one or make it `repeatable`");
    using order = detail::order_checks<detail::start_facts<typename detail::properties_in<From>::type>,
        Passes..., detail::end_facts<typename detail::properties_in<To>::type>>;
    static_assert(dependencies_met<typename order::diagnosis>,
        "pipeline: a required pass is not in the list; see unmet<Pass, Dependency>, add it");
    static_assert(order_kept<typename order::diagnosis>,
        "pipeline: a required order is violated; see misordered<Pass, Dependency>, move one of them");
    static_assert(properties_hold<typename order::diagnosis>,
        "pipeline: a property no longer holds; see invalidated<Pass, Property, By>, move one of them");

    // After another fault, this would be a second error about it.
    static constexpr bool in_order_ = checks::sound && __is_same(typename order::diagnosis, no_fault);
    static auto diagnose_early() {
        constexpr std::size_t at = detail::find_too_early(effects_, flow_);
        if constexpr (!in_order_ || at == size) {
            return no_fault{};
        } else {
            using culprit = typename detail::pass_at<at, Passes...>::type;
            constexpr auto op = (flow_.ops[at] & effects_[at].gone_before).first();
            using needs = detail::order_list_of<culprit, detail::order_list::runs_after>;
            return too_early<culprit, detail::property_without<set_type, op.first, op.second, needs>,
                typename op_at<set_type, op.first, op.second>::type>{};
        }
    }
    static_assert(ops_are_gone<decltype(diagnose_early())>,
        "pipeline: a pass runs before ops are gone; see too_early<Pass, Property, Op>, move it");

    static constexpr auto illegal_ = flow_.ops[size] - detail::boundary<To>::set.over(universe{});

    // Returns the diagnosis of an op that can survive; it names the last pass that makes the op, if any.
    template <class Op>
    static auto diagnose_survivor() {
        constexpr std::size_t origin = [] {
            std::size_t i = size;
            while (i != 0 && !(flow_.fires[i - 1] && effects_[i - 1].produced.template contains<Op>())) --i;
            return i;
        }();
        if constexpr (origin == 0) {
            return survives<Op, last_pass_for<Op>>{};
        } else {
            using pass_type = typename detail::pass_at<origin - 1, Passes...>::type;
            return survives<Op, last_pass_for<Op>, emitted_by<pass_type>>{};
        }
    }
    template <std::size_t I>
    static auto diagnose_survivor_at() {
        constexpr auto at = detail::nth_op(illegal_, I);
        return diagnose_survivor<typename op_at<set_type, at.first, at.second>::type>();
    }
    template <std::size_t... I>
    static auto diagnose_survivors(std::index_sequence<I...>) {
        return survivors<decltype(diagnose_survivor_at<I>())...>{};
    }
    static auto diagnose_legality() {
        constexpr std::size_t count = std::min(illegal_.size(), max_survivors);
        if constexpr (!in_order_ || count == 0) {
            return no_fault{};
        } else if constexpr (count == 1) {
            return diagnose_survivor_at<0>();
        } else {
            return diagnose_survivors(std::make_index_sequence<count>{});
        }
    }
    static_assert(ends_in_legal_ops<decltype(diagnose_legality())>,
        "pipeline: an op can survive it; see survives<Op, LastPassThatTargetsIt>, add a pass that "
        "removes it");

public:
    /// Returns the ops that can be in the graph before pass `i`; for `i == size`, the ops that can leave.
    [[nodiscard]] static constexpr const set_type& ops_before(std::size_t i) { return flow_.ops[i]; }
    [[nodiscard]] static constexpr const set_type& ops_after() { return flow_.ops[size]; }
    /// The source ops that this pipeline provably lowers, for partitioners.
    static constexpr const set_type& supported = flow_.supported;
    /// False for a pass that can never fire for this source; it has no generated code.
    [[nodiscard]] static constexpr bool can_fire(std::size_t i) { return flow_.fires[i]; }
    static constexpr std::size_t dead_pass_count = [] {
        std::size_t count = 0;
        for (std::size_t i = 0; i != size; ++i) count += !flow_.fires[i];
        return count;
    }();
    static constexpr std::array<std::string_view, size> pass_names{pass_name<Passes>()...};

    /// Runs the passes on a graph that the proof covers. The error names each node whose op `from<…>` does
    /// not list, in which case nothing has run, or each node that a pass refused or whose op `to<…>` does not
    /// list. The context's diagnostics list these nodes one by one.
    [[nodiscard]] static result<run_statistics> run(
        graph& g, pass_context& context, const run_options& options = {}) {
        static_assert(results_are_inferred<inference_fault>,
            "emit: an op has no infer_results; see no_inference<Op>, declare it beside the op");
        return detail::run_between({&may_enter, &may_leave}, {steps_, infos_}, g, context, options);
    }
    /// Runs the passes on any graph, for callers that judge the result themselves: refused nodes are in the
    /// context's diagnostics, and `for_each_illegal` finds the other nodes that may not leave. Fails only if
    /// a pass could not continue.
    [[nodiscard]] static result<run_statistics> run_unchecked(
        graph& g, pass_context& context, const run_options& options = {}) {
        static_assert(results_are_inferred<inference_fault>,
            "emit: an op has no infer_results; see no_inference<Op>, declare it beside the op");
        return pipeline_steps{steps_, infos_}.run(g, context, options);
    }
    /// Returns the passes as data, for other ways to run them.
    [[nodiscard]] static constexpr pipeline_steps steps() {
        static_assert(results_are_inferred<inference_fault>,
            "emit: an op has no infer_results; see no_inference<Op>, declare it beside the op");
        return {steps_, infos_};
    }

    /// True if `from<…>` lists the op; for may_leave, if `to<…>` does.
    [[nodiscard]] static bool may_enter(const op_info& op) {
        static constexpr auto source_set = detail::boundary<From>::set;
        return source_set.contains(op);
    }
    [[nodiscard]] static bool may_leave(const op_info& op) {
        static constexpr auto legal_set = detail::boundary<To>::set;
        return legal_set.contains(op);
    }
    /// Calls `f(node&)` for each node whose op may not leave the pipeline.
    template <class F>
    static void for_each_illegal(graph& g, F&& f) {
        for_each_graph(g, [&](graph& sub) {
            for (node& n : sub.nodes()) {
                if (!may_leave(*n.op)) f(n);
            }
        });
    }

private:
    // Reported only when the pipeline is run: a proof needs no inference.
    using inference_fault = decltype(detail::first_fault<inference_fault_of<Passes>...>());

    // A pass that can never fire has no code.
    template <std::size_t I, class P>
    static constexpr pipeline_step step_of() {
        pipeline_step step;
        step.name = pass_names[I];
        if constexpr (flow_.fires[I] && has_inference<P>) {
            if (targets_of<P>::size != 0) step.targets = targets_[I];
            step.replaces_skip_test = replaces_skip_test<P>;
            if constexpr (decides_itself<P>) step.should_run = &pass_code<P>::should_run;
            step.run = &pass_code<P>::run_default;
        }
        return step;
    }
    template <std::size_t... I>
    static constexpr std::array<pipeline_step, size> steps_of(std::index_sequence<I...>) {
        return {step_of<I, Passes>()...};
    }
    template <class... Ds>
    static constexpr std::array<const dialect_info*, sizeof...(Ds)> infos_of(dialects<Ds...>) {
        return {&info_of_dialect<Ds>...};
    }
    using words_type = std::remove_cvref_t<decltype(std::declval<set_type>().words())>;
    static constexpr std::array<words_type, size> targets_ = [] {
        std::array<words_type, size> words{};
        for (std::size_t i = 0; i != size; ++i) words[i] = effects_[i].targets.words();
        return words;
    }();
    static constexpr std::array<pipeline_step, size> steps_ = steps_of(std::make_index_sequence<size>{});
    static constexpr std::array<const dialect_info*, universe::size> infos_ = infos_of(universe{});
};

/// Runs one pass on a graph, without a pipeline, if it is due (see is_due); else only runs its checks.
template <class P>
[[nodiscard]] result<node_counts> apply_pass(
    const P& p, graph& g, pass_context& context, driver_kind driver = driver_kind::in_place) {
    static_assert(is_a_pass<pass_fault<P>>,
        "pass: a type is not one; see not_a_pass<T>, derive it from headrace::pass");
    static_assert(lists_are_lists<pass_fault<P>>,
        "pass: one of its lists is none; see not_a_list<Pass, Member, T>, write ops<…> or pass_list<…>");
    static_assert(rewrites_are_rules<pass_fault<P>>,
        "pass: rewrites() gives no rules; see no_rules<Pass, Result>, return rules(…), from a "
        "static function");
    static_assert(rule_takes_operands<pass_fault<P>>,
        "rule: its callable does not take the operands; see not_callable_with<Op>, list them in "
        "order");
    static_assert(code_takes_arguments<pass_fault<P>>,
        "rule: its code has other parameters; see not_code_for<Op, List>, take emit<List>, const args<Op>&");
    static_assert(code_lists_all<pass_fault<P>>,
        "rule: its code emits an op that is not in its list; see not_produced<Op, List>, add it there");
    static_assert(calls_fit<pass_fault<P>>,
        "rule: a call or a pattern's node does not fit its op; see the diagnosis, fix that");
    static_assert(node_is_in_pattern<pass_fault<P>>,
        "match: the pattern has no node of that name; see not_in_pattern<Name, Names>, name one");
    static_assert(rule_gives_results<pass_fault<P>>,
        "rule: it does not return a value for each result; see the diagnosis, return those");
    static_assert(
        handlers_complete<pass_fault<P>>, "pass: a target has no handler; see no_handler<Pass, Op>, add one");
    static_assert(handlers_are_const<pass_fault<P>>,
        "pass: a handler is not const; see handler_not_const<Pass, Op>, make it const");
    static_assert(handlers_fit<pass_fault<P>>,
        "pass: a handler has the wrong parameters; see wrong_handler<Pass, Op, Handler>, take const "
        "args<Op>&, emit<…>&");
    static_assert(handlers_have_targets<pass_fault<P>>,
        "pass: it has handlers but no targets; see no_targets<Pass>, list them in `targeted_ops`");
    static_assert(results_are_values<faulty_handler_of<P>>,
        "pass: a handler's result cannot replace a node; see wrong_result<Pass, Op, Result>, return values");
    static_assert(results_are_inferred<inference_fault_of<P>>,
        "emit: an op has no infer_results; see no_inference<Op>, declare it beside the op");
    if constexpr (runnable_pass<P>) {
        if (!is_due(p, g, context)) return detail::run_checks_alone(p, g);
        return pass_code<P>::run(p, g, context, driver);
    } else {
        return node_counts{};
    }
}

}  // namespace headrace

#endif
