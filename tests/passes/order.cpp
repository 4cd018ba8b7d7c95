// SPDX-License-Identifier: MIT
// Tests that the order of the standard pipeline is stated and proven: each pass states its position, and no
// two passes that depend on each other can be swapped.
#include <catch2/catch.hpp>

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include <headrace/passes/standard_lowering.hpp>

#include "../support/reordering.hpp"

using namespace headrace;

namespace {

using lowering = standard_lowering;
using orders = reordering<lowering>;

static_assert(orders::check(orders::as_listed()) == reordering_fault::none);

/// The passes of the pipeline without a required position: a new pass states its order or is listed here.
constexpr std::array<std::string_view, 0> free_passes{};

/// Passes that use nothing that an earlier pass makes of their targets, so that the two may be swapped.
struct independence {
    std::string_view pass;
    std::string_view why;
};
constexpr std::array independent{
    independence{"decompose_comparisons", "the conditions that formulas make are boolean already"},
    independence{"decompose_dilated_pooling", "adaptive poolings have no dilation"},
    independence{"merge_linear_maps", "the linear layers of recurrent cells have gates between them"},
    independence{"join_groups", "a weight that takes a batch norm in is not quantized"},
    independence{"fuse_reshapes", "both runs are the same pass"},
    independence{"mix_heads", "no convolution of blocks, of a selection or of a group is between heads"},
    independence{"convolve_factors", "a convolution that moves planes has no factors before it"},
    independence{"merge_selections", "what moves planes reads a window of several elements"},
    independence{"strides_to_channels", "a merged selection leaves the stride of its reader as it is"},
    independence{"interleave_rows", "no transposed convolution is made"},
    independence{"read_last_column", "no convolution that is made has a stride along its columns"},
    independence{"add_at_unit_scale", "no sum is made"},
    independence{"transpose_by_convolution", "a target that crops after a transpose has no other form of it"},
};

std::string pair_name(std::size_t a, std::size_t b) {
    return std::string(lowering::pass_names[a]) + " and " + std::string(lowering::pass_names[b]);
}

// True if a list of a pass or its phase names something.
bool names(const order_facts& pass, detail::order_list list, detail::order_id what) {
    for (const detail::order_id id : pass.list(list)) {
        if (id == what) return true;
    }
    return pass.phase != nullptr && names(*pass.phase, list, what);
}
// True if a list of a pass names another pass, or something that the other pass ensures.
bool names(const order_facts& pass, detail::order_list list, const order_facts& other) {
    if (names(pass, list, other.self)) return true;
    for (const detail::order_id id : other.ensures) {
        if (names(pass, list, id)) return true;
    }
    return other.phase != nullptr && names(pass, list, *other.phase);
}
// True if the pass at `b` states that it comes after the one at `a`, or `a` that it comes before `b`.
bool states_order(std::size_t a, std::size_t b) {
    const order_facts& first = orders::facts_of(a);
    const order_facts& second = orders::facts_of(b);
    using detail::order_list;
    return names(second, order_list::runs_after, first) ||
        names(second, order_list::requires_before, first) || names(first, order_list::runs_before, second) ||
        names(first, order_list::requires_after, second);
}
// True if a pass, or another that ensures the same, is in the list more than once: a repeated pass may move
// between its runs.
bool is_repeated(std::size_t i) {
    std::size_t count = 0;
    for (std::size_t k = 0; k != lowering::size; ++k)
        count += orders::facts_of(k).self == orders::facts_of(i).self;
    return count > 1;
}

}  // namespace

TEST_CASE("every standard pass states its order, or is listed as one that may stand anywhere") {
    std::vector<std::string_view> silent;
    for (std::size_t i = 0; i != lowering::size; ++i) {
        if (!orders::facts_of(i).states_something()) silent.push_back(lowering::pass_names[i]);
    }
    CHECK(silent == std::vector<std::string_view>(free_passes.begin(), free_passes.end()));
}

TEST_CASE("swapping two passes of which one states that it comes after the other does not compile") {
    std::size_t swaps = 0;
    for (std::size_t a = 0; a != lowering::size; ++a) {
        for (std::size_t b = a + 1; b != lowering::size; ++b) {
            if (!states_order(a, b) || is_repeated(a) || is_repeated(b)) continue;
            INFO(pair_name(a, b));
            CHECK(orders::check(orders::with_swapped(a, b)) != reordering_fault::none);
            ++swaps;
        }
    }
    CHECK(swaps > 300);
}

TEST_CASE("swapping a pass with one that needs what it makes does not compile") {
    std::size_t swaps = 0;
    std::array<bool, independent.size()> used{};
    for (std::size_t a = 0; a != lowering::size; ++a) {
        for (std::size_t b = a + 1; b != lowering::size; ++b) {
            if (!orders::feeds(a, b)) continue;
            ++swaps;
            if (orders::check(orders::with_swapped(a, b)) != reordering_fault::none) continue;
            INFO(pair_name(a, b));
            bool known = false;
            for (std::size_t i = 0; i != independent.size(); ++i) {
                if (independent[i].pass != lowering::pass_names[b]) continue;
                used[i] = known = true;
            }
            CHECK(known);
        }
    }
    CHECK(swaps > 200);
    for (std::size_t i = 0; i != independent.size(); ++i) {
        INFO(independent[i].pass);
        CHECK(used[i]);
    }
}

TEST_CASE("a pass that runs several times is needed each time") {
    // Without one of its runs, a property that it ensures does not hold where it is needed, or at the end.
    for (const std::string_view name : {"fold_constants", "sort_topologically", "merge_duplicates"}) {
        std::vector<std::size_t> runs;
        for (std::size_t i = 0; i != lowering::size; ++i) {
            if (lowering::pass_names[i] == name) runs.push_back(i);
        }
        REQUIRE(runs.size() == 2);
        INFO(name);
        for (const std::size_t run : runs) {
            CHECK(orders::check_without(run) != reordering_fault::none);
        }
    }
}
