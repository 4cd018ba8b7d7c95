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

#include <headrace/ir/regions.hpp>
#include <headrace/op/op_set.hpp>
#include <headrace/pass/pass.hpp>
#include <headrace/pass/pass_code.hpp>
#include <headrace/pass/pipeline_checks.hpp>
#include <headrace/pass/pipeline_flow.hpp>
#include <headrace/pass/pipeline_run.hpp>
#include <headrace/pass/pipeline_step.hpp>
#include <headrace/pass/run_pass.hpp>
#include <headrace/rewrite/messages.hpp>

namespace headrace {

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
    using order = detail::order_checks<detail::start_facts<typename detail::properties_in<From>::type>,
        Passes..., detail::end_facts<typename detail::properties_in<To>::type>>;

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

    // In a lambda: clang takes a class in which an assertion fails for one without members, so each use of it
    // would be another error.
    static_assert(
        [] {
            static_assert(is_a_pass<typename checks::pass_fault>, HEADRACE_NOT_A_PASS);
            static_assert(is_defined<typename checks::pass_fault>, HEADRACE_ONLY_DECLARED);
            static_assert(lists_are_lists<typename checks::pass_fault>, HEADRACE_NOT_A_LIST);
            static_assert(rewrites_are_rules<typename checks::pass_fault>, HEADRACE_NO_RULES);
            static_assert(fields_are_members<typename checks::pass_fault>, HEADRACE_WRONG_FIELDS);
            static_assert(enumerations_are_named<typename checks::pass_fault>, HEADRACE_UNNAMED_ENUMERATION);
            static_assert(members_are_arguments<typename checks::pass_fault>, HEADRACE_WRONG_MEMBER);
            static_assert(rule_takes_operands<typename checks::pass_fault>, HEADRACE_NOT_CALLABLE);
            static_assert(code_takes_arguments<typename checks::pass_fault>, HEADRACE_NOT_CODE);
            static_assert(code_lists_all<typename checks::pass_fault>, HEADRACE_CODE_NOT_PRODUCED);
            static_assert(calls_fit<typename checks::pass_fault>, HEADRACE_CALL_DOES_NOT_FIT);
            static_assert(node_is_in_pattern<typename checks::pass_fault>, HEADRACE_NOT_IN_PATTERN);
            static_assert(rule_gives_results<typename checks::pass_fault>, HEADRACE_NO_RESULTS);
            static_assert(handlers_complete<typename checks::pass_fault>, HEADRACE_NO_HANDLER);
            static_assert(handlers_are_const<typename checks::pass_fault>, HEADRACE_HANDLER_NOT_CONST);
            static_assert(handlers_fit<typename checks::pass_fault>, HEADRACE_WRONG_HANDLER);
            static_assert(handlers_have_targets<typename checks::pass_fault>, HEADRACE_NO_TARGETS);
            static_assert(results_are_values<typename checks::faulty_handler>, HEADRACE_WRONG_RESULT);
            static_assert(listed_once<typename checks::repetition>,
                "pipeline: a pass is listed twice; see listed_twice<Pass>, remove one or make it "
                "`repeatable`");
            static_assert(dependencies_met<typename order::diagnosis>,
                "pipeline: a required pass is not in the list; see unmet<Pass, Dependency>, add it");
            static_assert(order_kept<typename order::diagnosis>,
                "pipeline: a required order is violated; see misordered<Pass, Dependency>, move one of them");
            static_assert(properties_hold<typename order::diagnosis>,
                "pipeline: a property no longer holds; see invalidated<Pass, Property, By>, move one of "
                "them");
            static_assert(ops_are_gone<decltype(diagnose_early())>,
                "pipeline: a pass runs before ops are gone; see too_early<Pass, Property, Op>, move it");
            static_assert(ends_in_legal_ops<decltype(diagnose_legality())>,
                "pipeline: an op can survive it; see survives<Op, LastPassThatTargetsIt>, add a pass that "
                "removes it");
            return true;
        }(),
        "pipeline: it is not proven; see the error before, mend that");

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
        static_assert(results_are_inferred<inference_fault>, HEADRACE_NO_INFERENCE);
        return detail::run_between({&may_enter, &may_leave}, {steps_, infos_}, g, context, options);
    }
    /// Runs the passes on any graph, for callers that judge the result themselves: refused nodes are in the
    /// context's diagnostics, and `for_each_illegal` finds the other nodes that may not leave. Fails only if
    /// a pass could not continue.
    [[nodiscard]] static result<run_statistics> run_unchecked(
        graph& g, pass_context& context, const run_options& options = {}) {
        static_assert(results_are_inferred<inference_fault>, HEADRACE_NO_INFERENCE);
        return pipeline_steps{steps_, infos_}.run(g, context, options);
    }
    /// Returns the passes as data, for other ways to run them.
    [[nodiscard]] static constexpr pipeline_steps steps() {
        static_assert(results_are_inferred<inference_fault>, HEADRACE_NO_INFERENCE);
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
    using words_type = std::remove_cvref_t<decltype(std::declval<set_type>().words())>;
    static constexpr std::array<words_type, size> targets_ = [] {
        std::array<words_type, size> words{};
        for (std::size_t i = 0; i != size; ++i) words[i] = effects_[i].targets.words();
        return words;
    }();
    static constexpr std::array<pipeline_step, size> steps_ = steps_of(std::make_index_sequence<size>{});
    static constexpr const auto& infos_ = detail::infos_of_dialects<universe>::value;
};

