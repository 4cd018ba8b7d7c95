// SPDX-License-Identifier: MIT
// Tests of the walk over elements by strides.

#include <catch2/catch.hpp>

#include <cstddef>
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

TEST_CASE("elements are found in row-major order", "[strided_walk]") {
    const std::vector<std::int16_t> stored{1, 2, 3, 4, 5, 6};
    const auto* const bytes = reinterpret_cast<const std::byte*>(stored.data());
    const tensor_meta meta{.dtype = dtype::int16, .shape = {2, 3}};
    const auto read = [&](const tensor_data& data) {
        std::vector<std::int64_t> found;
        for (std::int64_t i = 0; i != 6; ++i)
            found.push_back((element_at(data, meta, i) - bytes) / std::int64_t{sizeof(std::int16_t)});
        return found;
    };
    CHECK(read({.bytes = bytes}) == std::vector<std::int64_t>{0, 1, 2, 3, 4, 5});
    CHECK(read({.bytes = bytes, .strides = {1, 2}}) == std::vector<std::int64_t>{0, 2, 4, 1, 3, 5});
    CHECK(read({.bytes = bytes, .strides = {0, 1}}) == std::vector<std::int64_t>{0, 1, 2, 0, 1, 2});
}
