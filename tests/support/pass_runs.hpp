// SPDX-License-Identifier: MIT
// Declares how tests run passes: in both drivers, with a record of what each pass did, which
// tests/checks/pass_records.py reads after the tests.
#ifndef HEADRACE_TESTS_SUPPORT_PASS_RUNS_HPP
#define HEADRACE_TESTS_SUPPORT_PASS_RUNS_HPP

#include <array>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <headrace/eval/fold.hpp>
#include <headrace/pass/pipeline.hpp>

#include "program.hpp"

namespace headrace::testing {

/// A pass with its type erased, so that the code that runs passes is compiled once, not for each list of
/// them.
struct pass_runner {
    std::string_view name;
    bool whole_graph;
    bool must_rewrite;
    bool (*should_run)(const graph& g);  ///< a pipeline's first question
    result<node_counts> (*run)(graph& g, pass_context& context, driver_kind driver);
};

template <pass_type P>
result<node_counts> run_erased(graph& g, pass_context& context, driver_kind driver) {
    const bool forced = context.forces_passes();
    context.force_passes(true);  // tests choose the graphs
    auto done = apply_pass(P{}, g, context, driver);
    context.force_passes(forced);
    return done;
}
template <pass_type P>
bool asks_to_run([[maybe_unused]] const graph& g) {
    if constexpr (decides_itself<P>) {
        return is_due(P{}, g, pass_context());
    } else {
        return true;
    }
}
template <pass_type P, bool MustRewrite>
inline constexpr pass_runner runner_of_pass{
    pass_name<P>(), graph_pass<P>, MustRewrite, &asks_to_run<P>, &run_erased<P>};

/// Marks a pass that has nothing to do in some programs of a family. Tests require that every other pass in a
/// list rewrites something.
template <pass_type P>
struct may_rewrite {};

template <class P>
inline constexpr const pass_runner& runner_of = runner_of_pass<P, true>;
template <class P>
inline constexpr const pass_runner& runner_of<may_rewrite<P>> = runner_of_pass<P, false>;

template <class... Passes>
inline constexpr std::array<pass_runner, sizeof...(Passes)> runners_of{{runner_of<Passes>...}};

using pass_runners = std::span<const pass_runner>;
inline constexpr driver_kind both_drivers[] = {driver_kind::in_place, driver_kind::retracing};
[[nodiscard]] std::string_view name_of(driver_kind driver);

/// Runs one pass and records which ops it emitted.
[[nodiscard]] result<node_counts> run_recorded(
    const pass_runner& p, graph& g, pass_context& context, driver_kind driver);

/// Records that a test has seen a pass rewrite something.
void record_rewriting(const pass_runner& p, driver_kind driver);
/// Adds one line to the records, for facts that only a test knows.
void record_line(std::string line);
/// Records the products that a pass declares for its code, and those of its parts, whose products it emits.
/// Products of its expressions need no test: they follow from their type.
template <pass_type P>
void record_declarations_of() {
    const std::string name(pass_name<P>());
    record_line("runs " + name + (graph_pass<P> ? " whole_graph" : " in_place retracing"));
    using declared = joined<detail::declared_by<P>, detail::emitted_by_rules<P>>;
    set_of<declared>.for_each(
        [&](std::string_view op) { record_line("declares " + name + " " + std::string(op)); });
    if constexpr (requires { typename P::parts; }) {
        []<class... Parts>(const std::string& whole, pass_list<Parts...>) {
            (record_line("extends " + whole + " " + std::string(pass_name<Parts>())), ...);
            (record_declarations_of<Parts>(), ...);
        }(name, typename P::parts{});
    }
}

/// Runs passes in order. Returns an empty fault, or why that failed, which node was refused, or which pass
/// rewrote nothing.
[[nodiscard]] std::pmr::string run_all(pass_runners passes, graph& g, driver_kind driver);

/// Returns what is wrong with a program's results after passes; empty if nothing is.
using result_check = std::function<std::pmr::string(graph& g, std::span<const tensor> results)>;

/// Builds the program for each driver, runs the passes, each of which must rewrite something, executes the
/// result and checks it. Returns the first fault, with the driver and the graph.
[[nodiscard]] std::pmr::string check_runs(
    const builder& build, pass_runners passes, std::span<const tensor> inputs, const result_check& check);

/// Empty if the program computes the same before and after the passes, in both drivers.
[[nodiscard]] std::pmr::string compare(
    const builder& build, pass_runners passes, std::vector<tensor> inputs, double tolerance);
/// Empty if no pass rewrites a node or changes the graph, in either driver.
[[nodiscard]] std::pmr::string compare_untouched(const builder& build, pass_runners passes);
/// Returns why the passes refuse the program, which must be the same in both drivers; empty if they do not.
[[nodiscard]] std::pmr::string first_refusal(const builder& build, pass_runners passes);

}  // namespace headrace::testing

#endif
