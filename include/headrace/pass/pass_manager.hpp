// SPDX-License-Identifier: MIT
// Defines headrace::pass_manager, a pipeline assembled at run time, and headrace::pass_registry, which finds
// passes by name.
#ifndef HEADRACE_PASS_PASS_MANAGER_HPP
#define HEADRACE_PASS_PASS_MANAGER_HPP

#include <algorithm>
#include <array>
#include <concepts>
#include <cstdint>
#include <functional>
#include <memory>
#include <memory_resource>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include <headrace/base/pmr_vector.hpp>
#include <headrace/pass/pipeline.hpp>

namespace headrace {

namespace detail {

/// The ops of one dialect that a pass targets, as bits.
struct target_mask {
    const dialect_info* dialect;
    std::span<const std::uint64_t> words;
};

template <class P, class Set>
struct target_masks;
template <class P, class... Ds>
struct target_masks<P, op_set<Ds...>> {
    static constexpr std::array<target_mask, sizeof...(Ds)> value{{{&info_of_dialect<Ds>,
        {effects_of<P>::target_set.words().data() +
                op_set<Ds...>::first_word(op_set<Ds...>::template position_of<Ds>()),
            words_for(Ds::size)}}...}};
};

template <class List>
struct names_of_passes;
template <class... Ps>
struct names_of_passes<pass_list<Ps...>> {
    static constexpr std::array<std::string_view, sizeof...(Ps)> value{pass_name<Ps>()...};
};
// True if a pass has no members: it needs no object, and is created where it runs.
template <class P>
inline constexpr bool has_no_state =
    std::is_empty_v<pass_facts<P>> && std::is_default_constructible_v<pass_facts<P>>;
template <class P>
inline constexpr bool can_be_made = [] {
    if constexpr (has_no_state<P>) {
        return true;
    } else {
        return std::is_default_constructible_v<P>;
    }
}();

template <class P>
result<node_counts> run_erased(const void* object, graph& g, pass_context& context, driver_kind driver) {
    if constexpr (has_no_state<P>) {
        return pass_code<P>::run_default(g, context, driver);
    } else {
        return pass_code<P>::run(*static_cast<const P*>(object), g, context, driver);
    }
}
// The caller has already checked for targets, unless the pass replaces that test.
template <class P>
bool should_run_erased(const void* object, const graph& g) {
    const bool has_targets =
        !replaces_skip_test<P> || targets_of<P>::size == 0 || has_any_of(g, infos_in<targets_of<P>>::value);
    if constexpr (has_no_state<P>) {
        return pass_code<P>::should_run(g, has_targets);
    } else if constexpr (replaces_skip_test<P>) {
        return static_cast<const P*>(object)->should_run(g, has_targets);
    } else {
        return static_cast<const P*>(object)->should_run(g);
    }
}
template <class P>
constexpr auto should_run_or_null() -> bool (*)(const void*, const graph&) {
    if constexpr (decides_itself<P>) {
        return &should_run_erased<P>;
    } else {
        return nullptr;
    }
}

}  // namespace detail

/// A pass at run time: the facts of its type, as data. `object` is null for passes without state.
struct pass_info {
    std::string_view name;
    std::string_view summary;
    bool always_runs;  ///< it has no targets, or does not depend on them
    bool whole_graph;
    bool stateless;
    std::span<const detail::target_mask> targets;
    std::span<const std::string_view> requires_before;
    std::span<const std::string_view> requires_after;
    std::span<const std::string_view> ensures;
    result<node_counts> (*run)(const void* object, graph& g, pass_context& context, driver_kind driver);
    bool (*should_run)(const void* object, const graph& g);  ///< null if only its targets decide
};

template <pass_type P>
inline constexpr pass_info info_of_pass = [] {
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
    return pass_info{pass_name<P>(), pass_summary<P>(), effects_of<P>::always_runs, graph_pass<P>,
        detail::has_no_state<P>,
        detail::target_masks<P, std::remove_const_t<decltype(effects_of<P>::target_set)>>::value,
        detail::names_of_passes<detail::order_list_of<P, detail::order_list::requires_before>>::value,
        detail::names_of_passes<detail::order_list_of<P, detail::order_list::requires_after>>::value,
        detail::names_of_passes<detail::order_list_of<P, detail::order_list::ensures>>::value,
        &detail::run_erased<P>, detail::should_run_or_null<P>()};
}();

/// Matches functions that can be used as a pass: `result<std::size_t>(graph&, pass_context&)`.
template <class F>
concept graph_function =
    !pass_type<F> && std::is_invocable_r_v<result<std::size_t>, const F&, graph&, pass_context&>;

/// Any pass of a static pipeline, or a named function over a graph, as a value. Copies share the pass.
class any_pass {
public:
    template <pass_type P>
    any_pass(P p) : any_pass(info_of_pass<P>) {  // implicit, so that passes convert
        if constexpr (!detail::has_no_state<P>) object_ = std::make_shared<const P>(std::move(p));
    }
    /// For a pass without state.
    explicit any_pass(const pass_info& info) : info_(&info), name_(info.name) {}
    /// With a name other than its type's, needed for two passes of one type.
    template <pass_type P>
    any_pass(std::pmr::string name, P p) : any_pass(std::move(p)) {
        name_ = std::move(name);
    }
    /// `f` returns the number of rewritten nodes.
    template <graph_function F>
    any_pass(std::pmr::string name, F f) : any_pass(function_pass{std::move(f)}) {
        name_ = std::move(name);
    }

