// SPDX-License-Identifier: MIT
// Tests ATen's views, joins, pads, indexing and creation.
#include "kernel_test.hpp"

#include <headrace/dialect/aten.hpp>

using namespace headrace;

namespace {
constexpr dtype real = dtype::float32;
const tensor grid = f32({2, 3}, {1, 2, 3, 4, 5, 6});
}  // namespace

TEST_CASE("views") {
    kernel_test k;
    const value x = k(grid);
    CHECK(k.run<aten::view>({x, {3, 2}}, {real, {3, 2}, {}}).bytes().data() == grid.bytes().data());
    CHECK(k.numbers<aten::permute>({x, {-1, 0}}, {real, {3, 2}, {}}) == reals{1, 4, 2, 5, 3, 6});
    CHECK(k.numbers<aten::transpose_int>({x, 0, -1}, {real, {3, 2}, {}}) == reals{1, 4, 2, 5, 3, 6});
    CHECK(k.numbers<aten::t>({k(f32({}, {3}))}, {real, {}, {}}) == reals{3});
    CHECK(
        k.numbers<aten::expand>({k(f32({2, 1}, {1, 2})), {-1, 2}}, {real, {2, 2}, {}}) == reals{1, 1, 2, 2});
    CHECK(k.numbers<aten::slice_tensor>({x, -1, -2, INT64_MAX, 1}, {real, {2, 2}, {}}) == reals{2, 3, 5, 6});
    CHECK(k.numbers<aten::slice_tensor>({x, 1, 0, {}, 2}, {real, {2, 2}, {}}) == reals{1, 3, 4, 6});
    CHECK(k.numbers<aten::slice_tensor>({x, 1, 3, 9, 1}, {real, {2, 0}, {}}).empty());
    CHECK(k.numbers<aten::select_int>({x, 1, -1}, {real, {2}, {}}) == reals{3, 6});
    CHECK(k.numbers<aten::flip>({x, {0, -1}}, {real, {2, 3}, {}}) == reals{6, 5, 4, 3, 2, 1});
    CHECK(k.numbers<aten::unfold>({x, 1, 2, 1}, {real, {2, 2, 2}, {}}) == reals{1, 2, 2, 3, 4, 5, 5, 6});
    CHECK(k.numbers<aten::diagonal>({x, 1}, {real, {2}, {}}) == reals{2, 6});
    CHECK(k.numbers<aten::diagonal>({x, -1}, {real, {1}, {}}) == reals{4});
    CHECK(k.numbers<aten::diagonal>({x, 5, 1, 0}, {real, {0}, {}}).empty());
    CHECK(k.numbers<aten::movedim_int>({x, 0, 1}, {real, {3, 2}, {}}) == reals{1, 4, 2, 5, 3, 6});
    CHECK(k.numbers<aten::as_strided>({x, {2, 2}, {1, 2}, 1}, {real, {2, 2}, {}}) == reals{2, 4, 3, 5});
}

TEST_CASE("blocks of images") {
    kernel_test k;
    const value image = k(f32({1, 1, 3, 4}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}));
    CHECK(k.numbers<aten::im2col>({image, {2, 2}, {1, 2}, {1, 0}, {2, 1}}, {real, {1, 4, 4}, {}}) ==
        reals{0, 0, 5, 6, 0, 0, 7, 8, 1, 2, 9, 10, 3, 4, 11, 12});
    const value columns = k(f32({1, 4, 4}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16}));
    CHECK(k.numbers<aten::col2im>({columns, {3, 3}, {2, 2}, {1, 1}, {0, 0}, {1, 1}},
              {real, {1, 1, 3, 3}, {}}) == reals{1, 7, 6, 12, 34, 22, 11, 27, 16});
}

TEST_CASE("a stride that leads outside is refused") {
    kernel_test k;
    const auto result = k.run_all<aten::as_strided>({k(grid), {2}, {6}, 0}, {{real, {2}, {}}});
    REQUIRE(result.has_error());
    CHECK(result.error().message == "tested (aten.as_strided.default): reads outside its operand");
}

TEST_CASE("splits") {
    kernel_test k;
    const value x = k(grid);
    const auto parts =
        k.run_all<aten::split_tensor>({x, 2, 1}, {{real, {2, 2}, {}}, {real, {2, 1}, {}}}).value();
    CHECK(parts[0].to<double>() == reals{1, 2, 4, 5});
    CHECK(parts[1].to<double>() == reals{3, 6});
    const auto rows = k.run_all<aten::unbind_int>({x, 0}, {{real, {3}, {}}, {real, {3}, {}}}).value();
    CHECK(rows[1].to<double>() == reals{4, 5, 6});
}

