// SPDX-License-Identifier: MIT
// Checks every pass of the standard pipeline at compile time: its handlers are complete, give what passes may
// give, and are all for its targets.
#include <catch2/catch.hpp>

#include <headrace/pass/audit.hpp>
#include <headrace/passes/float_lowering.hpp>

using namespace headrace;

namespace {

struct no_evaluator {};  // nothing is folded here
using lowering = float_lowering<no_evaluator>;

// One at a time, so that an error names the pass.
template <class Pass>
constexpr bool check_effects() {
    using effects = effects_of<Pass>;
    static_assert(effects::sound, "see missing_handler and faulty_handler of the pass's effects_of");
    static_assert(!effects::always_runs || graph_pass<Pass>, "only passes over the whole graph have no targets");
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

template <class... Passes>
constexpr bool are_different(pass_list<Passes...>) {
    const auto count = []<class Pass>(std::type_identity<Pass>) { return (__is_same(Pass, Passes) + ...); };
    return ((count(std::type_identity<Passes>{}) == 1) && ...);
}
static_assert(are_different(lowering::passes{}));

static_assert(lowering::dead_pass_count == 0);

}  // namespace

TEST_CASE("the standard pipeline has all passes of its folders, each once") {
    CHECK(lowering::passes::size == normalize_passes::size + decompose_passes::size + legalize_passes::size +
                                        layout_passes::size + fold_passes<no_evaluator>::size + 2);
}