    [[nodiscard]] std::string_view name() const { return name_; }
    [[nodiscard]] const pass_info& info() const { return *info_; }

    /// True if it has the wanted name or ensures the wanted property.
    [[nodiscard]] bool provides(std::string_view wanted) const {
        return name_ == wanted ||
            std::find(info_->ensures.begin(), info_->ensures.end(), wanted) != info_->ensures.end();
    }

    /// The skip test: true if the graph, including nested regions, has a target of the pass.
    [[nodiscard]] bool has_targets(const graph& g) const {
        for (const detail::target_mask& mask : info_->targets) {
            const auto present = g.census().present(*mask.dialect);
            for (std::size_t w = 0; w != present.size(); ++w) {
                if ((mask.words[w] & present[w]) != 0) return true;
            }
        }
        return false;
    }
    [[nodiscard]] pass_status decide(const graph& g) const {
        if (!info_->always_runs && !has_targets(g)) return pass_status::no_target;
        if (info_->should_run != nullptr && !info_->should_run(object_.get(), g))
            return pass_status::declined;
        return pass_status::ran;
    }
    [[nodiscard]] result<node_counts> run(
        graph& g, pass_context& context, driver_kind driver = driver_kind::in_place) const {
        return info_->run(object_.get(), g, context, driver);
    }

private:
    struct function_pass : pass {
        explicit function_pass(std::function<result<std::size_t>(graph&, pass_context&)> f)
            : function(std::move(f)) {}
        result<std::size_t> operator()(graph& g, pass_context& c) const { return function(g, c); }
        std::function<result<std::size_t>(graph&, pass_context&)> function;
    };

    const pass_info* info_;
    std::shared_ptr<const void> object_;
    std::pmr::string name_;
};

/// Passes that can be chosen by name. Names are unique: a pass that a pipeline runs twice is listed once.
class pass_registry {
public:
    pass_registry() = default;
    /// All passes of a list, such as that of a pipeline: `pass_registry(standard_lowering::passes{})`.
    template <pass_type... Ps>
    explicit pass_registry(pass_list<Ps...>) {
        static_assert((detail::can_be_made<Ps> && ...),
            "pass_registry: a pass in the list cannot be default-constructed; add an object");
        const auto make = [this]<class P>() {
            if constexpr (detail::has_no_state<P>) {
                add(any_pass(info_of_pass<P>));
            } else if constexpr (detail::can_be_made<P>) {
                add(P{});
            }
        };
        static_cast<void>(make);
        (make.template operator()<Ps>(), ...);
    }

