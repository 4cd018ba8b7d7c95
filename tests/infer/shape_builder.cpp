// SPDX-License-Identifier: MIT
// Tests the arithmetic that shape rules share: broadcasting, axes, windows, promotion.
#include <catch2/catch.hpp>

#include <headrace/infer/promotion.hpp>
#include <headrace/infer/shape_builder.hpp>
#include <headrace/infer/window.hpp>

using namespace headrace;

namespace {

constexpr tensor_meta vector_of(dtype type) { return {type, {2}, {}}; }
constexpr tensor_meta zero_dim(dtype type) { return {type, {}, {}}; }

int_list list_of(const shape_builder& shape) { return int_list(sizes(shape)); }

}  // namespace

TEST_CASE("shape_builder keeps what fits and tells of what does not") {
    shape_builder shape{2, 3};
    shape.insert(0, 1);
    shape.insert(3, 4);
    CHECK(shape_text(shape) == "[1, 2, 3, 4]");
    shape.erase(1);
    CHECK(shape == shape_builder{1, 3, 4});
    for (int i = 0; i != 13; ++i) shape.push_back(1);
    CHECK_FALSE(shape.overflowed());
    shape.insert(0, 7);
    CHECK(shape.overflowed());
    CHECK(shape.size() == shape_builder::capacity);
}

TEST_CASE("add_result refuses what no tensor can be") {
    std::pmr::monotonic_buffer_resource arena;
    inference out(&arena);
    CHECK(add_result(out, dtype::int8, {2, -1}).error().message == "shape [2, -1] has a negative size");
    CHECK(add_result(out, dtype::int8, {INT64_MAX, 2}).has_error());
    CHECK(add_result(out, dtype::int8, {INT64_MAX, 0}).has_error());
    CHECK(add_result(out, dtype::int8, shape_builder::filled(17, 1)).error().message == "rank is above 16");
    CHECK(add_result(out, dtype::unknown, {2}).has_error());
    CHECK(out.results().empty());
    CHECK(add_result(out, dtype::int8, shape_builder::filled(16, 1)).has_value());
    CHECK(out.results()[0].rank() == 16);
}

TEST_CASE("shapes broadcast") {
    CHECK(broadcast(int_list{2, 1}, int_list{3}).value() == shape_builder{2, 3});
    CHECK(broadcast(int_list{}, int_list{3}).value() == shape_builder{3});
    CHECK(broadcast(int_list{0}, int_list{1}).value() == shape_builder{0});
    CHECK(broadcast(int_list{2, 1, 1}, int_list{3, 1}, int_list{4}).value() == shape_builder{2, 3, 4});
    CHECK(broadcast(int_list{2, 3}, int_list{4}).error().message == "cannot broadcast [2, 3] with [4]");
    CHECK(expanded_shape(int_list{3, 1}, int_list{2, -1, 4}).value() == shape_builder{2, 3, 4});
    CHECK(expanded_shape(int_list{3, 1}, int_list{-1, 3, 4}).has_error());
    CHECK(expanded_shape(int_list{3}, int_list{4}).error().message == "cannot expand [3] to [4]");
}

TEST_CASE("views infer one size") {
    CHECK(viewed_shape(int_list{2, 6}, int_list{3, -1}).value() == shape_builder{3, 4});
    CHECK(viewed_shape(int_list{}, int_list{1, 1}).value() == shape_builder{1, 1});
    CHECK(viewed_shape(int_list{0, 3}, int_list{0}).value() == shape_builder{0});
    CHECK(viewed_shape(int_list{2, 6}, int_list{-1, -1}).has_error());
    CHECK(viewed_shape(int_list{0}, int_list{-1, 0}).has_error());
    CHECK(viewed_shape(int_list{5}, int_list{-2, -1}).has_error());
    CHECK(viewed_shape(int_list{2, 6}, int_list{5, -1}).error().message == "cannot view [2, 6] as [5, -1]");
}

TEST_CASE("axes are wrapped and named once") {
    CHECK(axis_of(-1, 3).value() == 2);
    CHECK(axis_of(-1, 0).value() == 0);
    CHECK(axis_of(3, 3).error().message == "axis 3 is out of range for rank 3");
    CHECK(axes_of({}, 3).value() == axis_set{0b111});
    CHECK(axes_of({}, 3, no_axes::none).value() == axis_set{});
    CHECK(axes_of(int_list{0, -1}, 3).value() == axis_set{0b101});
    CHECK(axes_of(int_list{2, -1}, 3).error().message == "axis -1 is named twice");
    CHECK(reduced_shape(int_list{2, 3, 4}, axis_set{0b101}, false) == shape_builder{3});
    CHECK(reduced_shape(int_list{2, 3, 4}, axis_set{0b101}, true) == shape_builder{1, 3, 1});
    CHECK(permutation_of(int_list{0, -1, 1}, 3).value() == shape_builder{0, 2, 1});
    CHECK(permutation_of(int_list{0, 1}, 3).has_error());
    CHECK(list_of(list_for("stride", int_list{2}, 3).value()) == int_list{2, 2, 2});
    CHECK(list_for("stride", int_list{2, 2}, 3).error().message == "stride [2, 2] must have 1 or 3 elements");
}

