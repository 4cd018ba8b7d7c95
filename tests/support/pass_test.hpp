// SPDX-License-Identifier: MIT
// Defines the checks of passes in tests: they rewrite a program, which then computes the same; they leave it
// alone; or they refuse it.
#ifndef HEADRACE_TESTS_SUPPORT_PASS_TEST_HPP
#define HEADRACE_TESTS_SUPPORT_PASS_TEST_HPP

#include <string>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include <headrace/ir/listing.hpp>

#include "pass_runs.hpp"

namespace headrace {

using testing::may_rewrite;
using testing::program;

/// Empty if the program of `build(program&)` computes the same before and after the passes, run in the given
/// order in both drivers, and each of them rewrote something; else what is wrong. `inputs` are random by
/// default.
template <class... Passes, class Build>
[[nodiscard]] std::pmr::string compare_runs(
    const Build& build, std::vector<tensor> inputs = {}, double tolerance = 1e-5) {
    return testing::compare(build, testing::runners_of<Passes...>, std::move(inputs), tolerance);
}

/// Returns why the passes refuse the program, in either driver; empty if they do not.
template <class... Passes, class Build>
[[nodiscard]] std::pmr::string refusal(const Build& build) {
    return testing::first_refusal(build, testing::runners_of<Passes...>);
}

/// Runs one pass in place; the context has its refusals. Returns an empty text unless the run failed.
template <class Pass>
[[nodiscard]] std::pmr::string run_pass(graph& g, pass_context& context) {
    const auto counts =
        testing::run_recorded(testing::runners_of<Pass>[0], g, context, driver_kind::in_place);
    return counts ? std::pmr::string() : counts.error().message;
}

/// Returns the program after passes, for examining what they made.
template <class... Passes, class Build>
graph& lowered(program& p, const Build& build) {
    const testing::builder whole{build};
    whole(p);
    pass_context context({.evaluator = &eval::folding});
    for (const testing::pass_runner& runner : testing::runners_of<Passes...>) {
        static_cast<void>(testing::run_recorded(runner, p.g, context, driver_kind::in_place));
    }
    return p.g;
}
/// Returns how many nodes of an op are left after passes.
template <op_tag Op, class... Passes, class Build>
[[nodiscard]] std::size_t count_after(const Build& build) {
    program p;
    return count_of<Op>(lowered<Passes...>(p, build));
}

namespace testing {

/// Returns the names of passes, for messages.
[[nodiscard]] inline std::string names_of(pass_runners passes) {
    std::string names;
    for (const pass_runner& p : passes) (names += names.empty() ? "" : ", ") += p.name;
    return names;
}

/// Base of the matchers below: `match` is called once, and its findings are part of the message.
class pass_matcher {
public:
    [[nodiscard]] std::string toString() const {  // Catch2's name
        return claim_ + " " + names_of(passes_) + (fault_.empty() ? "" : "\n" + fault_);
    }

protected:
    pass_matcher(std::string claim, pass_runners passes) : claim_(std::move(claim)), passes_(passes) {}
    bool holds(std::pmr::string fault) const {
        fault_ = fault;
        return fault_.empty();
    }
    [[nodiscard]] pass_runners passes() const { return passes_; }

private:
    std::string claim_;
    pass_runners passes_;
    mutable std::string fault_;
};

class same_results_matcher : public pass_matcher {
public:
    explicit same_results_matcher(pass_runners passes) : pass_matcher("computes the same after", passes) {}
    /// Uses these inputs instead of random ones.
    [[nodiscard]] same_results_matcher&& for_inputs(std::vector<tensor> inputs) && {
        inputs_ = std::move(inputs);
        return std::move(*this);
    }
    /// Numbers may differ by this share of their magnitude.
    [[nodiscard]] same_results_matcher&& within(double tolerance) && {
        tolerance_ = tolerance;
        return std::move(*this);
    }
    template <class Build>
    bool match(const Build& build) const {
        return holds(compare(build, passes(), inputs_, tolerance_));
    }

private:
    std::vector<tensor> inputs_;
    double tolerance_ = 1e-5;
};

class untouched_matcher : public pass_matcher {
public:
    explicit untouched_matcher(pass_runners passes) : pass_matcher("is left alone by", passes) {}
    template <class Build>
    bool match(const Build& build) const {
        return holds(compare_untouched(build, passes()));
    }
};

class refused_matcher : public pass_matcher {
public:
    refused_matcher(pass_runners passes, std::string_view reason)
        : pass_matcher("is refused for \"" + std::string(reason) + "\" by", passes), reason_(reason) {}
    template <class Build>
    bool match(const Build& build) const {
        const std::pmr::string given = first_refusal(build, passes());
        if (given.find(reason_) != std::pmr::string::npos) return holds({});
        return holds(given.empty() ? "it was not refused" : "the reason was: " + given);
    }

private:
    std::pmr::string reason_;
};

}  // namespace testing

// Requirements of tests for a function that builds a program: CHECK_THAT(build,
// computes_the_same<decompose_gelu>()).

/// Each of the passes, in order, rewrites something, and the results stay the same, in both drivers.
template <class... Passes>
[[nodiscard]] testing::same_results_matcher computes_the_same() {
    return testing::same_results_matcher(testing::runners_of<Passes...>);
}
/// Each of the passes must decline: it rewrites nothing and leaves the graph unchanged, in both drivers.
template <class... Passes>
[[nodiscard]] testing::untouched_matcher is_left_alone_by() {
    return testing::untouched_matcher(testing::runners_of<Passes...>);
}
/// The passes refuse a node, in both drivers, for a reason that contains these words.
template <class... Passes>
[[nodiscard]] testing::refused_matcher is_refused_by(std::string_view reason) {
    return testing::refused_matcher(testing::runners_of<Passes...>, reason);
}

}  // namespace headrace

namespace Catch {

/// Prints a function that builds a program as that program.
template <class Build>
    requires std::is_invocable_v<const Build&, headrace::testing::program&>
struct StringMaker<Build> {
    static std::string convert(const Build& build) {
        headrace::testing::program p;
        headrace::testing::builder{build}(p);
        return "the program\n" + std::string(headrace::listing(p.g));
    }
};

}  // namespace Catch

#endif