    /// Returns false if there is already a pass of that name, which stays.
    bool add(any_pass p) {
        if (find(p.name()) != nullptr) return false;
        passes_.push_back(std::move(p));
        return true;
    }
    [[nodiscard]] const any_pass* find(std::string_view name) const {
        for (const any_pass& p : passes_) {
            if (p.name() == name) return &p;
        }
        return nullptr;
    }
    [[nodiscard]] std::span<const any_pass> passes() const { return passes_; }

    /// Returns the names most similar to `name`, best first.
    [[nodiscard]] pmr_vector<std::string_view> closest(std::string_view name, std::size_t count = 3) const;

    /// Returns the passes of a list like "a,b,c". For an unknown name, the error suggests the closest names.
    [[nodiscard]] result<pmr_vector<any_pass>> select(std::string_view names) const {
        pmr_vector<any_pass> chosen;
        while (!names.empty()) {
            const std::string_view name = names.substr(0, names.find(','));
            names.remove_prefix(std::min(names.size(), name.size() + 1));
            if (name.empty()) continue;
            const any_pass* found = find(name);
            if (found == nullptr) return unknown(name);
            chosen.push_back(*found);
        }
        return chosen;
    }

private:
    [[nodiscard]] error unknown(std::string_view name) const {
        std::pmr::string text = text_of({"no pass is called '", name, "'"});
        const char* separator = "; did you mean ";
        for (const std::string_view near : closest(name)) {
            text += separator + std::pmr::string(near);
            separator = ", ";
        }
        return invalid(std::move(text));
    }

    pmr_vector<any_pass> passes_;
};

namespace detail {

/// Returns the number of letters to insert, remove or change to turn one word into the other.
[[nodiscard]] inline std::size_t edit_distance(std::string_view a, std::string_view b) {
    pmr_vector<std::size_t> row(b.size() + 1);
    std::iota(row.begin(), row.end(), std::size_t{0});
    for (std::size_t i = 0; i != a.size(); ++i) {
        std::size_t diagonal = row[0]++;
        for (std::size_t k = 0; k != b.size(); ++k) {
            const std::size_t changed = diagonal + (a[i] == b[k] ? 0 : 1);
            diagonal = row[k + 1];
            row[k + 1] = std::min({changed, row[k] + 1, row[k + 1] + 1});
        }
    }
    return row[b.size()];
}

/// Orders passes by their constraints, and otherwise keeps the given order: the next pass is always the first
/// that may run. For example, if b requires a before it, the list "b, c, a" becomes "c, a, b". A requirement
/// may be met by any of several passes, so it is not an edge of a graph: a pass waits until one of its
/// providers has run.
class pass_order {
public:
    using constraint =
        std::pair<std::pmr::string, std::pmr::string>;  ///< every pass of that name before every other

    pass_order(std::span<const any_pass> passes, std::span<const constraint> constraints)
        : passes_(passes), constraints_(constraints), placed_(passes.size(), false) {}

    [[nodiscard]] result<pmr_vector<std::size_t>> solve() {
        HEADRACE_TRY(check_provided());
        pmr_vector<std::size_t> order;
        while (order.size() != passes_.size()) {
            std::size_t next = 0;
            while (next != passes_.size() && (placed_[next] || blocker_of(next))) ++next;
            if (next == passes_.size()) return cycle();
            placed_[next] = true;
            order.push_back(next);
        }
        return order;
    }

private:
    [[nodiscard]] bool provided(std::string_view wanted, std::size_t except) const {
        for (std::size_t i = 0; i != passes_.size(); ++i) {
            if (i != except && passes_[i].provides(wanted)) return true;
        }
        return false;
    }
    [[nodiscard]] result<void> check_provided() const {
        for (std::size_t i = 0; i != passes_.size(); ++i) {
            const pass_info& info = passes_[i].info();
            for (const auto& names : {info.requires_before, info.requires_after}) {
                for (const std::string_view wanted : names) {
                    if (!provided(wanted, i)) {
                        return invalid({"pass ", passes_[i].name(), " requires ", wanted,
                            ", which no pass in the list ensures"});
                    }
                }
            }
        }
        return {};
    }

