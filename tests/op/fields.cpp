// SPDX-License-Identifier: MIT
// Tests field tables: names, types, defaults and the offsets of members.

#include <catch2/catch.hpp>

#include <cstddef>

#include <headrace/op/op.hpp>

#include "../support/toy.hpp"

using namespace headrace;

namespace {

static_assert(count_names("") == 0 && count_names("a") == 1 && count_names("a, b, c") == 3);
static_assert(split_names<3>("a, bc, d")[1] == "bc" && split_names<3>("a, bc, d")[2] == "d");

using attributes = args<toy::attributes>;
constexpr const op_info& info = info_of<toy::attributes>;
static_assert(info.field_count == 10);
static_assert(info.find("axes")->kind == field_kind::integers && !info.find("axes")->optional);
static_assert(info.find("maybe_axes")->kind == field_kind::integers && info.find("maybe_axes")->optional);
static_assert(info.find("mode")->kind == field_kind::text);
static_assert(info.find("type")->kind == field_kind::element_type);
static_assert(info.find("indices")->kind == field_kind::optional_tensors);
static_assert(info_of<toy::clamp>.find("max")->kind == field_kind::number);
static_assert(info_of<toy::call>.find("body")->kind == field_kind::region);

// The computed layout is the compiler's.
static_assert(info.find("self")->offset == offsetof(attributes, self));
static_assert(info.find("axes")->offset == offsetof(attributes, axes));
static_assert(info.find("factors")->offset == offsetof(attributes, factors));
static_assert(info.find("mode")->offset == offsetof(attributes, mode));
static_assert(info.find("maybe_axes")->offset == offsetof(attributes, maybe_axes));
static_assert(info.find("type")->offset == offsetof(attributes, type));
static_assert(info.find("keep")->offset == offsetof(attributes, keep));
static_assert(info.find("ratio")->offset == offsetof(attributes, ratio));
static_assert(info.find("maybe")->offset == offsetof(attributes, maybe));
static_assert(info.find("indices")->offset == offsetof(attributes, indices));

static_assert(default_args<toy::attributes>.mode == "none" && default_args<toy::attributes>.keep);
static_assert(default_args<toy::conv2d>.stride == int_list{1, 1} && !default_args<toy::conv2d>.bias);

}  // namespace

TEST_CASE("an op without arguments has no fields", "[fields]") {
    CHECK(info_of<toy::relu>.field_count == 1);
    CHECK(info_of<toy::relu>.begin()->name == "self");
    CHECK(make_fields<attributes>(field_names<toy::attributes>).size() == 10);
}
