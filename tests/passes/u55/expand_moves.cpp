// SPDX-License-Identifier: MIT
// Tests that REVERSE and TRANSPOSE become forms that Ethos-U55 can address.
#include <catch2/catch.hpp>

#include <headrace/passes/u55/expand_moves.hpp>

#include "../../support/u55_test.hpp"

using namespace headrace;

namespace {

auto reversed(dtype type, int_list shape, std::int64_t axis) {
    return [=](program& p) { return p.make<tosa::reverse>({p.input(type, shape), axis}); };
}
auto transposed(dtype type, int_list shape, int_list perms) {
    return
        [=](program& p) { return p.make<tosa::transpose>({.input1 = p.input(type, shape), .perms = perms}); };
}

}  // namespace

TEST_CASE("axes are reversed as widths of images") {
    for (const std::int64_t axis : {0, 1, 2, 3, 4}) {
        for (const dtype type : {dtype::int8, dtype::int16, dtype::int32}) {
            CAPTURE(axis, name_of(type));
            CHECK(expanded<expand_moves>(reversed(type, {3, 4, 2, 5, 6}, axis)) == "");
        }
    }
    CHECK(expanded<expand_moves>(reversed(dtype::int8, {2, 3, 4, 5}, 3)) == "");
    CHECK(expanded<expand_moves>(reversed(dtype::int8, {9}, 0)) == "");
    CHECK(expanded<expand_moves>(reversed(dtype::int32, {3, 1, 2}, 1)) == "");
}

TEST_CASE("an image's height and width are reversed as they are") {
    CHECK(expanded<expand_moves>(reversed(dtype::int8, {2, 3, 4, 5}, 1)) == "Ethos-U55 has all of it");
    CHECK(expanded<expand_moves>(reversed(dtype::int16, {2, 3, 4, 5}, 2)) == "Ethos-U55 has all of it");
}

TEST_CASE("an axis that is too long is moved in parts") {
    constexpr std::int64_t size = u55::max_size + 5;
    CHECK(expanded<expand_moves>(transposed(dtype::int8, {size, 3}, {1, 0})) == "");
    CHECK(expanded<expand_moves>(transposed(dtype::int8, {2, size, 3}, {0, 2, 1})) == "");
    CHECK(expanded<expand_moves>(transposed(dtype::int16, {2, 3, size}, {2, 1, 0})) == "");
}

TEST_CASE("images of too many elements are moved in parts") {
    CHECK(expanded<expand_moves>(transposed(dtype::int8, {260, 3, 5, 270}, {3, 1, 2, 0})) == "");
    CHECK(expanded<expand_moves>(transposed(dtype::int8, {2, 300, 250, 3}, {0, 3, 1, 2})) == "");
    CHECK(expanded<expand_moves>(transposed(dtype::int8, {2, 3, 300, 250}, {2, 0, 3, 1})) == "");
}

TEST_CASE("axes beyond four of 32 bits change places one after another") {
    const int_list orders[] = {{4, 3, 2, 1, 0}, {0, 2, 1, 4, 3}, {2, 4, 1, 3, 0}};
    for (const int_list& perms : orders)
        CHECK(expanded<expand_moves>(transposed(dtype::int32, {2, 3, 4, 5, 6}, perms)) == "");
    CHECK(expanded<expand_moves>(transposed(dtype::int32, {2, 3, 1, 2, 3, 2}, {5, 0, 3, 2, 4, 1})) == "");
}
