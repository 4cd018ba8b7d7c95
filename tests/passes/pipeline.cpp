// SPDX-License-Identifier: MIT
// Checks every pass of the standard pipeline at compile time: its handlers are complete, give what passes may
// give, and are all for its targets.
#define HEADRACE_DEFINE_PASSES
#include <catch2/catch.hpp>

#include <headrace/pass/audit.hpp>
#include <headrace/passes/standard_lowering.hpp>

using namespace headrace;

namespace {

struct no_evaluator {};  // nothing is folded here
using lowering = standard_lowering<no_evaluator>;

// One at a time, so that an error names the pass.
template <class Pass>
constexpr bool check_effects() {
    using effects = effects_of<Pass>;
    static_assert(effects::sound, "see missing_handler and faulty_handler of the pass's effects_of");
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

}  // namespace

TEST_CASE("the standard pipeline has all passes of its folders, and that between them") {
    const auto has = []<class... Passes>(pass_list<Passes...>, auto name) {
        return ((pass_name<Passes>() == name) || ...);
    };
    const auto has_all = [&]<class... Passes>(pass_list<Passes...>) {
        return (has(lowering::passes{}, pass_name<Passes>()) && ...);
    };
    CHECK(has_all(normalize_passes{}));
    CHECK(has_all(decompose_passes{}));
    CHECK(has_all(pass_list<narrow_int64>{}));
    CHECK(has_all(legalize_passes{}));
    CHECK(has_all(layout_passes<no_evaluator>{}));
    CHECK(has_all(npu_passes{}));
    CHECK(has_all(settling_passes<no_evaluator>{}));
    CHECK(has_all(fold_passes<no_evaluator>{}));
    CHECK(has_all(pass_list<ensure_distinct_outputs>{}));
}