TEST_CASE("joins and rearrangements") {
    kernel_test k;
    const value x = k(grid);
    const value y = k(f32({2, 1}, {7, 8}));
    const value legacy = k(f32({0}, {}));
    const std::vector<value> all{x, legacy, y};
    CHECK(k.numbers<aten::cat>({all, -1}, {real, {2, 4}, {}}) == reals{1, 2, 3, 7, 4, 5, 6, 8});
    const std::vector<value> pair{y, y};
    CHECK(k.numbers<aten::stack>({pair, 1}, {real, {2, 2, 1}, {}}) == reals{7, 7, 8, 8});
    CHECK(k.numbers<aten::repeat>({y, {2, 1, 2}}, {real, {2, 2, 2}, {}}) == reals{7, 7, 8, 8, 7, 7, 8, 8});
    CHECK(k.numbers<aten::roll>({x, {1}, {1}}, {real, {2, 3}, {}}) == reals{3, 1, 2, 6, 4, 5});
    CHECK(k.numbers<aten::roll>({x, {-1}}, {real, {2, 3}, {}}) == reals{2, 3, 4, 5, 6, 1});
    CHECK(k.numbers<aten::tril>({x}, {real, {2, 3}, {}}) == reals{1, 0, 0, 4, 5, 0});
    CHECK(k.numbers<aten::triu>({x, 1}, {real, {2, 3}, {}}) == reals{0, 2, 3, 0, 0, 6});
    const value channels = k(f32({1, 4, 1, 1}, {1, 2, 3, 4}));
    const value shuffled = k(f32({1, 1, 2, 2}, {1, 2, 3, 4}));
    CHECK(k.numbers<aten::pixel_shuffle>({channels, 2}, {real, {1, 1, 2, 2}, {}}) == reals{1, 2, 3, 4});
    CHECK(k.numbers<aten::pixel_unshuffle>({shuffled, 2}, {real, {1, 4, 1, 1}, {}}) == reals{1, 2, 3, 4});
    CHECK(k.numbers<aten::repeat_interleave_self_int>({y, 2, 0}, {real, {4, 1}, {}}) == reals{7, 7, 8, 8});
}

TEST_CASE("pads") {
    kernel_test k;
    const value x = k(f32({1, 3}, {1, 2, 3}));
    const tensor_meta wide{real, {1, 7}, {}};
    CHECK(k.numbers<aten::constant_pad_nd>({x, {1, -1}, 9}, {real, {1, 3}, {}}) == reals{9, 1, 2});
    CHECK(k.numbers<aten::pad>({x, {2, 2}, "reflect"}, wide) == reals{3, 2, 1, 2, 3, 2, 1});
    CHECK(k.numbers<aten::pad>({x, {2, 2}, "replicate"}, wide) == reals{1, 1, 1, 2, 3, 3, 3});
    CHECK(k.numbers<aten::pad>({x, {2, 2}, "circular"}, wide) == reals{2, 3, 1, 2, 3, 1, 2});
    // PyTorch crops first, then wraps around the rest (_pad_circular_symint).
    CHECK(k.numbers<aten::pad>({x, {2, -1}, "circular"}, {real, {1, 4}, {}}) == reals{1, 2, 1, 2});
    CHECK(k.numbers<aten::pad>({x, {-1, 2}, "circular"}, {real, {1, 4}, {}}) == reals{2, 3, 2, 3});
    CHECK(k.numbers<aten::constant_pad_nd>({x, {0, 0, 1, 0}, 0}, {real, {2, 3}, {}}) ==
        reals{0, 0, 0, 1, 2, 3});
}

TEST_CASE("reading by index") {
    kernel_test k;
    const value x = k(grid);
    const value picks = k(i64({2}, {2, 0}));
    CHECK(k.numbers<aten::index_select>({x, 1, picks}, {real, {2, 2}, {}}) == reals{3, 1, 6, 4});
    CHECK(k.numbers<aten::embedding>({x, k(i64({1, 2}, {1, 1}))}, {real, {1, 2, 3}, {}}) ==
        reals{4, 5, 6, 4, 5, 6});
    CHECK(k.numbers<aten::gather>({x, 1, k(i64({2, 1}, {2, 0}))}, {real, {2, 1}, {}}) == reals{3, 4});
    const std::vector<std::optional<value>> columns{std::nullopt, k(i64({2}, {-1, 0}))};
    CHECK(k.numbers<aten::index_tensor>({x, columns}, {real, {2, 2}, {}}) == reals{3, 1, 6, 4});
    const std::vector<std::optional<value>> mask{k(flags({2, 3}, {0, 1, 0, 1, 0, 1}))};
    CHECK(k.numbers<aten::index_tensor>({x, mask}, {real, {3}, {}}) == reals{2, 4, 6});
    const auto outside = k.run_all<aten::index_select>({x, 0, k(i64({1}, {2}))}, {{real, {1, 3}, {}}});
    REQUIRE(outside.has_error());
    CHECK(
        outside.error().message == "tested (aten.index_select.default): index 2 is out of range for size 2");
    CHECK(outside.error().kind == error_kind::malformed);
    const auto from_end = k.run_all<aten::gather>({x, 1, k(i64({1, 1}, {-1}))}, {{real, {1, 1}, {}}});
    CHECK(from_end.error().message == "tested (aten.gather.default): index -1 is out of range for size 3");
}