    /// Returns a pass that must run before that one and has not been placed yet.
    [[nodiscard]] std::optional<std::size_t> blocker_of(std::size_t i) const {
        for (const std::string_view wanted : passes_[i].info().requires_before) {
            if (const auto missing = missing_provider(wanted, i)) return missing;
        }
        for (std::size_t k = 0; k != passes_.size(); ++k) {
            if (placed_[k] || k == i) continue;
            if (is_last_for(i, k)) return k;
            for (const auto& [first, second] : constraints_) {
                if (passes_[k].name() == first && passes_[i].name() == second) return k;
            }
        }
        return std::nullopt;
    }
    [[nodiscard]] std::optional<std::size_t> missing_provider(std::string_view wanted, std::size_t i) const {
        std::optional<std::size_t> missing;
        for (std::size_t k = 0; k != passes_.size(); ++k) {
            if (k == i || !passes_[k].provides(wanted)) continue;
            if (placed_[k]) return std::nullopt;
            if (!missing) missing = k;
        }
        return missing;
    }
    /// True if `i` is the only remaining pass that provides a requirement of `k` for later passes.
    [[nodiscard]] bool is_last_for(std::size_t i, std::size_t k) const {
        for (const std::string_view wanted : passes_[k].info().requires_after) {
            if (!passes_[i].provides(wanted)) continue;
            bool other = false;
            for (std::size_t j = 0; j != passes_.size(); ++j)
                other = other || (!placed_[j] && j != i && j != k && passes_[j].provides(wanted));
            if (!other) return true;
        }
        return false;
    }

    /// Every remaining pass has a blocker, so following blockers leads to a cycle.
    [[nodiscard]] error cycle() const {
        pmr_vector<std::size_t> path;
        std::size_t at =
            static_cast<std::size_t>(std::find(placed_.begin(), placed_.end(), false) - placed_.begin());
        while (std::find(path.begin(), path.end(), at) == path.end()) {
            path.push_back(at);
            at = *blocker_of(at);
        }
        path.erase(path.begin(), std::find(path.begin(), path.end(), at));
        std::pmr::string text = text_of({"the passes cannot be put in order: ", passes_[at].name()});
        while (!path.empty()) {
            text += text_of({" must run before ", passes_[path.back()].name()});
            if (path.size() != 1) text += ", which";
            path.pop_back();
        }
        return invalid(std::move(text));
    }