/// Runs one pass on a graph, without a pipeline, if it is due (see is_due); else only runs its checks.
template <class P>
[[nodiscard]] result<node_counts> apply_pass(
    const P& p, graph& g, pass_context& context, driver_kind driver = driver_kind::in_place) {
    static_assert(is_a_pass<pass_fault<P>>, HEADRACE_NOT_A_PASS);
    static_assert(lists_are_lists<pass_fault<P>>, HEADRACE_NOT_A_LIST);
    static_assert(rewrites_are_rules<pass_fault<P>>, HEADRACE_NO_RULES);
    static_assert(fields_are_members<pass_fault<P>>, HEADRACE_WRONG_FIELDS);
    static_assert(enumerations_are_named<pass_fault<P>>, HEADRACE_UNNAMED_ENUMERATION);
    static_assert(members_are_arguments<pass_fault<P>>, HEADRACE_WRONG_MEMBER);
    static_assert(rule_takes_operands<pass_fault<P>>, HEADRACE_NOT_CALLABLE);
    static_assert(code_takes_arguments<pass_fault<P>>, HEADRACE_NOT_CODE);
    static_assert(code_lists_all<pass_fault<P>>, HEADRACE_CODE_NOT_PRODUCED);
    static_assert(calls_fit<pass_fault<P>>, HEADRACE_CALL_DOES_NOT_FIT);
    static_assert(node_is_in_pattern<pass_fault<P>>, HEADRACE_NOT_IN_PATTERN);
    static_assert(rule_gives_results<pass_fault<P>>, HEADRACE_NO_RESULTS);
    static_assert(handlers_complete<pass_fault<P>>, HEADRACE_NO_HANDLER);
    static_assert(handlers_are_const<pass_fault<P>>, HEADRACE_HANDLER_NOT_CONST);
    static_assert(handlers_fit<pass_fault<P>>, HEADRACE_WRONG_HANDLER);
    static_assert(handlers_have_targets<pass_fault<P>>, HEADRACE_NO_TARGETS);
    static_assert(results_are_values<faulty_handler_of<P>>, HEADRACE_WRONG_RESULT);
    static_assert(results_are_inferred<inference_fault_of<P>>, HEADRACE_NO_INFERENCE);
    if constexpr (runnable_pass<P>) {
        if (!is_due(p, g, context)) return detail::run_checks_alone(p, g);
        return pass_code<P>::run(p, g, context, driver);
    } else {
        return node_counts{};
    }
}

}  // namespace headrace

#endif