TEST_CASE("separated index tensors put their axes first") {
    kernel_test k;
    const value cube = k(f32({2, 2, 2}, {0, 1, 2, 3, 4, 5, 6, 7}));
    const value ones = k(i64({1}, {1}));
    const std::vector<std::optional<value>> indices{ones, std::nullopt, k(i64({3}, {0, 1, 0}))};
    CHECK(k.numbers<aten::index_tensor>({cube, indices}, {real, {3, 2}, {}}) == reals{4, 6, 5, 7, 4, 6});
}

TEST_CASE("writing by index") {
    kernel_test k;
    const value x = k(grid);
    const tensor_meta meta{real, {2, 3}, {}};
    const std::vector<std::optional<value>> twice{k(i64({2}, {0, 0})), k(i64({2}, {1, 1}))};
    const value two = k(f32({}, {10}));
    CHECK(k.numbers<aten::index_put>({x, twice, two, true}, meta) == reals{1, 22, 3, 4, 5, 6});
    CHECK(k.numbers<aten::index_put>({x, twice, two}, meta) == reals{1, 10, 3, 4, 5, 6});
    const value rows = k(i64({1}, {1}));
    const value source = k(f32({1, 3}, {7, 8, 9}));
    CHECK(k.numbers<aten::index_copy>({x, 0, rows, source}, meta) == reals{1, 2, 3, 7, 8, 9});
    CHECK(k.numbers<aten::index_add>({x, 0, rows, source, 2}, meta) == reals{1, 2, 3, 18, 21, 24});
    const value at = k(i64({1, 2}, {1, 0}));
    CHECK(k.numbers<aten::scatter_src>({x, 0, at, source}, meta) == reals{1, 8, 3, 7, 5, 6});
    CHECK(k.numbers<aten::scatter_add>({x, 0, at, source}, meta) == reals{1, 10, 3, 11, 5, 6});
    CHECK(k.numbers<aten::scatter_value>({x, 0, at, -1}, meta) == reals{1, -1, 3, -1, 5, 6});
    CHECK(k.numbers<aten::select_scatter>({x, k(f32({2}, {0, 0})), 1, -1}, meta) == reals{1, 2, 0, 4, 5, 0});
    CHECK(k.numbers<aten::slice_scatter>({x, k(f32({2, 1}, {0, 0})), 1, 0, 1}, meta) ==
        reals{0, 2, 3, 0, 5, 6});
    CHECK(grid.to<double>() == reals{1, 2, 3, 4, 5, 6});
}

TEST_CASE("creation") {
    kernel_test k;
    CHECK(k.numbers<aten::arange_start_step>({5, 0, -2}, {dtype::int64, {3}, {}}) == reals{5, 3, 1});
    check_close(k.numbers<aten::linspace>({0, 1, 5}, {real, {5}, {}}), {0, 0.25, 0.5, 0.75, 1});
    CHECK(k.numbers<aten::eye_m>({2, 3}, {real, {2, 3}, {}}) == reals{1, 0, 0, 0, 1, 0});
    CHECK(k.numbers<aten::full>({{2}, 2.7}, {dtype::int32, {2}, {}}) == reals{2, 2});
    CHECK(k.numbers<aten::scalar_tensor>({true}, {dtype::boolean, {}, {}}) == reals{1});
    CHECK(k.numbers<aten::copy_inplace>({k(grid), k(f32({3}, {1, 2, 3}))}, {real, {2, 3}, {}}) ==
        reals{1, 2, 3, 1, 2, 3});
    CHECK(k.numbers<aten::to_dtype>({k(f32({2}, {1.5, -2})), dtype::int8}, {dtype::int8, {2}, {}}) ==
        reals{1, -2});
}
