// SPDX-License-Identifier: MIT
// Tests op tags, dialects, and the run-time description of an op.

#include <catch2/catch.hpp>

#include <headrace/dialect/aten.hpp>
#include <headrace/dialect/builtin.hpp>
#include <headrace/op/op.hpp>

#include "../support/toy.hpp"

using namespace headrace;

namespace {

static_assert(op_tag<toy::relu> && !op_tag<int> && !op_tag<toy::dialect>);
static_assert(toy::relu::name == "toy.relu.default" && toy::relu::results == 1);
static_assert(toy::min_max::results == 2 && toy::split::results == variadic_results);
static_assert(index_of<toy::conv2d> == 0 && index_of<toy::relu> == 1);
static_assert(info_of<toy::relu>.dialect == &info_of_dialect<toy::dialect>);
static_assert(info_of_dialect<toy::dialect>.op_count == toy::dialect::size);
static_assert(info_of<toy::relu>.args_size == sizeof(args<toy::relu>));
static_assert(
    info_of<toy::conv2d>.find("stride") != nullptr && info_of<toy::conv2d>.find("strides") == nullptr);

// Each op has one index in its dialect, and is found there by its name.
static_assert([] {
    for (std::size_t i = 0; i != aten::dialect::size; ++i) {
        if (op_table<aten::dialect>[i] -> index != i) return false;
        if (find_op<aten::dialect>(aten::dialect::op_names[i]) != op_table<aten::dialect>[i]) return false;
    }
    return true;
}());
static_assert(std::is_same_v<type_at<2, ops<int, char, bool>>::type, bool>);

}  // namespace

TEST_CASE("ops are found by name in several dialects", "[op]") {
    CHECK(find_op<toy::dialect, builtin::dialect>("builtin.constant") == &info_of<builtin::constant>);
    CHECK(find_op<toy::dialect, builtin::dialect>("toy.split.default") == &info_of<toy::split>);
    CHECK(find_op<toy::dialect, builtin::dialect>("toy.split") == nullptr);
    CHECK(find_op<toy::dialect>("") == nullptr);
    CHECK(static_cast<const args<toy::conv2d>*>(info_of<toy::conv2d>.default_args)->groups == 1);
}