TEST_CASE("slices are clamped as Python does") {
    CHECK(clamped_slice(std::nullopt, std::nullopt, 5).count(2) == 3);
    CHECK(clamped_slice(-2, INT64_MAX, 5).count(1) == 2);
    CHECK(clamped_slice(3, 1, 5).count(1) == 0);
    CHECK(clamped_slice(INT64_MIN, -1, 5).count(1) == 4);
    CHECK(clamped_slice(7, 9, 5).count(1) == 0);
}

TEST_CASE("windows") {
    CHECK(window_positions(7, {3, 2, 1, 0, 0}).value() == 3);
    CHECK(window_positions(8, {3, 2, 1, 0, 0}, true).value() == 4);
    CHECK(window_positions(8, {3, 2, 1, 0, 0}, false).value() == 3);
    CHECK(window_positions(5, {1, 3, 1, 0, 0}, true).value() == 2);
    CHECK(window_positions(7, {3, 1, 2, 2, 2}).value() == 7);
    CHECK(window_positions(4, same_padded({4, 1, 1, 0, 0})).value() == 4);
    CHECK(same_padded({4, 1, 1, 0, 0}).after == 2);
    CHECK(window_positions(2, {3, 1, 1, 0, 0}).has_error());
    CHECK(window_positions(2, {3, 0, 1, 1, 1}).has_error());
    CHECK(window_positions(2, {INT64_MAX, 1, INT64_MAX, INT64_MAX, INT64_MAX}).has_error());
    CHECK(transposed_window_size(4, {3, 2, 1, 1, 1}, 1).value() == 8);
    CHECK(transposed_window_size(1, {1, 1, 1, 3, 3}, 0).has_error());
    CHECK(windows_of({int_list{3}, {}, int_list{0}, int_list{1}}, 2).value()[1].stride == 3);
}

TEST_CASE("promote is torch.promote_types") {
    CHECK(promote(dtype::uint8, dtype::int8) == dtype::int16);
    CHECK(promote(dtype::uint8, dtype::int16) == dtype::int16);
    CHECK(promote(dtype::boolean, dtype::uint8) == dtype::uint8);
    CHECK(promote(dtype::int64, dtype::float16) == dtype::float16);
    CHECK(promote(dtype::bfloat16, dtype::float16) == dtype::float32);
    CHECK(promote(dtype::complex64, dtype::float64) == dtype::complex128);
    CHECK(promote(dtype::complex64, dtype::int64) == dtype::complex64);
    CHECK(promote(dtype::float32, dtype::complex32) == dtype::complex64);
    CHECK(promote(dtype::uint16, dtype::int32) == dtype::unknown);
    CHECK(promote(dtype::uint16, dtype::float32) == dtype::float32);
    CHECK(promote(dtype::float8_e4m3, dtype::float32) == dtype::unknown);
}

TEST_CASE("parts of a cut begin at its indices, which may go back") {
    constexpr std::int64_t indices[] = {3, -9, 1, 12};
    STATIC_REQUIRE(part_start(indices, 0, 8) == 0);
    STATIC_REQUIRE(part_start(indices, 1, 8) == 3);
    STATIC_REQUIRE(part_start(indices, 2, 8) == 0);
    STATIC_REQUIRE(part_start(indices, 3, 8) == 1);
    STATIC_REQUIRE(part_start(indices, 4, 8) == 8);
}

TEST_CASE("result_type knows tensors, tensors of rank 0 and numbers") {
    CHECK(result_type(vector_of(dtype::int8), scalar(1000)) == dtype::int8);
    CHECK(result_type(vector_of(dtype::int8), scalar(1.5)) == dtype::float32);
    CHECK(result_type(vector_of(dtype::float16), scalar(1.5)) == dtype::float16);
    CHECK(result_type(vector_of(dtype::boolean), scalar(2)) == dtype::int64);
    CHECK(result_type(vector_of(dtype::float16), zero_dim(dtype::float64)) == dtype::float16);
    CHECK(result_type(vector_of(dtype::int8), zero_dim(dtype::int64)) == dtype::int8);
    CHECK(result_type(vector_of(dtype::int8), zero_dim(dtype::float64)) == dtype::float64);
    CHECK(result_type(zero_dim(dtype::int8), scalar(3)) == dtype::int8);
    CHECK(result_type(zero_dim(dtype::int8), zero_dim(dtype::int64)) == dtype::int64);
    CHECK(result_type(zero_dim(dtype::complex64), vector_of(dtype::float64)) == dtype::complex128);
    CHECK(result_type(scalar(true), scalar(1)) == dtype::int64);
    CHECK(result_type(vector_of(dtype::uint16), vector_of(dtype::int8)) == dtype::unknown);
    CHECK(result_type(vector_of(dtype::uint16), vector_of(dtype::int8), vector_of(dtype::float32)) ==
        dtype::unknown);
}
