// SPDX-License-Identifier: MIT
// Checks every pass of the standard pipeline at compile time: its handlers are complete, return valid
// results, and are all for its targets. Prints the facts of the definitions, from which declared_passes.py
// writes passes/declared_passes.hpp: tab-separated, one line per fact: pass, member, values.
#include <cstdio>
#include <string>
#include <string_view>
#include <type_traits>

#include <headrace/headrace.hpp>
#include <headrace/pass/audit.hpp>
#include <headrace/passes/definitions.hpp>
#include <headrace/passes/standard_lowering.hpp>

using namespace headrace;

namespace {

using lowering = standard_lowering;

// One at a time, so that an error names the pass.
template <class Pass>
constexpr bool check_effects() {
    using effects = effects_of<Pass>;
    static_assert(effects::sound, "see missing_handler, faulty_handler and faulty_rule of effects_of<Pass>");
    static_assert(
        has_inference<Pass>, "an op that a rule makes has no infer_results; see inference_fault_of");
    static_assert(!effects::always_runs || graph_pass<Pass>, "only graph passes have no targets");
    static_assert(!pass_summary<Pass>().empty(), "the pass does not say what it does: give it a summary");
    static_assert(pass_summary<Pass>().size() <= 90, "a summary is one line");
    return true;
}
template <class Pass, class... Dialects>
constexpr bool check_handlers() {
    static_assert((unlisted_handlers<Pass, Dialects>.empty() && ...),
        "the pass handles an op that is not among its targets");
    return true;
}
template <class... Passes>
constexpr bool check_all(pass_list<Passes...>) {
    return (check_effects<Passes>() && ...) &&
        (check_handlers<Passes, aten::dialect, tosa::dialect, higher_order::dialect>() && ...);
}
static_assert(check_all(lowering::passes{}));
static_assert(lowering::dead_pass_count == 0);

// The pipeline has all passes of its folders, and the passes that run between them.
template <class... Passes>
constexpr bool runs_all(pass_list<Passes...>) {
    const auto runs = []<class... All>(pass_list<All...>, std::string_view name) {
        return ((pass_name<All>() == name) || ...);
    };
    return (runs(lowering::passes{}, pass_name<Passes>()) && ...);
}
static_assert(runs_all(normalize_passes{}) && runs_all(decompose_passes{}) && runs_all(legalize_passes{}) &&
    runs_all(layout_passes{}) && runs_all(npu_passes{}) && runs_all(settling_passes{}) &&
    runs_all(fold_passes{}) && runs_all(pass_list<widen_unsigned, store_unsigned, narrow_int64>{}) &&
    runs_all(pass_list<ensure_distinct_outputs>{}));

template <class P>
void print_fact(std::string_view member, std::string_view values) {
    std::printf("%.*s\t%.*s\t%.*s\n", static_cast<int>(type_name<P>.size()), type_name<P>.data(),
        static_cast<int>(member.size()), member.data(), static_cast<int>(values.size()), values.data());
}
template <class P, template <class...> class List, class... Ts>
void print_types(std::string_view member, List<Ts...>) {
    std::string names;
    ((names += std::string(names.empty() ? "" : " ") + std::string(detail::qualified_type_name<Ts>())), ...);
    print_fact<P>(member, names);
}
template <class P, template <class...> class List, class... Ts>
void print_if_any(std::string_view member, List<Ts...> list) {
    if constexpr (sizeof...(Ts) != 0) print_types<P>(member, list);
}

template <class P>
void print_order() {
    using detail::order_list;
    using phase = detail::phase_of<P>;
    if constexpr (!std::is_same_v<phase, detail::no_phase>) print_types<P>("phase", std::tuple<phase>{});
    print_if_any<P>("requires_before", detail::pick_list<P, order_list::requires_before>());
    print_if_any<P>("requires_after", detail::pick_list<P, order_list::requires_after>());
    print_if_any<P>("runs_after", detail::pick_list<P, order_list::runs_after>());
    print_if_any<P>("runs_before", detail::pick_list<P, order_list::runs_before>());
    print_if_any<P>("ensures", detail::pick_list<P, order_list::ensures>());
    print_if_any<P>("invalidates", detail::pick_list<P, order_list::invalidates>());
}

template <class P>
void print_pass() {
    static constexpr auto removed = effects_of<P>::removed_set;
    static constexpr auto produced = effects_of<P>::produced_set;
    print_fact<P>("base", graph_pass<P> ? "declared_graph_pass" : "declared_rewrites");
    if constexpr (requires { P::name; }) print_fact<P>("name", P::name);
    print_fact<P>("summary", pass_summary<P>());
    if constexpr (detail::is_repeatable<P>) print_fact<P>("repeatable", "true");
    if constexpr (!std::is_empty_v<P>) print_fact<P>("has_options", "true");
    print_order<P>();
    print_types<P>("targets", targets_of<P>{});
    print_types<P>("removes", list_of_set<removed>{});
    print_types<P>("produces", list_of_set<produced>{});
    if constexpr (replaces_skip_test<P>) {
        print_fact<P>("should_run", "const graph& g, bool has_targets");
    } else if constexpr (decides_itself<P>) {
        print_fact<P>("should_run", "const graph& g");
    }
}
template <class... Passes>
void print_passes(pass_list<Passes...>) {
    (print_pass<Passes>(), ...);
}

}  // namespace

int main() { print_passes(lowering::passes{}); }
