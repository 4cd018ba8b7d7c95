// SPDX-License-Identifier: MIT
// Defines headrace::pass_manager, a pipeline assembled at run time.
#ifndef HEADRACE_FX_PASS_MANAGER_HPP
#define HEADRACE_FX_PASS_MANAGER_HPP

#include <algorithm>
#include <functional>
#include <memory_resource>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include <headrace/base/pmr_vector.hpp>
#include <headrace/base/text.hpp>
#include <headrace/fx/pass_order.hpp>
#include <headrace/pass/any_pass.hpp>
#include <headrace/pass/pass_registry.hpp>
#include <headrace/pass/pipeline.hpp>

namespace headrace {

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

    /// Lets properties, or passes, of a list like "a,b" count as provided: a pass that requires one of them
    /// runs without a pass that ensures it.
    void assume(std::string_view names) {
        while (!names.empty()) {
            const std::string_view name = names.substr(0, names.find(','));
            names.remove_prefix(std::min(names.size(), name.size() + 1));
            if (!name.empty()) assumed_.emplace_back(name);
        }
        solved_ = false;
    }

    /// Returns the passes, in the given order or, once constraints are solved, in running order.
    [[nodiscard]] std::span<const any_pass> passes() const { return passes_; }

    /// Reorders passes as little as their requires_before, requires_after, ensures and the constraints allow.
    /// The error names the missing pass, or the cycle.
    [[nodiscard]] result<void> solve_constraints() {
        if (solved_) return {};
        HEADRACE_TRY(order, detail::pass_order(passes_, constraints_, assumed_).solve());
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
        result<void> done = options.measure(record, [&] { return p.run(g, context, options.driver); });
        if (!done) return located(p, std::move(done).error());
        if (options_.run_checks_after_each_pass) {
            HEADRACE_TRY(run_checks(g, p.name()));
        }
        return options.tell_observer(record, g);
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
    pmr_vector<std::pmr::string> assumed_;
    pmr_vector<check> checks_;
    pass_manager_options options_;
    pmr_vector<error> suppressed_;
    bool solved_ = false;
};

}  // namespace headrace

#endif
