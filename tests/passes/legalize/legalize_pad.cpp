// SPDX-License-Identifier: MIT
// Tests the lowerings of padding with existing elements.
#include <catch2/catch.hpp>

#include <headrace/passes/legalize/slicing.hpp>

#include "../../support/pass_test.hpp"

using namespace headrace;

namespace {

constexpr dtype fp32 = dtype::float32;

template <class Op>
std::pmr::string pad(std::initializer_list<std::int64_t> shape, const int_list& padding) {
    return compare_runs<legalize_pad>(
        [&](program& p) {
            p.output(p.make<Op>({p.input(fp32, shape), padding}));
        },
        {}, 0);
}

}  // namespace

TEST_CASE("padding by what is there, of every rank") {
    CHECK(pad<aten::reflection_pad1d>({2, 3, 5}, {2, 4}) == "");
    CHECK(pad<aten::reflection_pad1d>({3, 5}, {0, 1}) == "");
    CHECK(pad<aten::reflection_pad3d>({1, 2, 3, 4, 5}, {1, 4, 2, 3, 0, 2}) == "");
    CHECK(pad<aten::replication_pad2d>({2, 3, 4, 5}, {3, 1, 0, 6}) == "");
    CHECK(pad<aten::replication_pad2d>({3, 4, 5}, {0, 1, 2, 0}) == "");
    CHECK(pad<aten::replication_pad3d>({1, 2, 3, 4, 5}, {1, 2, 3, 4, 5, 6}) == "");
}

TEST_CASE("what is cropped to nothing before it grows is refused") {
    CHECK_THAT(
        [](program& p) {
            p.output(p.make<aten::constant_pad_nd>({p.input(dtype::float32, {2, 3}), {-3, 4}}));
        },
        is_refused_by<legalize_pad>("TOSA has no empty tensors"));
}