    std::span<const any_pass> passes_;
    std::span<const constraint> constraints_;
    pmr_vector<bool> placed_;
};

}  // namespace detail

inline pmr_vector<std::string_view> pass_registry::closest(std::string_view name, std::size_t count) const {
    pmr_vector<std::pair<std::size_t, std::string_view>> ranked;
    const std::size_t most = std::max<std::size_t>(3, name.size() / 2);
    for (const any_pass& p : passes_) {
        const bool part = !name.empty() && p.name().find(name) != std::string_view::npos;
        const std::size_t distance = part ? 0 : detail::edit_distance(name, p.name());
        if (distance <= most) ranked.emplace_back(distance, p.name());
    }
    std::stable_sort(
        ranked.begin(), ranked.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    if (ranked.size() > count) ranked.resize(count);
    pmr_vector<std::string_view> names;
    for (const auto& [distance, near] : ranked) names.push_back(near);
    return names;
}

/// Options of a pass manager.
struct pass_manager_options {
    bool run_checks_after_each_pass = false;  ///< if false, once after all passes
    bool suppress_check_failures = false;     ///< failed checks are recorded and do not stop the run
    std::size_t steps = 1;                    ///< how often the whole list runs
    run_options run{};                        ///< as for static pipelines
};

/// A pipeline whose passes are chosen at run time. It takes the passes of static pipelines, but the compiler
/// proves nothing about it (such as that every op is lowered), so checks state what must hold. Order
/// constraints are solved before the first run.
class pass_manager {
public:
    using check = std::function<result<void>(const graph& g)>;

    explicit pass_manager(pmr_vector<any_pass> passes = {}, const pass_manager_options& options = {})
        : passes_(std::move(passes)), options_(options) {}

    void add_pass(any_pass p) {
        passes_.push_back(std::move(p));
        solved_ = false;
    }
    /// Adds a check that the graph must pass.
    void add_checks(check c) { checks_.push_back(std::move(c)); }
    /// Replaces all checks by this one.
    void set_checks(check c) {
        checks_.clear();
        add_checks(std::move(c));
    }
    /// Requires that every pass named `first` runs before every pass named `second`, if both are in the list.
    void add_constraint(std::pmr::string first, std::pmr::string second) {
        constraints_.emplace_back(std::move(first), std::move(second));
        solved_ = false;
    }

    /// Returns the passes, in the given order or, once constraints are solved, in running order.
    [[nodiscard]] std::span<const any_pass> passes() const { return passes_; }

    /// Reorders passes as little as their requires_before, requires_after, ensures and the constraints allow.
    /// The error names the missing pass, or the cycle.
    [[nodiscard]] result<void> solve_constraints() {
        if (solved_) return {};
        HEADRACE_TRY(order, detail::pass_order(passes_, constraints_).solve());
        pmr_vector<any_pass> sorted;
        sorted.reserve(order.size());
        for (const std::size_t i : order) sorted.push_back(passes_[i]);
        passes_ = std::move(sorted);
        solved_ = true;
        return {};
    }

    /// Runs the passes. There is one record per pass and step; records refer to names of passes in this
    /// manager. An error names the pass or check that failed, and the pass before it; refused nodes are in
    /// the context's diagnostics.
    [[nodiscard]] result<run_statistics> operator()(graph& g, pass_context& context) {
        HEADRACE_TRY(solve_constraints());
        suppressed_.clear();
        run_statistics statistics;
        statistics.reserve(passes_.size() * options_.steps);
        for (std::size_t step = 0; step != options_.steps; ++step) {
            for (const any_pass& p : passes_) {
                HEADRACE_TRY(run_pass(p, g, context, statistics.emplace_back()));
            }
        }
        if (!options_.run_checks_after_each_pass) {
            HEADRACE_TRY(run_checks(g, passes_.empty() ? "" : passes_.back().name()));
        }
        return statistics;
    }

    /// Returns the failures of checks in the last run, if failures are suppressed.
    [[nodiscard]] std::span<const error> suppressed_failures() const { return suppressed_; }

private:
    result<void> run_pass(const any_pass& p, graph& g, pass_context& context, pass_record& record) {
        const run_options& options = options_.run;
        record.name = p.name();
        const bool forced = !options.skip || context.forces_passes();
        record.status = forced ? pass_status::ran : p.decide(g);
        if (record.status != pass_status::ran) return {};
        const std::uint64_t begin = options.clock == nullptr ? 0 : options.clock();
        result<node_counts> counts = p.run(g, context, options.driver);
        if (!counts) return located(p, std::move(counts).error());
        record.nodes = counts.value();
        if (options.clock != nullptr) record.nanoseconds = options.clock() - begin;
        if (options_.run_checks_after_each_pass) {
            HEADRACE_TRY(run_checks(g, p.name()));
        }
        if (options.after_pass == nullptr) return {};
        return options.after_pass(options.observer, record, g);
    }

    result<void> run_checks(const graph& g, std::string_view after) {
        for (const check& c : checks_) {
            result<void> status = c(g);
            if (status) continue;
            error e = status.error().in(text_of({"check after ", after}));
            if (!options_.suppress_check_failures) return e;
            suppressed_.push_back(std::move(e));
        }
        return {};
    }

    [[nodiscard]] error located(const any_pass& p, error e) const {
        const auto position = static_cast<std::size_t>(&p - passes_.data());
        if (e.message.find(p.name()) != std::pmr::string::npos && position == 0) return e;
        std::pmr::string text = text_of({"pass ", p.name()});
        if (position != 0) text += text_of({", after ", passes_[position - 1].name()});
        return {e.kind, text_of({text, ": ", std::move(e.message)})};
    }

    pmr_vector<any_pass> passes_;
    pmr_vector<detail::pass_order::constraint> constraints_;
    pmr_vector<check> checks_;
    pass_manager_options options_;
    pmr_vector<error> suppressed_;
    bool solved_ = false;
};

}  // namespace headrace

#endif
