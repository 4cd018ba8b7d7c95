// SPDX-License-Identifier: MIT
// Tests of the walk over elements by strides.

#include <catch2/catch.hpp>

#include <cstdint>
#include <vector>

#include <headrace/ir/strided_walk.hpp>

using namespace headrace;

namespace {

std::vector<std::int64_t> walk(
    const std::vector<std::int64_t>& shape, const std::vector<std::int64_t>& strides) {
    std::vector<std::int64_t> positions;
    for_each_position(shape, strides, [&](std::int64_t at) { positions.push_back(at); });
    return positions;
}

}  // namespace

TEST_CASE("positions come in row-major order of the indices", "[strided_walk]") {
    using all = std::vector<std::int64_t>;
    CHECK(walk({}, {}) == all{0});
    CHECK(walk({3}, {2}) == all{0, 2, 4});
    CHECK(walk({2, 3}, {3, 1}) == all{0, 1, 2, 3, 4, 5});
    CHECK(walk({2, 3}, {1, 2}) == all{0, 2, 4, 1, 3, 5});
    CHECK(walk({2, 2}, {0, 1}) == all{0, 1, 0, 1});
    CHECK(walk({2, 1, 2}, {-1, 7, 4}) == all{0, 4, -1, 3});
    CHECK(walk({2, 0, 3}, {3, 3, 1}).empty());
}
