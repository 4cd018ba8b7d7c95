// SPDX-License-Identifier: MIT
// Tests sets of ops, over one dialect and over several, and across word boundaries.

#include <catch2/catch.hpp>

#include <string>

#include <headrace/dialect/aten.hpp>
#include <headrace/dialect/builtin.hpp>
#include <headrace/op/op_set.hpp>

#include "../support/toy.hpp"

using namespace headrace;

namespace {

constexpr auto two = ops_in<toy::relu, toy::add>;
static_assert(two.size() == 2 && two.contains<toy::relu>() && !two.contains<toy::neg>());
static_assert(!two.contains<builtin::constant>());
static_assert(set_of<ops<toy::relu, toy::add>> == two);
static_assert(ops_in<>.empty() && ops_in<> <= two);

static_assert((two | ops_in<toy::neg>).size() == 3);
static_assert((two & ops_in<toy::neg, toy::add>) == ops_in<toy::add>);
static_assert((two - ops_in<toy::add>) == ops_in<toy::relu>);
static_assert(ops_in<toy::add> <= two && !(two <= ops_in<toy::add>));
static_assert(every_op<toy::dialect>.size() == toy::dialect::size);

// Over several dialects, in whatever order they were named.
constexpr auto mixed = two | ops_in<aten::relu>;
static_assert(mixed.size() == 3 && mixed.contains<aten::relu>() && two <= mixed);
static_assert((ops_in<aten::relu> | two) - mixed <= ops_in<>);
static_assert((mixed & every_op<toy::dialect>) <= two && two <= (mixed & every_op<toy::dialect>));
static_assert(!(mixed <= two));
static_assert(
    std::is_same_v<dialects_of<toy::relu, aten::relu, toy::neg>, dialects<toy::dialect, aten::dialect>>);
static_assert(dialects_of<>::size == 0);

// A dialect of several words.
static_assert(every_op<aten::dialect>.size() == aten::dialect::size);
constexpr auto all_but_one = every_op<aten::dialect> - ops_in<aten::relu>;
static_assert(all_but_one.size() == aten::dialect::size - 1 && !all_but_one.contains<aten::relu>());
constexpr auto last = (every_op<aten::dialect> - all_but_one).first();
static_assert(last.first == 0 && last.second == index_of<aten::relu>);
static_assert(std::is_same_v<op_at<std::remove_const_t<decltype(all_but_one)>, 0, index_of<aten::relu>>::type,
    aten::relu>);
static_assert(is_op_set<std::remove_const_t<decltype(two)>> && !is_op_set<int>);

// Sets with equal words in other positions are different template arguments.
template <std::size_t I>
using aten_op = typename type_at<I, aten::dialect::all_ops>::type;
static_assert(std::is_same_v<list_of_set<ops_in<aten_op<3>>>, ops<aten_op<3>>>);
static_assert(std::is_same_v<list_of_set<ops_in<aten_op<67>>>, ops<aten_op<67>>>);

static_assert(two.meets(two) && !two.meets(ops_in<toy::neg>) && !ops_in<>.meets(ops_in<>));
static_assert(two.replaced(ops_in<toy::add>, ops_in<toy::neg>) == ops_in<toy::relu, toy::neg>);

}  // namespace

TEST_CASE("ops known only at run time", "[op_set]") {
    CHECK(mixed.contains(info_of<aten::relu>));
    CHECK(mixed.contains(info_of<toy::add>));
    CHECK_FALSE(mixed.contains(info_of<toy::neg>));
    CHECK_FALSE(mixed.contains(info_of<builtin::constant>));
    for (const op_info* op : op_table<aten::dialect>) {
        CHECK(all_but_one.contains(*op) == (op != &info_of<aten::relu>));
    }
}

TEST_CASE("sets print their ops by name", "[op_set]") {
    std::string text;
    print(mixed, [&](std::string_view part) { text += part; });
    CHECK(text == "toy.relu.default, toy.add.default, aten.relu.default");
}
